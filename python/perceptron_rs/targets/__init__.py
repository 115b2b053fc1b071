"""What comes with the rows: labels, how classes become planes, and weights of examples and classes."""
