"""Names of a package that are imported when they are first read: importing scikit-learn takes seconds.

A package lists them in its stub, ``__init__.pyi``, with where they are: type checkers read the same list.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package, which leaves modules out.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    file : str
        Its ``__file__``.
    """
    with open(f"{file.rpartition('.')[0]}.pyi", "rb") as stub_file:  # noqa: PTH123  pathlib takes as long as all the rest
        stub = ast.parse(stub_file.read())
    home = {line.names[0].name: str(line.module) for line in stub.body if isinstance(line, ast.ImportFrom)}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        is_module = home[name] == package
        value = import_module(f"{package}.{name}") if is_module else getattr(import_module(home[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home})

    return get, names, sorted(name for name in home if home[name] != package)
