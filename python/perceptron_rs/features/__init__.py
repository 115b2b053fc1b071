"""From tokens to rows: string attributes as columns, and a template of a tagger's attributes."""

from perceptron_rs.features.encoder import AttributeEncoder
from perceptron_rs.features.window import word_attributes, word_shape

__all__ = ["AttributeEncoder", "word_attributes", "word_shape"]
