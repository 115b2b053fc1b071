"""What a reader of the sources may rely on: where arithmetic is done, and what the head of a learner says.

Each rule is also tried on a line that breaks it, so that a rule that finds nothing is known to work.
"""

import io
import re
import tokenize
import tomllib
from collections import Counter
from pathlib import Path
from types import FunctionType

import pytest
from sklearn.base import BaseEstimator

from perceptron_rs import Perceptron

ROOT = Path(__file__).parents[1]
RUST, REFERENCE = ROOT / "rust", ROOT / "python" / "perceptron_rs" / "reference"

pytestmark = pytest.mark.skipif(not RUST.is_dir(), reason="the sources are not here")

#: Operations whose order of addition, rounding or last bit is not the contract's.
ARITHMETIC = {
    "mul_add": r"\bmul_add\b",
    "np.dot": r"(?<!\barith)\.(dot|vdot|inner|tensordot|matmul)\(",
    "@": r"(?<=[\w)\]]) @ (?=[\w(])",
    "einsum": r"\beinsum\b",
    "sum": r"(?<!\barith)\.(sum|mean|nansum|prod|product|var|std|average)(::<[^>]*>)?\(",
    "built-in sum": r"(?<![\w.])sum\(",
    "exp": r"\.(exp|exp2|expm1|exp_m1|tanh|ln|ln_1p|log|log2|log10|log1p|powf|powi|sin|cos)\(",
    "fsum": r"\bfsum\b",
    "float32": r"\bf32\b|\bnp\.(float32|float16|single|half|longdouble)\b",
    "linalg": r"\blinalg\b",
    "fast-math": r"\b(fadd|fmul|algebraic)_",
}
NUMPY_ALONE = {"np.dot"}  # in Rust it is the name of the contract's own
PYTHON = {"pyo3": r"\bpyo3\b", "numpy": r"\bnumpy\b"}


