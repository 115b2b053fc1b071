"""What to type instead, where a file cannot be learnt from as it is: by a look at its beginning.

A proposal is one line for a shell. Commands that make another file of it come first, if one must be made.
"""

from __future__ import annotations

import csv
import io
import re
import shlex
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from perceptron_rs.cli.proposal.columns import LINES, chosen
from perceptron_rs.cli.proposal.lines import of_lines
from perceptron_rs.cli.proposal.programs import of_program
from perceptron_rs.cli.proposal.proposed import Proposal, made, python, unused, written
from perceptron_rs.cli.proposal.tables import of_parquet
from perceptron_rs.cli.status import PROGRAM
from perceptron_rs.io.text.compression import MAX_RATIO, decompressed
from perceptron_rs.io.text.paths import PACKED, SUFFIXES, paths_of

_LOOKED_AT = 1 << 18
#: Of long lines so many are looked at, and so many bytes at most.
_LOOKED_LINES, _MOST = 100, 1 << 24
#: What unpacks, by suffix.
_UNPACK = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}

#: What becomes of a line without a label, which somebody must write.
_BY_HAND = "in {}, write a label in place of each LABEL; then type: {}"


def proposal(
    word: str, typed: Sequence[str], target: str | None = None, *, is_known: bool = False
) -> str | None:
    """Return what to type for the one word of DATA that cannot be read; None if nobody knows.

    ``typed`` are the words of the command, whose options are kept: of those that say how to read it, that is
    --target alone. ``is_known``: a model knows how to read it, so that only another file is proposed.
    """
    limit = csv.field_size_limit(_MOST)
    chosen.set(target)
    try:
        with suppress(Exception):  # what a file holds that nobody can read, raises anything
            return _command(word, list(typed), is_known=is_known)
    finally:
        csv.field_size_limit(limit)
    return None


def _command(word: str, typed: list[str], *, is_known: bool) -> str | None:
    proposed = _of_folders(Path(word)) if Path(word).is_dir() else None
    if proposed is None:
        path = Path(paths_of(word)[0])
        if not (path.is_file() or path.is_dir()):
            return None  # a pipe, which has been read: to open it again would wait for a writer
        proposed = of_parquet(word, path) if path.suffix == ".parquet" else _of_bytes(word, path)
    if proposed is None:
        return None
    forms = {SUFFIXES.get(Path(proposed.word).suffix), *proposed.options}
    if forms & {"csv", "tsv", "parquet"} and find_spec("pyarrow") is None:
        proposed = proposed.after("pip install pyarrow")
    options = proposed.options
    if is_known:
        options = options if "--labels" in options else []
        is_drawn = "two classes" in proposed.note and typed[0] != "predict"  # other files have other ones
        if is_drawn or proposed.is_by_hand or not (proposed.steps or options):
            return None
    elif proposed.is_short:
        return None
    elif typed[0] != "train":  # separable and margin: of one label, without a scale
        if proposed.command != "train" or "--multilabel" in options:
            return None
        options = options[: options.index("--scale")] if "--scale" in options else options
    new = [proposed.word if one == word else one for one in typed] + options
    if proposed.command != "train":
        new = [proposed.command, proposed.word]
    if new == typed:
        return None
    command = f"{PROGRAM} {shlex.join(new)}"
    if proposed.is_by_hand:
        return f"{' && '.join(proposed.steps)}   # {_BY_HAND.format(proposed.word, command)}"
    return " && ".join([*proposed.steps, command]) + f"   # {proposed.note}" * bool(proposed.note)


def _of_folders(path: Path) -> Proposal | None:
    """Propose what learns from texts, a file each, in folders that are called like their labels."""
    folders = [one for one in sorted(path.iterdir()) if one.is_dir()]
    firsts = [next(filter(Path.is_file, sorted(one.iterdir())), None) for one in folders]
    if (path / "train").is_dir() and not any(firsts):
        return _of_folders(path / "train")
    if len(folders) < 2 or not all(one and one.suffix in ("", ".txt") for one in firsts):
        return None
    code = 'import pathlib, sys; [print(p.parent.name, " ".join(p.read_text("utf-8", "replace").split()), '
    code += 'sep="\\t") for p in sorted(pathlib.Path(sys.argv[1]).glob("*/*")) if p.is_file()]'
    return made(str(path), ".txt", python(code), "--text")


