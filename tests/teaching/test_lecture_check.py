"""Tables that somebody has printed: verdicts on their rows."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_rs import Perceptron, check_lecture, trace
from perceptron_rs.datasets import lecture

MINUS = "\N{MINUS SIGN}"


@pytest.fixture
def check(tmp_path):
    def of(text, **options):
        (tmp_path / "slide.csv").write_text(text, encoding="utf-8")
        return check_lecture(tmp_path / "slide.csv", **options)

    return of


def printed(X, y, weights):
    rows = [[*x, label, *w] for x, label, w in zip(X, y, weights, strict=True)]
    return "\n".join(["x1,x2,y,w1,w2,b", *(",".join(map(str, row)) for row in rows)])


@pytest.mark.parametrize("tie", ["mistake", "positive"])
def test_what_trace_says_is_right(check, tie):
    rng, made = np.random.default_rng(4), 0
    for seed in range(30):
        X, y = rng.integers(-3, 4, size=(12, 2)), np.where(rng.permutation(12) < 6, 1, -1)
        model = Perceptron(shuffle=False, tol=None, max_iter=1, tie=tie, eta0=0.5 if seed % 2 else 1.0)
        steps = list(trace(model, X, y, every="example"))
        text = printed(X.tolist(), y.tolist(), [[*step.w.tolist(), step.b] for step in steps])
        found = check(text, tie=tie, eta0=model.eta0)
        assert found.is_right
        assert [row.mistake for row in found.rows] == [step.mistake for step in steps]
        assert [row.activation for row in found.rows] == [step.activation for step in steps]
        # Any number that is printed otherwise is found, in its row.
        lines = text.splitlines()
        line = int(rng.integers(1, 13))
        cells = lines[line].split(",")
        cells[3 + seed % 3] = str(float(cells[3 + seed % 3]) + 0.25)
        lines[line] = ",".join(cells)
        verdicts = [row.verdict for row in check("\n".join(lines), tie=tie, eta0=model.eta0).rows]
        assert verdicts[: line - 1] == ["right"] * (line - 1)
        assert verdicts[line - 1] != "right"
        made += verdicts[line - 1] == "wrong"
    assert made > 20


def test_the_tables_of_lectures(check):
    """A mistake that the lecture takes for right, and a table that is right by its rule for ties."""
    four, six = lecture("four_points"), lecture("six_points")
    found = check(printed(four.X.tolist(), four.y.tolist(), [[1, 1, 1], [1, 1, 1], [1, 1, 1], [-1, 0, 0]]))
    assert [row.verdict for row in found.rows] == ["right", "right", "wrong", "right"]
    assert found.rows[2].why == "y a = -4 is a mistake: (0, -1, 0)"
    assert found.rows[2].right == four.weights
    assert not found.is_right
    steps = six.trace()
    text = "x1,x2,y,w1,w2\n" + "\n".join(
        ",".join(map(str, [*six.X[step.row].tolist(), step.y, *step.w.tolist()])) for step in steps
    )
    assert check(text, tie="positive").is_right
    assert check(text).is_right  # at its ties the labels are negative


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("1,1,+,0,0,0", "an activation of 0 is no mistake here"),
        ("1,1,+,1,1,0", "the intercept is not learnt"),
        (f"1,1,-,{MINUS}0.5,-0.5,-0.5", "the learning rate is 0.5"),
        ("1,1,+,1,1,1\n1,0,+,1,0,1\n1,0,-,0,1,0", "the row before is (1, 1, 1)"),
    ],
)
def test_right_if(check, rows, why):
    row = check(f"x1,x2,y,w1,w2,b\n{rows}").rows[-1]
    assert (row.verdict, row.why) == ("right if", why)
    assert f"right if {why}" in str(check(f"x1,x2,y,w1,w2,b\n{rows}"))


def test_with_ties_that_predict_plus_an_update_there_is_right_if_they_are_mistakes(check):
    row = check("x,y,w\n2,+,2", tie="positive").rows[0]
    assert (row.verdict, row.why) == ("right if", "an activation of 0 is a mistake")
    assert check("x,y,w\n2,-,-2", tie="positive").is_right


def test_zeros_that_move_weights_are_wrong(check):
    row = check("x1,x2,y,w1,w2\n0,0,-,0,7").rows[0]
    assert (row.verdict, row.why) == ("wrong", "y a = 0 is a mistake: (0, 0)")


def test_a_correct_example_that_is_learnt_is_wrong(check):
    row = check("x,y,w\n2,+,2\n1,+,3").rows[1]
    assert (row.verdict, row.why) == ("wrong", "y a = 2 is no mistake: (2)")


def test_numbers_are_exact_and_may_be_rounded(check):
    assert check("x,y,w\n,,-0.3\n0.1,1,-0.2\n0.1,1,-0.1\n0.1,1,0\n0.1,1,0.1\n0.1,1,0.1").is_right
    assert check("x,y,w\n1/3,1,0.33\n1,1,0.33").is_right
    assert not check("x,y,w\n1/3,1,0.34").is_right
    assert not check("x,y,w\n0.4,1,0").is_right  # a whole number is not rounded
    # Rows without printed weights are computed.
    assert [row.line for row in check("x,y,w\n1,1,\n2,-1,-1\n").rows] == [3]


@pytest.mark.parametrize("minus", ["-", MINUS, "\N{EN DASH}", "\N{NON-BREAKING HYPHEN}"])
@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_tables_of_word_processors_and_spreadsheets(check, between, minus):
    text = "x1,x2,y,w1,w2,b\n,,,,,\n0.5,1,-,-0.5,-1,-1\n\n1/2,1,-1.0,-0.5,-1,-1\n0.5,1,+,0,0,0\n"
    text = text.replace(",", between).replace("-", minus)
    found = check(text.replace("0.5", "0,5") if between != "," else text)
    assert [(row.line, row.verdict) for row in found.rows] == [(3, "right"), (5, "right"), (6, "right")]


@pytest.mark.parametrize(
    ("head", "rows"),
    [
        ("x1,x2,y,b,w1,w2", ["3,1,1,1,3,1", "1,1,-1,0,2,0"]),  # the intercept first
        ("x1,x2,y,w0,w1,w2", ["3,1,1,1,3,1", "1,1,0,0,2,0"]),
        (r"$x_1$,$x_2$,$y$,$\theta_0$,$\theta_1$,$\theta_2$", ["3,1,1,1,3,1", "1,1,-1,0,2,0"]),
        ("x_{1},x_{2},Y,W1,W2,w_0", ["3,1,1,3,1,1", "1,1,-1,2,0,0"]),
        ("x0,x1,y,w0,w1,b", ["3,1,1,3,1,1", "1,1,-1,2,0,0"]),  # numbered from 0
        ("x0,x1,x2,y,w0,w1,w2", ["1,3,1,1,1,3,1", "1,1,1,-1,0,2,0"]),  # a constant among the features
        ("t,x1,x2,y,w1,w2,b", ["1,3,1,1,3,1,1", "2,1,1,-1,2,0,0"]),  # with numbers of rows
        ("epoch,t,x1,x2,ŷ,y,a,Mistake?,w1,w2,b", ["1,1,3,1,-,+,0,yes,3,1,1", "1,2,1,1,+,-,5,yes,2,0,0"]),
        ("sep=,\nx1,x2,y,w1,w2,b,", ["3,1,1,3,1,1,", "1,1,-1,2,0,0,"]),  # of a spreadsheet
        ("|x1|x2|y|w1|w2|b|\n|:--|---|---|---|---|--:|", ["|3|1|1|3|1|1|", "|1|1|-1|2|0|0|"]),
        ("age,size,y,w1,w2,b", ["3,1,1,-,-,-", "1,1,-1,2,0,0"]),  # "-" where nothing is printed
        ("x1,x2,y,w1,w2,b", ["6 / 2,1,1,3,1,1", "1,1,-1,2,0,0"]),
    ],
)
def test_columns_as_lecturers_write_them(check, head, rows):
    found = check("\n".join([head, *rows]))
    assert found.is_right
    assert found.rows[-1].printed[-1] == found.rows[-1].right[-1] == 0
    assert found.rows[-1].activation == 5


def test_weights_that_are_printed_before_their_row_are_not_called_wrong(check):
    """But a slip in such a table is one, and so is a forgotten update, which leaves weights as before."""
    rows = "-1,2,-1,0,0\n1,0,1,1,-2\n1,1,1,1,-2\n-1,0,-1,2,-1\n-1,-2,-1,2,-1\n1,-1,1,3,1"
    found = check(f"x1,x2,y,w1,w2\n{rows}").rows
    assert {(row.verdict, row.why) for row in found} == {
        ("right if", "the weights are printed before their row")
    }
    assert "wrong" in {row.verdict for row in check(f"x1,x2,y,w1,w2\n{rows[:-1]}2").rows}
    forgotten = check("x1,x2,y,w1,w2,b\n1,1,1,1,1,1\n1,2,-1,1,1,1").rows
    assert [row.verdict for row in forgotten] == ["right", "wrong"]
    assert [row.verdict for row in check("x,y,w\n,,2\n1,1,2\n1,-1,2").rows] == ["right", "wrong"]


def test_a_feature_of_another_name_is_no_number_of_a_row(check):
    assert check("t,age,y,w1,w2\n2,1,1,2,1\n1,1,-1,1,0").is_right
    assert check("a,b,y,w1,w2,w3\n2,1,1,2,1,1").is_right


def test_a_notebook_shows_the_table(check):
    assert "wrong: y a = 2 is no mistake: (2)" in check("x,y,w\n2,+,2\n1,+,3")._repr_html_()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"columns must be features, y, a weight a feature and perhaps an intercept, got \[\]"),
        ("x,w\n1,1", "columns must be features, y"),
        ("x,y,w,b,c\n1,1,1,1,1", "columns must be features, y"),
        ("x,y,w\n1,1", "line 2 must have 3 cells, got 2; leave cells empty"),
        ("x,y,w\n1,2,1", "y must be 1 or -1, got '2' in line 2; write"),
        ("x,y,w\n1,,1", "y must be 1 or -1, got '' in line 2"),
        ("x,y,w\n1,1,one", "line 2 must have numbers, got 'one'; write"),
        ("x,y,w\n1/0,1,1", "line 2 must have numbers, got '1/0'"),
        ("x,y,w\n1e-999999999,1,1", "line 2 must have numbers, got '1e-999999999'"),
        ("x,y,w\nnan,1,1", "line 2 must have numbers, got 'nan'"),
    ],
)
def test_refusals(check, text, message):
    with pytest.raises(ValueError, match=message):
        check(text)


def test_options_are_checked(check):
    with pytest.raises(ValueError, match=r"eta0 must be above 0 and at most 1e30, got -1"):
        check("x,y,w\n1,1,1", eta0=-1)
    with pytest.raises(ValueError, match='tie must be "mistake" or "positive", got \'minus\''):
        check("x,y,w\n1,1,1", tie="minus")
    with pytest.raises(TypeError, match="eta0"):
        check("x,y,w\n1,1,1", eta0="1")
    with pytest.raises(TypeError, match="path must be a str or a path object, got NoneType"):
        check_lecture(None)


def test_the_largest_numbers_do_not_overflow(check):
    largest = f"{'9' * 30}e99"
    row = check(f"x,y,w\n{largest},1,\n{largest},-1,\n{largest},1,1e-99", eta0=1e30).rows[0]
    assert np.isfinite(row.activation)
    assert row.why.startswith("the learning rate is ")


def test_text_of_another_encoding_is_refused(tmp_path):
    (tmp_path / "slide.csv").write_bytes(b"x,y,w\n\xb5,1,1\n")
    with pytest.raises(ValueError, match=r"slide\.csv, line 2: is not UTF-8"):
        check_lecture(tmp_path / "slide.csv")
