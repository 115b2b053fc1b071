"""Exact arithmetic in plain Python: for `verify`, kernels, and problems of few rows."""
