"""Names of files: one, several, a pattern, or a folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import Any, TypeAlias

from perceptron_rs.errors import refuse_no_name

PathLike: TypeAlias = str | os.PathLike[str]

#: What the names of compressed files end in.
PACKED = (".gz", ".bz2", ".xz")
#: The suffixes of each format.
SUFFIXES = {
    ".svm": "svmlight",
    ".libsvm": "svmlight",
    ".svmlight": "svmlight",
    ".txt": "svmlight",
    ".csv": "csv",
    ".tsv": "tsv",
    ".ft": "fasttext",
    ".fasttext": "fasttext",
    ".vw": "vw",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".npz": "npz",
    ".npy": "npy",
    **dict.fromkeys((".parquet", ".arrow", ".feather"), "parquet"),
    ".safetensors": "safetensors",
}


def paths_of(path: PathLike | Sequence[PathLike], argument: str = "path") -> list[str]:
    """Return the files that a path, a list of them or a pattern such as "part-*.svm" names, in order.

    A folder names the files in it, but those that are hidden or begin with an underscore, as programs write
    them beside the data.
    """
    single = isinstance(path, str | bytes | os.PathLike)
    if not single and not isinstance(path, Sequence):
        raise TypeError(
            f"{argument} must be a path or a list of paths, got {path!r:.80}; pass the name of the file"
        )
    files: list[str] = []
    items: Any = [path] if single else path
    for item in items:
        if not isinstance(item, str | bytes | os.PathLike):
            raise TypeError(
                f"{argument} must hold names of files, got {item!r:.80}; pass str or path-like objects"
            )
        name = os.fsdecode(item)
        refuse_no_name(name, argument)
        if has_magic(name) and not Path(name).exists():
            matching = sorted(glob(name))  # noqa: PTH207  of any folder
            if not matching:
                raise FileNotFoundError(f"no file matches {name!r}; check the pattern and the folder")
            files += [file for match in matching for file in _in_folder(match)]
        else:
            files += _in_folder(name)
    if not files:
        raise ValueError(f"{argument} must name at least one file, got an empty list")
    return files


def _in_folder(name: str) -> list[str]:
    """Return the files in a folder; or the name itself, if it is none."""
    if not Path(name).is_dir():
        return [name]
    inside = sorted(path for path in Path(name).iterdir() if not path.name.startswith((".", "_")))
    folder = next((path for path in inside if path.is_dir()), None)
    if folder is not None:
        raise ValueError(f"{name}: holds the folder {folder.name!r}; name the folder of the files themselves")
    if not inside:
        raise ValueError(f"{name}: is a folder without files; name the one that holds the data")
    unpacked = {path: Path(path.stem if path.suffix.lower() in PACKED else path.name) for path in inside}
    data = next((path for path in inside if unpacked[path].suffix.lower() in SUFFIXES), None)
    for path, bare in unpacked.items():  # README.md, LICENSE and a.csv~, but not part, part-0 or part-0.5
        is_other = bare.suffix[1:].rstrip("~#").isalpha() or bare.name.isupper()
        if data is not None and is_other and bare.suffix.lower() not in SUFFIXES:
            pattern = Path(name, "*" + data.name.removeprefix(unpacked[data].stem))
            raise ValueError(
                f"{name}: holds {path.name!r} beside {data.name!r}; name the files of the data by a pattern, "
                f"such as '{pattern}'"
            )
    return list(map(str, inside))
