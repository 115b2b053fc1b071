"""Libraries that the process of a command loads when it reads something of them, or never.

Others import them for functions that commands hardly ever call, and they take longer than many fits.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader

LATE_MODULES = (
    "asyncio",
    "cloudpickle",
    "numpy.f2py",
    "numpy.polynomial",
    "numpy.testing",
    "scipy.special",
    "scipy.stats",
)
#: scikit-learn and pyarrow look whether they are there, to know their objects; no command holds one.
NEVER = ("dateutil", "pandas", "psutil", "rich")


class _Finder:
    """Finds what is late, to be loaded when an attribute is read (the next ``import`` reads one)."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG004  its signature
        """Return where a late library is; None for another one, which other finders find."""
        if name in NEVER:
            raise ModuleNotFoundError(f"no command needs {name}", name=name)
        spec = PathFinder.find_spec(name, path) if name in LATE_MODULES else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def import_late() -> None:
    """Let these libraries be loaded late or never from here on: of a process that is our own."""
    sys.modules.setdefault("perceptron_rs.sklearn_base", import_module("perceptron_rs.cli.base_classes"))
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
