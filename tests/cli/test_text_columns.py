"""``--text-columns``: texts, categories and numbers of one table, with the bits of scikit-learn's hashers."""

import csv
import json

import numpy as np
import pytest
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.preprocessing import StandardScaler, normalize

from perceptron_rs import AveragedPerceptron, digest, load, load_predictor
from perceptron_rs.features.text import HashedText
from perceptron_rs.io import open_csv, open_examples, open_parquet
from perceptron_rs.io.hashed import hasher

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

RNG = np.random.default_rng(7)
COLUMNS = ["text", "title", "city", "n", "label"]
WORDS = [*("buy", "Cheap", "now", "see", "naïve", "Straße", "you", "soon", "the", "a")]
BITS = 12


def rows(n):
    """Give rows of two texts, one of them often missing, a category, a number, and a label."""
    for i in range(n):
        text = " ".join([*RNG.choice(WORDS, RNG.integers(3, 9)), f"word{i}"])
        title = " ".join(RNG.choice(WORDS[:4], 3)) if i % 3 else None
        yield [text, title, RNG.choice(["Rome", "Köln"]), i / 8, "p" if "buy" in text else "n"]


ROWS = list(rows(90))
EXAMPLES = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
LABELS = [row[-1] for row in ROWS]
X = [{name: value for name, value in example.items() if name != "label"} for example in EXAMPLES]


@pytest.fixture
def files(tmp_path):
    with (tmp_path / "a.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *ROWS])
    (tmp_path / "a.tsv").write_text(
        "\n".join("\t".join(map(str, [c or "" for c in row])) for row in [COLUMNS, *ROWS])
    )
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(example) + "\n" for example in EXAMPLES))
    table = pa.Table.from_pylist(EXAMPLES)
    coded = table.set_column(2, "city", table["city"].dictionary_encode())
    parquet.write_table(coded, tmp_path / "a.parquet", row_group_size=40)
    with pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    return tmp_path


def expected(*, tf_idf=False, scale=False, **options):
    """Return the sum of what scikit-learn makes of the columns."""
    hasher = FeatureHasher(1 << BITS)
    found = hasher.transform([{name: row[name] for name in ("city", "n")} for row in X])
    if scale:
        numbers = hasher.transform([{"n": row["n"]} for row in X])
        found = StandardScaler(with_mean=False).fit(numbers).transform(found)  # categories stay 1
    counts = []
    for name in ("text", "title"):
        grams = HashingVectorizer(**options).build_analyzer()
        named = HashingVectorizer(
            n_features=1 << BITS,
            analyzer=lambda text, grams=grams, name=name: [f"{name}^{gram}" for gram in grams(text)],
            norm=None if tf_idf else "l2",
        )
        counts.append(named.transform([row[name] or "" for row in X]))
    if tf_idf:
        both = TfidfTransformer(norm=None).fit(counts[0] + counts[1])
        counts = [normalize(both.transform(part)) for part in counts]
    return found + counts[0] + counts[1]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "arrow"])
@pytest.mark.parametrize(
    ("argv", "options"),
    [
        ((), {}),
        (("--ngrams", 1, 2, "--stop-words", "english"), {"ngram_range": (1, 2), "stop_words": "english"}),
        (("--analyzer", "char_wb", "--ngrams", 2, 3), {"analyzer": "char_wb", "ngram_range": (2, 3)}),
        (("--tf-idf",), {"tf_idf": True}),
        (("--scale", "standard"), {"scale": True}),
    ],
)
def test_the_model_is_that_of_scikit_learns_hashers(call, files, suffix, argv, options):
    data = files / f"a.{suffix}"
    argv = [*argv, "--target", "label", "--text-columns", "text,title", "--hash-bits", BITS]
    argv += ["--model", files / "m", "--epochs", 4, "--tol", "none", "--quiet"]
    assert call("train", "averaged", data, *argv).status == 0
    matrix = expected(**options)
    model = AveragedPerceptron(max_iter=4, tol=None).fit(matrix, LABELS)
    assert load(files / "m").coef_ == pytest.approx(model.coef_, abs=1e-12)
    scores = load_predictor(files / "m").decision_function(X)
    assert scores == pytest.approx(model.decision_function(matrix), abs=1e-9)
    answer = call("predict", files / "m", data, "--scores")
    assert [float(line.split("\t")[1]) for line in answer.out.splitlines()] == scores.tolist()
    assert call("reproduce", files / "m", data).status == 0