def _of_bytes(word: str, path: Path) -> Proposal | None:
    with path.open("rb") as file:
        begin = file.read(_LOOKED_AT)
    if (made := of_program(word, path, begin)) is not None:
        program, data = made
        proposed = _of_data(program.word, data) if program and data else program
        return proposed and proposed.after(*program.steps) if data and program else proposed
    if begin.startswith(b"PK\x03\x04"):
        return _of_archive(word, path, "zipfile") if path.suffix == ".zip" else None
    if tarfile.is_tarfile(path):
        return _of_archive(word, path, "tarfile")
    with _opened(path) as opened:
        data = _beginning(opened)
    proposed = _of_data(word, data)
    is_foreign = path.suffix not in PACKED or (proposed is not None and proposed.steps)
    if path.suffix in _UNPACK and is_foreign:  # of programs that read plain text
        whole, step = written(word, path.with_suffix("").suffix, f"{_UNPACK[path.suffix]} -dc")
        proposed = _of_data(whole, data)
        return proposed and proposed.after(step)
    return proposed


def _opened(path: Path) -> io.BufferedReader:
    """Open a file that may be compressed."""
    if path.suffix != ".zst":
        return io.BufferedReader(decompressed(path, MAX_RATIO))
    import pyarrow as pa

    return io.BufferedReader(pa.input_stream(str(path), compression="zstd"))


def _of_archive(word: str, path: Path, module: str) -> Proposal | None:
    """Propose to unpack an archive, and to learn from its file: of several, from the largest."""
    files: dict[str, tuple[int, Callable[[], Any]]]
    with zipfile.ZipFile(path) if module == "zipfile" else tarfile.open(path) as archive:
        if isinstance(archive, zipfile.ZipFile):
            files = {one.filename: (one.file_size, partial(archive.open, one)) for one in archive.infolist()}
        else:
            files = {one.name: (one.size, partial(archive.extractfile, one)) for one in archive.getmembers()}
        known = [name for name in files if Path(name).suffix.lower() in SUFFIXES]
        if not known:
            return None
        name = max(known, key=lambda name: files[name][0])
        with files[name][1]() as file:
            begin = _beginning(file)
    plain = path.with_suffix("").name
    folder = unused(plain.removesuffix(".tar"))
    proposed = _of_data(f"{folder}/{name}", begin)
    return proposed and proposed.after(shlex.join(["python", "-m", module, "-e", word, folder]))


def _beginning(file: IO[bytes]) -> bytes:
    """Return the first bytes of a file: of long lines more, but not all."""
    data = file.read(_LOOKED_AT)
    while len(data) < _MOST and data.count(b"\n") < _LOOKED_LINES and (more := file.read(_LOOKED_AT)):
        data += more
    return data


def _of_data(word: str, data: bytes) -> Proposal | None:
    encoding, other = _encoding(data)
    if encoding is None:
        return None
    text = data.decode(encoding, errors="ignore")
    lines = text.splitlines()[:LINES]
    if len(data) >= _LOOKED_AT and len(lines) < LINES:
        lines.pop()
    lines = [line.rstrip("\r") for line in lines]
    path = Path(word)
    suffixes = [part for part in path.suffixes if part not in PACKED]
    steps: list[str] = []
    if other is not None:
        word, step = written(word, f".utf8{path.suffix}", f"iconv -f {other} -t UTF-8")
        steps = [step]
    proposed = of_lines(word, suffixes[-1] if suffixes else "", lines, text)
    return proposed and proposed.after(*steps)


def _encoding(data: bytes) -> tuple[str | None, str | None]:
    """Return the encoding of a text, None of what is none; and what iconv calls it, if it is not UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16", "UTF-16"
    if b"\0" in data:
        for order, first in (("LE", 1), ("BE", 0)):  # of UTF-16 without a mark, each second byte is one
            if 4 * data[first::2].count(0) > len(data) and 0 not in data[1 - first :: 2]:
                return f"utf-16-{order}", f"UTF-16{order}"
        return None, None
    if re.search(rb"[\x01-\x08\x0e-\x1a]", data) or data.startswith(b"%PDF"):
        return None, None
    for cut in range(4):  # the last character may be cut
        with suppress(UnicodeDecodeError):
            data[: len(data) - cut].decode("utf-8")
            return "utf-8-sig", None
    return "cp1252", "WINDOWS-1252"
