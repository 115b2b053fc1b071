"""From tokens to rows: string attributes as columns, and a template of a tagger's attributes."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perceptron_rs.features.columns import column_attributes as column_attributes
    from perceptron_rs.features.encoder import AttributeEncoder as AttributeEncoder
    from perceptron_rs.features.window import word_attributes as word_attributes
    from perceptron_rs.features.window import word_shape as word_shape
else:
    from perceptron_rs.lazy import attach

    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "features.columns": ["column_attributes"],
            "features.encoder": ["AttributeEncoder"],  # which imports scikit-learn
            "features.window": ["word_attributes", "word_shape"],
        },
    )
