"""The environment of a run: versions, processor and operating system."""

from __future__ import annotations

import platform
import sys
from pathlib import Path

from perceptron_rs import _core
from perceptron_rs.engines import instruction_sets


def environment(engine: str) -> dict[str, object]:
    """Return what computes where an engine runs, as JSON holds it."""
    return {
        "engine": engine,
        # The core takes the widest; the reference is NumPy's business.
        "instruction_set": instruction_sets()[-1] if engine == "rust" else None,
        "arithmetic_version": _core.ARITHMETIC_VERSION,
        "perceptron_rs": _core.__version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "processor": _processor(),
        "machine": f"{platform.machine()}, {sys.maxsize.bit_length() + 1} bits, {sys.byteorder}-endian",
        "system": platform.platform(),
    }


def _processor() -> str:
    """Return the name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine()
