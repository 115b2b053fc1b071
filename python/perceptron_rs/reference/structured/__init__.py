"""Structured perceptrons: the answer is a whole sequence, or any other structure.

The loop is in ``chain.py``, the search in ``lattice.py``, what a beam needs in ``prefix.py``; what is not the
algorithm in ``run.py``.
"""
