"""Matrices in safetensors files, such as activations of networks, mapped into memory and not read."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain, pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.errors import ArgumentError, OptionsError, refuse_no_name
from perceptron_rs.io.arrays import matrix_of_file
from perceptron_rs.io.batches import Batch, joined
from perceptron_rs.io.examples import Examples
from perceptron_rs.io.reading import Reading, check_name
from perceptron_rs.io.source import Source, evenly, open_arrays, read_anew, refuse_pipe
from perceptron_rs.io.text.lines import is_read_once, name_of_file
from perceptron_rs.io.text.paths import PathLike, paths_of
from perceptron_rs.rows.storage import type_of

_PREFIX = 8
#: Little-endian on every machine.
_TYPES = {
    **{f"F{bits}": f"<f{bits // 8}" for bits in (64, 32, 16)},
    **{f"{sign}{bits}": f"<{sign.lower()}{bits // 8}" for sign in "IU" for bits in (8, 16, 32, 64)},
    "BOOL": "bool",
    "BF16": "bfloat16",
}


def load_safetensors(path: PathLike, tensor: str | None = None) -> NDArray[np.generic]:
    """Return a tensor of a safetensors file, mapped into memory and not read.

    Learners read float16 and bfloat16 in place, as other types, so that data may be larger than the memory.

    Parameters
    ----------
    path : str or path-like
        The file.
    tensor : str, default=None
        Name of the tensor. None: the only one of two dimensions.

    Returns
    -------
    ndarray
        The numbers, read-only. Those of a tensor that lies at an odd place in its file, behind one of bytes,
        are copied once where a learner reads them.

    Raises
    ------
    ValueError
        If the file is no safetensors file, has no such tensor, or one of a type that NumPy has not.
    ImportError
        If the tensor is of bfloat16, and ml_dtypes is not installed.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from safetensors.numpy import save_file
    >>> from perceptron_rs import Perceptron
    >>> from perceptron_rs.io import load_safetensors
    >>> X, y = np.array([[0.5, 2], [-1, 0.25]], dtype=np.float16), [1, 0]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_file({"layer.0": X, "layer.1": 2 * X}, f"{folder}/activations.safetensors")
    ...     mapped = load_safetensors(f"{folder}/activations.safetensors", "layer.1")
    ...     Perceptron().fit(mapped, y).coef_
    array([[3. , 3.5]])
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be the path of a file, got {path!r:.80}")
    refuse_no_name(os.fspath(path))
    return mapped_tensor(path, tensor, "tensor")


def mapped_tensor(path: PathLike, tensor: str | None, option: str) -> NDArray[np.generic]:
    """Return a tensor that an argument names, mapped; errors name the argument."""
    check_name(option, tensor)
    refuse_pipe(path, "tensors are mapped into memory, and read")
    name = name_of_file(os.fspath(path))
    entries, start = _header(path, name)
    if tensor is None:
        matrices = [key for key, entry in entries.items() if len(entry["shape"]) == 2]
        if len(matrices) != 1:
            raise ArgumentError(
                f"has {len(matrices)} tensors of two dimensions",
                f"name one as {{{option}}}; it has {{names}}",
                place=f"{name}: ",
                names=_name_list(entries),
            )
        tensor = matrices[0]
    if tensor not in entries:
        raise ArgumentError(
            "has no tensor {tensor_name!r:.80}",
            f"it has {{names}}; name one as {{{option}}}",
            place=f"{name}: ",
            tensor_name=tensor,
            names=_name_list(entries),
        )
    entry = entries[tensor]
    shape, kind = tuple(entry["shape"]), _type(name, tensor, entry["dtype"])
    if prod(shape) == 0:
        return np.zeros(shape, dtype=kind)  # nothing to map
    return np.memmap(path, dtype=kind, mode="r", offset=start + entry["data_offsets"][0], shape=shape)


