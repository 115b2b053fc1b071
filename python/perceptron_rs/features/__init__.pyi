from perceptron_rs.features.columns import column_attributes as column_attributes
from perceptron_rs.features.encoder import AttributeEncoder as AttributeEncoder
from perceptron_rs.features.window import word_attributes as word_attributes
from perceptron_rs.features.window import word_shape as word_shape
