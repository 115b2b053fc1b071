"""Linear learners. Start with ``perceptron.py``, which has the loop; then ``averaged.py``."""
