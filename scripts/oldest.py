"""Print the oldest versions that pyproject.toml promises to work with, as constraints for pip.

Each lower bound ``name>=version`` of the run-time dependencies becomes ``name==version``.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path


def oldest(requirements: list[str]) -> list[str]:
    """Return one constraint per requirement; a requirement without a lower bound is an error."""
    constraints = []
    for requirement in requirements:
        name = re.match(r"[A-Za-z0-9._-]+", requirement)
        bound = re.search(r">=\s*([^\s,;]+)", requirement)
        if name is None or bound is None:
            raise ValueError(f"{requirement!r} has no lower bound: write it as name>=version")
        constraints.append(f"{name[0]}=={bound[1]}")
    return constraints


def main() -> None:
    """Print the constraints of this package."""
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    sys.stdout.write("\n".join(oldest(tomllib.loads(text)["project"]["dependencies"])) + "\n")


if __name__ == "__main__":
    main()
