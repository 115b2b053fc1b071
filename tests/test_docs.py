"""The examples of the README and of the pages under docs/ run, and their links and commands exist."""

from __future__ import annotations

import contextlib
import csv
import doctest
import io
import os
import re
import shlex
import shutil
import statistics
import struct
import subprocess
import sys
import types
from operator import attrgetter
from pathlib import Path

import pytest

import perceptron_rs
from perceptron_rs.cli import main
from tests.support import BASELINE

ROOT = Path(__file__).parents[1]
DOCUMENTS = ["README.md", "ARCHITECTURE.md", "ARITHMETIC.md", "CONTRIBUTING.md", "CHANGELOG.md"]
MADE = {"_build", "_templates", "gallery", "generated"}
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.rst"))
PAGES = [page for page in PAGES if not MADE & set(page.split("/"))]
#: Pages that have nothing to run.
SILENT = {
    "contracts/bits",
    "contracts/files",
    "contracts/security",
    "contracts/threads",
    "api",
    "benchmarks",
    "lab",
    "course/history",
    "course/index",
    "index",
    "installation",
}
GUIDE = [page for page in PAGES if page.startswith("docs/guide/")]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Shell:
    """What runs the commands of a page; a command must succeed, unless ``echo $?`` follows it."""

    def __init__(self) -> None:
        self.status = 0

    def __call__(self, command: str) -> None:
        """Run a command; ``cat FILE``, or some of its lines, may be piped into it, and it into such a one."""
        if command == "echo $?":
            print(self.status)
            self.status = 0
            return
        before, own, behind = re.fullmatch(r"(?:(.*) \| )?(perceptrons .*?)(?: \| (.*))?", command).groups()
        self.check()
        shown = io.StringIO()  # of both outputs, as on a terminal
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown), piped(before or ""):
            self.status = main(shlex.split(own)[1:])
        print(some_lines(behind, shown.getvalue()), end="")

    def check(self) -> None:
        assert self.status == 0, f"the command before ended with exit status {self.status}"


