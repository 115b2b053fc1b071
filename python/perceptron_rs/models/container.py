"""The bytes of a model file: safetensors with one JSON text in it.

A safetensors file is the length of a header (8 bytes, little-endian), the header (JSON: type, shape and
place of each tensor, and texts under ``__metadata__``), and the tensors' numbers. Ours has one text,
``perceptron_rs``, as the library writes several in a random order; so one model is always the same bytes.
That text is a JSON object with

- ``format_version``, ``arithmetic_version``, ``written_by``;
- ``sha256``: the digest of all else in the text and of all tensors, so that no changed bit goes unnoticed;
- the description of the model (`perceptron_rs.models.writer`).

Where most columns of the weights have nothing, the tensor ``columns`` numbers those that have, and last says
how many there are: the tensors of weights have these columns alone (`perceptron_rs.schema.columns`).

Everything that the header says is compared with the size of the file before the library sees it: nothing
is allocated because a header asks for it.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

import numpy as np
import safetensors as library
from numpy.typing import NDArray
from safetensors import SafetensorError, deserialize
from safetensors import numpy as safetensors

from perceptron_rs.arrays.pieces import pieces
from perceptron_rs.errors import ArgumentError
from perceptron_rs.models.document import Tensors, json_text, json_value
from perceptron_rs.models.files import ModelSource, open_regular
from perceptron_rs.schema.columns import Spread

#: Raised when what a file holds changes. Those before 7 were never released, and are not read.
FORMAT_VERSION = 7
_KEY = "perceptron_rs"
_PREFIX = 8
# The library panics or ends the process where it finds no memory. What it takes is measured: so many bytes
# for each byte of a header, and copies of the tensors; one more before it took them by their addresses.
_OF_HEADER = 8
_SLACK = 4 << 20  # for what every library needs besides, and for what lies between two pieces
_IN_CACHE = 16  # what is made of numbers to be digested is still in the cache: pieces are so much smaller
_COPIES = 2 if hasattr(library, "TensorSpec") else 3
_LARGEST_HEADER = 100_000_000  # the library's own limit
#: Little-endian on every machine.
_TYPES = {
    "F64": "<f8",
    "I64": "<i8",
    "F32": "<f4",
    "I8": "i1",
    "U8": "u1",
    "I16": "<i2",
    "U16": "<u2",
    "I32": "<i4",
    "F16": "<f2",
}
_CUT = "the file is truncated or corrupted; copy it again, or save the model again"


def probe_memory(n_bytes: int, purpose: str) -> None:
    """Raise MemoryError unless so many bytes can be had; they are given back at once, untouched."""
    try:
        np.empty(n_bytes + _SLACK, dtype=np.uint8)
    except (MemoryError, ValueError):  # ValueError: more than an address holds
        raise MemoryError(f"{purpose} needs {n_bytes} bytes of memory, which are not available") from None


def pack(document: dict[str, object], tensors: Tensors) -> bytes:
    """Return the bytes of a model file."""
    document = {"format_version": FORMAT_VERSION} | document
    # In two pieces, as keys are sorted: a description may be long, and its text is made once.
    front, back = (
        json_text({key: value for key, value in document.items() if (key < "sha256") is is_front})[1:-1]
        for is_front in (True, False)
    )
    digest = json_text({"sha256": content_digest(_braced(front, back), tensors)})[1:-1]
    text = _braced(front, digest, back)
    size = sum(array.nbytes for array in tensors.values())
    probe_memory(_COPIES * size + _OF_HEADER * len(text), f"saving a model of {size + len(text)} bytes")
    data: bytes = safetensors.save(tensors, metadata={_KEY: text})
    header = int.from_bytes(data[:_PREFIX], "little")
    if header > _LARGEST_HEADER:
        raise ValueError(
            f"the description of the model takes {header} bytes, and a file holds at most {_LARGEST_HEADER}; "
            f"shorten the feature names, or fit without them (on an array)"
        )
    return data


def _braced(*pieces: str) -> str:
    """Return pieces of the text of a document as one, without those that are empty."""
    return f"{{{','.join(filter(None, pieces))}}}"


def read_document(path: str | os.PathLike[str]) -> dict[str, object]:
    """Return the document of a model file that `unpack` has found sound, without its tensors."""
    file, size = open_regular(path)
    with file:
        return _checked_header(file, size)[0]


def unpack(path: ModelSource) -> tuple[dict[str, object], Tensors]:
    """Return the document and the tensors of a model file; ValueError if it is not sound."""
    file, size = open_regular(path)
    with file:
        document, header = _checked_header(file, size)
        probe_memory(2 * size + _OF_HEADER * header, "reading it")
        file.seek(0)
        data = file.read(size)
    if len(data) != size:
        raise ValueError(f"it became shorter while it was read; {_CUT}")
    try:
        loaded = deserialize(data)  # type: ignore[no-untyped-call]
    except SafetensorError as error:
        raise ValueError(f"{str(error)[:200]!r}: {_CUT}") from None
    del data
    entries = dict(loaded)
    del loaded
    # One after another: where numbers are copied, the bytes that they were in are let go at once.
    tensors = {name: _native_array(entries.pop(name)) for name in sorted(entries)}
    written = document.pop("sha256", None)
    if content_digest(json_text(document), tensors) != written:
        raise ValueError(f"its contents are not what was saved: the digest differs; {_CUT}")
    return document, tensors


def _checked_header(file: BinaryIO, size: int) -> tuple[dict[str, object], int]:
    """Return our document and the length of the header, once that describes a file of that size."""
    start = file.read(_PREFIX + 1)
    if size == 0:
        raise ValueError(f"it is empty; {_CUT}")
    if len(start) == _PREFIX + 1 and start[-1:] != b"{":
        raise _foreign()
    length = int.from_bytes(start[:_PREFIX], "little")
    if len(start) <= _PREFIX or length > size - _PREFIX:
        claim = f", but its header claims {length}" if len(start) > _PREFIX else ""
        raise ValueError(f"it has {size} bytes{claim}; {_CUT}")
    if length > _LARGEST_HEADER:
        raise _foreign(f"its header has {length} bytes, more than any model needs; ")
    file.seek(_PREFIX)
    try:
        header = json_value(file.read(length).decode("utf-8"))
    except UnicodeDecodeError:
        raise ValueError(f"its header is not UTF-8; {_CUT}") from None
    except ValueError as error:
        raise ValueError(f"in its header {error}; {_CUT}") from None
    texts = header.pop("__metadata__", None) if isinstance(header, dict) else None
    if not isinstance(header, dict) or not isinstance(texts, dict) or not isinstance(texts.get(_KEY), str):
        raise _foreign()
    try:
        document = json_value(texts[_KEY])
    except ValueError as error:
        raise ValueError(f"in its description {error}; {_CUT}") from None
    if not isinstance(document, dict):
        raise _foreign()
    _check_version(document.get("format_version"))
    _check_places(header, size - _PREFIX - length)
    return document, length


def _foreign(why: str = "") -> ArgumentError:
    return ArgumentError(
        f"{why}it is not a model file of perceptrons",
        "pass a file written by the save method of an estimator",
        cause="foreign",
    )


def _check_version(version: object) -> None:
    if type(version) is not int or version < 1:
        raise ValueError(f"its format version {version!r:.40} is not a version; {_CUT}")
    if version != FORMAT_VERSION:
        remedy = "install a newer perceptrons" if version > FORMAT_VERSION else "fit and save the model again"
        raise ValueError(
            f"it has the format version {version}, and this perceptrons reads {FORMAT_VERSION}; {remedy}"
        )


def _check_places(entries: dict[str, object], size: int) -> None:
    """Raise ValueError unless the tensors lie one after another and fill ``size`` bytes."""
    places = []
    for name, entry in entries.items():
        if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
            raise ValueError(f"the tensor {name!r:.80} is not described; {_CUT}")
        shape, place = entry["shape"], entry["data_offsets"]
        if not _are_sizes(shape) or not _are_sizes(place) or len(place) != 2:
            raise ValueError(f"the tensor {name!r:.80} has an invalid shape or offset; {_CUT}")
        kind = _TYPES.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
        if kind is None:
            kinds = ", ".join(_TYPES)
            raise ValueError(
                f"the tensor {name!r:.80} must be of {kinds}, got {entry['dtype']!r:.40}; {_CUT}"
            )
        if place[1] - place[0] != np.dtype(kind).itemsize * math.prod(shape):
            raise ValueError(f"the tensor {name!r:.80} has a shape that its bytes do not hold; {_CUT}")
        places.append((place[0], place[1]))
    end = 0
    for first, last in sorted(places):
        if first != end:
            raise ValueError(f"its tensors overlap or leave gaps; {_CUT}")
        end = last
    if end != size:
        raise ValueError(f"its tensors need {end} bytes, but it has {size}; {_CUT}")


def _native_array(entry: dict[str, Any]) -> NDArray[np.generic]:
    """Return the numbers in the order of this machine: the library takes the file's order for that."""
    numbers = np.frombuffer(entry["data"], dtype=_TYPES[entry["dtype"]]).reshape(entry["shape"])
    native = numbers.astype(numbers.dtype.newbyteorder("="), copy=False)
    return np.require(native, requirements=["C", "A", "W"])


