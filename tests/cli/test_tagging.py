"""What a tagger keeps of its file, and how later files are read: separator, columns, empty lines, headers."""

import pytest

import perceptron_rs
from perceptron_rs.features import column_attributes

from .test_tag import TAGS, WORDS, lines

PLACES = "New York\tL\n1 000\tN\nis\tV\n\nis\tV\nNew York\tL\n"
CONLL_U = "# text = a\n" + "".join(
    f"{i}\t{word}\t_\t{tag}\tX{i}" + "\t_" * 5 + "\n"
    for i, (word, tag) in enumerate([("the", "D"), ("dog", "N")], 1)
)
CLEAN = ("--epochs", 100, "--no-average")


def test_tokens_with_blanks_are_read_as_in_the_training(call, trained, stdin):
    model = trained(PLACES, *CLEAN)
    stdin(b"New York\n# a comment\n#\n\nis\n1 000\n")
    answer = call("tag", model)
    assert answer.out.startswith("New York\tL\n# a comment\n#\t")
    assert [line.split("\t")[0] for line in answer.out.splitlines()[4:]] == ["is", "1 000", ""]
    blanks = trained("the D\ndog N\n", name="blanks")
    stdin(b"the dog\n")
    assert "line 1 has 2 columns, but the model reads 1" in call("tag", blanks).err


def test_blanks_that_may_separate_columns_are_warned_of(call, trained, stdin):
    model = trained(lines(WORDS, TAGS))
    for text in ("the D\ndog N\n", "the dog barks\n"):
        stdin(text.encode())
        first = text.splitlines()[0]
        assert f"has no tab, so {first!r} is read as one token, as tabs separated" in call("tag", model).err


def test_conll_u_is_parts_of_speech_of_words(call, trained, tmp_path, stdin):
    (tmp_path / "a.conllu").write_text(CONLL_U)
    said = call("tag-train", tmp_path / "a.conllu", "--model", tmp_path / "m", "--quiet", *CLEAN)
    assert "\nCoNLL-U   tags of column 4 (UPOS), words of column 2; --tag-column and --columns na" in said.out
    named = trained(CONLL_U, "--tag-column", 4, "--columns", 2, *CLEAN, name="named")
    model, same = perceptron_rs.load(tmp_path / "m"), perceptron_rs.load(named)
    assert model.template_ == same.template_
    assert model.coef_.tobytes() == same.coef_.tobytes()
    other = perceptron_rs.load(trained(CONLL_U, "--tag-column", 5, name="other"))
    assert (other.classes_.tolist(), other.template_["positions"]) == (["X1", "X2"], [2])
    stdin(CONLL_U.encode())
    assert call("tag", tmp_path / "m").out == f"{CONLL_U}\n"


def test_plain_words_are_tagged_by_a_model_of_one_column(call, refused, trained, stdin, tmp_path):
    model = trained(CONLL_U, *CLEAN)
    stdin(b"the\ndog\n")
    assert call("tag", model).out == "the\tD\ndog\tN\n\n"
    (tmp_path / "two").write_text("x\tthe\nx\tdog\n")
    assert call("tag", model, tmp_path / "two", "--tags-only").out == "D\nN\n\n"
    (tmp_path / "first").write_text("the\tD\ndog\tV\n")
    named = ("--columns", 1, "--tag-column", 2)
    assert call("tag", model, tmp_path / "first", *named).out == "the\tD\ndog\tN\n\n"
    assert call("tag-evaluate", model, tmp_path / "first", *named, "--json").json["token_errors"] == 1
    assert "--columns must name as many columns as the model reads, 1, got 2" in refused(
        "tag", model, tmp_path / "two", "--columns", "1,2", status=2
    )


def test_empty_lines_stay(call, trained, stdin):
    model, text = trained(lines(WORDS, TAGS), *CLEAN), "\n\nthe\ndog\n\n\n \n# it\n\na\n\n\n"
    stdin(text.encode())
    out = call("tag", model).out
    assert [line.partition("\t")[0] for line in out.splitlines()] == [
        line.strip() for line in text.splitlines()
    ]
    stdin(text.replace("# it\n\n", "").encode())
    assert call("tag", model, "--tags-only").out == "\n\nD\nN\n\n\n\nD\n\n\n"