@pytest.mark.parametrize("option", [("--scale", "standard"), ("--tf-idf",)])
def test_pieces_of_rows_and_several_files_change_no_bit(call, files, monkeypatch, option):
    lines = (files / "a.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    for name, part in (("b.csv", lines[:40]), ("c.csv", lines[:1] + lines[40:])):
        (files / name).write_text("".join(part), encoding="utf-8")
    argv = [*option, "--target", "label", "--text-columns", "text,title", "--hash-bits", BITS]
    argv += ["--holdout", 0.3, "--model", files / "m", "--epochs", 4, "--tol", "none", "--quiet"]
    models = []
    for n_rows, names in ((2048, ("a.csv",)), (7, ("a.csv",)), (7, ("b.csv", "c.csv"))):
        monkeypatch.setattr(hasher, "_ROWS", n_rows)
        assert call("train", "averaged", *(files / name for name in names), *argv).status == 0
        models.append(load(files / "m").coef_.tobytes())
    assert len(set(models)) == 1


def test_counts_of_texts_do_not_stand_beside_what_becomes_of_them():
    made = hasher.ExampleHasher(n_columns=8, n_texts=1, text=HashedText(), in_blocks=True)
    blocks = made.rows({"": ["a b"]})
    assert made.weighed(blocks)[0].shape == (1, 8)
    assert blocks.pieces == []


def test_streams_and_python_learn_the_same(call, files):
    options = {"target": "label", "text_columns": ["text", "title"], "hash_bits": BITS}
    models = [
        AveragedPerceptron(max_iter=2, tol=None, shuffle=False).fit_stream(source).coef_.tobytes()
        for source in (
            open_csv(files / "a.csv", **options),
            open_parquet(files / "a.parquet", **options),
            open_examples(files / "a.jsonl", **options),
        )
    ]
    argv = ("--target", "label", "--text-columns", "text,title", "--hash-bits", BITS, "--epochs", 2)
    for more in (("--stream",), ("--no-shuffle",)):
        out = ("--tol", "none", "--model", files / "m", "--quiet")
        assert call("train", "averaged", files / "a.csv", *argv, *more, *out).status == 0
        models.append(load(files / "m").coef_.tobytes())
    assert len(set(models)) == 1
    first, second = (part() for part in open_parquet(files / "a.parquet", **options).partitions()[:2])
    whole = np.concatenate([first.X.toarray(), second.X.toarray()])
    assert (whole == expected()[:80].toarray()).all()


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_stream_of_scaled_texts_has_the_digest_of_a_fit(call, files, suffix):
    argv = ["--target", "label", "--text-columns", "text,title", "--scale", "maxabs", "--max-iter", 2]
    argv += ["--tol", "none", "--quiet", "--model", files / "m"]
    digests = []
    for more in ("--stream", "--no-shuffle"):
        assert call("train", "averaged", files / f"a.{suffix}", *argv, more).status == 0
        digests.append(digest(load(files / "m")))
    assert digests[0] == digests[1]


def test_inspect_says_the_recipe_and_names_features(call, files):
    argv = ("--target", "label", "--text-columns", "text,title", "--ngrams", 1, 2, "--model", files / "m")
    assert call("train", files / "a.csv", *argv, "--quiet").status == 0
    said = call("inspect", files / "m").out
    names = "texts 'text', 'title'; categories 'city'; numbers 'n'"
    assert f"input       csv; {names}; ngrams (1, 2); hashed to 2^18 columns\n" in said
    assert "  text^buy  " in said


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_the_report_names_columns_and_numbers_that_drown_texts(call, files, name):
    argv = (
        "train",
        files / name,
        "--target",
        "label",
        "--text-columns",
        "text,title",
        "--model",
        files / "m",
    )
    said = "n reaches 11.125, where a text has the length 1: see --scale maxabs"
    report = call(*argv, "--quiet").out
    assert f"          {said}\n" in report
    for columns in ("words of text, title (2)", "numbers of n", "categories of city"):
        assert f" {columns}, hashed to 2^18 columns\n" in report
    assert f"          {said} in place of --tf-idf\n" in call(*argv, "--quiet", "--tf-idf").out
    assert "reaches" not in call(*argv, "--quiet", "--scale", "maxabs").out


def test_online_learns_from_texts_in_tables(call, files):
    argv = ("--target", "label", "--text-columns", "text,title", "--hash-bits", BITS)
    assert call("train", files / "a.csv", *argv, "--model", files / "m", "--quiet").status == 0
    learnt = load(files / "m").partial_fit(expected(), LABELS)
    assert call("online", files / "m", files / "a.csv", "--save", files / "o", "--quiet").status == 0
    assert load(files / "o").coef_ == pytest.approx(learnt.coef_, abs=1e-12)


SPAM = "".join(f"{'spam' if i % 2 else 'ham'},see {i} you {i * i},{i % 3} Rome\n" for i in range(12))


@pytest.mark.parametrize("options", [(), ("--hash-bits", 10)])
@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_texts_are_not_hashed_as_categories_unless_somebody_says_so(call, refused, tmp_path, suffix, options):
    lines = [line.split(",") for line in SPAM.splitlines()]
    if suffix == "csv":
        (tmp_path / "a.csv").write_text("y,text,city\n" + SPAM)
    elif suffix == "jsonl":
        records = [json.dumps(dict(zip(("y", "text", "city"), line, strict=True))) for line in lines]
        (tmp_path / "a.jsonl").write_text("\n".join(records))
    else:
        table = pa.Table.from_arrays([pa.array(c) for c in zip(*lines, strict=True)], ["y", "text", "city"])
        parquet.write_table(table, tmp_path / "a.parquet")
    argv = (
        "train",
        tmp_path / f"a.{suffix}",
        "--target",
        "y",
        "--model",
        tmp_path / "m",
        "--quiet",
        *options,
    )
    said = refused(*argv)
    assert "'text' holds " in said
    assert "learn from their words (--text-columns text), or leave the column out (--drop text)" in said
    assert call(*argv, "--text-columns", "text").status == 0
    if options:
        assert call(*argv, "--text-columns", "none").status == 0


def test_a_warning_for_strings_that_seem_to_be_no_categories(call, tmp_path):
    (tmp_path / "a.csv").write_text(
        "y,day,share,id,town,words\n"
        + "".join(
            f"{i % 2},2024-01-{i:02},{i}%,u{i},{'Rome' if i % 4 else 'Köln'},{i % 2} of us\n"
            for i in range(25)
        )
    )
    argv = ("train", tmp_path / "a.csv", "--target", "y", "--model", tmp_path / "m", "--hash-bits", 10)
    said = call(*argv).err
    for text in (
        "'day' holds dates or times, each a value of its own: '2024-01-00'; write them as numbers",
        "'share' holds numbers with signs of percent",
        "'id' holds strings of which nearly all differ",
    ):
        assert f"warning: {tmp_path}/a.csv: {text}" in said
    assert "'town'" not in said


def test_cells_that_are_no_numbers_lead_to_what_helps(refused, tmp_path):
    for cells, text in (
        (["50%", "20%"], "say what comes before a fraction: --decimal ."),
        (['"5 €"', '"7,50 €"'], "say what comes before a fraction: --decimal ,"),
        (["2024-01-05", "2024-01-06"], "write them as numbers, such as the days since the first one"),
        (["red", "blue"], "hash it (--hash-bits)"),
        (["buy it now", "see you soon", "by no means"], "learn from their words (--text-columns x)"),
    ):
        (tmp_path / "a.csv").write_text(
            "x,y\n" + "".join(f"{cell},{i % 2}\n" for i, cell in enumerate(cells))
        )
        assert text in refused("train", tmp_path / "a.csv", "--model", tmp_path / "m")


def test_names_of_texts_that_cannot_be(refused, files):
    out = ("--target", "label", "--model", files / "m", "--quiet")
    for suffix, names, text in (
        ("csv", "txt", "--text-columns names 'txt', which is no feature"),
        ("csv", "label", "--text-columns names 'label', which is no feature"),
        ("parquet", "n", "column 'n' holds double, no texts; do not name it in --text-columns"),
        ("jsonl", "n", "'n' must be a text, got 0.0"),
        ("jsonl", "txt", "has no key 'txt' for --text-columns"),
    ):
        assert text in refused("train", files / f"a.{suffix}", "--text-columns", names, *out)
    said = refused("train", files / "a.csv", *out, "--tf-idf", status=2)
    assert said.startswith("--tf-idf is about texts, and no column is said to hold some; name it with ")
