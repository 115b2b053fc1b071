"""The encoder of string attributes against a dict of counts."""

from __future__ import annotations

from collections import Counter
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from perceptron_rs import SequencePerceptron
from perceptron_rs.features import AttributeEncoder, vocabulary, word_attributes, word_shape

TOKENS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=6), max_size=12)


def table(encoder, X):
    """Return the rows as dicts from names to values."""
    names = {column: name for name, column in encoder.vocabulary_.items()}
    rows = X.toarray()
    return [{names[j]: row[j] for j in np.flatnonzero(row)} for row in rows]


@given(TOKENS, TOKENS, st.integers(1, 3))
def test_rows_are_counts(known, new, min_count):
    encoder = AttributeEncoder(min_count=min_count)
    counts = Counter(name for token in known for name in set(token))
    kept = [
        name for name in dict.fromkeys(name for token in known for name in token) if counts[name] >= min_count
    ]
    X = encoder.fit_transform(known)
    assert list(encoder.vocabulary_) == kept
    assert X.has_canonical_format
    assert X.shape == (len(known), len(kept))
    assert table(encoder, X) == [{k: n for k, n in Counter(token).items() if k in kept} for token in known]
    assert table(encoder, encoder.transform(new)) == [
        {k: n for k, n in Counter(token).items() if k in kept} for token in new
    ]


MIXED = st.lists(
    st.one_of(
        st.lists(st.sampled_from("abcd"), max_size=4),
        st.dictionaries(st.sampled_from("abcd"), st.sampled_from([0.5, 1.0, 3, True]), max_size=4),
    ),
    max_size=14,
)


@pytest.mark.parametrize(
    ("min_count", "text"), [(3, "min_count=3 leaves no attribute; lower it"), (1, "at least one")]
)
def test_tokens_without_an_attribute_are_refused(min_count, text):
    tokens = [["a"], ["a"]] if min_count > 1 else [[], []]
    model, encoder = SequencePerceptron(min_count=min_count), AttributeEncoder(min_count)
    for learn in (
        lambda: model.fit([tokens], [["x", "y"]]),
        lambda: model.partial_fit([tokens], [["x", "y"]], classes=["x", "y"]),
        lambda: model.fit_stream(([tokens], [["x", "y"]])),
        lambda: model.fit_encoded(encoder, encoder.fit_transform(tokens), ["x", "y"], lengths=[2]),
    ):
        with pytest.raises(ValueError, match=text):
            learn()


@pytest.mark.parametrize("kind", [list, tuple, set, frozenset])
def test_strings_in_any_collection_are_small_numbers(kind):
    X = AttributeEncoder().fit_transform([kind(["a", "b"]), kind(["b"])])
    assert X.dtype == np.int8
    assert sorted(X.toarray().sum(axis=0)) == [1, 2]


def test_counts_are_of_tokens():
    tokens = [["a", "b", "b"], ["a", "c"], ["b", "c"], ["d"], ["d", "a"]]
    assert list(AttributeEncoder(min_count=2).fit(tokens).vocabulary_) == ["a", "b", "c", "d"]
    assert list(AttributeEncoder(min_count=3).fit(tokens).vocabulary_) == ["a"]


@given(MIXED, st.integers(1, 3), st.integers(1, 5))
def test_chunks_of_tokens_are_not_seen(tokens, min_count, size):
    """Values begin in any of them, attributes are counted over all, and a name may come again in each."""
    given = [token if isinstance(token, dict) else Counter(token) for token in tokens]
    counts = Counter(name for token in tokens for name in set(token))
    kept = [name for name in dict.fromkeys(chain.from_iterable(tokens)) if counts[name] >= min_count]
    expected = [{k: float(v) for k, v in token.items() if k in kept} for token in given]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vocabulary, "CHUNK", size)
        encoder = AttributeEncoder(min_count)
        X = encoder.fit_transform(iter(tokens))
        assert (list(encoder.vocabulary_), table(encoder, X)) == (kept, expected)
        again = AttributeEncoder(min_count).fit(iter(tokens))
        assert (list(again.vocabulary_), table(again, again.transform(iter(tokens)))) == (kept, expected)
        few = AttributeEncoder(n_columns=32).fit_transform(iter(tokens))
        assert few.has_canonical_format
        assert (
            few.toarray().tolist() == AttributeEncoder(n_columns=32).fit_transform(given).toarray().tolist()
        )
        bad = [*tokens, *[[]] * 7, "word"]
        with pytest.raises(TypeError, match=f"token {len(tokens) + 7} must be a list"):
            AttributeEncoder().fit(bad)


