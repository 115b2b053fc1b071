"""Sentences in columns, as published files have them: an oracle of its own reads the same, by every path."""

import gzip
import random
from itertools import chain

import pytest

from perceptron_rs import SequencePerceptron, load
from perceptron_rs.cli import main
from perceptron_rs.features import column_attributes
from perceptron_rs.io import open_sentences
from perceptron_rs.io.conll import ConllParser
from perceptron_rs.io.sentences import read_sentences

#: By hand, of the shared tasks: of 2003 (with its documents), 2000 (chunks) and 2002 (Dutch).
CONLL_2003 = """-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O
German JJ B-NP B-MISC
call NN I-NP O
. . O O

Peter NNP B-NP B-PER
Blackburn NNP I-NP I-PER

-DOCSTART- -X- -X- O

BRUSSELS NNP B-NP B-LOC
1996-08-22 CD I-NP O

"""
CONLL_2000 = "Confidence NN B-NP\nin IN B-PP\nthe DT B-NP\npound NN I-NP\n\n# # B-NP\n1.99 CD I-NP\n"
CONLL_2002 = "-DOCSTART- -DOCSTART- O\nDe Art O\ntekst N O\n\n\n\nBelgië N B-LOC\n"
CONLL_U = """\
# newdoc id = mf920901-001
# sent_id = mf920901-001-p1s1A
# text = Slovenská ústava:\tpro i proti
1\tSlovenská\tslovenský\tADJ\tAAFS1----1A----\tCase=Nom\t2\tamod\t_\t_
2-3\tvámonos\t_\t_\t_\t_\t_\t_\t_\t_
2\tvamos\tir\tVERB\t_\t_\t0\troot\t_\t_
3\tnos\tnosotros\tPRON\t_\t_\t2\tobj\t_\tSpaceAfter=No
3.1\tlikes\tlike\tVERB\t_\t_\t_\t_\t_\t_

# sent_id = 2
# text = 10 000 #
1\t10 000\t10 000\tNUM\t_\t_\t0\troot\t_\t_
2\t#\t#\tSYM\t_\t_\t1\tdep\t_\t_

# a comment at the end
"""
#: CoNLL-U Plus, as of PARSEME: its columns are named, and there are eleven.
PLUS = "# global.columns = ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC PARSEME:MWE\n" + "".join(
    line + ("\t*" if "\t" in line and not line.startswith("#") else "") + "\n"
    for line in CONLL_U.splitlines()
)
#: Tabs, a comment without one, documents whose line has blanks alone, words with a blank.
TABS = "# made by hand\n-DOCSTART- (1) O\n\nNew York\tNNP\tB-LOC\nrains\tVBZ\tO\n\n#\tSYM\tO\n"

FILES = {
    "2003": (CONLL_2003, 4, 3, 3),
    "2000": (CONLL_2000, 3, 2, 2),
    "2002": (CONLL_2002, 3, 2, 2),
    "CoNLL-U": (CONLL_U, 10, 3, 2),
    "Plus": (PLUS, 11, 3, 2),
    "tabs": (TABS, 3, 2, 2),
}
CHANGES = {
    "as it is": lambda text: text,
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "mark": lambda text: "\ufeff" + text,
    "cut": lambda text: text.rstrip("\n"),
    "blank lines": lambda text: "\n \t\n" + text.replace("\n\n", "\n \n\u00a0\n\t\n"),
}


def oracle(text, width, tabs=True):
    """Return the sentences of a sound file: lines of so many columns, but for those that are no tokens."""
    found = [[]]
    for line in text.lstrip("\ufeff").replace("\r", "").split("\n"):
        if not line.strip():
            found.append([])
            continue
        cells = line.split("\t") if tabs else line.split()
        if cells[0].split(" ")[0] == "-DOCSTART-" or len(cells) != width:
            continue  # a document begins, or a comment
        if width > 9 and not cells[0].isdigit():
            continue  # 2-3 and 3.1
        found[-1].append(cells)
    return [sentence for sentence in found if sentence]


def parsed(text, size):
    parser, done = ConllParser("a"), []
    lines = text.encode().splitlines(keepends=True)
    for first in range(0, len(lines), size):
        done += parser.read(b"".join(lines[first : first + size]))
    return [sentence.tokens for sentence in [*done, *parser.end()] if sentence.tokens]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", FILES)
def test_published_files_by_every_path(tmp_path, name, change):
    text, width, tag, n_sentences = FILES[name]
    tabs, text = "\t" in text, CHANGES[change](text)
    expected = oracle(text, width, tabs)
    assert len(expected) == n_sentences
    assert parsed(text.removeprefix("\ufeff"), 1) == parsed(text.removeprefix("\ufeff"), 99) == expected
    path, packed = tmp_path / "a", tmp_path / "a.gz"
    path.write_bytes(text.encode())
    packed.write_bytes(gzip.compress(text.encode()))
    for file in (path, packed):
        assert [sentence.tokens for sentence in chain.from_iterable(read_sentences([str(file)]))] == expected
        others = [j + 1 for j in range(width) if j != tag]
        chosen = {"tag_column": tag + 1, "columns": others}
        (batch,) = open_sentences(file, attributes=lambda tokens: [[*t] for t in tokens], **chosen).batches()
        last = {"tag_column": tag - width, "columns": others}
        (same,) = open_sentences(file, attributes=list, **last).batches()
        assert (same.X, same.y) == (batch.X, batch.y)
        assert batch.y == [[token[tag] for token in sentence] for sentence in expected]
        rest = [[token[:tag] + token[tag + 1 :] for token in s] for s in expected]
        assert rest == batch.X
    for n in (2, 5, 40):
        parts = open_sentences(path, attributes=list, **chosen).partitions(n)
        assert [tags for part in parts for tags in part().y] == batch.y


