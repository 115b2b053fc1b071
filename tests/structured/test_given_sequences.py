"""Sequences as sklearn-crfsuite takes them: empty, from generators, of one tag; and words by mistake."""

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score

from perceptron_rs import SequencePerceptron, StructuredPerceptron, load, load_predictor, reproduce
from perceptron_rs.features import AttributeEncoder, word_attributes
from perceptron_rs.io import Source, open_arrays

WORDS = [["the", "dog", "barks"], ["a", "cat"], ["dogs", "bark"], ["the", "bark"], ["a", "dog", "barks", "a"]]
TAGS = [["D", "N", "V"], ["D", "N"], ["N", "V"], ["D", "N"], ["D", "N", "V", "D"]]
X = [word_attributes(words) for words in WORDS]
#: The same with sequences that hold nothing.
GAPS = [[], X[0], X[1], [], [], X[2], X[3], X[4], []]
GAPS_TAGS = [[], TAGS[0], TAGS[1], [], [], TAGS[2], TAGS[3], TAGS[4], []]
SETTINGS = [{}, {"early_stopping": True, "validation_fraction": 0.3}, {"n_partitions": 2}, {"decode": "beam"}]


def bits(model):
    return {name: values.tobytes() for name, values in model._model.state().items()}, model.n_iter_


@pytest.mark.parametrize("settings", SETTINGS)
def test_sequences_without_tokens_teach_nothing(engine_name, settings):
    expected = SequencePerceptron(engine=engine_name, audit=True, **settings).fit(X, TAGS)
    model = SequencePerceptron(engine=engine_name, audit=True, **settings).fit(GAPS, GAPS_TAGS)
    assert bits(model) == bits(expected)
    assert model.predict(GAPS) == [[] if not s else expected.predict([s])[0] for s in GAPS]
    assert model.score(GAPS, GAPS_TAGS) == expected.score(X, TAGS)
    scores = model.decode_scores(GAPS)
    assert scores.shape == (9,)
    assert (scores[[0, 3, 4, 8]] == 0).all()
    assert scores[[1, 2, 5, 6, 7]].tolist() == expected.decode_scores(X).tolist()
    assert reproduce(expected, GAPS, GAPS_TAGS).equal


def test_they_are_left_out_by_every_path(engine_name):
    classes = ["D", "N", "V"]
    hashed = {"engine": engine_name, "hash_columns": 64}
    one, other = (SequencePerceptron(**hashed) for _ in range(2))
    for part, tags in ((slice(0, 2), slice(0, 3)), (slice(2, 5), slice(3, 9))):
        one.partial_fit(X[part], TAGS[part], classes=classes)
        other.partial_fit(GAPS[tags], GAPS_TAGS[tags], classes=classes)
    assert bits(one) == bits(other)
    assert SequencePerceptron(**hashed).predict_then_learn(GAPS, GAPS_TAGS, classes=classes)[0][0] == []
    streamed = SequencePerceptron(engine=engine_name, shuffle=False).fit_stream((GAPS, GAPS_TAGS))
    assert bits(streamed) == bits(SequencePerceptron(engine=engine_name, shuffle=False).fit(X, TAGS))
    rows, y = np.eye(3)[[0, 1, 2, 0, 1]], np.array([0, 1, 0, 0, 1])
    expected = SequencePerceptron(engine=engine_name, shuffle=False).fit(rows, y, lengths=[3, 2])
    with_gaps = SequencePerceptron(engine=engine_name, shuffle=False).fit(rows, y, lengths=[0, 3, 0, 2])
    assert bits(with_gaps) == bits(expected)
    assert (
        with_gaps.predict(rows, lengths=[3, 0, 2]).tolist() == expected.predict(rows, lengths=[3, 2]).tolist()
    )
    for source in (
        open_arrays(rows, y, None, [0, 3, 0, 2]),
        Source(batches=lambda: iter([(rows, y, None, [3, 0, 2])])),
    ):
        again = SequencePerceptron(engine=engine_name, shuffle=False).fit_stream(source)
        assert bits(again) == bits(expected)


