"""Exact arithmetic in plain Python, for `verify` and for margins in the space of a kernel."""
