"""Certified margins and linear separability without a linear program.

``problem`` holds the rows in one scale; ``passes`` scores them all; ``corral`` and ``wolfe`` look for the
nearest points of the hulls; ``certificate`` and ``proof`` say what is certain; ``separate`` and
``plane`` are the two functions of the engine.
"""
