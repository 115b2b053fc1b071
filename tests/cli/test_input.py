"""How columns are made of data (hashed, scaled, chosen), and that the model keeps it; what is held out."""

import warnings

import numpy as np
import pytest
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from perceptron_rs import AveragedPerceptron, Perceptron, load
from perceptron_rs.io.text.lines import text_blocks
from perceptron_rs.models import describe

from .support import X, Y, svmlight

SPAM = [("spam", "buy now cheap"), ("ham", "see you  now"), ("spam", "buy buy"), ("ham", "hello you")]
ROWS = [
    {"color": "red", "size": 2.5, "zip": 7},
    {"color": "blue", "size": 1.0, "zip": 8},
    {"color": "red", "size": 2.0, "zip": 7},
    {"color": "green", "size": -1.0, "zip": 9},
]
KINDS = ["a", "b", "a", "b"]


def table(rows, labels=None, separator=","):
    names = [*rows[0], *(["kind"] if labels else [])]
    lines = [separator.join(names)]
    for i, row in enumerate(rows):
        lines.append(separator.join([*map(str, row.values()), *([labels[i]] if labels else [])]))
    return "\n".join(lines) + "\n"


def test_words_are_hashed_as_by_scikit_learn(call, stdin, tmp_path):
    path, model = tmp_path / "a.txt", tmp_path / "m"
    path.write_text("".join(f"{label}\t{text}\n" for label, text in SPAM), encoding="utf-8")
    assert call("train", path, "--text", "--model", model, "--quiet").status == 0
    hashed = HashingVectorizer(n_features=2**18).transform(text for _, text in SPAM)
    expected = Perceptron().fit(hashed, [label for label, _ in SPAM])
    assert load(model).coef_.tobytes() == expected.coef_.tobytes()
    # The model knows how: with labels or without.
    assert call("predict", model, path).out.split() == [label for label, _ in SPAM]
    stdin("".join(f"{text}\n" for _, text in SPAM).encode())
    assert call("predict", model, "-").out.split() == [label for label, _ in SPAM]
    assert call("evaluate", model, path, "--json").json["errors"] == 0
    assert call("reproduce", model, path).status == 0


def test_a_table_is_hashed_as_by_scikit_learn(call, stdin, tmp_path):
    pytest.importorskip("pyarrow")
    path, model = tmp_path / "a.csv", tmp_path / "m"
    path.write_text(table(ROWS, KINDS), encoding="utf-8")
    assert call("train", path, "--hash-bits", 6, "--model", model, "--quiet").status == 0
    expected = Perceptron().fit(FeatureHasher(64).transform(ROWS), KINDS)
    assert load(model).coef_.tobytes() == expected.coef_.tobytes()
    assert call("predict", model, path).out.split() == KINDS
    # A column of strings stays one where a part of the data looks like numbers.
    strings = [row | {"color": str(i)} for i, row in enumerate(ROWS)]
    path.write_text(table(strings), encoding="utf-8")
    scores = call("predict", model, path, "--scores").out.splitlines()
    hashed = FeatureHasher(64).transform(strings)
    assert [float(line.split()[1]) for line in scores] == expected.decision_function(hashed).tolist()


@pytest.mark.parametrize(
    ("name", "separator", "options", "chosen"),
    [
        ("a.tsv", "\t", (), ("--columns", "size,zip")),
        ("a.csv", "\t", ("--delimiter", "\\t"), ("--drop", "color")),
    ],
)
def test_columns_are_chosen(call, refused, tmp_path, name, separator, options, chosen):
    path, model = tmp_path / name, tmp_path / "m"
    path.write_text(table(ROWS, KINDS, separator), encoding="utf-8")
    assert call("train", path, *chosen, "--model", model, "--quiet", *options).status == 0
    expected = Perceptron().fit([[row["size"], row["zip"]] for row in ROWS], KINDS)
    assert load(model).coef_.tobytes() == expected.coef_.tobytes()
    assert load(model).feature_names_in_.tolist() == ["size", "zip"]
    assert call("predict", model, path, *options).out.split() == KINDS
    lacking = refused("train", path, chosen[0], "none", "--model", model, *options)
    assert f"has no column 'none' for {chosen[0]}" in lacking


def test_columns_and_drop(call):
    answer = call("train", "a.csv", "--columns", "a", "--drop", "b", "--model", "m")
    assert (answer.status, "--drop has no effect beside it" in answer.err) == (2, True)


SCALERS = {"standard": StandardScaler, "minmax": MinMaxScaler, "maxabs": MaxAbsScaler}


