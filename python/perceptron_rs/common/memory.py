"""A test of free memory, before a library that ends the process if an allocation fails."""

from __future__ import annotations

import numpy as np

__all__ = ["probe_memory"]

_SLACK = 4 << 20  # for what every library needs besides, and for what lies between two pieces


def probe_memory(n_bytes: int, purpose: str) -> None:
    """Raise MemoryError unless so many bytes can be had; they are given back at once, untouched."""
    try:
        np.empty(n_bytes + _SLACK, dtype=np.uint8)
    except (MemoryError, ValueError):  # ValueError: more than an address holds
        raise MemoryError(f"{purpose} needs {n_bytes} bytes of memory, which are not available") from None