@pytest.mark.parametrize("n", [127, 128, 300])
def test_more_duplicates_than_a_byte_holds(n):
    assert AttributeEncoder().fit_transform([["a"] * n]).toarray().tolist() == [[n]]


def test_dicts():
    encoder = AttributeEncoder()
    X = encoder.fit_transform([{"w": "x", "n": 2, "yes": True, "no": False, "f": np.float32(0.5)}, ["w=x"]])
    assert list(encoder.vocabulary_) == ["w=x", "n", "yes", "no", "f"]
    assert X.toarray().tolist() == [[1, 2, 1, 0, 0.5], [1, 0, 0, 0, 0]]


def test_hashing():
    tokens = [["a", "b", "a"], [], ["c"]]
    X = AttributeEncoder(n_columns=64).fit_transform(tokens)
    assert X.shape == (3, 64)
    assert X.toarray().sum(axis=1).tolist() == [3, 0, 1]
    assert abs(X - AttributeEncoder(n_columns=64).fit([]).transform(tokens)).nnz == 0
    assert AttributeEncoder(n_columns=64).fit_transform([]).shape == (0, 64)
    as_dicts = [Counter(token) for token in tokens]
    assert abs(X - AttributeEncoder(n_columns=64).fit_transform(as_dicts)).nnz == 0
    model = SequencePerceptron(hash_columns=64).fit([tokens[::2]], [["x", "y"]])
    assert model.n_features_in_ == 64
    assert model.predict([tokens[::2]]) == [["x", "y"]]


@pytest.mark.parametrize(
    ("tokens", "parameters", "text"),
    [
        (["word"], {}, "token 0 must be a list of strings or a dict, got 'word'"),
        ([[1]], {}, "attributes must be strings, got 1"),
        ([["a"], {1: "a"}], {}, "attributes must be strings, got 1 at token 1"),
        ([{"a": None}], {}, "attribute 'a' of token 0 must be a string, a number, a boolean, a list or set"),
        ([{"a": ["x", 1]}], {}, "attribute 'a' of token 0 must be .* got \\['x', 1\\]"),
        ([{"a": {"b": [["x"]]}}], {}, "attribute 'a:b' of token 0 must be a string"),
        ([["a"], {"a": {2: "x"}}], {}, "attributes must be strings, got 2 at token 1"),
        ([{"a": np.inf}], {}, "attribute 'a' of token 0 must be finite, got inf"),
        ([["a"]], {"min_count": 0}, "min_count must be a whole number of at least 1"),
        ([["a"]], {"n_columns": 0}, "n_columns must be a whole number from 1 to 2147483647, got 0"),
        ([["a"]], {"n_columns": 4, "min_count": 2}, "min_count must be 1 with n_columns"),
    ],
)
def test_bad_input(tokens, parameters, text):
    with pytest.raises((TypeError, ValueError), match=text):
        AttributeEncoder(**parameters).fit_transform(tokens)


@pytest.mark.parametrize("n_columns", [None, 64])
def test_what_is_no_string_is_refused_also_where_others_are_ignored(n_columns):
    encoder = AttributeEncoder(n_columns=n_columns).fit([["a", "b"]])
    for token in (["a", 1], ["a", ("w", "the")], {"a": {1: 2}}):
        with pytest.raises(TypeError, match=r"attributes must be strings, got .* at token 1"):
            encoder.transform([["a"], token])


