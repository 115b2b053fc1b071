"""Learners of label sequences and of other structures."""
