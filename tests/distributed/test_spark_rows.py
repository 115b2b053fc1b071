"""How rows of Spark become examples: no value moves into another row. No Spark runs here."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("pyspark", reason="the extra spark is not installed")
cluster = pytest.importorskip("perceptron_rs.spark.cluster")

pytestmark = pytest.mark.cluster
GOOD = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
KINDS = {
    "list": pa.list_(pa.float64()),
    "large list": pa.large_list(pa.float64()),
    "view": pa.list_view(pa.float64()),
}


def read(features, label=("a", "b", "a"), *, weight=None, kind=None, is_sequence=False):
    columns = {"features": pa.array(features, kind), "label": pa.array(label)}
    if weight is not None:
        columns["weight"] = pa.array(weight)
    names = cluster.Columns(("features",), "label", None if weight is None else "weight", is_sequence)
    whole = pa.table(columns)
    return cluster.batch_of_rows([*whole.slice(0, 2).to_batches(), *whole.slice(2).to_batches()], names)


@pytest.mark.parametrize("frame", [None, 1, "a", [[1.0]], np.eye(2), pa.table({"features": [1.0]})])
def test_what_is_no_frame_of_spark_is_refused(frame):
    with pytest.raises(TypeError, match=r"(?s)frame must be a data frame of Spark, got .*createDataFrame"):
        cluster.SparkCluster(frame, cluster.Columns(("features",), "label"))


@pytest.mark.parametrize(
    ("features", "text"),
    [
        ((), "features must name a column, got none"),
        (("x", "z"), "frame has no column 'z'; its columns are 'x', 'y', 'label'"),
        (("X",), "frame has no column 'X'"),
        (("x", "y", "x"), "column 'x' is named twice"),
        (("x", "label"), "column 'label' is named twice"),
    ],
)
def test_columns_that_a_frame_lacks_are_named(features, text):
    frame = SimpleNamespace(mapInArrow=None, columns=["x", "y", "label"])
    with pytest.raises(ValueError, match=text):
        cluster.SparkCluster(frame, cluster.Columns(features, "label"))


@pytest.mark.parametrize("kind", KINDS)
def test_lists_are_the_rows_that_they_stand_in(kind):
    batch = read(GOOD, [[1, 0], [0, 1], [1, 1]], weight=[1.0, 2.0, 3.0], kind=KINDS[kind])
    assert batch.X.tolist() == GOOD
    assert batch.y.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert batch.sample_weight.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("kind", KINDS)
def test_lists_of_other_lengths_name_their_row(kind):
    for features, row, text in (
        ([[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]], 2, "a list of 1 numbers where others have 2"),
        ([[1.0, 2.0], None, [4.0, 5.0, 6.0, 7.0]], 2, "no list"),
        ([[1.0, 2.0], [3.0, 4.0], [5.0, None]], 3, "a missing value"),
    ):
        with pytest.raises(ValueError, match=rf"^row {row}: column 'features' has {text}"):
            read(features, kind=KINDS[kind])


def test_labels_and_weights_name_their_row():
    with pytest.raises(
        ValueError, match=r"^row 2: column 'label' has a list of 1 numbers where others have 2"
    ):
        read(GOOD, [[1, 0], [1], [0, 1, 1]])
    with pytest.raises(ValueError, match=r"^row 3: column 'weight' has a missing value"):
        read(GOOD, weight=[1.0, 2.0, None])
    with pytest.raises(ValueError, match=r"^column 'weight' holds strings, not numbers"):
        read(GOOD, weight=["1", "2", "3"])
    with pytest.raises(ValueError, match=r"^column 'features' holds strings, not numbers"):
        read([["1", "2"]] * 3)


def test_tokens_have_their_own_labels():
    tokens = [[[1.0], [2.0]], [[3.0]], []]
    batch = read(tokens, [["a", "b"], ["a"], []], is_sequence=True)
    assert np.array_equal(batch.X, [[1.0], [2.0], [3.0]])
    for labels in ([["a"], ["b", "a"], []], [["a", "b"], None, ["a"]]):
        with pytest.raises(ValueError, match=r"^row \d: there must be a label for each of \d tokens"):
            read(tokens, labels, is_sequence=True)
    for odd in ([[1.0, 2.0]], [None], None):
        with pytest.raises(ValueError, match=r"^row 2: the tokens must be lists of 1 numbers"):
            read([[[1.0], [2.0]], odd, []], [["a", "b"], ["a"], []], is_sequence=True)
