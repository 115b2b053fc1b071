"""Print the oldest versions that pyproject.toml promises to work with, as requirements for pip.

Each lower bound ``name>=version`` of the run-time dependencies becomes ``name==version``.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

#: Packages of the tests whose latest version refuses such an old NumPy when it is imported, and not before.
TESTS = ["pyarrow<20"]


def oldest(requirements: list[str]) -> list[str]:
    """Return the lowest version of each requirement; a requirement without a lower bound is an error."""
    constraints = []
    for requirement in requirements:
        name = re.match(r"[A-Za-z0-9._-]+", requirement)
        bound = re.search(r">=\s*([^\s,;]+)", requirement)
        if name is None or bound is None:
            raise ValueError(f"{requirement!r} has no lower bound: write it as name>=version")
        constraints.append(f"{name[0]}=={bound[1]}")
    return constraints


def main() -> None:
    """Print the oldest versions for this package and its tests."""
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    constraints = oldest(tomllib.loads(text)["project"]["dependencies"]) + TESTS
    sys.stdout.write("\n".join(constraints) + "\n")


if __name__ == "__main__":
    main()
