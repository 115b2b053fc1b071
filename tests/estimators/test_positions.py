"""Where arguments stand: a weight is never taken for classes, or for weights to start from."""

import inspect

import pytest

import perceptron_rs
import perceptron_rs.dask

METHODS = ("fit", "partial_fit", "predict_then_learn", "fit_stream", "fit_encoded", "predict", "score")
CLASSES = [
    kind
    for module in (perceptron_rs, perceptron_rs.dask)
    for kind in (getattr(module, name) for name in module.__all__)
    if inspect.isclass(kind) and hasattr(kind, "fit")
]
CASES = [
    pytest.param(kind, method, id=f"{kind.__module__}.{kind.__name__}-{method}")
    for kind in CLASSES
    for method in METHODS
    if hasattr(kind, method)
]


@pytest.mark.parametrize(("kind", "method"), CASES)
def test_only_data_and_classes_have_a_position(kind, method):
    parameters = list(inspect.signature(getattr(kind, method)).parameters.values())[1:]
    placed = [p.name for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY]
    allowed = {
        "fit": [["X", "y"]],
        "partial_fit": [["X", "y"], ["X", "y", "classes"]],
        "predict_then_learn": [["X", "y"]],
        "fit_stream": [["source"], ["source", "classes"]],
        "fit_encoded": [["encoder", "X", "y"]],
        "predict": [["X"]],
        # As scikit-learn's.
        "score": [["X", "y"], ["X", "y", "sample_weight"]],
    }[method]
    assert placed in allowed
