"""Examples, options and ways of learning row by row, of the tests of passes."""

import numpy as np
from tests.support import runs_in

rng = np.random.default_rng(11)
X = rng.standard_normal((60, 9))
X[rng.random(X.shape) < 0.4] = 0.0
NUMBER = rng.integers(0, 3, 60)
KINDS = {
    "int64": NUMBER,
    "int32": NUMBER.astype(np.int32),
    "uint8": NUMBER.astype(np.uint8),
    "float64": NUMBER.astype(np.float64),
    "str": np.array(["ham", "spam", "eggs and more"])[NUMBER],
    "object": np.array(["ham", "spam", "eggs"], dtype=object)[NUMBER],
    "bool": NUMBER > 0,
    "two": np.minimum(NUMBER, 1) * 7 - 3,
}
OPTIONS = [
    {},
    {"tie": "positive", "eta0": 0.3},
    {"fit_intercept": False},
    {"margin_threshold": 0.7, "added_feature": 0.5},
    {"max_mistakes_per_example": 1},
    {"multi_class": "joint"},
    {"multi_class": "joint", "joint_update": "proportional", "eta0": 0.1},
]


def begun(learner, y, **options):
    model = learner(**options)
    return model.partial_fit(X[:1], y[:1], classes=np.unique(y))


def one_by_one(model, rows, y, start=1, stop=None):
    for i in range(start, stop or len(y)):
        model.partial_fit(rows[i : i + 1], y[i : i + 1], check_input=False)
    return model


def by_runs(model, rows, y, start, stop):
    with runs_in(model):
        for i in range(start, stop):
            model.partial_fit(rows[i : i + 1], y[i : i + 1])
    return model
