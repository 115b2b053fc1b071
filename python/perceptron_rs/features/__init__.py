"""From tokens to rows: string attributes as columns, and a template of a tagger's attributes."""

from perceptron_rs.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