def code_of(path):
    """Return the lines of a source file without comments and strings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".rs":
        text = re.sub(r'"(?:\\.|[^"\\])*"', lambda string: '"' + "\n" * string[0].count("\n") + '"', text)
        return [line.split("//")[0] for line in text.split("\n")]
    lines = [list(line) for line in text.split("\n")]
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.STRING):
            (first, begin), (last, end) = token.start, token.end
            for number in range(first - 1, last):
                stop = end if number == last - 1 else len(lines[number])
                start = begin if number == first - 1 else 0
                lines[number][start:stop] = " " * (stop - start)
    return ["".join(line) for line in lines]


def violations(root, patterns, *, outside):
    """Return "file:line: name: text" for each line of code that a pattern matches."""
    found = []
    for path in sorted([*root.rglob("*.rs"), *root.rglob("*.py")]):
        relative = path.relative_to(root)
        if relative.parts[0] in outside:
            continue
        for number, line in enumerate(code_of(path), start=1):
            names = [name for name, pattern in patterns.items() if re.search(pattern, line)]
            names = [name for name in names if path.suffix == ".py" or name not in NUMPY_ALONE]
            found += [f"{relative}:{number}: {name}: {line.strip()}" for name in names]
    return found


@pytest.mark.parametrize("root", [RUST, REFERENCE], ids=["rust", "reference"])
def test_arithmetic_lives_in_arith_alone(root):
    assert violations(root, ARITHMETIC, outside=("arith", "python")) == []


def test_the_core_is_called_in_one_place_which_lets_no_panic_pass():
    found = violations(RUST / "python", {"detach": r"\.detach\("}, outside=())
    assert [line.partition(":")[0] for line in found] == ["border/call.rs"]


def test_no_product_is_contracted_in_arith_either():
    patterns = {name: ARITHMETIC[name] for name in ("mul_add", "fast-math")}
    assert violations(RUST, patterns, outside=("python",)) == []


def test_the_core_knows_no_python():
    assert violations(RUST, PYTHON, outside=("python",)) == []


PLANTED = {
    "mul_add": ["a = b.mul_add(c, d);"],
    "np.dot": ["a = np.dot(w, x)", "a = w.dot(x)", "a = np.inner(w, x)"],
    "@": ["a = w @ x"],
    "einsum": ["a = np.einsum(spec, w, x)"],
    "sum": ["a = x.sum()", "a = np.sum(x)", "a = np.mean(x)", "let a = x.iter().sum::<f64>();"],
    "built-in sum": ["a = sum(x)"],
    "exp": ["a = np.exp(x)", "a = math.exp(x)", "let a = x.exp();", "let a = x.powi(2);"],
    "fsum": ["a = math.fsum(x)"],
    "float32": ["a = np.float32(x)", "let a = x as f32;"],
    "linalg": ["a = np.linalg.norm(x)"],
    "fast-math": ["let a = std::intrinsics::fadd_fast(x, y);"],
    "pyo3": ["use pyo3::prelude::*;"],
    "numpy": ["use numpy::PyArray1;"],
}


@pytest.mark.parametrize("name", ARITHMETIC | PYTHON)
def test_each_pattern_finds_what_is_planted(name, tmp_path):
    (tmp_path / "online").mkdir()
    for line in PLANTED[name]:
        suffix = "rs" if line.endswith(";") else "py"
        planted = tmp_path / "online" / f"planted.{suffix}"
        planted.write_text(f"\n{line}\n", encoding="utf-8")
        found = violations(tmp_path, ARITHMETIC | PYTHON, outside=("arith", "python"))
        assert f"online/planted.{suffix}:2: {name}: {line}" in [text.replace("\\", "/") for text in found]
        planted.write_text(f"// {line}\n" if suffix == "rs" else f"# {line}\n", encoding="utf-8")
        assert violations(tmp_path, ARITHMETIC | PYTHON, outside=("arith", "python")) == []
        planted.unlink()


PARTS = {
    "rs": ("- Problem:", "- Update rule:", "- Given:", "- Result:", "- Paper:"),
    "py": ("Problem", "Update rule", "Given", "Result", "Paper"),
}


def header_parts(text, suffix):
    """Return the parts of a learner's header, in the order in which they stand."""
    if suffix == "rs":
        head = [line.removeprefix("//!").strip() for line in text.split("\n") if line.startswith("//!")]
        return [part for line in head for part in PARTS["rs"] if line.startswith(part)]
    head = text.split('"""')[1].split("\n")
    return [line for line in head if line in PARTS["py"]]


#: Each learner in Rust and in the reference.
LEARNERS = {
    "online/perceptron": "linear/perceptron",
    "online/averaged": "linear/averaged",
    "online/voted": "linear/voted",
    "online/pocket": "linear/pocket",
    "kernel/train": "kernel/train",
    "kernel/support_set": "kernel/support_set",
    "structured/chain": "structured/chain",
    "structured/general": "structured/general",
    "mlp/train": "mlp/train",
    "margin/descent": "margin/descent",
}


@pytest.mark.parametrize("learner", LEARNERS)
def test_each_learner_has_its_header_in_both_languages(learner):
    for file in (RUST / f"{learner}.rs", REFERENCE / f"{LEARNERS[learner]}.py"):
        suffix = file.suffix[1:]
        assert header_parts(file.read_text(encoding="utf-8"), suffix) == list(PARTS[suffix]), file


def test_no_learner_is_left_out():
    files = [path for path in sorted(RUST.rglob("*.rs")) if "impl Learner for" in path.read_text("utf-8")]
    assert {path.relative_to(RUST).with_suffix("").as_posix() for path in files} <= set(LEARNERS)


