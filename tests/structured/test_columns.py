"""The attributes of columns."""

import pytest

from perceptron_rs.features import column_attributes, word_attributes

TOKENS = [("the", "DT"), ("dog", "NN"), ("barks", "VB")]


def test_one_column_is_words():
    words = ["the", "dog", "barks"]
    for window in (0, 1, 2, 5):
        assert column_attributes([[word] for word in words], window=window) == word_attributes(
            words, window=window
        )


def test_other_columns():
    words = word_attributes([word for word, _ in TOKENS], window=1)
    more = [row[len(words[i]) :] for i, row in enumerate(column_attributes(TOKENS, window=1))]
    assert more == [
        ["2=DT", "2-1=<s>", "2+1=NN", "2-1,2=<s> DT", "2,2+1=DT NN"],
        ["2=NN", "2-1=DT", "2+1=VB", "2-1,2=DT NN", "2,2+1=NN VB"],
        ["2=VB", "2-1=NN", "2+1=</s>", "2-1,2=NN VB", "2,2+1=VB </s>"],
    ]
    first, _, far = column_attributes(TOKENS, window=2)
    assert "2+2=VB" in first
    assert "2-2=DT" in far
    assert "2+2=</s>" in far
    assert [row[-1] for row in column_attributes(TOKENS, window=0)] == ["2=DT", "2=NN", "2=VB"]


def test_columns_alone():
    assert column_attributes(TOKENS, kind="columns")[1] == ["bias", "1=dog", "2=NN"]


def test_empty_and_wrong():
    assert column_attributes([]) == []
    with pytest.raises(ValueError, match='kind must be "words" or "columns", got \'rows\''):
        column_attributes(TOKENS, kind="rows")
