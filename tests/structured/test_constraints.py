"""What no answer may hold: chunks of a scheme, or pairs. An oracle tries all label sequences."""

import re
from itertools import pairwise, product

import numpy as np
import pytest

import perceptron_rs
from perceptron_rs import SequencePerceptron, digest, load_predictor
from perceptron_rs.cli import main
from perceptron_rs.features import column_attributes

#: Sound tags of one kind as regular expressions.
SOUND = {"iob2": "(O|BI*)*", "iobes": "(O|BI*E|S)*", "bilou": "(O|BI*L|U)*"}
TAGS = {
    "iob2": ["B-x", "B-y", "I-x", "I-y", "O"],
    "iobes": ["B-x", "E-x", "I-x", "O", "S-x"],
    "bilou": ["B-x", "I-x", "L-x", "O", "U-x"],
}
PAIRS = [(None, "I-x"), ("O", "I-x"), ("B-y", None), (None, None)]


def is_sound(tags, constraints):
    if isinstance(constraints, str):
        kinds = {tag[2:] for tag in tags if tag != "O"}
        one_kind = [["O" if tag[2:] != kind else tag for tag in tags] for kind in kinds]
        inside = all(a[2:] == b[2:] for a, b in pairwise(tags) if b[0] == "I")
        sound = SOUND[constraints]
        return inside and all(re.fullmatch(sound, "".join(tag[0] for tag in part)) for part in one_kind)
    return not set(constraints) & set(zip([None, *tags], [*tags, None], strict=True))


def drawn(tags, engine="rust", **parameters):
    """Return a model with weights that contradict every scheme."""
    rng = np.random.default_rng(3)
    X = rng.integers(-3, 4, (60, 4)).astype(float)
    y = np.array([*tags, *rng.choice(tags, 60 - len(tags))])
    model = SequencePerceptron(engine=engine, max_iter=2, **parameters)
    return model.fit(X, y, lengths=[3] * 20), X


def best(model, x, constraints):
    """Return the best sound labels of a sequence, and their score."""
    e, K = x @ model.coef_.T, range(len(model.classes_))
    e[0] += model.start_
    e[-1] += model.end_
    found = []
    for path in product(K, repeat=len(x)):
        tags = model.classes_[list(path)].tolist()
        if is_sound(tags, constraints):
            score = sum(e[t, y] for t, y in enumerate(path))
            found.append((score + sum(model.transition_[a, b] for a, b in pairwise(path)), tags))
    return max(found)


@pytest.mark.parametrize("constraints", [*SOUND, PAIRS], ids=str)
def test_answers_are_the_best_that_are_sound(engine_name, constraints):
    tags = TAGS[constraints if isinstance(constraints, str) else "iob2"]
    model, X = drawn(tags, engine_name, constraints=constraints)
    free, _ = drawn(tags, engine_name)
    assert model.coef_.tobytes() == free.coef_.tobytes()
    sequences = [X[3 * i : 3 * i + 1 + i % 3] for i in range(20)]
    expected = [best(model, x, constraints) for x in sequences]
    assert [model.predict(x).tolist() for x in sequences] == [tags for _, tags in expected]
    assert [free.predict(x).tolist() for x in sequences] != [tags for _, tags in expected]
    np.testing.assert_allclose(
        [model.decode_scores(x)[0] for x in sequences], [score for score, _ in expected]
    )
    lengths = [len(x) for x in sequences]
    rows = np.concatenate(sequences)
    assert model.predict(rows, lengths=lengths).tolist() == [tag for _, tags in expected for tag in tags]
    truth = [tag for _, tags in expected for tag in tags]
    assert model.score(rows, truth, lengths=lengths) == 1.0 > free.score(rows, truth, lengths=lengths)
    for labels, _ in model.predict_k(X[:3], 20)[0]:
        assert is_sound(labels.tolist(), constraints)


def test_constraints_of_a_call_are_added(engine_name):
    model, X = drawn(TAGS["iob2"], engine_name, constraints="iob2")
    none = [(tag, None) for tag in ("O", "B-x", "I-x")]
    for row in X:
        assert model.predict(row[None], forbidden=none).tolist() == ["B-y"]
        assert model.predict(row[None], forbidden=none[1:], allowed=[{"O", "B-x"}]).tolist() == ["O"]
    with pytest.raises(ValueError, match="leave no labels for sequence 0"):
        model.predict(X[:1], forbidden=[(None, tag) for tag in TAGS["iob2"]])