def _are_sizes(values: object) -> bool:
    # math.prod of 64 of them stays small enough to compute; no array has more dimensions
    return (
        isinstance(values, list)
        and len(values) <= 64
        and all(type(value) is int and 0 <= value < 2**63 for value in values)
    )


def content_digest(
    document: str,
    tensors: Mapping[str, Any],
    stored: Callable[[NDArray[np.generic]], NDArray[np.generic]] = np.asarray,
) -> str:
    """Return the SHA-256 of a document's text, and of tensors: names, types, shapes, bits, as ``stored``.

    Of a `Spread` also how many columns it has, after its shape, and before its numbers which these are.
    """
    total, parts, vectors = hashlib.sha256(), {}, []
    for name, tensor in sorted(tensors.items()):
        columns = [tensor.columns[:-1]] if isinstance(tensor, Spread) else []
        array = np.atleast_1d(tensor.few if isinstance(tensor, Spread) else tensor)
        parts[name] = [stored(array[:0]).dtype.name, list(tensor.shape), *map(len, columns)]
        vectors += [*columns, array]
    total.update(f"[{document},{json_text(parts)}]".encode())
    for array in vectors:
        for rows in pieces(len(array), array.size // max(len(array), 1)):
            part = np.ascontiguousarray(array[rows]).reshape(-1)
            for piece in pieces(part.size, _IN_CACHE):
                numbers = stored(part[piece])
                total.update(numbers.astype(numbers.dtype.newbyteorder("<"), copy=False).view(np.uint8).data)
    return total.hexdigest()