@pytest.mark.parametrize("name", FILES)
def test_the_command_and_python_learn_one_model(tmp_path, name):
    """What `tag-train` makes of a file, in memory and as a stream, and `open_sentences`."""
    text, width, tag, _ = FILES[name]
    path = tmp_path / "a"
    path.write_text(text * 3, encoding="utf-8")
    columns = [j + 1 for j in range(width) if j != tag]
    options = [
        "--tag-column",
        str(tag + 1),
        "--columns",
        ",".join(map(str, columns)),
        "--quiet",
        "--no-shuffle",
    ]
    assert main(["tag-train", str(path), "--model", str(tmp_path / "memory"), *options]) == 0
    assert main(["tag-train", str(path), "--model", str(tmp_path / "stream"), *options, "--stream"]) == 0
    source = open_sentences(path, attributes=column_attributes, tag_column=tag + 1, columns=columns)
    model = SequencePerceptron(shuffle=False).fit_stream(source)
    expected = {key: values.tobytes() for key, values in model._weights.items()}
    for file in ("memory", "stream"):
        weights = load(tmp_path / file)._weights
        assert {key: values.tobytes() for key, values in weights.items()} == expected


def test_drawn_files(tmp_path):
    """Lines of every kind in any order; blocks of any size change nothing."""
    for seed in range(200):
        rng = random.Random(seed)
        kinds = ["1\tdog\t" + "_\t" * 7 + "N", "2-3\tit's\t" + "_\t" * 7 + "_", "8.1\t_\t" + "_\t" * 7 + "_"]
        kinds += ["# text", "#\twith tabs\t", "", " ", "-DOCSTART-", "-DOCSTART- O"]
        text = kinds[0] + "\n" + "".join(rng.choice(kinds) + "\n" for _ in range(rng.randrange(20)))
        assert parsed(text, rng.randrange(1, 9)) == oracle(text, 10)


def test_files_read_as_one_have_the_columns_of_the_first(tmp_path):
    for name, text in {"a": "", "b": "x\ty\tN\n", "c": "x\tV\n"}.items():
        (tmp_path / name).write_text(text)
    source = open_sentences([tmp_path / "a", tmp_path / "b", tmp_path / "c"], attributes=list)
    with pytest.raises(ValueError, match=r"c: line 1 has 2 columns, but the lines before have 3"):
        list(source.batches())
    with pytest.raises(ValueError, match=r"c: line 1 has 2 columns, but the lines before have 3"):
        [part() for part in source.partitions(3)]


@pytest.mark.parametrize("name", FILES)
def test_columns_that_nobody_names_are_the_same_for_the_command_and_python(tmp_path, name):
    """The last one and those before it; of CoNLL-U universal parts of speech and words."""
    (tmp_path / "a").write_text(FILES[name][0], encoding="utf-8")
    assert main(["tag-train", str(tmp_path / "a"), "--model", str(tmp_path / "m"), "--quiet"]) == 0
    (batch,) = open_sentences(tmp_path / "a", attributes=lambda tokens: [tuple(t) for t in tokens]).batches()
    model = load(tmp_path / "m")
    assert sorted(set(chain(*batch.y))) == model.classes_.tolist()
    assert len(batch.X[0][0]) == model.template_["columns"]
    if name == "CoNLL-U":
        assert (batch.X[0][1], batch.y[0]) == (("vamos",), ["ADJ", "VERB", "PRON"])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"tag_column": 0}, "tag_column must be the number of a column from 1, -1 for the last one, or None"),
        ({"tag_column": True}, "tag_column must be the number"),
        ({"columns": []}, "columns must name one column or more, each once"),
        ({"columns": [1, 1]}, "each once, got"),
        ({"columns": [0]}, "columns must be numbers of columns from 1, got"),
        ({"tag_column": 1}, "tag_column=1 leaves no column before it; name others with columns"),
        ({"columns": [1, 2]}, "column 2 of columns holds the tag"),
        ({"columns": [3]}, "a: line 1 has 2 columns, but it needs, with the tag, 3"),
        ({"tag_column": -3}, "a: line 1 has 2 columns, but it needs, with the tag, 3"),
    ],
)
def test_columns_that_are_none(tmp_path, options, text):
    (tmp_path / "a").write_text("x\tN\n\ny\tN\n")
    with pytest.raises(ValueError, match=text):
        list(open_sentences(tmp_path / "a", attributes=list, **options).batches())
    with pytest.raises(ValueError, match=text):
        [part() for part in open_sentences(tmp_path / "a", attributes=list, **options).partitions(2)]