def test_the_sequences_held_out_are_judged_by_what_is_answered(engine_name):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 3)), rng.choice(TAGS["iob2"], 90)
    stop = {"engine": engine_name, "early_stopping": True, "validation_fraction": 0.5, "max_iter": 1}
    scores = [
        SequencePerceptron(constraints=scheme, **stop).fit(X, y, lengths=[3] * 30).validation_scores_[0, 0]
        for scheme in (
            None,
            [(before, tag) for before in (None, "B-y") for tag in TAGS["iob2"] if tag != "B-y"],
        )
    ]
    assert scores[0] != scores[1]


@pytest.mark.parametrize(
    ("constraints", "text"),
    [
        ("bio", "'constraints' parameter"),
        ("iobes", "constraints='iobes' is about tags such as B-NP, I-NP and O, got 'B-NP', 'N'"),
        ([("N", "X")], "entry 0 of constraints names the label 'X', which is not in classes_"),
        (["NX"], "entry 0 of constraints must be a pair of labels, got 'NX'"),
        ([3], "entry 0 of constraints must be a pair of labels, got 3"),
        (5, "'constraints' parameter"),
    ],
)
def test_what_constrains_nothing_is_refused_before_the_training(constraints, text):
    model = SequencePerceptron(constraints=constraints)
    with pytest.raises(ValueError, match=text):
        model.fit(np.eye(2), ["B-NP", "N"])
    assert not hasattr(model, "classes_")
    fitted = SequencePerceptron().fit(np.eye(2), ["B-NP", "N"]).set_params(constraints=constraints)
    with pytest.raises(ValueError, match=text.replace("'constraints' parameter", "constraints")):
        fitted.predict(np.eye(2))


@pytest.mark.parametrize("constraints", ["iob2", PAIRS])
def test_files_digests_and_records_keep_them(tmp_path, constraints):
    model, X = drawn(TAGS["iob2"], constraints=constraints, audit=True)
    model.save(tmp_path / "m")
    again = perceptron_rs.load(tmp_path / "m")
    assert digest(again) == digest(model) != digest(drawn(TAGS["iob2"])[0])
    for other in (again, load_predictor(tmp_path / "m")):
        assert other.predict(X, lengths=[3] * 20).tolist() == model.predict(X, lengths=[3] * 20).tolist()


def test_the_command_has_them(capsys, tmp_path):
    words = ["Ann", "Lee", "saw", "Bob", "Ray"]
    text = "".join(
        f"{word}\t{tag}\n" for word, tag in zip(words, ["I-P", "I-P", "O", "B-P", "I-P"], strict=True)
    )
    (tmp_path / "a").write_text(text)
    (tmp_path / "new").write_text("Ann\nLee\n")
    train = ["tag-train", str(tmp_path / "a"), "--quiet", "--epochs", "20", "--model"]
    assert main([*train, str(tmp_path / "free")]) == 0
    assert main([*train, str(tmp_path / "m"), "--constraints", "iob2"]) == 0
    answers = {}
    for name, *options in (
        ("m",),
        ("free", "--constraints", "iob2"),
        ("free",),
        ("m", "--constraints", "none"),
    ):
        capsys.readouterr()
        assert main(["tag", str(tmp_path / name), str(tmp_path / "new"), "--tags-only", *options]) == 0
        answers[name, *options] = capsys.readouterr().out.split()
    sound, same, free, lifted = answers.values()
    assert sound == same != free == lifted
    assert (sound[0][0] != "I", free[0]) == (True, "I-P")
    assert load_predictor(tmp_path / "m").predict([["Ann", "Lee"]]) == [sound]
    X = [column_attributes([("Ann",), ("Lee",)])]
    assert perceptron_rs.load(tmp_path / "m").predict(X) == [sound]
    assert main(["reproduce", str(tmp_path / "m"), str(tmp_path / "a")]) == 0