@pytest.mark.parametrize(
    ("kind", "form"), [("standard", "dense"), ("minmax", "sparse"), ("maxabs", "sparse")]
)
def test_columns_are_scaled_as_by_scikit_learn(call, refused, tmp_path, kind, form):
    model = tmp_path / "m"
    if form == "dense":
        path, scaler = tmp_path / "a.npz", SCALERS[kind]()
        np.savez(path, X=X, y=Y)
    else:
        path = tmp_path / "a.svm"
        path.write_text(svmlight(X, Y))
        if kind == "minmax":
            assert "sparse" in refused("train", path, "--scale", kind, "--model", model)
            return
        scaler = SCALERS[kind]()
    assert call("train", "averaged", path, "--scale", kind, "--model", model, "--quiet").status == 0
    expected = AveragedPerceptron().fit(scaler.fit_transform(X), Y)
    assert load(model).coef_.tobytes() == expected.coef_.tobytes()
    out = call("predict", model, path, "--scores").out
    scores = [float(line.split()[1]) for line in out.splitlines()]
    assert scores == expected.decision_function(scaler.transform(X)).tolist()
    assert call("reproduce", model, path).status == 0
    assert (
        call("train", "averaged", path, "--continue", model, "--model", tmp_path / "n", "--quiet").status == 0
    )
    assert describe(tmp_path / "n")["input"] == describe(model)["input"]


def test_examples_are_held_out(call, refused, tmp_path):
    rng = np.random.default_rng(0)
    A, b = rng.standard_normal((50, 3)), rng.integers(0, 2, 50)
    path, model = tmp_path / "a.npz", tmp_path / "m"
    np.savez(path, X=A, y=b)
    found = call(
        "train", path, "--holdout", 0.1, "--scale", "standard", "--model", model, "--json", "--quiet"
    )
    held = np.arange(50) % 10 == 9
    scaler = StandardScaler().fit(A[~held])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = Perceptron().fit(scaler.transform(A[~held]), b[~held])
    errors = int((expected.predict(scaler.transform(A[held])) != b[held]).sum())
    assert found.json["holdout"] == {"n_samples": 5, "errors": errors, "accuracy": 1 - errors / 5}
    assert load(model).coef_.tobytes() == expected.coef_.tobytes()
    assert (
        f"holdout   accuracy {1 - errors / 5:.4f}, {errors} errors of 5 examples"
        in call("train", path, "--holdout", 0.1, "--scale", "standard", "--model", model, "--quiet").out
    )
    assert call("reproduce", model, path).status == 0
    for more in ((), ("--stream",)):
        said = refused("train", path, "--holdout", 0.001, "--model", tmp_path / "none", *more, "--quiet")
        assert "of 50 examples it leaves none" in said
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("learner", ["averaged", "multilayer"])
def test_a_model_goes_on(call, tmp_path, learner):
    rng = np.random.default_rng(1)
    path = tmp_path / "a.npz"
    np.savez(path, X=rng.integers(-3, 4, (40, 3)), y=rng.integers(0, 2, 40))
    one, again = tmp_path / "one", tmp_path / "again"
    assert call("train", learner, path, "--model", one, "--epochs", 1, "--tol", "none", "--quiet").status == 0
    before = one.read_bytes()
    assert call("train", learner, path, "--continue", one, "--model", again, "--quiet").status == 0
    with np.load(path) as data:
        expected = load(one).set_params(warm_start=True).fit(data["X"], data["y"])
        scores = [
            float(line.split()[1]) for line in call("predict", again, path, "--scores").out.splitlines()
        ]
        assert scores == expected.decision_function(data["X"]).tolist()
        assert scores != load(one).decision_function(data["X"]).tolist()
    assert load(again).max_iter == 1
    assert load(again).warm_start is False
    assert one.read_bytes() == before


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["kernel"], "holds the learner perceptron; write train perceptron instead of train kernel"),
        (["perceptron", "--scale", "maxabs"], "--scale is kept in the model"),
    ],
)
def test_what_does_not_go_on(call, model, text_file, tmp_path, options, text):
    answer = call("train", *options, text_file, "--continue", model, "--model", tmp_path / "m")
    assert (answer.status, text in answer.err) == (2, True), answer.err


def test_what_a_line_of_text_is(call, refused, stdin, tmp_path):
    """A text that holds a tab loses nothing; a label is one that the model knows, or that an option names."""
    (tmp_path / "a.txt").write_text("ham\tmilk bread\nspam\twin money\nham\tbread\nspam\tmoney now\n")
    model = tmp_path / "m"
    assert call("train", tmp_path / "a.txt", "--text", "--model", model, "--quiet").status == 0

    def scores(text, *options):
        stdin(text)
        answer = call("predict", model, "-", "--scores", *options)
        assert answer.status == 0, answer.err
        return answer.out

    plain = scores(b"win money\nmilk\n")
    assert scores(b"ham\twin money\nspam\tmilk\n") == plain
    assert scores(b"?\twin money\n?\tmilk\n", "--labelled") == plain
    assert scores(b"win\tmoney\nmilk\n", "--unlabelled") == plain
    assert scores(b"ham\twin\n", "--unlabelled") == scores(b"ham win\n")
    assert scores(b"ham\twin\tnow\n") == scores(b"win now\n")  # a tab within the text
    for text, options, message in (
        (
            b"win\tmoney\n",
            (),
            "line 1 has a tab, and 'win' before it is none of the model's classes; say",
        ),
        (b"milk\nham\tmoney\n", (), "line 2 has a label, unlike the lines before"),
        (b"ham\tmoney\nmilk\n", (), "line 2 has no label, unlike the lines before"),
        (b"ham\tmoney\nmilk\n", ("--labelled",), "line 2 has no tab"),
    ):
        stdin(text)
        assert message in refused("predict", model, "-", *options)
    assert call("predict", model, "-", "--labelled", "--unlabelled").status == 2
    assert "have no effect" in call("predict", model, "-", "--unlabelled", "--target", "a").err


