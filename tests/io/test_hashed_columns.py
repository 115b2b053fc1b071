"""Tables that are hashed column by column: the bits and the words of their rows as dictionaries."""

import random

import numpy as np
import pytest
from sklearn.feature_extraction import FeatureHasher

from perceptron_rs.arrays.csr import without_duplicates
from perceptron_rs.features.categories import Categories
from perceptron_rs.features.dictionaries import Strings, hashed_columns, hashed_dictionaries
from perceptron_rs.features.text import Words

NUMBERS = [0.0, -0.0, 1.0, -2.5, 1e300, 5e-324, float("inf"), None]
STRINGS = ["", "a", "b", "=", "naïve", "1", None]


def drawn(draw):
    n, columns, rows = draw.randrange(1, 12), {}, None
    for j in range(draw.randrange(1, 7)):
        name = draw.choice(["n", "n=a", "city", "Straße", f"f{j}"]) + "x" * j
        if draw.random() < 0.5:
            cells = [draw.choice(NUMBERS) for _ in range(n)]
            columns[name] = np.array([np.nan if c is None else c for c in cells])
        else:
            cells = [draw.choice(STRINGS) for _ in range(n)]
            values = list(dict.fromkeys([c for c in cells if c is not None] + ["never"]))
            draw.shuffle(values)
            columns[name] = Strings(np.array([-1 if c is None else values.index(c) for c in cells]), values)
        rows = [{} for _ in range(n)] if rows is None else rows
        for row, cell in zip(rows, cells, strict=True):
            if cell is not None:
                row[name] = cell
    return n, columns, rows


@pytest.mark.parametrize("seed", range(60))
def test_columns_are_hashed_as_dictionaries(seed):
    draw = random.Random(seed)
    n, columns, rows = drawn(draw)
    for n_columns in (2, 8, 1 << 20):  # with collisions, also of names with a sign each
        by_column, by_row = Words(), Words()
        found = hashed_columns(columns, n, n_columns, by_column)
        expected = hashed_dictionaries(rows, n_columns, by_row)
        for a, b in zip(found, expected, strict=True):
            assert a.tobytes() == np.asarray(b, dtype=a.dtype).tobytes()
        every = np.arange(n_columns)
        for a, b in zip(
            by_column.most_frequent(every, n_columns, 9),
            by_row.most_frequent(every, n_columns, 9),
            strict=True,
        ):
            assert a.tobytes() == b.tobytes()
        if n_columns > 8 and not any(
            np.isinf(list(row.values())).any()
            for row in rows
            if all(isinstance(v, float) for v in row.values())
        ):
            oracle = FeatureHasher(n_columns).transform(rows)
            oracle.sort_indices()
            np.testing.assert_array_equal(
                oracle.toarray()[:, found.indices[:1]], _dense(found, n_columns)[:, found.indices[:1]]
            )


def _dense(rows, n_columns):
    found = np.zeros((len(rows.indptr) - 1, n_columns))
    for i in range(len(found)):
        own = slice(rows.indptr[i], rows.indptr[i + 1])
        found[i, rows.indices[own]] = rows.data[own]
    return found


@pytest.mark.parametrize("seed", range(10))
def test_the_same_strings_are_looked_at(seed):
    _, columns, rows = drawn(random.Random(seed))
    by_column, by_row = Categories(), Categories()
    for _ in range(400):
        for name, column in columns.items():
            if isinstance(column, Strings):
                by_column.add_column(name, column)
        by_column.looked_at(len(rows))
        by_row.add(rows)
    assert by_column.is_full == by_row.is_full
    assert sorted(by_column.odd()) == sorted(by_row.odd())


def test_rows_that_are_too_wide_for_one_key_are_sorted_all_the_same():
    ends, columns, values = (
        np.array([0, 3, 5]),
        np.array([2**61, 5, 5, 2, 1]),
        np.array([1.0, 2.0, 3.0, 4.0, 5.0]),
    )
    found = without_duplicates(ends, columns, values)
    assert [part.tolist() for part in found] == [[0, 2, 4], [5, 2**61, 1, 2], [5.0, 1.0, 5.0, 4.0]]
