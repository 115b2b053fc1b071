"""What a reader of the sources may rely on: where arithmetic is done, and that the engines mirror each other.

Each rule is also tried on a line that breaks it, so that a rule that finds nothing is known to work.
"""

import io
import re
import tokenize
from pathlib import Path

import pytest

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


READER = "the reader's reference is scikit-learn's load_svmlight_file"

#: Files of one language alone, and why.
RUST_ONLY = {
    "arith/activation": "sums over a row for many labels at once; in the reference one label at a time",
    "arith/number": "float64 or exact integers; the reference has float64",
    "arith/exact": "rule 10, a faster way to the same bits",
    "arith/gram": "rule 10, for the votes of many vectors",
    "arith/finite": "NumPy's isfinite, in chunks that vectorise",
    "arith/integers": "rule 10, whether it holds",
    "arith/simd": "instruction sets",
    "arith/value": "storage types; NumPy has them",
    "rows/ballot": "rule 10, for the votes of many vectors",
    "rows/csr_kernels": "loops for the forms of the weights; in the reference rows/learn",
    "rows/planes": "forms of the weights for the faster leaves",
    "rows/prefetch": "a hint to the processor",
    "rows/scaled": "a kernel under one factor; in the reference part of rows/pending",
    "rows/survey": "one look at all values; in the reference NumPy's",
    "rows/facts": "what the exact path needs to know of stored values",
    "rows/entries": "rows that are read several times, collected once",
    "structured/fill": "loops over tokens and labels; in the reference Lattice.fill",
    "structured/frame": "weights with padding, for loops over eight labels",
    "structured/learner": "weights with their sums; in the reference a dict, which update changes",
    "structured/report": "in the reference a dict",
    "structured/sparse": "weights are sparse in memory; in the reference unpacked",
    "structured/table": "the same, while they are learnt",
    "kernel/products": "tiles; the reference takes one dot product after another",
    "kernel/cache": "rows that are kept; the reference computes each where it is needed",
    "kernel/pool": "rows that several sets keep are written out once; in the reference part of kernel/budget",
    "kernel/source": "a trait; in the reference any function of a number",
    "kernel/window": "examples whose sums are kept up to date; the reference keeps those of all",
    "online/group": "planes that share a thread",
    "online/threads": "scoped threads; the reference has one",
    "online/scores": "threads over rows; the reference's is rows/scores",
    "text/gzip": READER,
    "text/lines": READER,
    "text/number": READER,
    "text/source": READER,
    "text/svmlight": READER,
}
REFERENCE_ONLY = {
    "online/check": "in Rust the types and Problem::new do it",
    "rows/scores": "in Rust online/scores",
    "online/settled": "in Rust a loop over arith/decay",
    "structured/update": "in Rust structured/learner, which owns what is changed",
}


def modules(root, suffix):
    skipped = ("mod", "lib", "__init__")
    paths = (path.relative_to(root) for path in root.rglob(f"*.{suffix}"))
    return {p.with_suffix("").as_posix() for p in paths if p.stem not in skipped and p.parts[0] != "python"}


def test_the_engines_mirror_each_other_file_for_file():
    rust, reference = modules(RUST, "rs"), modules(REFERENCE, "py")
    assert rust - reference == set(RUST_ONLY), (
        "a file without its counterpart in the reference, or a stale exception"
    )
    assert reference - rust == set(REFERENCE_ONLY), (
        "a file without its counterpart in Rust, or a stale exception"
    )


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


def test_each_learner_has_its_header_in_both_languages():
    learners = [path for path in sorted(RUST.rglob("*.rs")) if "impl Learner for" in path.read_text("utf-8")]
    assert len(learners) >= 2
    for path in learners:
        twin = REFERENCE / path.relative_to(RUST).with_suffix(".py")
        for file, suffix in ((path, "rs"), (twin, "py")):
            assert header_parts(file.read_text(encoding="utf-8"), suffix) == list(PARTS[suffix]), file


def test_a_header_without_a_part_is_noticed():
    text = (RUST / "online" / "perceptron.rs").read_text(encoding="utf-8")
    assert header_parts(text.replace("//! - Given:", "//! Given:"), "rs") != list(PARTS["rs"])
    text = (REFERENCE / "online" / "perceptron.py").read_text(encoding="utf-8")
    assert header_parts(text.replace("Given\n", "Given:\n"), "py") != list(PARTS["py"])
