"""Data files: examples, labels and sentences of tokens, by what the suffix says."""
