"""Write the section Parameters of each learner's docstring from the texts that stand beside the parameters.

A parameter is declared, with its default, in a class of parameters (`perceptron_rs.parameters.groups` and
the ``parameters.py`` of a family), whose docstring has its type and its text. A learner has the text of the
nearest of its classes; where a name has another meaning, that class has another text. A parameter that no
other class declares keeps the text of the learner. ``--check`` writes nothing, and fails if a text differs.
"""

from __future__ import annotations

import importlib.util
import inspect
import json
import re
import sys
import textwrap
from contextlib import nullcontext
from pathlib import Path
from unittest.mock import MagicMock, patch

import perceptron_rs
from perceptron_rs import StructuredPerceptron
from perceptron_rs.registry import REGISTRY

#: Type and text of each parameter; the text has the indentation of a class.
Texts = dict[str, tuple[str, list[str]]]

SECTION = re.compile(
    r"^    Parameters\n    -+\n(.*?)(?=\n+    \w[\w ]*\n    -+\n|\s*\Z)", re.MULTILINE | re.DOTALL
)
#: What learners on Spark import, which need not be installed to read what they say.
SPARK = ("pyspark", "pyspark.sql", "pyspark.sql.types")


def texts(doc: str | None) -> Texts:
    """Return what a docstring says of parameters."""
    section, found, text = SECTION.search(doc or ""), {}, []
    for line in section[1].split("\n") if section else ():
        if line.startswith("     ") or not line:
            text.append(line)
            continue
        head, text = line.strip(), []
        for name in head.partition(" :")[0].split(", "):
            found[name] = (re.sub(r", default=.*$", "", head.partition(" : ")[2]), text)
    for _, text in found.values():
        while text and not text[-1]:
            text.pop()
    return found


def default_of(parameter: inspect.Parameter) -> str:
    """Return what the line of a parameter says of its default."""
    if parameter.default is parameter.empty:
        return ""
    value = parameter.default
    return f", default={json.dumps(value) if isinstance(value, str) else repr(value)}"


def linked(kind: type, text: list[str]) -> list[str]:
    """Return a text whose names of the package are found from the module of a learner, too."""
    if getattr(perceptron_rs, kind.__name__, None) is kind:
        return text
    plain = " ".join("\n".join(text).split())
    full = re.sub(r"(?<![`:])`(\w+)`(?!`)", r"`~perceptron_rs.\1`", plain)
    if full == plain:
        return text
    indent = " " * 8
    return textwrap.wrap(
        full,
        110,
        initial_indent=indent,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


def written(kind: type) -> str:
    """Return the docstring of a learner as it should be."""
    doc, declared = str(kind.__doc__), {}
    for base in kind.__mro__:
        for name, text in texts(vars(base).get("__doc__")).items() if base is not kind else ():
            declared.setdefault(name, text)
    own = texts(doc)
    parameters = inspect.signature(kind).parameters
    lines = []
    for name in sorted(parameters, key=lambda name: [*own].index(name) if name in own else len(own)):
        if name not in declared and name not in own:
            raise SystemExit(f"{kind.__qualname__}: write a text of {name} beside its default")
        of_type, text = declared.get(name) or own[name]
        lines += [f"    {name} : {of_type}{default_of(parameters[name])}", *linked(kind, text)]
    return SECTION.sub(lambda _: "\n".join(["    Parameters", "    ----------", *lines]), doc, count=1)


def learners() -> list[type]:
    """Return all learners, with those of clusters."""
    found = [*(learner.kind for learner in REGISTRY.values()), StructuredPerceptron]
    there = importlib.util.find_spec("pyspark") is not None
    with nullcontext() if there else patch.dict(sys.modules, dict.fromkeys(SPARK, MagicMock())):
        modules = [importlib.import_module(f"perceptron_rs.{name}") for name in ("dask", "spark")]
    found += [getattr(module, name) for module in modules for name in module.__all__]
    return [kind for kind in found if hasattr(kind, "_get_param_names")]


def main(*options: str) -> int:
    """Write what differs, or say so."""
    if sys.version_info >= (3, 13):
        print("not compared: from 3.13 on, Python takes the indentation out of docstrings; use an older one")
        return 0
    status = 0
    for kind in learners():
        before, after = str(kind.__doc__), written(kind)
        if before == after:
            continue
        path = Path(inspect.getfile(kind))
        if "--check" in options:
            print(f"{path}: {kind.__name__} does not say what is declared; run python scripts/parameters.py")
            status = 1
            continue
        source = path.read_text(encoding="utf-8")
        raw = {str(kind.__doc__): after, before.replace("\\", "\\\\"): after.replace("\\", "\\\\")}
        text = next(text for text in raw if source.count(f'"""{text}"""') == 1)
        path.write_text(source.replace(f'"""{text}"""', f'"""{raw[text]}"""'), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
