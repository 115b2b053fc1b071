from perceptron_rs.features.encoder import AttributeEncoder as AttributeEncoder
from perceptron_rs.features.templates import column_attributes as column_attributes
from perceptron_rs.features.templates import word_attributes as word_attributes
from perceptron_rs.features.templates import word_shape as word_shape
