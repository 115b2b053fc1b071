"""``train --dtype`` and ``--prune``: the file that ``save`` writes, judged and reported as what it is."""

import pytest

from perceptron_rs import load
from perceptron_rs.models import describe
from perceptron_rs.registry import REGISTRY

from .support import X, Y, svmlight

SAID = ("ham\t{} see", "spam\t{} buy")
LINES = [SAID[i // 3 % 2].format(f"word{i % 7} word{i % 5} text{i}") for i in range(60)]


@pytest.fixture
def texts(tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(LINES) + "\n")
    return tmp_path / "a.txt"


@pytest.mark.parametrize(
    "options", [{"dtype": "float16"}, {"prune": 0.3}, {"dtype": "float32", "prune": 0.3}]
)
def test_the_file_is_that_of_save_and_the_report_says_so(call, texts, tmp_path, options):
    argv = ["train", "averaged", texts, "--text", "--keep-words", 0, "--model"]
    assert call(*argv, tmp_path / "whole").status == 0
    whole = load(tmp_path / "whole")
    typed = [part for name, value in options.items() for part in (f"--{name}", value)]
    done = call(*argv, tmp_path / "small", *typed, "--json")
    assert (tmp_path / "small").read_bytes() == whole.save(**options)
    kept = load(tmp_path / "small").coef_.any(axis=0).sum()
    assert done.json["weights"] == {
        **options,
        "columns": kept,
        "columns_learnt": whole.coef_.any(axis=0).sum(),
    }
    assert (kept < done.json["weights"]["columns_learnt"]) == ("prune" in options)
    assert done.json["bytes"] < (tmp_path / "whole").stat().st_size
    assert "or with --dtype or --prune" in call("reproduce", tmp_path / "small", texts).err
    said = call(*argv, tmp_path / "small", *typed, "--quiet").out
    rounded = f", rounded to {options['dtype']}" if "dtype" in options else ""
    assert f"weights   in {kept} of {whole.coef_.any(axis=0).sum()} columns{rounded}\n" in said
    assert describe(tmp_path / "small").get("rounded", {}).get("dtype") == options.get("dtype")


def test_what_was_held_out_judges_and_calibrates_the_weights_of_the_file(call, texts, tmp_path):
    """All weights are pruned: only the intercept answers."""
    held_out = ("--holdout", 0.25, "--calibrate", 0.25, "--model", tmp_path / "m", "--json")
    argv = ["train", "averaged", texts, "--text", *held_out]
    whole, none = call(*argv).json, call(*argv, "--prune", 1000).json
    assert whole["holdout"]["accuracy"] == 1.0
    assert none["holdout"]["accuracy"] < 0.8
    assert none["calibration"] != whole["calibration"]
    assert none["mistakes_per_epoch"] == whole["mistakes_per_epoch"]
    model = load(tmp_path / "m")
    assert not model.coef_.any()
    assert model.calibration_ is not None
    assert model.recipe_.words is None or not len(model.recipe_.words.columns)


def test_weights_that_the_type_does_not_hold_are_not_lost(call, tmp_path):
    (tmp_path / "a.svm").write_text(svmlight(X * 1e6, Y))
    argv = ["train", "perceptron", tmp_path / "a.svm", "--quiet", "--holdout", 0, "--model", tmp_path / "m"]
    assert call(*argv).err == ""
    whole = (tmp_path / "m").read_bytes()
    done = call(*argv, "--dtype", "float16")
    assert done.status == 0
    assert "warning: --dtype float16 does not hold the largest weight, " in done.err
    assert "set --dtype float32" in done.err
    assert done.err.endswith("; the file has all bits\n")
    assert "rounded" not in done.out
    assert (tmp_path / "m").read_bytes() == whole


@pytest.mark.parametrize("name", [name for name, learner in REGISTRY.items() if learner.data == "examples"])
def test_learners_that_have_the_options_are_those_whose_save_takes_them(name, tmp_path):
    model = REGISTRY[name].kind().fit(X, Y)
    if REGISTRY[name].is_rounded:
        assert len(model.save(dtype="float32")) > 0
    else:
        with pytest.raises(ValueError, match="dtype is of "):
            model.save(dtype="float32")


def test_other_learners_say_which_have_the_options(refused, tmp_path):
    (tmp_path / "a.svm").write_text(svmlight(X, Y))
    for option in (("--dtype", "float16"), ("--prune", "1")):
        said = refused("train", "voted", tmp_path / "a.svm", *option, status=2)
        assert said == (
            f"the learner voted has no option {option[0]}; leave it out, or choose the learner perceptron or "
            f"averaged or pocket"
        )
    said = refused("train", "averaged", tmp_path / "a.svm", "--prune", "-1", status=2)
    assert "--prune: must be" in said
    assert not list(tmp_path.glob("*.model"))