def open_safetensors(
    path: PathLike | Sequence[PathLike],
    tensor: str | None = None,
    *,
    target: str | None = None,
    labels: ArrayLike = None,
) -> Source:
    """Read examples from safetensors files, mapped into memory, for ``fit_stream``.

    Parameters
    ----------
    path : str, path-like, or list of them
        Files, read as if they were one; patterns such as ``"part-*.safetensors"`` and folders name several.
    tensor : str, default=None
        Name of the tensor of examples, a row each. None: the only one of two dimensions.
    target : str, default=None
        Name of the tensor of labels, in each of the files.
    labels : array-like or path, default=None
        Instead of ``target``: the labels of all examples, or a ``.npy`` file of them.

    Returns
    -------
    Source
        The examples. Any part of them can be had without reading the others, so
        ``fit_stream(shuffle="block")`` needs no cache.

    Raises
    ------
    ValueError
        If not one of ``target`` and ``labels`` is given, if a tensor has an invalid shape, if numbers of
        examples differ, or as `load_safetensors`.
    ImportError, OSError
        As `load_safetensors`.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from safetensors.numpy import save_file
    >>> from perceptron_rs import Perceptron
    >>> from perceptron_rs.io import open_safetensors
    >>> X, y = np.array([[0.5, 2], [-1, 0.25]], dtype=np.float16), np.array([1, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_file({"layer.0": X, "is_true": y}, f"{folder}/part-0.safetensors")
    ...     save_file({"layer.0": X, "is_true": y}, f"{folder}/part-1.safetensors")
    ...     source = open_safetensors(f"{folder}/part-*.safetensors", "layer.0", target="is_true")
    ...     Perceptron().fit_stream(source).coef_
    array([[1.5 , 1.75]])
    """
    if (target is None) == (labels is None):
        raise ValueError(
            f"give one of target, the name of the tensor of labels, and labels, the labels themselves; got "
            f"{'neither' if target is None else 'both'}"
        )
    files = paths_of(path)
    tensors = [load_safetensors(file, tensor) for file in files]
    for file, X in zip(files, tensors, strict=True):
        if X.ndim != 2 or X.shape[1] != tensors[0].shape[-1]:
            like = "" if X.ndim != 2 else f", and those of {files[0]} have {tensors[0].shape[-1]} features"
            raise ValueError(
                f"{file}: the tensor must have two dimensions, examples and features, got shape "
                f"{X.shape}{like}"
            )
    borders = list(pairwise([0, *accumulate(len(X) for X in tensors)]))
    if target is not None:
        every = [mapped_tensor(file, target, "target") for file in files]
        others: tuple[Path, ...] = ()
    else:
        whole = open_arrays(np.zeros((borders[-1][1], 1), dtype=np.uint8), labels)
        others = whole.files
        y = whole.between(0, borders[-1][1]).y  # type: ignore[misc]
        every = [y[a:b] for a, b in borders]
    sources = [_arrays_of_file(file, X, y) for file, X, y in zip(files, tensors, every, strict=True)]

    def check() -> None:
        for source in sources:
            source.assert_whole()

    def between(first: int, last: int) -> Batch:
        return joined(
            [
                source.between(max(first - a, 0), min(last, b) - a)  # type: ignore[misc]
                for source, (a, b) in zip(sources, borders, strict=True)
                if max(first, a) < min(last, b)
            ]
        )

    def cut(n: int | None) -> list[Callable[[], Batch]]:
        if n is None:
            raise ValueError("n must be given: tensors have no parts of their own; give n=2 or more")
        again = partial(open_safetensors, files, tensor, target=target, labels=labels)
        return [partial(read_anew, again, a, b) for a, b in evenly(borders[-1][1], n)]

    return replace(
        sources[0],
        batches=lambda: chain.from_iterable(source.batches() for source in sources),
        between=between,
        check=check,
        cut=cut,
        n_rows=borders[-1][1],
        files=(*map(Path, files), *others),
        reading=f"safetensors, {tensor}, {target}",
        name=files[0],
    )


def _arrays_of_file(file: str, X: MatrixLike, y: ArrayLike) -> Source:
    try:
        return open_arrays(X, y)
    except (ValueError, TypeError) as error:
        raise type(error)(f"{file}: {error}") from None


def _header(path: PathLike, name: str) -> tuple[dict[str, dict[str, Any]], int]:
    """Return type, shape and place of each tensor, and where the places begin; the library checks them."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy"):
            pass
    except SafetensorError as error:
        raise ValueError(f"{name}: is no safetensors file, or was cut: {str(error)[:200]}") from None
    with Path(path).open("rb") as file:
        length = int.from_bytes(file.read(_PREFIX), "little")
        entries = json.loads(file.read(length))
    entries.pop("__metadata__", None)
    return entries, _PREFIX + length


def _type(name: str, tensor: str, kind: str) -> np.dtype[np.generic]:
    if kind not in _TYPES:
        raise ValueError(
            f"{name}: the tensor {tensor!r:.80} is of {kind}; save it as one of {', '.join(_TYPES)}"
        )
    try:
        return type_of(_TYPES[kind])
    except ImportError as error:
        raise ImportError(f"{name}: the tensor {tensor!r:.80} is of {kind}: {error}") from None


def _name_list(entries: Collection[str]) -> str:
    names = [repr(name) for name in entries]
    return ", ".join(names[:10]) + (f" and {len(names) - 10} others" if len(names) > 10 else "")


def read_tensors(file: Any, reading: Reading) -> Examples:
    """Return the examples of a safetensors file, mapped: options name its tensors."""
    name, chosen = name_of_file(file), reading.columns or reading.usual_tensor
    if is_read_once([file]):
        raise OptionsError(
            "{name}: tensors are mapped into memory, which a pipe cannot be", "write it to a file", name=name
        )
    if chosen is not None and len(chosen) != 1:
        raise OptionsError(
            "{columns} must name one tensor of a safetensors file, got {names}", names=", ".join(chosen)
        )
    if reading.labels is not None and reading.target is not None:
        raise OptionsError("{labels} and {target} both say the labels", "leave one of them out")
    target = None
    if reading.with_labels and reading.labels is None:
        target = reading.target or reading.usual_target
        if target is None:
            raise ArgumentError(
                "which tensor holds the labels must be said",
                "name it as {target}, or pass them with {labels}",
                place=f"{name}: ",
                settings={"target": "NAME", "labels": "FILE.npy"},
            )
    X = matrix_of_file(mapped_tensor(file, None if chosen is None else chosen[0], "columns"), name)
    tensors: dict[str, NDArray[Any]] = {}
    for option, tensor in (("target", target), ("sample_weight", reading.sample_weight)):
        if tensor is None:
            continue
        values = tensors[option] = np.array(mapped_tensor(file, tensor, option))
        if values.shape != (len(X),):
            raise ArgumentError(
                f"the tensor {{tensor!r:.80}} has the shape {values.shape}, but there are {len(X)} examples",
                f"name another one as {{{option}}}",
                place=f"{name}: ",
                tensor=tensor,
            )
    return Examples(X, tensors.get("target"), tensors.get("sample_weight"))
