"""How golden files are written and read, and inputs drawn by rule."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import scipy.sparse as sp

from perceptron_rs.engines import Engine
from perceptron_rs.reference.order import splitmix64

Case = dict[str, str]

FORMAT = """\
Written by tests/golden/make.py from the reference engine; do not edit.

One case a line: tokens key=value, separated by blanks. Lines that start with # and empty lines
are no cases. A list is separated by commas, row after row if it is a matrix; an empty list is empty.
Whole numbers are decimal. A float64 is the 16 hexadecimal digits of its bits; any NaN is nan.
"""
DRAW = """
draw(type, seed, count, zeros): z = the numbers of SplitMix64(seed), one for each element.
An element is 0 if ((z >> 3) & 7) < zeros; otherwise, by type (all steps are exact),
  float64  ((z >> 11) - 2^52) * 2^-52 * 2^((z & 7) - 4)
  float32  ((z >> 40) - 2^23) * 2^-23 * 2^((z & 7) - 4)
  int8, uint8    the upper 8 bits of z, read as such a number
  int16, uint16  the upper 16 bits
  int32          the upper 32 bits
  float16   ((z >> 53) - 2^10) * 2^-10 * 2^((z & 7) - 4)
  bfloat16  ((z >> 56) - 2^7) * 2^-7 * 2^((z & 7) - 4)
"""
TYPES = ("float64", "float32", "int8", "uint8", "int16", "uint16", "int32")
HALVES = ("float16", "bfloat16")


def bits(values: Any) -> str:
    """Write float64 numbers."""
    flat = np.asarray(values, dtype=np.float64).ravel()
    return ",".join("nan" if np.isnan(v) else f"{v.view(np.uint64):016x}" for v in flat)


def floats(text: str) -> np.ndarray:
    """Read float64 numbers."""
    digits = [part.replace("nan", "7ff8000000000000") for part in text.split(",")]
    return np.array([int(part, 16) for part in digits], dtype=np.uint64).view(np.float64)


def whole(values: Any) -> str:
    return ",".join(str(value) for value in np.asarray(values).ravel().tolist())


def draw(dtype: str, seed: int, shape: tuple[int, ...], zeros: int = 0) -> np.ndarray:
    """Draw by the rule in the files' heads."""
    z = splitmix64(seed, int(np.prod(shape)))
    scale = np.ldexp(1.0, (z & np.uint64(7)).astype(np.int32) - 4)
    if dtype == "float64":
        values = ((z >> np.uint64(11)).astype(np.int64) - 2**52) * 2.0**-52 * scale
    elif dtype == "float32":
        values = ((z >> np.uint64(40)).astype(np.int64) - 2**23) * 2.0**-23 * scale
    elif dtype in HALVES:
        bits = 10 if dtype == "float16" else 7
        values = ((z >> np.uint64(63 - bits)).astype(np.int64) - 2**bits) * 2.0**-bits * scale
    else:
        width = 8 * np.dtype(dtype).itemsize
        values = (z >> np.uint64(64 - width)).astype(f"uint{width}").view(dtype)
    kept = (z >> np.uint64(3)) & np.uint64(7) >= np.uint64(zeros)
    stored = ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype
    return np.where(kept, values, 0).astype(stored).reshape(shape)


def rows(engine: Engine, X: np.ndarray, layout: str) -> Any:
    """Wrap X; the layouts are dense, int32 and int64 (the indices of CSR)."""
    if layout == "dense":
        return engine.dense_rows(X)
    csr = sp.csr_matrix(X.astype(np.float64))
    values = csr.data.astype(X.dtype)
    return engine.csr_rows(csr.indptr.astype(layout), csr.indices.astype(layout), values, X.shape[1])
