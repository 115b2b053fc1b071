"""Linear learners: the perceptron, averaged, voted, and with a pocket."""