def test_a_header_without_a_part_is_noticed():
    text = (RUST / "online" / "perceptron.rs").read_text(encoding="utf-8")
    assert header_parts(text.replace("//! - Given:", "//! Given:"), "rs") != list(PARTS["rs"])
    text = (REFERENCE / "linear" / "perceptron.py").read_text(encoding="utf-8")
    assert header_parts(text.replace("Given\n", "Given:\n"), "py") != list(PARTS["py"])


def test_each_ancestor_of_a_learner_is_explained():
    """None is added without a word of what breaks without it."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.partition("### The ancestors of an estimator")[2].partition("\n## ")[0]
    ours = [kind for kind in Perceptron.__mro__[1:] if kind.__module__.startswith("perceptron_rs")]
    assert re.findall(r"^\| `(\w+)`", section, re.MULTILINE) == [kind.__name__ for kind in ours]


def test_an_estimator_stays_small_enough_to_be_read():
    """Neither ancestors nor private methods grow; what needs no hook is a function."""
    ours = [kind for kind in Perceptron.__mro__ if kind.__module__.startswith("perceptron_rs")]
    kinds = FunctionType | classmethod | staticmethod | property
    methods = {
        name
        for kind in ours
        for name, part in vars(kind).items()
        if name.startswith("_") and not name.startswith("__") and isinstance(part, kinds)
    } - set(dir(BaseEstimator))  # which scikit-learn asks for
    assert len(ours) - 1 <= 20
    assert len(methods) <= 39


def test_no_arrow_runs_up_even_for_types():
    """`make lint` looks at imports that run; this looks at those for a type checker, too."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    floors = project["tool"]["importlinter"]["contracts"][0]["layers"]
    floor_of = {
        room.removeprefix("perceptron_rs."): -number
        for number, rooms in enumerate(floors)
        for room in rooms.split(" | ")
    }
    package = ROOT / "python" / "perceptron_rs"
    arrows, rooms = set(), set()
    for path in package.rglob("*.py"):
        room = path.relative_to(package).with_suffix("").parts[0]
        rooms.add(room)
        for other in re.findall(
            r"^\s*from perceptron_rs\.(\w+)[\w.]* import", path.read_text("utf-8"), re.MULTILINE
        ):
            if other != room and {room, other} <= floor_of.keys() and floor_of[other] >= floor_of[room]:
                arrows.add((room, other))
    assert arrows == set()
    assert rooms - floor_of.keys() == {"__init__"}


def test_a_room_has_sixteen_modules_at_most():
    package = ROOT / "python" / "perceptron_rs"
    modules = {path.with_suffix("") for kind in ("*.py", "*.pyi") for path in package.rglob(kind)}
    rooms = Counter(module.parent.relative_to(package).as_posix() for module in modules)
    assert {room: n for room, n in rooms.items() if n > 16} == {}


def test_lists_of_names_stand_in_public_rooms():
    """An underscore says which names are a module's own; a second list of them would go stale."""
    package = ROOT / "python" / "perceptron_rs"
    lists = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if "\n__all__ = " in path.read_text("utf-8")
    }
    assert {name for name in lists if not name.endswith("__init__.py")} == set()
    assert {name for name in lists if name.startswith("reference")} == {"reference/lessons/__init__.py"}


#: The learners of clusters, as local ones.
TWICE = {"Perceptron", "AveragedPerceptron", "SequencePerceptron"}


def test_functions_and_classes_have_names_of_their_own():
    """Modules of one folder, or of one file name, may do the same for commands or families."""
    package, paths = ROOT / "python" / "perceptron_rs", {}
    for path in package.rglob("*.py"):
        where = path.relative_to(package)
        if where.parts[0] == "reference":  # the other engine has the names of the core
            continue
        for name in re.findall(r"^(?:def|class) ([A-Za-z]\w*)", path.read_text("utf-8"), re.MULTILINE):
            paths.setdefault(name, []).append(where)
    shared = {
        name
        for name, places in paths.items()
        if len({place.parent for place in places}) > 1 and len({place.name for place in places}) > 1
    }
    assert shared == TWICE
