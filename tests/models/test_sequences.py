"""Taggers in model files: the same bits come back, and what is unsound is refused."""

import numpy as np
import pytest
from tests.support import bits

import perceptron_rs
from perceptron_rs import SequencePerceptron
from perceptron_rs.models.container import pack, unpack

from .conftest import at, change

X = [[["w=the"], ["w=dog"], ["w=b\u00e4rks \ud800"]], [["w=the"], ["w=bark"]]]
Y = [["D", "N", "V"], ["D", "N"]]
KINDS = [
    {},
    {"hash_columns": 30},  # a lone surrogate cannot be hashed
    {"transition_features": True},
    {"min_count": 2},
    {"early_stopping": True, "validation_fraction": 0.4},
    {"averaged": False, "decode": "beam", "beam_width": 2, "update": "max_violation"},
]


def same(a, b):
    """Whether two fitted estimators are equal in all they hold, by bits."""
    held, other = ({**each.__getstate__()} for each in (a, b))
    encoders = [each.pop("encoder_", None) for each in (held, other)]
    assert bits(held) == bits(other)
    if encoders != [None, None]:
        assert vars(encoders[0]) == vars(encoders[1])
    assert bits(a.predictor_) == bits(b.predictor_)


@pytest.mark.parametrize("parameters", KINDS)
def test_attributes(tmp_path, parameters):
    if "hash_columns" in parameters:
        tokens = [[[name.replace("\ud800", "") for name in token] for token in sequence] for sequence in X]
    else:
        tokens = X
    model = SequencePerceptron(**parameters).fit(tokens, Y)
    model.save(tmp_path / "m")
    again = perceptron_rs.load(tmp_path / "m")
    same(model, again)
    assert again.predict(tokens) == model.predict(tokens)
    again.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()


@pytest.mark.parametrize("labels", [[0, 1, 0, 0, 1], ["a", "b", "a", "a", "b"], [0.0, 1.0, 0.0, 0.0, 1.0]])
def test_matrices(tmp_path, labels):
    rows, labels = np.eye(3)[[0, 1, 2, 0, 1]], np.array(labels)
    model = SequencePerceptron().fit(rows, labels, lengths=[3, 2])
    model.save(tmp_path / "m")
    same(model, perceptron_rs.load(tmp_path / "m"))


def test_minus_zero_becomes_zero(tmp_path):
    model = SequencePerceptron().fit(X, Y)
    data = model._model["emission_data"].copy()
    data[0] = -0.0
    model._publish(model._model.state() | {"emission_data": data})
    model.save(tmp_path / "m")
    found = perceptron_rs.load(tmp_path / "m")._model["emission_data"]
    assert found.tobytes() == (data + 0.0).tobytes()


def test_a_new_fit_forgets_the_template(tmp_path):
    model = SequencePerceptron().fit(X, Y)
    model.template_ = {"kind": "words", "window": 2, "columns": 1}
    model.save(tmp_path / "m")
    again = perceptron_rs.load(tmp_path / "m")
    assert again.template_ == model.template_
    assert not hasattr(again.fit(X, Y), "template_")


def test_what_cannot_be_saved(tmp_path):
    model = SequencePerceptron().fit(X, Y)
    model._publish(model._model.state() | {"start": np.array([0.0, np.nan, 1.0])})
    with pytest.raises(ValueError, match="the tensor start holds a NaN or an infinity; fit again"):
        model.save(tmp_path / "m")
    with pytest.raises(ValueError, match="RandomState"):
        SequencePerceptron(random_state=np.random.RandomState(0)).fit(X, Y).save(tmp_path / "m")
    with pytest.raises(ValueError, match="not fitted"):
        SequencePerceptron().save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def put(**parts):
    return lambda document, tensors: tensors.update(parts)


