"""A reproduction as a document to be signed: what was compared, of which files, and what computed it."""

from __future__ import annotations

import hashlib
import platform
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

from perceptron_rs import _core
from perceptron_rs.engines import instruction_sets
from perceptron_rs.io.text.paths import PathLike
from perceptron_rs.models.training_record import read_record
from perceptron_rs.prediction.estimator import Estimator
from perceptron_rs.rerun.reproduction import Reproduction

#: Raised when a reader of the old version cannot read the new one.
VERSION = 1
#: What takes part in a run, beside this package.
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "safetensors", "pyarrow")


class Evidence:
    r"""The files of a reproduction, as they are before it.

    Parameters
    ----------
    model : path
        The model file.
    data : sequence of paths
        The files that the examples are read from.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from perceptron_rs import Perceptron, load, reproduce
    >>> from perceptron_rs.io import load_svmlight
    >>> from perceptron_rs.rerun.evidence import Evidence
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data, file = Path(folder, "two.svm"), Path(folder, "a.model")
    ...     _ = data.write_text("+1 1:0.5 3:2\n-1 2:25e-2\n")
    ...     Perceptron(audit=True).fit(*load_svmlight(data)).save(file)
    ...     evidence, model = Evidence(file, [data]), load(file)
    ...     document = evidence.of(model, reproduce(model, *load_svmlight(data)))
    >>> document["verdict"]["message"]
    'equal to the last bit'
    """

    def __init__(self, model: PathLike, data: Sequence[PathLike]) -> None:
        self._start_time, self._clock = datetime.now(UTC), time.monotonic()
        self._paths = [Path(path) for path in (model, *data)]
        self._files = [_file(path) for path in self._paths]

    def of(self, model: Estimator, answer: Reproduction, engine: str | None = None) -> dict[str, object]:
        """Return the document, as JSON holds it.

        Parameters
        ----------
        model : estimator
            What the model file holds.
        answer : Reproduction
            What `reproduce` has returned.
        engine : {"rust", "reference"} or None, default=None
            What has computed; None: the engine of the model.

        Returns
        -------
        dict

        Raises
        ------
        ValueError
            If a file was written to meanwhile.
        """
        for path, seen in zip(self._paths, self._files, strict=True):
            if _file(path) != seen:
                raise ValueError(f"{path}: changed while it was read; the evidence would be of neither")
        record = read_record(self._paths[0], model)
        digests = record.pop("digests")
        return {
            "evidence_version": VERSION,
            "verdict": {"equal": answer.equal, "reason": answer.reason, "message": answer.message},
            "model": {
                **self._files[0],
                "estimator": type(model).__name__,
                "digest": answer.digest,
                "digest_again": answer.digest_again,
                **record,
            },
            "data": self._files[1:],
            "digests": digests,
            "run": {
                **environment(engine or model.engine),
                "compiled_module": _file(Path(_core.__file__)),
                "libraries": {name: _version(name) for name in _LIBRARIES},
            },
            "time": {
                "begun": self._start_time.isoformat(timespec="seconds"),
                "seconds": round(time.monotonic() - self._clock, 3),
            },
        }


def _file(path: Path) -> dict[str, object]:
    """Return the name, the size and the SHA-256 of a file."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"file": path.name, "bytes": file.tell(), "sha256": digest}


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


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
