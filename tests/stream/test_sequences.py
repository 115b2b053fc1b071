"""Sequences over blocks: matrices with lengths, lists of attributes, and files of columns."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from sklearn.base import clone

from perceptron_rs import SequencePerceptron, digest, reproduce
from perceptron_rs.features import column_attributes, word_attributes
from perceptron_rs.io import Source, open_sentences

rng = np.random.default_rng(21)
LENGTHS = rng.integers(1, 6, 30)
X = rng.integers(-2, 3, (LENGTHS.sum(), 4)).astype(np.float64)
Y = rng.integers(0, 3, LENGTHS.sum())
WORDS = [[f"w{rng.integers(9)}" for _ in range(n)] for n in LENGTHS]
TAGS = [["NVD"[int(word[1:]) % 3] for word in words] for words in WORDS]
ATTRIBUTES = [word_attributes(words, window=1) for words in WORDS]
SHORT = {"max_iter": 3, "shuffle": False}
LEARNERS = [
    SequencePerceptron(**SHORT),
    SequencePerceptron(**SHORT, transition_features=True, averaged=False),
    SequencePerceptron(**SHORT, decode="beam", beam_width=2, update="max_violation"),
]


def story(model):
    return (
        digest(model),
        model.sequence_errors_per_epoch_.tolist(),
        model.token_errors_per_epoch_.tolist(),
        model.loss_curve_,
        model.n_seen_,
    )


def test_batches_in_a_list_are_read_once():
    source = Source(batches=lambda: [(ATTRIBUTES, TAGS)], again=False)
    model = SequencePerceptron(max_iter=1, shuffle=False, hash_columns=64)
    assert model.fit_stream(source, classes=["D", "N", "V"]).n_seen_ == len(LENGTHS)


@pytest.mark.parametrize("learner", LEARNERS)
def test_blocks_change_no_bit(learner, engine_name):
    model = clone(learner).set_params(engine=engine_name)
    expected = clone(model).fit(X, Y, lengths=LENGTHS)
    for size in (1, 7, 100):
        found = clone(model).fit_stream((X, Y, None, LENGTHS), block_size=size)
        assert story(found) == story(expected)
        assert vars(found).keys() == vars(expected).keys()


@pytest.mark.parametrize("hashed", [None, 64])
def test_attributes_are_encoded_as_by_fit(hashed, are_few, tmp_path):
    model = SequencePerceptron(**SHORT, hash_columns=hashed)
    expected = clone(model).fit(ATTRIBUTES, TAGS)
    source = Source(batches=lambda: iter([(ATTRIBUTES[:11], TAGS[:11]), (ATTRIBUTES[11:], TAGS[11:])]))
    for options in ({"block_size": 4}, {"cache": tmp_path / "cache"}):
        found = clone(model).fit_stream(source, **options)
        assert story(found) == story(expected)
        assert found.predict(ATTRIBUTES) == expected.predict(ATTRIBUTES)
    assert story(clone(model).fit_stream((ATTRIBUTES, TAGS))) == story(expected)
    halves = [(ATTRIBUTES[:11], TAGS[:11]), ([], []), (ATTRIBUTES[11:], TAGS[11:])]
    for batches in (halves, [([], []), *halves]):
        assert story(clone(model).fit_stream(batches)) == story(expected)
    once = iter(source.batches())
    if hashed is None:
        with pytest.raises(ValueError, match="set hash_columns"):
            clone(model).fit_stream(once)
    else:
        found = clone(model).set_params(max_iter=1).fit_stream(once, classes=["D", "N", "V"])
        assert found.n_seen_ == len(TAGS)


@pytest.mark.parametrize("suffix", ["tsv", "tsv.gz"])
def test_files_of_columns(tmp_path, suffix):
    sentences = [
        "".join(f"{word}\tx\t{tag}\n" for word, tag in zip(words, tags, strict=True))
        for words, tags in zip(WORDS, TAGS, strict=True)
    ]
    for number, part in enumerate((sentences[:13], sentences[13:])):
        text = "\n".join(part).encode()
        path = tmp_path / f"part-{number}.{suffix}"
        path.write_bytes(gzip.compress(text, 1, mtime=0) if "gz" in suffix else text)
    tokens = [column_attributes([(word, "x") for word in words]) for words in WORDS]
    expected = SequencePerceptron(**SHORT).fit(tokens, TAGS)
    source = open_sentences(tmp_path / f"*.{suffix}", attributes=column_attributes)
    assert story(SequencePerceptron(**SHORT).fit_stream(source, block_size=5)) == story(expected)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (b"a\tN\nb\n", r"bad: line 2 has 1 columns, but the lines before have 2"),
        (b"a\n", r"bad: line 1 has 1 columns, but it needs, with the tag, 2"),
        (b"a\tN\n# b\tN\tx\n", r"line 2 has 3 .*; if the line that begins with '# b' is a comment"),
        (b"#c d e\na N\n", r"bad: line 2 has 2 .*; if the line that begins with '#c' is a comment"),
        (b"a N\nb \xff\n", r"bad, line 2: is not UTF-8"),
        (b"a\tN\nb\t\n", r"bad: line 2 has an empty column 2; fill it"),
        (b"a N\rb N\r", r"bad: line 1 has a carriage return within; end lines by line feeds"),
        (b"\n\n", "contains no examples"),
    ],
)
def test_bad_files(tmp_path, text, error):
    (tmp_path / "bad").write_bytes(text)
    with pytest.raises(ValueError, match=error):
        SequencePerceptron().fit_stream(open_sentences(tmp_path / "bad", attributes=column_attributes))


def test_a_run_goes_on(tmp_path):
    class StoppedError(Exception):
        pass

    def source(stop_at):
        def batches():
            for first in range(0, 30, 5):
                taken.append(first)
                if len(taken) == stop_at:
                    raise StoppedError
                yield ATTRIBUTES[first : first + 5], TAGS[first : first + 5]

        taken = []
        return Source(batches=batches)

    model = SequencePerceptron(**SHORT)
    options = {"checkpoint": tmp_path / "run", "checkpoint_every": 0, "resume": True, "block_size": 5}
    with pytest.raises(StoppedError):
        clone(model).fit_stream(source(17), **options)
    assert story(clone(model).fit_stream(source(None), **options)) == story(
        clone(model).fit(ATTRIBUTES, TAGS)
    )


def test_what_is_refused():
    with pytest.raises(ValueError, match="early_stopping=True is not available"):
        SequencePerceptron(early_stopping=True).fit_stream((X, Y, None, LENGTHS))
    with pytest.raises(ValueError, match=r"must be .X, y, None, lengths."):
        SequencePerceptron().fit_stream((X, Y))
    with pytest.raises(ValueError, match=r"must be .X, y, None, lengths."):
        SequencePerceptron().fit_stream((X, Y, np.ones(len(Y)), LENGTHS))
    with pytest.raises(ValueError, match="lengths must add up"):
        SequencePerceptron().fit_stream((X, Y, None, LENGTHS[1:]))
    with pytest.raises(ValueError, match="lengths must be a vector of whole numbers"):
        SequencePerceptron().fit_stream([(X[:4], Y[:4], None, [1.5, 3.5])])
    with pytest.raises(ValueError, match=r"must be \(X, y\), without sample_weight"):
        SequencePerceptron().fit_stream((ATTRIBUTES, TAGS, np.ones(len(TAGS))))
    with pytest.raises(ValueError, match="y must be a list with a list of labels"):
        SequencePerceptron().fit_stream((ATTRIBUTES, None))
    model = SequencePerceptron(**SHORT, warm_start=True).fit(ATTRIBUTES, TAGS)
    with pytest.raises(ValueError, match=r"the classes \['D', 'N', 'V'\], but classes is \['D', 'N'\]"):
        model.fit_stream((ATTRIBUTES, TAGS), classes=["D", "N"])
    model.fit_stream((ATTRIBUTES, TAGS), classes=["V", "N", "D"])
    with pytest.raises(ValueError, match="X contains NaN"):
        SequencePerceptron().fit_stream((np.where(X > 1, np.nan, X), Y, None, LENGTHS), block_size=7)


def test_a_checkpoint_knows_its_start_and_its_attributes(tmp_path):
    options = {"checkpoint": tmp_path / "run", "resume": True, "block_size": 5}
    warm = SequencePerceptron(**SHORT, warm_start=True, audit=True).fit(ATTRIBUTES[:10], TAGS[:10])
    again, other = clone(warm).fit(ATTRIBUTES[:10], TAGS[:10]), clone(warm).fit(ATTRIBUTES[5:25], TAGS[5:25])
    warm.fit_stream((ATTRIBUTES, TAGS), **options)
    again.fit_stream((ATTRIBUTES, TAGS), **options)
    assert story(again) == story(warm)
    for model in (other, clone(warm).set_params(warm_start=False)):
        with pytest.raises(ValueError, match="is of another run: "):
            model.fit_stream((ATTRIBUTES, TAGS), **options)
    ended = {"checkpoint": tmp_path / "ended", "resume": True, "block_size": 5}
    model = SequencePerceptron(**SHORT, audit=True)
    clone(model).set_params(callback=lambda record: True).fit_stream((ATTRIBUTES, TAGS), **ended)
    goes_on = clone(model).fit_stream((ATTRIBUTES, TAGS), **ended)
    assert story(goes_on) == story(clone(model).fit(ATTRIBUTES, TAGS))
    assert reproduce(goes_on, ATTRIBUTES, TAGS)


@pytest.mark.parametrize(
    ("names", "others"),
    [(["a", "b"], ["b", "a"]), (["a", "b"], ["a", "c"]), (["a\0b", "c"], ["a", "b\0c"])],
)
def test_a_checkpoint_of_other_attributes_in_the_same_columns_is_refused(names, others, tmp_path):
    def given(names):
        return [[[name] for name in names]] * 2, [["D", "N"]] * 2

    options = {"checkpoint": tmp_path / "run", "resume": True}
    SequencePerceptron(max_iter=1).fit_stream(given(names), **options)
    with pytest.raises(ValueError, match="is of another run: reading"):
        SequencePerceptron(max_iter=2).fit_stream(given(others), **options)
