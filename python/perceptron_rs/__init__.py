"""The perceptron family: scikit-learn's API, a Rust core, one bit pattern everywhere."""
