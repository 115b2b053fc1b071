"""``perceptrons evidence``: train a model again on its data, and write down what came out, and of what."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from argparse import Namespace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from perceptron_rs import _core
from perceptron_rs.cli.commands.reproduce import again
from perceptron_rs.cli.errors import CommandError
from perceptron_rs.cli.modelfile import read_record
from perceptron_rs.cli.status import Status
from perceptron_rs.errors import about
from perceptron_rs.io.lines import is_read_once, names_of
from perceptron_rs.models.files import write_whole

__all__ = ["run"]

#: Raised when a reader of the old version cannot read the new one.
VERSION = 1
_CHUNK = 1 << 20
#: What takes part in a run, beside this package.
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "safetensors", "pyarrow")


def run(arguments: Namespace) -> int:
    """Write what was compared and what came out; the exit status is that of ``reproduce``."""
    begun, clock = datetime.now(UTC), time.monotonic()
    if is_read_once(arguments.data):
        raise CommandError(
            f"{names_of(arguments.data)}: evidence names files, which can be read again; name one"
        )
    if arguments.out is not None and Path(arguments.out).is_dir():
        raise CommandError(f"--out {arguments.out}: is a folder; name a file in it")
    names = [arguments.model, *arguments.data, *([arguments.labels] if "labels" in arguments else [])]
    files = list(map(Path, names))
    before = [_file(path) for path in files]
    model, answer = again(arguments)
    for path, seen in zip(files, before, strict=True):
        if _file(path) != seen:
            raise CommandError(f"{path}: changed while it was read; the evidence would be of neither")
    record, engine = read_record(files[0], model), arguments.engine or model.engine
    digests = record.pop("digests")
    evidence = {
        "evidence_version": VERSION,
        "verdict": {"equal": answer.equal, "reason": answer.reason, "message": answer.message},
        "model": before[0]
        | {
            "estimator": type(model).__name__,
            "digest": answer.digest,
            "digest_again": answer.digest_again,
        }
        | record,
        "data": before[1:],
        "digests": digests,
        "run": {
            "engine": engine,
            # The core takes the widest; the reference is NumPy's business.
            "instruction_set": _core._instruction_sets()[-1] if engine == "rust" else None,
            "arithmetic_version": _core.ARITHMETIC_VERSION,
            "perceptron_rs": _core.__version__,
            "compiled_module": _file(Path(_core.__file__)),
            "python": f"{platform.python_implementation()} {platform.python_version()}",
            "libraries": {name: _version(name) for name in _LIBRARIES},
            "processor": processor(),
            "machine": platform.machine(),
            "system": platform.platform(),
        },
        "time": {
            "begun": begun.isoformat(timespec="seconds"),
            "seconds": round(time.monotonic() - clock, 3),
        },
    }
    text = json.dumps(evidence, indent=2) + "\n"
    if arguments.out is None:
        print(text, end="")
    else:
        with about(Path(arguments.out)):
            write_whole(arguments.out, text.encode())
        print(f"{'reproduced' if answer else 'different '} {answer.message}")
    return Status.SUCCESS if answer else Status.FAILURE


def _file(path: Path) -> dict[str, Any]:
    """Return the name, the size and the SHA-256 of a file."""
    total, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            total.update(chunk)
            size += len(chunk)
    return {"file": path.name, "bytes": size, "sha256": total.hexdigest()}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def processor() -> str:
    """Return the name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine()