#: What ``pycrfsuite.ItemSequence`` 0.9.12 makes of tokens (names here have = before a string's value).
CRFSUITE = [
    ({"a": 1.5, "b": True, "d": "x", "e": 3}, {"a": 1.5, "b": 1.0, "d=x": 1.0, "e": 3.0}),
    (
        {"n": {"p": "q", "r": 2, "s": {"t": True}}, "l": ["x", "y"]},
        {"n:p=q": 1.0, "n:r": 2.0, "n:s:t": 1.0, "l=x": 1.0, "l=y": 1.0},
    ),
    ({"n": {"l": ["x"], "m": {"k": {"z"}}}, "s": {"x"}}, {"n:l=x": 1.0, "n:m:k=z": 1.0, "s=x": 1.0}),
    ({"a": {}, "b": [], "d": ""}, {"d=": 1.0}),
    (["a"], {"a": 1.0}),
    (("a",), {"a": 1.0}),
    ({"a"}, {"a": 1.0}),
]


def test_attributes_are_those_of_crfsuite():
    tokens, expected = zip(*CRFSUITE, strict=True)
    encoder = AttributeEncoder()
    assert table(encoder, encoder.fit_transform(tokens)) == list(expected)


def test_shapes():
    assert [word_shape(word) for word in ("The", "U.S.", "x-ray", "1990s", "")] == [
        "Xx",
        "X.X.",
        "x-x",
        "9x",
        "",
    ]


def test_all_that_a_word_says():
    """Of itself, of its neighbours up to the window, of pairs, and of endings, in this order."""
    assert word_attributes(["The", "Cats", "ran"])[1] == [
        *("bias", "w=cats", "W=Cats", "shape=Xx", "first=C", "suf1=s", "suf2=ts", "suf3=ats", "suf4=cats"),
        *("pre1=c", "pre2=ca", "pre3=cat", "w-1=the", "w+1=ran", "w-2=<s>", "w+2=</s>"),
        *("w-1,w=the cats", "w,w+1=cats ran", "w-1,w+1=the ran", "suf-1=the", "suf+1=ran"),
    ]
    assert word_attributes(["Of", "1st"], window=0) == [
        ["bias", "w=of", "W=Of", "shape=Xx", "first=O", "suf1=f", "suf2=of", "pre1=o"],
        [
            "bias",
            "w=1st",
            "W=1st",
            "shape=9x",
            "first=1",
            "suf1=t",
            "suf2=st",
            "suf3=1st",
            "pre1=1",
            "pre2=1s",
        ],
    ]


def test_template_knows_its_neighbours():
    first, second = word_attributes(["Time", "flies"], window=1)
    assert "w+1=flies" in first
    assert "w-1=<s>" in first
    assert "w-1,w=time flies" in second
    assert word_attributes(["a"], more=lambda words, i: [f"more={words[i]}"])[0][-1] == "more=a"
    assert word_attributes([]) == []


VALUED = st.lists(
    st.one_of(
        st.lists(st.sampled_from(["a", "b=x", "c", "unknown"]), max_size=4),
        st.dictionaries(
            st.sampled_from(["a", "b", "c", "\u00e4"]),
            st.sampled_from([0.5, 1.0, 3, True, False, "x", "\u00fc", ["x"], {"d": "x"}]),
            max_size=4,
        ),
        st.sets(st.sampled_from("abc")),
    ),
    max_size=9,
)


@given(VALUED)
def test_rows_of_the_core_are_those_of_the_encoder(tokens):
    known = [["c", "b=x", "a", "\u00e4=\u00fc", "b:d=x", "b"], {"c": 2.0}]
    encoder = AttributeEncoder().fit(known)
    ends, columns, values = encoder._vocabulary().rows(tokens)
    rows = csr_matrix((values, columns, ends), shape=(len(tokens), encoder.n_columns_))
    assert (rows.toarray() == encoder.transform(tokens).toarray()).all()


def test_rows_of_the_core_are_in_order():
    encoder = AttributeEncoder().fit([["c", "b", "a=x"]])
    ends, columns, values = encoder._vocabulary().rows([["b", "new", "c"], {"a": "x", "c": 2.0}, []])
    assert [part.tolist() for part in (ends, columns, values)] == [[0, 2, 4, 4], [0, 1, 0, 2], [1, 1, 2, 1]]
    assert values.dtype == np.float64
    assert encoder._vocabulary().rows([["b"]])[2].dtype == np.int8
