"""Columns of lists, views and codes, as polars and Arrow write them: a wrong value names its row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest

from perceptron_rs import Perceptron
from perceptron_rs.io import open_arrow

LABELS = ["a", "b", "a", "b"]
NUMBERS = pa.array([5.0, 6.0, 3.0, 4.0, 1.0, 2.0])
PAIRS = pa.array([[1.0, 2.0], [3.0, 4.0]])
GOOD = {
    "views": pa.ListViewArray.from_arrays([4, 2, 0], [2, 2, 2], NUMBERS),
    "large views": pa.LargeListViewArray.from_arrays([4, 2, 0], [2, 2, 2], NUMBERS),
    "a slice of views": pa.ListViewArray.from_arrays([0, 4, 2, 0], [1, 2, 2, 2], NUMBERS).slice(1),
    "a slice of fixed lists": pa.array([[0, 0], [1, 2], [3, 4], [5, 6]], pa.list_(pa.float64(), 2)).slice(1),
    "a slice of lists": pa.array([[9.0], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]).slice(1),
}


def rows(column):
    table = pa.table({"e": column, "y": LABELS[: len(column)]})
    return np.concatenate([batch.X for batch in open_arrow(table, target="y").batches()]).tolist()


@pytest.mark.parametrize("name", GOOD)
def test_lists_of_any_kind_are_rows(name):
    assert rows(GOOD[name]) == [[1, 2], [3, 4], [5, 6]]


def test_lists_that_overlap_or_are_codes():
    assert rows(pa.ListViewArray.from_arrays([0, 0, 1], [2, 2, 2], NUMBERS)) == [[5, 6], [5, 6], [6, 3]]
    assert rows(pa.DictionaryArray.from_arrays([1, 0, 1], PAIRS)) == [[3, 4], [1, 2], [3, 4]]


def test_values_in_runs_are_read_as_fit_reads_them():
    def runs(values):
        return pa.RunEndEncodedArray.from_arrays(pa.array([2, 5], pa.int32()), pa.array(values)).slice(1)

    table = pa.table({"x": runs([1.5, -2.0]), "y": runs(["a", "b"])})
    model = Perceptron(max_iter=3, tol=None, shuffle=False)
    expected = model.fit(table.select(["x"]), table["y"]).coef_
    assert model.fit_stream(open_arrow(table, target="y")).coef_.tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match="row 2: column 'x' has a missing value"):
        model.fit_stream(open_arrow(table.set_column(0, "x", runs([1.5, None])), target="y"))


def test_values_in_runs_of_pandas_are_named():
    """pandas makes no array of them."""
    numbers = pa.RunEndEncodedArray.from_arrays(pa.array([2, 4], pa.int32()), pa.array([1.0, -1.0]))
    words = pa.RunEndEncodedArray.from_arrays(pa.array([2, 4], pa.int32()), pa.array(["a", "b"]))
    x, y = (pd.Series(pd.array(array, dtype=pd.ArrowDtype(array.type))) for array in (numbers, words))
    model = Perceptron(max_iter=3, tol=None, shuffle=False)
    assert model.fit(np.eye(4), y).classes_.tolist() == ["a", "b"]
    with pytest.raises(TypeError, match=r"^X holds what makes no array, run_end_encoded.*; decode it first"):
        model.fit(pd.DataFrame({"x": x}), y)
    with pytest.raises(TypeError, match=r"^sample_weight holds what makes no array, run_end_encoded"):
        model.fit(np.eye(4), y, sample_weight=x)


@pytest.mark.parametrize("kind", [pa.list_, pa.large_list, pa.list_view, pa.large_list_view])
def test_wrong_lists_name_their_row(kind):
    for lists, text in (
        ([[1.0, 2.0], [3.0, 4.0], [5.0]], "row 3: column 'e' has a list of 1 numbers where others have 2"),
        ([[1.0, 2.0], None, [5.0, 6.0, 7.0]], "row 2: column 'e' has no list"),
        ([[1.0, 2.0], [3.0, 4.0], [5.0, None]], "row 3: column 'e' has a missing value"),
    ):
        with pytest.raises(ValueError, match=text):
            rows(pa.array(lists, kind(pa.float64())))


def test_codes_of_wrong_lists_name_their_row():
    with pytest.raises(ValueError, match="row 2: column 'e' has no list"):
        rows(pa.DictionaryArray.from_arrays(pa.array([0, None]), PAIRS))
    with pytest.raises(ValueError, match="row 2: column 'e' has a list of 1 numbers where others have 2"):
        rows(pa.DictionaryArray.from_arrays([0, 1], pa.array([[1.0, 2.0], [3.0]])))


@pytest.mark.parametrize("values", [[[1.0, 2.0], [3.0], [4.0, 5.0]], [[1.0], None, [2.0, 3.0]]])
def test_wrong_sparse_rows_name_their_row(values):
    table = pa.table({"indices": [[0, 1] if i == 0 else [0] for i in range(3)], "values": values})
    row = 3 if values[1] else 1
    with pytest.raises(ValueError, match=rf"row {row}: indices and values must have lists of the same len"):
        next(open_arrow(table.append_column("y", pa.array(LABELS[:3])), target="y").batches())


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["b", "a"]), pl.String])
def test_categories_of_polars_are_read_by_value(kind, tmp_path):
    part = pl.DataFrame({"v": [1.0, -2.0, 3.0, -4.0], "y": pl.Series(LABELS, dtype=kind)})
    table = pl.concat([part, part], rechunk=False)
    table.write_ipc(tmp_path / "x.arrow")
    expected = Perceptron(shuffle=False).fit(table.select("v"), [*LABELS, *LABELS])
    column = pa.table(part)["y"].chunk(0)  # codes of views, of which Arrow makes no array
    for model in (
        Perceptron(shuffle=False).fit_stream(open_arrow(table, target="y")),
        Perceptron(shuffle=False).fit_stream(open_arrow(tmp_path / "x.arrow", target="y")),
        Perceptron(shuffle=False).fit(table.select("v"), pa.concat_tables([pa.table(part)] * 2)["y"]),
    ):
        assert model.classes_.tolist() == ["a", "b"]
        assert model.coef_.tobytes() == expected.coef_.tobytes()
    assert Perceptron().fit(part.select("v"), column).classes_.tolist() == ["a", "b"]


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["b", "a"]), pl.String])
def test_categories_of_polars_are_no_features(kind):
    table = pl.DataFrame({"v": pl.Series(LABELS, dtype=kind), "y": LABELS})
    with pytest.raises(ValueError, match=r"column 'v' holds strings, not numbers; .*drop=\['v'\]"):
        Perceptron().fit_stream(open_arrow(table, target="y"))
    with pytest.raises(TypeError, match=r"data must hold values, got a LazyFrame.* collect\(\)"):
        open_arrow(table.lazy(), target="y")


def test_a_row_of_another_length_in_lists_of_lists():
    with pytest.raises(ValueError, match=r"X has inhomogeneous rows: row 1 .* is \[3\]"):
        Perceptron().fit([[1, 2], [3]], [0, 1])
