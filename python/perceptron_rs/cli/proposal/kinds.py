"""The kinds of files: how each is known, and what becomes of it."""

from __future__ import annotations

import pickletools
import tarfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO

import numpy as np

from perceptron_rs.cli.proposal.arrays import of_matlab, of_named, of_npy, of_npz
from perceptron_rs.cli.proposal.form import LOOKED_AT, Form, Text, made
from perceptron_rs.cli.proposal.lines import of_text
from perceptron_rs.cli.proposal.tables import of_parquet
from perceptron_rs.io.text.compression import MAX_RATIO, decompressed
from perceptron_rs.io.text.paths import SUFFIXES, paths_of

#: Files of other libraries, none of which is opened for a look: a data frame of a file f, by suffix.
_FRAMES = {
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "pandas.read_excel(f)"),
    ".html": "pandas.read_html(f)[0]",
    ".xml": "pandas.read_xml(f)",
    ".dta": "pandas.read_stata(f)",
    ".sav": "pandas.read_spss(f)",
    ".sas7bdat": 'pandas.read_sas(f, encoding="latin1")',
    ".orc": "pandas.read_orc(f)",
    **dict.fromkeys((".feather", ".arrow"), "pandas.read_feather(f)"),
    ".arrows": 'pyarrow.ipc.open_stream(open(f, "rb")).read_pandas()',
    **dict.fromkeys((".h5", ".hdf5"), "pandas.read_hdf(f)"),
    ".pkl": "pandas.DataFrame(pandas.read_pickle(f))",
}
_OF_ARRAYS = {".npy": of_npy, ".npz": of_npz, ".mat": of_matlab}
#: A pickle may run anything.
_TRUSTED = "a pickle can run anything: only of somebody whom you trust"


def form_of(path: Path) -> Form | None:
    """Return what becomes of a file, by its beginning; None, if nobody knows."""
    if path.is_dir() and (form := _of_folders(path)) is not None:
        return form
    first = Path(paths_of(str(path))[0])
    if not (first.is_file() or first.is_dir()):
        return None  # a pipe, which has been read: to open it again would wait for a writer
    if first.suffix == ".parquet":
        return of_parquet(path, first)
    with first.open("rb") as file:
        begin = file.read(LOOKED_AT)
    suffix = first.suffix.lower()
    if suffix == ".arrow" and not begin.startswith(b"ARROW1"):
        suffix = ".arrows"
    if suffix in _OF_ARRAYS:
        return _OF_ARRAYS[suffix](first)
    if suffix == ".sql":
        return None
    if suffix in (".pkl", ".pickle"):
        return _of_pickle(first, begin)
    if suffix in _FRAMES:
        return _frame(suffix)
    if suffix == ".zip" and begin.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(first) as archive:
            sizes = {member.filename: member.file_size for member in archive.infolist()}
        return _of_archive(sizes, lambda name: zipfile.ZipFile(first).open(name))
    if tarfile.is_tarfile(first):
        with tarfile.open(first) as tar:
            sizes = {member.name: member.size for member in tar.getmembers() if member.isfile()}
        return _of_archive(sizes, lambda name: tarfile.open(first).extractfile(name))
    if suffix == ".zst":
        stream = import_module("pyarrow").input_stream
        return of_text(Text(first.stem, lambda: stream(str(first), compression="zstd")))
    return of_text(Text(first.name, lambda: decompressed(first, MAX_RATIO), is_ours=True))


def _frame(suffix: str) -> Form:
    """Return a table that a program of another library writes."""
    frame = _FRAMES[suffix]
    program = (
        f"import {frame.partition('.')[0]}, sys; f = sys.argv[1]; {frame}.to_csv(sys.stdout, index=False)"
    )
    return Form((), ending=".csv", program=program)


def _of_pickle(path: Path, begin: bytes) -> Form | None:
    """Return a table or arrays for a pickle by the strings in it; it is not opened for a look."""
    texts: list[str] = []
    with suppress(ValueError):  # where the look ends
        texts += (value for _, value, _ in pickletools.genops(begin) if isinstance(value, str))
    names = " ".join(texts).split()
    if "DataFrame" in names or not any(name.startswith("numpy") for name in names):
        return _frame(".pkl")._replace(note=_TRUSTED)
    form = of_named(partial(np.load, path, allow_pickle=True), names, is_pair=True)
    return form and form._replace(note=_TRUSTED)


def _of_folders(path: Path) -> Form | None:
    """Return what learns from texts, a file each, in folders that are called like their labels."""
    folders = [one for one in sorted(path.iterdir()) if one.is_dir()]
    firsts = [next(filter(Path.is_file, sorted(one.iterdir())), None) for one in folders]
    if (path / "train").is_dir() and not any(firsts):
        return _of_folders(path / "train")
    if len(folders) < 2 or not all(one and one.suffix in ("", ".txt") for one in firsts):
        return None
    files = (one for one in sorted(path.glob("*/*")) if one.is_file())
    texts = ((one.parent.name, one.read_text("utf-8", "replace")) for one in files)
    return made(lambda: (f"{label}\t{' '.join(text.split())}\n" for label, text in texts), ".txt", "--text")


def _of_archive(sizes: dict[str, int], opened: Callable[[str], IO[bytes] | None]) -> Form | None:
    """Return what learns from an archive: of several files, from the largest that is known."""
    known = [name for name in sizes if Path(name).suffix.lower() in SUFFIXES]
    name = max(known, key=lambda name: sizes[name], default=None)
    return None if name is None else of_text(Text(name, partial(opened, name)))
