from perceptron_rs.learners import describe as describe
from perceptron_rs.learners import load as load
from perceptron_rs.learners import register_skl2onnx as register_skl2onnx
from perceptron_rs.models.writer import save as save