@pytest.mark.parametrize("header", ["token\ttag", "Word\tPOS", "id\tform\tupos"])
def test_a_header_is_no_token(refused, tmp_path, header):
    (tmp_path / "a.tsv").write_text(f"\n{header}\n")
    text = refused("tag-train", tmp_path / "a.tsv", "--model", tmp_path / "m")
    assert f"line 2 holds the names of columns, {header.split(chr(9))[0]!r}" in text
    assert text.endswith("and no example; remove it, for instance by tail -n +3")


@pytest.mark.parametrize("header", ["label\ttext", "text\tlabel", "Category\tMessage"])
def test_a_header_is_no_text(refused, tmp_path, header):
    (tmp_path / "a.txt").write_text(f"{header}\nspam\tbuy now\nham\tsee you\n")
    text = refused("train", tmp_path / "a.txt", "--text", "--model", tmp_path / "m")
    assert "a.txt: line 1 holds the names of columns" in text


def test_a_column_of_tags_is_to_be_named(refused, trained, tmp_path):
    model = trained(lines(WORDS, TAGS))
    text = refused("tag", model, tmp_path / "m.txt")
    assert text.endswith(
        "the model reads 1; if one of them is the tag, name it by --tag-column N (2: the last; 3: a new one)"
    )
    assert refused("reproduce", model, tmp_path / "m.txt", "--tag-column", 3).endswith("with the tag, 3")


def test_words_alone_for_a_model_that_reads_more(refused, trained, tmp_path):
    model = trained(lines(TAGS, WORDS, TAGS), "--columns", "2,1")
    (tmp_path / "new").write_text(lines(WORDS))
    assert refused("tag", model, tmp_path / "new").endswith("to tag words alone, train with --columns 2")


@pytest.mark.parametrize("load", [perceptron_rs.load, perceptron_rs.load_predictor])
@pytest.mark.parametrize("options", [(), ("--columns", "3,1", "--tag-column", 2), ("--template", "columns")])
def test_predictors_take_what_the_command_reads(call, trained, tmp_path, load, options):
    ends = [[word[-1] for word in words] for words in WORDS]
    tag_within = "--tag-column" in options
    model = load(trained(lines(WORDS, *([TAGS, ends] if tag_within else [ends, TAGS])), *options))
    columns = [WORDS, TAGS, ends] if tag_within else [WORDS, ends]
    (tmp_path / "new").write_text(lines(*columns))
    found = call("tag", tmp_path / "m", tmp_path / "new", "--tags-only").out
    X = [list(zip(*sentence, strict=True)) for sentence in zip(*columns, strict=True)]
    assert "".join("".join(f"{tag}\n" for tag in tags) + "\n" for tags in model.predict(X)) == found
    assert [tags for ((tags, _),) in model.predict_k(X, 1)] == model.predict(X)
    with pytest.raises(ValueError, match="tokens of 1 columns, but the model reads 2; give a sentence as"):
        model.predict(WORDS)


@pytest.fixture
def tagger(trained):
    return perceptron_rs.load(trained(lines(WORDS, TAGS)))


def test_words_are_a_sentence(tagger):
    expected = tagger.predict([column_attributes([(word,) for word in words]) for words in WORDS])
    for X in (WORDS, [[(word,) for word in words] for words in WORDS], map(iter, WORDS)):
        assert tagger.predict(X) == expected
    assert tagger.score(WORDS, TAGS) == 1.0
    assert tagger.predict_then_learn(WORDS, TAGS)[0] == expected
    assert tagger.set_params(warm_start=True).fit_stream((WORDS, TAGS)).n_seen_ > 4


@pytest.mark.parametrize(
    "X",
    [
        ["the", "dog"],
        [("the",), ("dog",)],
        [[["the"], ["dog"]]],
        [[["the", "D"]]],
        [[[("the",)]]],
        [[("the", "D")]],
        [["the", ("dog",)]],
        [[("the",), "dog"]],
        [[{"w": "the"}]],
        [[{"the"}]],
        [[("",)]],
        [[(1,)]],
        [[("the",), ("dog", "x")]],
    ],
    ids=repr,
)
def test_other_nesting_is_an_error(tagger, X):
    before = tagger.coef_.tobytes()
    for ask in (tagger.predict, tagger.predict_margins, lambda X: tagger.partial_fit(X, [["D", "N"]])):
        with pytest.raises((TypeError, ValueError), match=r"write \[X\]|give a sentence as a list of words"):
            ask(X)
    assert tagger.coef_.tobytes() == before