UNSOUND = [
    (lambda document, tensors: tensors.pop("emission_data"), "emission_data is missing"),
    (change("emission_data", at(0, np.inf)), "NaN or an infinity"),
    (change("emission_data", lambda a: a[1:]), "emission_data has the shape"),
    (change("emission_data", lambda a: a.astype(np.float32)), "must be of float64"),
    (change("emission_indices", at(0, 3)), "from 0 to 2"),
    (change("emission_indices", at(0, -1)), "counts of at most"),
    (change("emission_indices", lambda a: a * 0), "must rise within each row"),
    (change("emission_indptr", at(0, 1)), "does not divide"),
    (change("emission_indptr", at(1, 99)), "does not divide"),
    (change("emission_indptr", at(-1, 99)), "does not divide"),
    (change("emission_indptr", lambda a: a[:0]), "emission_indptr has the shape"),
    (change("transition", lambda a: a[1:]), "transition has the shape"),
    (change("start", at(0, np.nan)), "NaN or an infinity"),
    (lambda document, tensors: tensors.pop("start_u"), "start_u is missing"),
    (change("emission_data_u", at(0, np.inf)), "NaN or an infinity"),
    (change("emission_indptr_u", lambda a: np.append(a, a[-1])), "has the shape"),
    (
        put(pair_indptr=np.zeros(5, np.int64), pair_indices=np.zeros(0, np.int32), pair_data=np.zeros(0)),
        "pair_indptr_u is missing",
    ),
    (lambda document, tensors: [at(0, 1e308)(tensors[f"emission_data{u}"]) for u in ("", "_u")], "average"),
    (change("token_errors_per_epoch", lambda a: a[1:]), "token_errors_per_epoch has the shape"),
    (change("token_errors_per_epoch", lambda a: a - 99), "counts of at most"),
    (change("vocabulary", at(0, 0xFF)), "is not UTF-8"),
    (change("vocabulary_ends", at(0, 99)), "does not divide the vocabulary"),
    (change("vocabulary_ends", lambda a: a[1:]), "vocabulary_ends has the shape"),
    (change("vocabulary", lambda a: a[1:]), "does not divide the vocabulary"),
    (put(more=np.zeros(1)), "unknown tensor 'more'"),
    (lambda document, tensors: tensors.pop("seen"), "seen is missing"),
    (lambda document, tensors: document["history"].update(n_iter=True), "history must hold"),
    (lambda document, tensors: document.pop("encoder"), "unknown tensor 'vocabulary'"),
    (lambda document, tensors: document["encoder"].update(n_columns=7), "different numbers of columns"),
    (lambda document, tensors: document["encoder"].update(n_columns="7"), "must hold counts"),
    (lambda document, tensors: document.update(encoder=[]), "encoder must hold"),
    (lambda document, tensors: document.update(template={"kind": "words"}), "template must hold"),
    (
        lambda document, tensors: document.update(template={"kind": "words", "window": 101, "columns": 1}),
        "template must hold",
    ),
    (
        lambda document, tensors: document["parameters"].update(update="early"),
        "decode='viterbi' is not available with update='early'",
    ),
    (lambda document, tensors: document.update(surprise=1), "unknown part 'surprise'"),
]


@pytest.mark.parametrize(("spoil", "message"), UNSOUND)
def test_unsound_files(tmp_path, spoil, message):
    SequencePerceptron().fit(X, Y).save(tmp_path / "m")
    document, tensors = unpack(tmp_path / "m")
    spoil(document, tensors)
    (tmp_path / "m").write_bytes(pack(document, tensors))
    with pytest.raises(ValueError, match="cannot load") as caught:
        perceptron_rs.load(tmp_path / "m")
    assert message in str(caught.value)


def test_a_number_of_columns_takes_no_memory(tmp_path):
    """A forged file may say any."""
    SequencePerceptron().fit([[["bias"]]], [["A"]]).save(tmp_path / "m")
    document, tensors = unpack(tmp_path / "m")
    document["template"] = {"kind": "columns", "window": 0, "columns": 2**40}
    (tmp_path / "m").write_bytes(pack(document, tensors))
    for load in (perceptron_rs.load, perceptron_rs.load_predictor):
        with pytest.raises(ValueError, match=f"has tokens of 1 columns, but the model reads {2**40}"):
            load(tmp_path / "m").predict([["word"]])


def test_a_name_twice_in_the_vocabulary(tmp_path):
    SequencePerceptron().fit([[["a"], ["b"]]], [["A", "B"]]).save(tmp_path / "m")
    document, tensors = unpack(tmp_path / "m")
    tensors["vocabulary"][:] = ord("a")
    (tmp_path / "m").write_bytes(pack(document, tensors))
    with pytest.raises(ValueError, match="different numbers of columns"):
        perceptron_rs.load(tmp_path / "m")


def test_other_learners_have_no_encoder(tmp_path):
    perceptron_rs.Perceptron().fit([[0], [1]], [0, 1]).save(tmp_path / "m")
    document, tensors = unpack(tmp_path / "m")
    (tmp_path / "m").write_bytes(pack(document | {"encoder": {}}, tensors))
    with pytest.raises(ValueError, match="unknown part 'encoder'"):
        perceptron_rs.load(tmp_path / "m")
