"""Names of a package that are imported when they are first read: importing scikit-learn takes seconds.

A type checker reads the imports that each package has under ``TYPE_CHECKING``. It must not see that a package
has a ``__getattr__``, which it would take as leave to read any name.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

__all__ = ["attach"]


def attach(
    package: str, homes: Mapping[str, Iterable[str]], modules: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : dict of str to list of str
        Public names, by the modules of `perceptron_rs` that have them.
    modules : list of str
        Modules of the package that need no import of their own.
    """
    home = {name: module for module, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name in home:
            value = getattr(import_module(f"perceptron_rs.{home[name]}"), name)
        elif name in modules:
            value = import_module(f"{package}.{name}")
        else:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        setattr(sys.modules[package], name, value)
        return value

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *home, *modules})

    return get, names, sorted(home)
