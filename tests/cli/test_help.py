"""Help, version, wrong usage: quick, and exit status 0 or 2."""

import importlib.metadata
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from perceptron_rs.cli import main, options
from perceptron_rs.cli.options import parse_arguments, parser

from .support import process, script

COMMANDS = [command.name for command in options.ALL_COMMANDS]
LIGHT = """
import sys
from perceptron_rs.cli import main
statuses = [main([*words.split(), "--help"]) for words in sys.argv[1:]]
heavy = [name for name in ("numpy", "sklearn", "scipy", "rich", "pyarrow") if name in sys.modules]
sys.exit(f"imported {heavy}" if heavy else max(statuses))
"""


def test_help_imports_no_library():
    every = ["", *COMMANDS, "train kernel", "parity multilayer"]
    done = script(LIGHT, *every)
    assert (done.status, done.err) == (0, "")
    assert done.out.count("usage: perceptrons") == done.out.count("exit status:") == len(every)


def test_help_names_every_command(call):
    out = call("--help").out
    for command in COMMANDS:
        assert f"\n    {command}" in out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_fits_on_two_screens_and_a_longer_one_has_all(call, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    for place in leaves(parser()._subparsers._group_actions[0].choices[command]):
        words = place.prog.split()[1:]
        usual, whole = call(*words, "--help").out, call(*words, "--help-all").out
        assert usual.count("\n") <= 52
        known = {option for action in place._actions for option in action.option_strings}
        assert all(re.search(rf"(?<![\w-]){option}(?![\w-])", whole) for option in known)
        told = re.search(
            rf"(\d+) more options, and the exit status: {place.prog} --help-all$", " ".join(usual.split())
        )
        assert (told is None) == (usual == whole)
        if told is not None:
            shown = re.findall(r"^  (?:-h, )?--", usual, re.MULTILINE)
            assert int(told[1]) + len(shown) == sum(bool(action.option_strings) for action in place._actions)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_explained(command):
    for place in leaves(parser()._subparsers._group_actions[0].choices[command]):
        for action in place._actions:
            assert action.help, f"{place.prog} {action.dest}"
        known = {option for action in place._actions for option in action.option_strings}
        text = " ".join([place.description, *(action.help for action in place._actions)])
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", text)) <= known, place.prog


def leaves(place):
    """Return the parsers below this one that take options; or this one."""
    if place._subparsers is None:
        return [place]
    return list(place._subparsers._group_actions[0].choices.values())


def test_version(call):
    assert call("--version").out == f"perceptrons {importlib.metadata.version('perceptrons')}\n"


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
    lines = [line.partition("perceptrons ")[2] for line in text.splitlines() if line.startswith("$ ")]
    lines = [line for line in lines if line]
    assert len(lines) >= 5
    for line in lines:
        parse_arguments(shlex.split(line.split(" | ")[0]))


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["train", "averaged"], "DATA [DATA ...] [options]"),
        (["online"], "MODEL [DATA ...] [options]"),
        (["inspect"], "MODEL [options]"),
    ],
)
def test_help_begins_with_what_must_be_given(call, argv, words):
    assert call(*argv, "--help").out.startswith(f"usage: perceptrons {' '.join(argv)} {words}\n")