def test_classes_that_are_numbers_before_a_tab(call, refused, stdin, tmp_path):
    (tmp_path / "a.txt").write_text("1\tmilk bread\n-1\twin money\n")
    assert call("train", tmp_path / "a.txt", "--text", "--model", tmp_path / "m", "--quiet").status == 0
    stdin(b"+1\tmilk\n-1.0\tmoney\n")
    assert call("predict", tmp_path / "m", "-").out.split() == ["1", "-1"]
    stdin(b"2\tmilk\n")
    assert "'2' before it is none of the model's classes" in refused("predict", tmp_path / "m", "-")


def test_other_formats_with_and_without_labels(call, stdin, model, tmp_path):
    text = svmlight(X, Y)
    bare = "".join(line.partition(" ")[2] + "\n" for line in text.splitlines())
    stdin(text.encode())
    expected = call("predict", model, "-", "--scores").out
    for given, option in ((text, "--labelled"), (bare, "--unlabelled"), (bare, None)):
        stdin(given.encode())
        assert call("predict", model, "-", "--scores", *([option] if option else [])).out == expected
    for given, option in ((text, "--unlabelled"), (bare, "--labelled")):
        stdin(given.encode())
        assert call("predict", model, "-", option).status == 1
    pytest.importorskip("pyarrow")
    rows = "a,b,c\n" + "".join(",".join(map(repr, row)) + "\n" for row in X.tolist())
    stdin(rows.encode())
    assert call("predict", model, "-", "--scores", "--format", "csv", "--unlabelled").out == expected
    stdin(rows.encode())
    assert call("predict", model, "-", "--format", "csv", "--labelled").status == 1  # two columns are left


@pytest.mark.parametrize(("labels", "classes"), [("1 0", [0, 1]), ("01 2", ["01", "2"]), ("1 b", ["1", "b"])])
def test_labels_of_text_are_text_unless_all_are_integers(call, tmp_path, monkeypatch, labels, classes):
    monkeypatch.setattr(text_blocks, "__defaults__", (9,))
    first, second = labels.split()
    parts = (f"{first}\tsome words\n", f"{second}\tother words\n")
    (tmp_path / "a.txt").write_text("".join(parts))
    for number, text in enumerate(parts):
        (tmp_path / f"part-{number}").write_text(text)
    for data in (tmp_path / "a.txt", tmp_path / "part-*"):
        for options in ((), ("--stream",)):
            answer = call("train", data, "--text", "--model", tmp_path / "m", "--quiet", *options)
            assert answer.status == 0, answer.err
            assert load(tmp_path / "m").classes_.tolist() == classes


def test_raw_text_without_its_option(refused, call, stdin, model, tmp_path):
    (tmp_path / "a.txt").write_text("ham\tmilk bread\nspam\twin money\n")
    for stream in ((), ("--stream",)):
        said = refused("train", tmp_path / "a.txt", "--model", tmp_path / "m", *stream)
        assert said.startswith(f'{tmp_path}/a.txt, line 1, column 1: "ham" is not a number, as the label of')
        assert "say --text" in said
    stdin((tmp_path / "a.txt").read_bytes())
    assert "say --text" in refused("evaluate", model, "-")


def test_a_model_of_chosen_columns_reads_tables_alone(call, tmp_path):
    """What the columns of another format mean, nobody knows."""
    pytest.importorskip("pyarrow")
    (tmp_path / "a.csv").write_text("c,x,y\nr,1,a\ng,2,b\nr,3,a\ng,4,b\n")
    (tmp_path / "a.svm").write_text("0 1:1\n1 2:1\n")
    assert (
        call("train", tmp_path / "a.csv", "--hash-bits", 4, "--model", tmp_path / "m", "--quiet").status == 0
    )
    for command in ("predict", "evaluate", "online", "reproduce"):
        answer = call(command, tmp_path / "m", tmp_path / "a.svm", "--quiet")
        assert (answer.status, answer.out) == (2, "")
        assert "the columns of the model were chosen from a table, and" in answer.err