@contextlib.contextmanager
def piped(command: str):
    """Put on standard input what ``cat FILE`` or ``head -N FILE`` writes, if there is such a command."""
    if not command:
        yield
        return
    *words, name = shlex.split(command)
    text = Path(name).read_text(encoding="utf-8")
    file = io.BytesIO((text if words == ["cat"] else some_lines(" ".join(words), text)).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdin", types.SimpleNamespace(buffer=file))
        yield


def some_lines(command: str | None, text: str) -> str:
    """Return what ``head -N`` or ``tail -N`` leaves of a text; all without a command."""
    if command is None:
        return text
    program, number = re.fullmatch(r"(head|tail) -(\d+)", command).groups()
    lines = text.splitlines(keepends=True)
    return "".join(lines[: int(number)] if program == "head" else lines[-int(number) :])


#: What differs from one run, or one machine, to the next.
VARIES = [
    (r"\b\d[\d.]* s\b", "0.00 s"),
    (r"\b[\d,]+ rows/s", "1,000 rows/s"),
    (r"\b(read|fit|save) \d+\.\d+", r"\1 0.00"),
    (r"\b(?:all )?\d+ ways\b", "2 ways"),
    (r"\b[\d,]+ bytes", "1,000 bytes"),
]


def without_what_varies(text: str) -> str:
    for pattern, instead in VARIES:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return text


class Checker(doctest.OutputChecker):
    """Compares outputs without what varies."""

    def check_output(self, want: str, got: str, flags: int) -> bool:
        return super().check_output(without_what_varies(want), without_what_varies(got), flags)


def markdown(text: str) -> str:
    """Keep the lines of the blocks of Python, and the numbers of the lines."""
    inside, kept = False, []
    for line in text.splitlines():
        fence = line.startswith("```")
        inside = line == "```pycon" or (inside and not fence)
        kept.append("" if fence or not inside else line)
    return "\n".join(kept)


def commands(text: str) -> list[doctest.Example]:
    """Return the commands in the console blocks of a page as examples that call ``shell``.

    Their outputs are shown whole: three dots stand for themselves.
    """
    found: list[doctest.Example] = []
    inside = ""
    for number, line in enumerate(text.splitlines()):
        if inside and line.strip() and not line.startswith(inside):
            inside = ""
        if line.strip() == ".. code-block:: console":
            inside = line[: line.index("..")] + "   "
        elif inside and line.startswith(f"{inside}$ "):
            source, whole = f"shell({line.strip()[2:]!r})", {doctest.ELLIPSIS: False}
            found.append(doctest.Example(source, "", lineno=number, options=whole))
        elif inside and found:
            found[-1].want += line.removeprefix(inside) + "\n"
    for example in found:
        example.want = re.sub(r"\n*$", "\n" if example.want.strip() else "", example.want)
    return found


def run(name: str, text: str) -> int:
    """Run the examples of a text, and return their number; each may use what earlier ones have defined."""
    shell = Shell()
    examples = [*doctest.DocTestParser().get_examples(text, name), *commands(text)]
    examples.sort(key=lambda example: example.lineno)
    test = doctest.DocTest(examples, {"shell": shell}, name, name, 0, text)
    runner = doctest.DocTestRunner(Checker(), optionflags=FLAGS)
    report: list[str] = []
    runner.run(test, out=report.append)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
    assert test.examples
    assert runner.failures == 0, "".join([*report, "python scripts/outputs.py writes what is printed now"])
    shell.check()
    return len(examples)


def test_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert run("README.md", markdown(text)) >= 10
    assert len(text.split()) <= 700
    searched = (
        "text classifier",
        "sequence tagger",
        "reproducible",
        "safe model file",
        "my data separable",
        "audit",
    )
    for words in searched:
        assert words in " ".join(text.lower().split()), words


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell")
def test_commands_of_the_readme_print_what_it_shows(tmp_path):
    """As they are pasted into a shell, one block after another."""
    (tmp_path / "perceptrons").write_text(f'#!/bin/sh\nexec {sys.executable} -m perceptron_rs "$@"\n')
    (tmp_path / "perceptrons").chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    where = os.environ | {"PATH": path, "PYTHONPATH": str(Path(perceptron_rs.__file__).parents[1])}
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    assert len(blocks) >= 4
    for block in blocks:
        lines = block.splitlines(keepends=True)
        typed = "".join(line.removeprefix("$ ") for line in lines if line.startswith("$ "))
        shown = "".join(line for line in lines if not line.startswith("$ "))
        done = subprocess.run(
            ["bash", "-e"], input=typed, cwd=tmp_path, env=where, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), block
        assert done.stdout == shown, block


@pytest.mark.parametrize("page", [page for page in PAGES if page[5:-4] not in SILENT])
def test_page(page, tmp_path, monkeypatch):
    text = (ROOT / page).read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    run(page, text.replace("rust (portable)", f"rust ({BASELINE})"))


@pytest.mark.parametrize(
    "wrong",
    [
        ">>> 1 + 1\n3\n",
        ".. code-block:: console\n\n   $ perceptrons --version\n   no version\n",
        ".. code-block:: console\n\n   $ perceptrons --version\n   perceptrons ...\n",
    ],
)
def test_wrong_examples_are_seen(wrong):
    with pytest.raises(AssertionError, match="Expected"):
        run("wrong.rst", wrong)


NO_FILE = "perceptrons: error: nothing: no such file or directory"


def test_commands_must_succeed():
    failing = f".. code-block:: console\n\n   $ perceptrons inspect nothing\n   {NO_FILE}\n"
    with pytest.raises(AssertionError, match="exit status 1"):
        run("wrong.rst", failing)
    assert run("right.rst", f"{failing}   $ echo $?\n   1\n") == 2


def test_every_command_has_an_example():
    from perceptron_rs.cli.options import parser

    pages = [page for page in GUIDE if "/command" in page]
    text = "".join((ROOT / page).read_text(encoding="utf-8") for page in pages)
    (commands,) = (action.choices for action in parser()._actions if action.dest == "command")
    for command in commands:
        assert re.search(rf"^   \$ (.+ \| )?perceptrons {command}\b", text, re.MULTILINE), command


def test_links():
    for document in DOCUMENTS:
        text = (ROOT / document).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert (ROOT / target).exists(), f"{document} links to {target}"


def test_files_that_are_named():
    folders = ("python", "rust", "tests", "fuzz", "benches", "scripts", "lab", "examples")
    files = [
        f"/{path.relative_to(ROOT).as_posix()}" for name in folders for path in (ROOT / name).rglob("*.*")
    ]
    for document in [*DOCUMENTS[:-1], *PAGES]:  # the changelog also names what went
        text = (ROOT / document).read_text(encoding="utf-8")
        for name in re.findall(r"`((?:\w+/)*\w+\.(?:py|rs))`", text):
            assert any(file.endswith(f"/{name}") for file in files), f"{document} names {name}"


def test_lectures():
    """Each passage of a lecture leads to a heading that names it, and to a function."""
    with (ROOT / "docs" / "course" / "lectures.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 150
    files = [*PAGES, *(path.relative_to(ROOT) for path in (ROOT / "examples").glob("*.py"))]
    text = "\n".join((ROOT / file).read_text(encoding="utf-8") for file in files)
    labels = re.findall(r"^ *\.\. _([a-z0-9-]+):$", text, re.MULTILINE)
    assert len(labels) == len(set(labels))
    headed = dict(re.findall(r"^\.\. _([a-z0-9-]+):\n\n(.+)\n[=-]{4,}$", text, re.MULTILINE))
    lost = []
    for row in rows:
        function = row["function"]
        assert not function or callable(attrgetter(function)(perceptron_rs)) or function.endswith("_"), row
        if not stems(headed[row["label"]]) & stems(f"{row['section']} {row['says']}"):
            lost.append((headed[row["label"]], row["section"], row["says"]))
    assert not lost
    for claim, labels in PLACES.items():
        assert {row["label"] for row in rows if row["test"] == claim} == labels, claim
    for claim in {row["test"] for row in rows} - set(PLACES):
        assert len({row["label"] for row in rows if row["test"] == claim}) == 1, claim


#: Where what one test computes is shown, if it is shown twice.
PLACES = {
    "an_update_adds_y_x": {"the-update", "whole-run"},
    "an_update_helps_its_example": {"how-far", "the-update"},
    "it_ends_without_errors": {"the-theorem", "whole-run"},
    "orders_end_on_other_lines": {"many-orders", "order"},
    "the_margin_is_the_smallest_y_a": {"margin-of-a-hyperplane", "three-margins"},
    "w_points_to_the_positive_side": {"half-spaces", "orthogonal"},
}
#: Beginnings of words that name no passage, as many headings and rows have them.
COMMON = {
    "with",
    "what",
    "when",
    "does",
    "from",
    "that",
    "this",
    "they",
    "perc",
    "whol",
    "othe",
    "both",
    "betw",
}
COMMON |= {
    "algo",
    "conv",
    "dist",
    "draw",
    "epoc",
    "erro",
    "four",
    "lear",
    "numb",
    "poin",
    "step",
    "thre",
    "vect",
}
COMMON |= {"weig", "wron"}


def stems(text: str) -> set[str]:
    """Return the beginnings of the words of a text that may name a passage."""
    words = re.findall(r"[a-z0-9]{4,}", re.sub(r":math:`[^`]*`", "", text).lower())
    return {word[:4] for word in words} - COMMON


def course(page: str) -> str:
    """Return the text of a page of the course."""
    return (ROOT / "docs" / "course" / f"{page}.rst").read_text(encoding="utf-8")


COURSE = [
    "hyperplane",
    "update",
    "online",
    "epochs",
    "margins",
    "noise",
    "aggressive",
    "variants",
    "multiclass",
    "kernel",
    "sequences",
    "multilayer",
    "gradient",
    "theorem",
]


@pytest.mark.parametrize("page", COURSE)
def test_a_page_of_the_course_goes_from_a_picture_to_the_code(page):
    text = course(page)
    assert re.match(r".*\n=+\n\n[^.]*\?", text)  # a question, a picture, a formula
    picture = re.search(r"^\.\. (plot|image)::", text, re.MULTILINE)
    assert picture.start() < 2600
    assert ".. math::" in text
    code = ".. literalinclude:: ../../python/perceptron_rs/reference/"
    assert picture.start() < text.index(code)
    *_, last = re.split(rf"{re.escape(code)}.*", text)
    assert "fast call" in last
    assert ">>> " in last
    task, questions = last.split("\nQuestions\n")
    assert task.count("**Task.**") == 1
    asked, solution = task.split("**Task.**")[1].split("\n.. fold:: Solution of the task\n")
    assert "<../lab.html#" in asked
    assert ">>> " in solution
    assert re.findall(r"^\.\. fold:: (\d)\. .*\?", questions, re.MULTILINE) == ["1", "2", "3"]


def without_folds(text: str) -> str:
    """Return what a page shows before anybody opens a fold."""
    return re.sub(r"^\.\. fold::.*\n(?:(?: .*)?\n)*", "", text, flags=re.MULTILINE)


def test_a_page_of_the_course_can_be_read_in_a_quarter_of_an_hour():
    pages = [*COURSE, "history", "index", "lectures", "problems"]
    assert {page[12:-4] for page in PAGES if page.startswith("docs/course/")} == {*pages, "derivations"}
    assert "in fourteen pages" in course("index")
    assert len(COURSE) == 14
    counts = {page: len(without_folds(course(page)).split()) for page in pages}
    assert statistics.median(counts.values()) <= 900, counts
    assert max(counts.values()) <= 1500, counts


@pytest.mark.parametrize("page", GUIDE)
def test_a_page_of_the_guide_opens_with_a_task_and_is_short(page):
    """Words are what blanks separate in the file of the page: prose, tables, code and outputs alike."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(text.split()) <= 1500
    first = re.match(r"(?:\.\. _.*\n\n)?.*\n=+\n\nTo [a-z]", text)
    assert first, "begins with what one wants to do, as `To read a file, ...`"
    opening = re.split(r"^ *>>> |^ *\.\. code-block::", text, maxsplit=1, flags=re.MULTILINE)
    assert len(opening) == 2
    assert len(opening[0].split()) <= 120


def test_a_fold_ends_where_its_content_ends():
    assert without_folds("a\n\n.. fold:: b\n\n   c\n\n   d\n\ne\n") == "a\n\ne\n"


def test_the_course_has_twenty_problems_with_solutions():
    text = (ROOT / "docs" / "course" / "problems.rst").read_text(encoding="utf-8")
    asked = re.findall(r"^\*\*(\d+)\. (Pencil|Code|Find the error)\.\*\*", text, re.MULTILINE)
    solved = re.split(r"^\.\. fold:: Solution of problem (\d+)\n", text, flags=re.MULTILINE)
    assert [int(number) for number, _ in asked] == [int(number) for number in solved[1::2]] == [*range(1, 21)]
    assert {kind for _, kind in asked} == {"Pencil", "Code", "Find the error"}
    assert all(">>> " in solution for solution in solved[2::2])


#: Numbers that no code of the page prints: of a lecture, of the gallery, or of a question.
SAID = {
    "hyperplane": {"90", "180"},
    "epochs": {
        "9",
        "15",
        "14",
        "1000",
        "5",
    },  # iterations of a lecture, orders of the gallery, a seed of the lab
    "theorem": {"7"},  # of a question that is impossible
    "aggressive": {"1.10"},  # of scikit-learn
    # Of points that the lab draws: tests/browser/test_lab.py compares them.
    "noise": {"17", "18", "22", "23", "72"},
    "variants": {"71", "400"},
    "kernel": {"52", "11", "6"},
}


@pytest.mark.parametrize("page", COURSE)
def test_numbers_in_prose_are_printed_by_code(page):
    text = course(page)
    code = [line for line in text.splitlines() if re.match(r" *(>>>|\.\.\.) ", line)]
    prose, printed = re.split(r"\n- \w\\\. ", text)[0], list(code)  # without the references
    for example in doctest.DocTestParser().get_examples(text):
        printed.append(example.want)
        for line in (example.source + example.want).splitlines():
            prose = prose.replace(line.strip(), "") if len(line.strip()) > 3 else prose
    prose = "\n".join(
        line for line in prose.splitlines() if not re.match(r" *(>>>|\.\.\.|:[\w-]+:)( |$)", line)
    )
    prose = re.sub(r"^\d+\. ", "", prose, flags=re.MULTILINE)  # numbers of a list
    prose = re.sub(
        r":(?!math)\w+:`[^`]*`|``[^`]*``|`[^`]*<[^`]*>`_+|\.\. math::.*(?:\n\n?   .*)*|\b(?:19|20)\d\d\b",
        "",
        prose,
    )
    numbers = {number.rstrip(".,").replace(",", "") for number in re.findall(r"(?<![\w\d.])\d[\d.,]*", prose)}
    known = set(re.findall(r"\d+(?:\.\d+)?", "\n".join(printed).replace("_", "")))
    measured = {number for number in numbers if float(number) > 3 or "." in number}
    assert measured - known - SAID.get(page, set()) == set()


def test_every_page_is_two_clicks_away():
    docs = ROOT / "docs"

    def linked(page):
        """Return the pages in the tables of contents of a page."""
        text = (docs / f"{page}.rst").read_text(encoding="utf-8")
        blocks = re.findall(r"^\.\. toctree::\n(?:   :.*\n)*\n((?:   .+\n)+)", text, re.MULTILINE)
        return [(Path(page).parent / name).as_posix() for block in blocks for name in block.split()]

    first = linked("index")
    assert "gallery/index" in first  # its own pages are the examples
    second = [page for found in first if found != "gallery/index" for page in linked(found)]
    shown = {"docs/course/derivations.rst"}  # in the table of lectures
    assert {f"docs/{page}.rst" for page in ["index", *first, *second]} >= set(PAGES) - shown


CONTRACTS = [page for page in PAGES if page.startswith("docs/contracts/")]


@pytest.mark.parametrize("page", CONTRACTS)
def test_each_promise_has_a_test(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    rows = re.findall(r"^   \* - (.+)\n     - (.+)$", text, re.MULTILINE)[1:]
    assert len(rows) == text.count("\n   * - ") - 1 >= 8
    for promise, tests in rows:
        assert promise.endswith("."), promise
        named = re.findall(r"``(tests/[\w/]+\.py)`` ``(test_\w+)``", tests)
        assert named, promise
        for file, name in named:
            source = (ROOT / file).read_text(encoding="utf-8")
            assert re.search(rf"^ *def {name}\(", source, re.MULTILINE), f"{file} has no {name}"


def test_make():
    targets = set(
        re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    )
    for document in [*DOCUMENTS, *PAGES]:
        text = (ROOT / document).read_text(encoding="utf-8")
        for name in re.findall(r"`make ([a-z0-9-]+)", text):
            assert name in targets, f"{document} names the command make {name}"


def test_picture(tmp_path):
    """The picture of the README is drawn by the script that says so."""
    made = tmp_path / "made.png"
    command = [sys.executable, str(ROOT / "docs" / "picture.py"), str(made)]
    subprocess.run(command, check=True, cwd=tmp_path)
    shown = ROOT / "docs" / "perceptrons.png"
    assert "](docs/perceptrons.png)" in (ROOT / "README.md").read_text(encoding="utf-8")[:800]
    sizes = [struct.unpack(">II", path.read_bytes()[16:24]) for path in (made, shown)]
    assert sizes[0] == sizes[1]
    assert shown.stat().st_size < 60_000


@pytest.mark.parametrize("page", PAGES)
def test_pictures_have_a_text_in_words(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for options in re.findall(r"^\.\. (?:plot|image)::.*\n((?:   :.*\n)*)", text, re.MULTILINE):
        (alt,) = re.findall(r":alt: (.+)", options)
        assert len(alt.split()) >= 6, alt
