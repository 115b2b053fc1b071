"""Lists of labels in svmlight files, as scikit-learn reads them."""

import io
import re

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import MultiLabelBinarizer

from perceptron_rs import Perceptron
from perceptron_rs.io import load_svmlight, open_svmlight

TEXT = b"""# three labels
1,3 1:0.5 2:1
 2:2 3:-1
3 qid:4 1:1  # 7,8 9:9
-2.5,1,3 4:1

1:3
1 2:1
\t3,1,1 1:2
3
"""


def test_they_are_read_as_by_scikit_learn(tmp_path):
    (tmp_path / "lists.svm").write_bytes(TEXT)
    for given in (tmp_path / "lists.svm", io.BytesIO(TEXT)):
        X, y = load_svmlight(given, multilabel=True)
        theirs, labels = load_svmlight_file(io.BytesIO(TEXT), multilabel=True)
        assert (theirs != X).nnz == 0
        assert y == labels
        assert () in y


def test_streams_learn_the_same_as_the_matrix(tmp_path, engine_name):
    (tmp_path / "lists.svm").write_bytes(TEXT * 3)
    X, y = load_svmlight(tmp_path / "lists.svm", multilabel=True)
    names = MultiLabelBinarizer().fit(y)
    options = {"max_iter": 3, "tol": None, "shuffle": False, "engine": engine_name}
    expected = Perceptron(**options).fit(X, names.transform(y))
    source = open_svmlight(tmp_path / "lists.svm", multilabel=True)
    opened = open_svmlight(tmp_path / "lists.svm", multilabel=True, labels=[3, 1, -2.5])
    for given, more in ((source, {}), (opened, {"block_size": 4}), (source, {"cache": tmp_path / "cache"})):
        model = Perceptron(**options).fit_stream(given, **more)
        assert model.classes_.tolist() == names.classes_.tolist() == [-2.5, 1.0, 3.0]
        assert model.coef_.tobytes() == expected.coef_.tobytes()
        assert model.predict(X).tolist() == expected.predict(X).tolist()


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (
            b"1,2 1:1\n1, 2:2\n",
            'line 2, column 1: "1," is not a list of labels; write finite numbers with commas',
        ),
        (b"1,2 1:1\n  a 2:2\n", 'line 2, column 3: "a" is not a list of labels'),
        (b"1,inf 1:1\n", '"1,inf" is not a list of labels'),
        (b"1,2 1:1\n1:1 2:x\n", 'line 2, column 5: "2:x"|line 2, column 7'),
        (b"1,22 1:1 b\n", 'line 1, column 10: "b"'),
    ],
)
def test_faults_are_named_where_they_stand(text, pattern):
    with pytest.raises(ValueError, match=pattern):
        load_svmlight(io.BytesIO(text), multilabel=True)


def test_what_a_stream_must_know_is_asked_for(tmp_path):
    path = tmp_path / "lists.svm"
    path.write_bytes(TEXT)
    with pytest.raises(ValueError, match="labels are for multilabel=True"):
        open_svmlight(path, labels=[1, 3])
    with pytest.raises(ValueError, match="labels must be given with multilabel"):
        open_svmlight(io.BytesIO(TEXT), multilabel=True)
    with pytest.raises(
        ValueError, match=re.escape("holds the label -2.5, which is none of the labels [1.0, 3.0]")
    ):
        Perceptron().fit_stream(open_svmlight(path, multilabel=True, labels=[1, 3]))
    path.write_bytes(b"1 1:1\n2:1\n")
    with pytest.raises(ValueError, match=r"need two labels or more, found \[1\.0\]"):
        open_svmlight(path, multilabel=True)
    model = Perceptron(max_iter=1, tol=None)
    source = open_svmlight(
        io.BytesIO(TEXT), multilabel=True, labels=[-2.5, 1, 3], n_features=4, zero_based=False
    )
    assert model.fit_stream(source).coef_.shape == (3, 4)
    assert np.isfinite(model.coef_).all()
