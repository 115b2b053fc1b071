"""The examples in the docstrings run, and the sections agree with the signatures."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest
from tests.learners import LINEAR, PASSES

import perceptron_rs
from perceptron_rs import (
    AveragedPerceptron,
    BudgetedKernelPerceptron,
    KernelPerceptron,
    MaxMarginClassifier,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    SequencePerceptron,
    StructuredPerceptron,
    VotedPerceptron,
    hull_weights,
    is_separable,
    margin,
    max_margin,
    mistake_bounds,
    testing,
    updates_until_right,
    verify,
)
from perceptron_rs.features import AttributeEncoder, word_attributes, word_shape
from perceptron_rs.io import load_svmlight

PACKAGE = Path(perceptron_rs.__path__[0])
MODULES = sorted(
    ".".join(["perceptron_rs", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)
METHODS = ("fit", "partial_fit", "decision_function", "predict")
CALLABLES = [
    BudgetedKernelPerceptron,
    KernelPerceptron,
    KernelPerceptron.fit,
    KernelPerceptron.partial_fit,
    KernelPerceptron.decision_function,
    KernelPerceptron.predict,
    Perceptron,
    AveragedPerceptron,
    PocketPerceptron,
    VotedPerceptron,
    SequencePerceptron,
    StructuredPerceptron,
    AttributeEncoder,
    word_attributes,
    word_shape,
    MultilayerPerceptron,
    testing.assert_parity,
    updates_until_right,
    load_svmlight,
]
MARGINS = [max_margin, is_separable, margin, mistake_bounds, verify, hull_weights, MaxMarginClassifier]
CALLABLES += MARGINS
CALLABLES += [getattr(Perceptron, name) for name in METHODS]
CALLABLES += [SequencePerceptron.fit, SequencePerceptron.predict, SequencePerceptron.score]
CALLABLES += [StructuredPerceptron.fit, AttributeEncoder.transform]
CALLABLES += [getattr(MultilayerPerceptron, name) for name in (*METHODS, "predict_proba")]


def test_examples_exist():
    finder = doctest.DocTestFinder()
    for item in (
        Perceptron,
        AveragedPerceptron,
        PocketPerceptron,
        VotedPerceptron,
        testing.assert_parity,
        updates_until_right,
        *MARGINS,
    ):
        assert any(test.examples for test in finder.find(item)), item


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    for library in ("dask", "pyspark"):  # of extras
        if name == f"perceptron_rs.{library.removeprefix('py')}":
            pytest.importorskip(library)
    module = importlib.import_module(name)
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE).failed == 0


def section(item, title):
    """Return the names that a numpydoc section describes, in order."""
    text = inspect.getdoc(item)
    match = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", text, re.MULTILINE | re.DOTALL)
    assert match, f"{item} has no section {title}"
    names = re.findall(r"^(\w[\w, ]*) :", match[1], re.MULTILINE)
    return [name for group in names for name in re.split(r",\s*", group)]


@pytest.mark.parametrize("item", CALLABLES, ids=lambda item: item.__qualname__)
def test_parameters_match_the_signature(item):
    names = [name for name in inspect.signature(item).parameters if name != "self"]
    described = section(item, "Parameters")
    if inspect.isclass(
        item
    ):  # of parameters that only a name can set, those of the learner itself come first
        placed = [p.name for p in inspect.signature(item).parameters.values() if p.kind is not p.KEYWORD_ONLY]
        assert described[: len(placed)] == placed
        described, names = sorted(described), sorted(names)
    assert described == names


@pytest.mark.parametrize("learner", LINEAR)
def test_attributes_are_all_described(learner):
    model = learner(track_mistakes=True, tol=None, max_iter=1, early_stopping=True, validation_fraction=0.5)
    model.fit([[1.0], [-1.0]] * 2, [1, 0] * 2)
    learnt = {name for name in dir(model) if name.endswith("_") and not name.startswith("_")}
    described = section(learner, "Attributes")
    assert len(described) == len(set(described))
    assert learnt | {"feature_names_in_", "calibration_", "recipe_"} == set(described)


@pytest.mark.parametrize("item", CALLABLES, ids=lambda item: item.__qualname__)
def test_defaults_are_written_as_they_are(item):
    text = inspect.getdoc(item)
    for name, parameter in inspect.signature(item).parameters.items():
        match = re.search(rf"^{name} :.*default=(.*)$", text, re.MULTILINE)
        if match:
            assert eval(match[1]) == parameter.default, name


@pytest.mark.parametrize("learner", PASSES)
def test_methods_are_described(learner):
    for name in ("fit", "partial_fit", "decision_function", "predict", "save", "sparsify", "densify"):
        text = inspect.getdoc(getattr(learner, name))
        assert re.search(r"^(Returns|Raises)\n-+$", text, re.MULTILINE), name


@pytest.mark.parametrize(
    "learner", [Perceptron, AveragedPerceptron, PocketPerceptron, VotedPerceptron, MultilayerPerceptron]
)
def test_sections(learner):
    text = inspect.getdoc(learner)
    for title in ("Parameters", "Attributes", "Raises", "See Also", "References", "Examples"):
        assert re.search(rf"^{title}\n-+$", text, re.MULTILINE), title


LEARNERS = [item for item in CALLABLES if hasattr(item, "_get_param_names")]


@pytest.fixture
def parameters(monkeypatch):
    """The script that writes the texts of parameters."""
    if sys.version_info >= (3, 13):
        pytest.skip(
            "Python takes the indentation out of docstrings, which the script compares with the sources"
        )
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "scripts")
    return importlib.import_module("parameters")


def test_learners_say_of_parameters_what_is_declared(parameters):
    kinds = parameters.learners()
    assert set(LEARNERS) - {AttributeEncoder} <= set(kinds)
    assert [kind for kind in kinds if parameters.written(kind) != kind.__doc__] == []


@pytest.mark.parametrize(
    ("base", "text"),
    [
        (Perceptron, "tol : float, default=0.001\n        Text."),
        (VotedPerceptron, 'tie : str, default="mistake"\n        Text.'),
    ],
)
def test_a_text_that_drifts_is_written_anew(parameters, monkeypatch, base, text):
    name, before = text.partition(" ")[0], base.__doc__
    drifted = re.sub(rf"    {name} : .*\n(        .*\n)+", f"    {text}\n", before)
    assert drifted != before
    monkeypatch.setattr(base, "__doc__", drifted)
    assert parameters.written(base) == before


def test_a_name_of_another_meaning_has_another_text_on_purpose(parameters):
    """The nearest class of parameters says it: a vote is no activation."""
    texts = {kind: parameters.texts(kind.__doc__)["tie"][1] for kind in (Perceptron, VotedPerceptron)}
    assert texts[Perceptron] != texts[VotedPerceptron]
    declared = [
        k.__name__ for k in VotedPerceptron.__mro__[1:] if "tie" in parameters.texts(vars(k).get("__doc__"))
    ]
    assert declared == ["VotedPerceptronParameters", "MistakeParameters"]


def documented(kind):
    """Return the docstring of a learner, and those of what it offers, by name."""
    found = {kind.__name__: inspect.getdoc(kind)}
    for name in filter(lambda name: not name.startswith("_") and hasattr(kind, name), dir(kind)):
        item = inspect.getattr_static(kind, name)
        item = item.fget if isinstance(item, property) else getattr(kind, name)
        if inspect.isfunction(item) and item.__module__.startswith("perceptron_rs"):
            found[name] = inspect.getdoc(item) or ""
    return found


def names_of(kind):
    """Return the parameters, attributes and methods of a learner."""
    attributes = section(kind, "Attributes") if "\nAttributes\n" in inspect.getdoc(kind) else []
    methods = {name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name, None))}
    return {*kind._get_param_names(), *attributes, *methods}


#: A learner that says what it does not have.
LACKING = {PocketPerceptron: {"partial_fit", "fit_stream", "predict_then_learn"}}


@pytest.mark.parametrize("kind", LEARNERS)
def test_no_docstring_names_what_the_learner_lacks(kind):
    """A sentence that is copied from another learner may be about that one alone."""
    lacks = set().union(*map(names_of, LEARNERS)) - names_of(kind) - LACKING.get(kind, set())
    for name, text in documented(kind).items():
        text = re.sub(r"^See Also\n-+\n.*?(?=^\w[\w ]*\n-+\n|\Z)", "", text, flags=re.MULTILINE | re.DOTALL)
        found = set(re.findall(r"``(\w+)(?:[=(][^`]*)?``", text))
        method = inspect.getattr_static(kind, name, None)
        arguments = set(inspect.signature(method).parameters) if inspect.isfunction(method) else set()
        assert not (found & lacks) - arguments, name


def public_docstrings():
    """Give the docstrings of all that the modules for users name, and of their methods, without examples."""
    for module in ("", ".datasets", ".features", ".io", ".plots", ".testing"):
        found = importlib.import_module(f"perceptron_rs{module}")
        for name in found.__all__:
            item = getattr(found, name)
            items = {name: item}
            if inspect.isclass(item):
                items |= {f"{name}.{k}": v for k, v in vars(item).items() if not k.startswith("_")}
            for where, each in items.items():
                if text := inspect.getdoc(each):
                    yield f"{module}.{where}", text.split("Examples\n---")[0]


def test_formulas_are_typeset():
    """What the pages would show as code has no powers, norms, sums or inner products."""
    texts = dict(public_docstrings())
    assert len(texts) > 150
    formula = re.compile(r"``[^`]*(?:\^|\|\||\bsum_|[a-z] \. [a-z])[^`]*``|\b[wu] ?\. ?x")
    found = {where: formula.findall(text) for where, text in texts.items()}
    assert not {where: formulas for where, formulas in found.items() if formulas}