def test_no_sequences():
    model = SequencePerceptron().fit(X, TAGS)
    assert model.predict([]) == []
    assert model.predict(iter([])) == []
    assert model.predict([[], []]) == [[], []]
    assert model.decode_scores([]).shape == (0,)
    for given in ([], [[]], [[], []]):
        with pytest.raises(ValueError, match="X must hold at least one token, got"):
            SequencePerceptron().fit(given, given)
        with pytest.raises(ValueError, match="at least one token"):
            model.score(given, given)


def test_one_tag(engine_name, tmp_path):
    tags = [["O"] * len(words) for words in WORDS]
    model = SequencePerceptron(engine=engine_name).fit(X, tags)
    assert model.predict(X) == tags
    assert (model.classes_.tolist(), model.converged_) == (["O"], True)
    model.save(tmp_path / "m")
    assert load(tmp_path / "m").predict(X) == tags
    hashed = SequencePerceptron(engine=engine_name, hash_columns=8)
    assert hashed.partial_fit(X, tags, classes=["O"]).predict(X) == tags
    assert SequencePerceptron(engine=engine_name).fit_stream((X, tags)).predict(X) == tags
    assert reproduce(model, X, tags).equal


def in_objects(items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


FORMS = {
    "generators": lambda items: (part for part in items),
    "generators of generators": lambda items: ((token for token in part) for part in items),
    "tuples": lambda items: tuple(map(tuple, items)),
    "an array of objects": in_objects,
    "a Series": pd.Series,
    "a map": lambda items: map(list, items),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms(form):
    given = FORMS[form]
    expected = SequencePerceptron().fit(X, TAGS)
    model = SequencePerceptron().fit(given(X), given(TAGS))
    assert bits(model) == bits(expected)
    assert model.predict(given(X)) == expected.predict(X)
    assert model.score(given(X), given(TAGS)) == expected.score(X, TAGS)
    hashed = [SequencePerceptron(hash_columns=32) for _ in range(2)]
    answers = [
        one.predict_then_learn(x, y, classes=["D", "N", "V"])
        for one, x, y in zip(hashed, (X, given(X)), (TAGS, given(TAGS)), strict=True)
    ]
    assert answers[0] == answers[1]
    stream = SequencePerceptron(shuffle=False).fit_stream(
        [(given(X[:2]), TAGS[:2]), (X[2:], TAGS[2:])]
        if form in ("tuples", "an array of objects", "a Series")
        else [(X, TAGS)]
    )
    assert bits(stream) == bits(SequencePerceptron(shuffle=False).fit(X, TAGS))


def test_dicts_and_attributes_from_generators():
    dicts = [[dict.fromkeys(token, True) for token in sequence] for sequence in X]
    expected = SequencePerceptron().fit(X, TAGS)
    assert bits(SequencePerceptron().fit(dicts, TAGS)) == bits(expected)
    lazy = ((iter(token) for token in sequence) for sequence in X)
    assert bits(SequencePerceptron().fit(lazy, TAGS)) == bits(expected)


def filled(items, made):
    """Give items in one list or dict, which is filled anew for each."""
    for item in items:
        made.clear()
        (made.update if isinstance(made, dict) else made.extend)(item)
        yield made


def test_generators_may_fill_the_same_list_or_dict_for_each_item():
    usual = SequencePerceptron().fit(X, TAGS)
    model = SequencePerceptron().fit(filled(X, []), filled(TAGS, []))
    assert bits(model) == bits(usual)
    for each in (model, load_predictor(model.save())):
        assert each.predict(filled(X, [])) == usual.predict(X)
    tokens = [dict.fromkeys(token, 2) for sentence in X for token in sentence]
    encoder = AttributeEncoder().fit(filled(tokens, {}))
    assert encoder.vocabulary_ == AttributeEncoder().fit(tokens).vocabulary_
    assert (encoder.transform(filled(tokens, {})) != encoder.transform(tokens)).nnz == 0


def test_cross_validation():
    """As of sklearn-crfsuite: the sequences' tags, in their order, also where all are equally long."""
    for n in (5, 4):
        some, tags = [s[:2] for s in X[:n]] if n == 4 else X, [t[:2] for t in TAGS[:n]] if n == 4 else TAGS
        found = cross_val_predict(SequencePerceptron(), some, tags, cv=n)
        expected = [
            SequencePerceptron().fit(some[:i] + some[i + 1 :], tags[:i] + tags[i + 1 :]).predict([some[i]])[0]
            for i in range(n)
        ]
        assert list(found) == expected
        assert len(cross_val_score(SequencePerceptron(), some, tags, cv=2)) == 2
    search = GridSearchCV(SequencePerceptron(), {"max_iter": [1, 2]}, cv=2).fit(X, TAGS)
    assert len(search.predict(X)) == len(X)
    predicted = search.predict(X)
    assert isinstance(predicted, list)
    assert np.asarray(predicted).shape == (5,)
    assert copy.deepcopy(predicted) == predicted


PLAIN = {
    "words": WORDS,
    "sentences": ["the dog barks", "a cat"],
    "one sentence": WORDS[0],
    "an array": np.array(["the", "dog"]),
    "a string": "the dog barks",
}


@pytest.mark.parametrize("form", PLAIN)
def test_plain_tokens_are_refused_by_a_remedy_that_works(form):
    model = SequencePerceptron().fit(X, TAGS)
    for call in (lambda: SequencePerceptron().fit(PLAIN[form], TAGS), lambda: model.predict(PLAIN[form])):
        with pytest.raises(TypeError, match=r"X = \[word_attributes\(words\) for words in sentences\]"):
            call()


@pytest.mark.parametrize("given", [[None], [[None]], [[{"a": None}]], [[["a"], None]]], ids=str)
def test_nothing_in_the_place_of_tokens_is_named(given):
    with pytest.raises(TypeError, match=r"got None"):
        SequencePerceptron().fit(given, [["A", "B"]])


def test_one_sequence_is_refused_by_a_remedy_that_works():
    dicts = [dict.fromkeys(token, True) for token in X[0]]
    with pytest.raises(TypeError, match=r"got the tokens of one; write \[X\], and \[y\]"):
        SequencePerceptron().fit(dicts, TAGS[0])
    with pytest.raises(TypeError, match=r"if X is the tokens of one sequence, write \[X\]"):
        SequencePerceptron().fit(X[0], TAGS[0])
    assert SequencePerceptron().fit([X[0]], [TAGS[0]]).predict([X[0]]) == [TAGS[0]]


def joint_feature(x, y):
    return {len(word) % 4 + 4 * tag: 1.0 for word, tag in zip(x, y, strict=True)}


def inference(x, w):
    return [int(w[4 + len(word) % 4] > w[len(word) % 4]) for word in x]


def test_other_structures_in_the_same_forms():
    """Sentences of any length, of which each word is long or short."""
    y = [[int(len(word) > 3) for word in words] for words in WORDS]
    model = StructuredPerceptron(joint_feature, inference, n_features=8)
    expected = model.fit(WORDS, y).coef_.tobytes()
    assert model.fit(iter(WORDS), iter(y)).coef_.tobytes() == expected
    assert model.predict(iter(WORDS)) == model.predict(WORDS)
    assert model.score(iter(WORDS), iter(y)) == model.score(WORDS, y)
    assert model.predict([]) == []
    found = cross_val_predict(model, WORDS, y, cv=5)
    assert [len(labels) for labels in found] == [len(words) for words in WORDS]


MIXED = {
    "integers and floats": [[2**53, 2**53 + 1], [1.0]],
    "arrays": [np.array([2**53, 2**53 + 1]), np.array([1.0])],
    "signed and unsigned": [np.array([2**53, 2**53 + 1]), np.array([1], dtype=np.uint64)],
    "objects": [np.array([2**53, 2**53 + 1], dtype=object), [np.float32(1)]],
}


@pytest.mark.parametrize("form", MIXED)
def test_labels_of_several_types_are_not_rounded(form):
    """As `common.labels` has it for all other learners."""
    X, y = [[["a"], ["b"]], [["c"]]], MIXED[form]
    classes = [1, 2**53, 2**53 + 1]
    fitted = SequencePerceptron(averaged=False).fit(X, y)
    for model in (
        fitted,
        SequencePerceptron(hash_columns=32).partial_fit(X, y, classes=classes),
        SequencePerceptron().fit_stream([(X, y)]),
        SequencePerceptron().fit_stream([(X[:1], y[:1]), (X[1:], y[1:])]),
    ):
        assert model.classes_.tolist() == classes
        assert model.classes_.dtype.kind in "iu"
    assert fitted.predict(X) == [classes[1:], classes[:1]]
    assert fitted.score(X, y) == 1.0
    wrong = [[2**53 + 1, 2**53], [1.0]]
    assert fitted.score(X, wrong) == 1 / 3
    assert fitted.score(X, [["a", "b"], ["c"]]) == 0.0


def test_labels_of_sequences_that_are_none():
    X = [[["a"], ["b"]], [["c"]]]
    with pytest.raises(ValueError, match=r"the label in row 1 \(counted from 0\) is missing"):
        SequencePerceptron().fit(X, [["a", None], ["b"]])
    with pytest.raises(ValueError, match="Unknown label type"):
        SequencePerceptron().fit(X, [["a", 1], ["b"]])


def test_tags_in_arrays_of_arrow():
    """Iterating over them gives scalars of Arrow, of which NumPy would take the codes of the characters."""
    pa = pytest.importorskip("pyarrow")
    expected = SequencePerceptron().fit(X, TAGS)
    for given in (pa.array(TAGS), [pa.array(tags) for tags in TAGS]):
        model = SequencePerceptron().fit(X, given)
        assert model.classes_.tolist() == ["D", "N", "V"]
        assert bits(model) == bits(expected)


@pytest.mark.parametrize("averaged", [True, False])
def test_columns_that_no_token_has_stay_in_weights_that_are_mixed(averaged):
    random = np.random.default_rng(0)
    rows, tags, lengths = random.integers(0, 2, (20, 6)), random.integers(0, 3, 20), [6, 4, 7, 3]
    wide = np.hstack([rows, np.zeros((20, 3), dtype=int)])
    few, more = (
        SequencePerceptron(n_partitions=2, averaged=averaged, max_iter=4).fit(X, tags, lengths=lengths)
        for X in (rows, wide)
    )
    state = more._model.state()
    assert state["emission_indptr"].tolist() == [
        *few._model.state()["emission_indptr"],
        *[state["emission_indptr"][-1]] * 3,
    ]
    assert more.predict(wide, lengths=lengths).tolist() == few.predict(rows, lengths=lengths).tolist()


def test_an_attribute_that_cannot_be_hashed_is_named():
    """Lone surrogates have no UTF-8; names that are not hashed may have them."""
    bad = [[["w=\ud800x"], ["b"]]]
    assert SequencePerceptron().fit(bad, [["A", "B"]]).predict(bad) == [["A", "B"]]
    model = SequencePerceptron(hash_columns=16).fit([[["a"], ["b"]]], [["A", "B"]])
    for call in (lambda: model.predict(bad), lambda: model.fit(bad, [["A", "B"]])):
        with pytest.raises(ValueError, match=r"^X holds an attribute that is not valid Unicode: .*\\ud800"):
            call()
