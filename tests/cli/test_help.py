"""Help, version, wrong usage: quick, and exit status 0 or 2."""

import importlib.metadata
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from perceptron_rs.cli import main, options
from perceptron_rs.cli.options import parse, parser

from .support import environment, process

COMMANDS = [command.name for command in options.COMMANDS]
LIGHT = """
import sys
from perceptron_rs.cli import main
statuses = [main([*words.split(), "--help"]) for words in sys.argv[1:]]
heavy = [name for name in ("numpy", "sklearn", "scipy", "rich", "pyarrow") if name in sys.modules]
sys.exit(f"imported {heavy}" if heavy else max(statuses))
"""


def test_help_imports_no_library():
    every = ["", *COMMANDS, "train kernel", "parity multilayer"]
    done = subprocess.run(
        [sys.executable, "-c", LIGHT, *every], capture_output=True, text=True, env=environment(), check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("usage: perceptrons") == done.stdout.count("exit status:") == len(every)


def test_help_names_every_command(call):
    out = call("--help").out
    for command in COMMANDS:
        assert f"\n    {command}" in out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained(command):
    for place in leaves(parser()._subparsers._group_actions[0].choices[command]):
        for action in place._actions:
            assert action.help, f"{place.prog} {action.dest}"


def leaves(place):
    """Return the parsers below this one that take options; or this one."""
    if place._subparsers is None:
        return [place]
    return list(place._subparsers._group_actions[0].choices.values())


def test_version(call):
    assert call("--version").out == f"perceptrons {importlib.metadata.version('perceptrons')}\n"


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        ([], "required: COMMAND"),
        (["fly"], "invalid choice: 'fly'"),
        (["train"], "required: DATA, --model"),
        (["train", "x.svm", "--model", "m", "--learner", "svm"], "as in: train averaged DATA"),
        (["train", "averged", "x.svm", "--model", "m"], "did you mean averaged?"),
        (
            ["train", "avg", "x.svm", "--model", "m"],
            "invalid choice: 'avg'; choose from perceptron, averaged",
        ),
        (["train", "x.svm", "--mod", "m"], "unrecognized option --mod; did you mean --model?"),
        (["train", "x.svm", "--model", "m", "--max-itr", "3"], "--max-itr; did you mean --max-iter?"),
        (["trian", "x.svm"], "invalid choice: 'trian'; did you mean train?"),
        (["inspect", "m", "--", "--json"], "unrecognized arguments: --json"),
        (["predict", "m"], "required: DATA"),
        (["separable", "a.svm", "--max-ratio", "1"], "--max-ratio: must be a number above 1, got '1'"),
        (
            ["tag-train", "x.tsv", "--model", "m", "--template", "columns", "--window", "1"],
            "--window has no effect",
        ),
        (
            ["tag-train", "x.tsv", "--model", "m", "--update", "early"],
            "--update has no effect without --beam N",
        ),
        (["tag-train", "x.tsv", "--model", "m", "--n-iter-no-change", "1"], "no effect without --held-out X"),
        (
            ["tag-train", "x.tsv", "--model", "m", "--min-count", "2", "--hash-columns", "9"],
            "keeps no counts",
        ),
        (["tag-train", "x", "--model", "m", "--columns", "1,2", "--tag-column", "2"], "is one of --columns"),
        (["tag-train", "x", "--model", "m", "--columns", "1,2,1"], "must name each number once, got '1,2,1'"),
        (
            ["separable", "x.svm", "--tol", "1"],
            "unrecognized option --tol; see perceptrons separable --help",
        ),
    ],
)
def test_wrong_usage(call, argv, text):
    answer = call(*argv)
    assert answer.status == 2
    assert answer.err.startswith("perceptrons: error: ")
    assert answer.err.count("\n") == 1
    assert text in answer.err
    assert answer.out == ""


@pytest.mark.parametrize(
    ("argv", "text"),
    [
        (("train", "x.svm", "--model", "m", "--stream", "--checkpoint-every", 9), "without --checkpoint"),
        (("tag-train", "x.tsv", "--model", "m", "--stream", "--resume"), "without --checkpoint"),
        (("online", "MODEL", "x.svm", "--no-audit"), "add --save"),
        (("reproduce", "MODEL", "x.svm", "--tag-column", 1), "--tag-column is about tagged sentences"),
        (("reproduce", "TAGGER", "SENTENCES", "--target", "y"), "--target is about examples"),
        (("evidence", "TAGGER", "SENTENCES", "--format", "csv"), "--format is about examples"),
        (("tag-train", "x.tsv", "--model", "m", "--mixing", "uniform"), "without --n-partitions N"),
        (("train", "x.csv", "--model", "m", "--delimiter", '"'), "must be one character of ASCII"),
    ],
)
def test_no_option_is_taken_and_does_nothing(call, tmp_path, model, argv, text):
    (tmp_path / "a.tsv").write_text("the\tD\ndog\tN\n\n")
    if "TAGGER" in argv:
        assert call("tag-train", tmp_path / "a.tsv", "--model", tmp_path / "t", "--quiet").status == 0
    files = {"MODEL": model, "TAGGER": tmp_path / "t", "SENTENCES": tmp_path / "a.tsv"}
    answer = call(*(files.get(word, word) for word in argv))
    assert (answer.status, answer.out) == (2, "")
    assert text in answer.err


def test_exit_status_of_a_process(tmp_path):
    assert process("train").status == 2
    missing = process("predict", tmp_path / "no.model", "x.svm")
    assert missing.status == 1
    assert missing.err == f"perceptrons: error: {tmp_path / 'no.model'}: no such file or directory\n"


def test_the_script_of_the_package():
    root = Path(__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    entry = importlib.metadata.EntryPoint("perceptrons", project["scripts"]["perceptrons"], "console_scripts")
    assert entry.load() is main


def test_the_commands_in_the_readme():
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    lines = [line.removeprefix("$ perceptrons ") for line in text.splitlines() if line.startswith("$ perc")]
    assert len(lines) >= 5
    for line in lines:
        parse(shlex.split(line.split(" | ")[0]))


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["train", "averaged"], "DATA [DATA ...] --model OUT [options]"),
        (["online"], "MODEL [DATA ...] [options]"),
        (["inspect"], "MODEL [options]"),
    ],
)
def test_help_begins_with_what_must_be_given(call, argv, words):
    assert call(*argv, "--help").out.startswith(f"usage: perceptrons {' '.join(argv)} {words}\n")
