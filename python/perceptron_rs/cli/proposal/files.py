"""What to type instead, where a file cannot be learnt from as it is: by a look at its beginning.

It is one line for a shell. The command `convert` comes first, if another file must be made of it.
"""

from __future__ import annotations

import csv
import pickletools
import re
import shlex
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.cli.proposal.form import HEAD_BYTES, MOST, Form, Text, made, unused
from perceptron_rs.cli.proposal.tables import CLASSES, chosen, of_parquet
from perceptron_rs.cli.proposal.texts import of_text
from perceptron_rs.cli.status import PROGRAM
from perceptron_rs.io.text.opening import MAX_RATIO, decompressed
from perceptron_rs.io.text.paths import PACKED, SUFFIXES, paths_of

#: The first table of a database.
_TABLES = '"select name from sqlite_master where type = ?", ["table"]'
_OF_BASE = f'"select * from [%s]" % (c := sqlite3.connect(f)).execute({_TABLES}).fetchone()[0], c'
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
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), f"pandas.read_sql({_OF_BASE})"),
    **dict.fromkeys((".yaml", ".yml"), 'pandas.DataFrame(yaml.safe_load(open(f, encoding="utf-8")))'),
    ".pkl": "pandas.DataFrame(pandas.read_pickle(f))",
}
#: What examples and labels are called among arrays.
_EXAMPLES = re.compile("x|data|features|images|arr_0|x_?train|train_?(set_)?(x|data|images)", re.IGNORECASE)
_LABELS = re.compile("y|labels?|targets?|arr_1|y_?train|train_?(set_)?(y|labels?)", re.IGNORECASE)
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
        begin = file.read(HEAD_BYTES)
    suffix = first.suffix.lower()
    if suffix == ".arrow" and not begin.startswith(b"ARROW1"):
        suffix = ".arrows"
    if suffix in _OF_SUFFIX:
        return _OF_SUFFIX[suffix](first)
    if suffix in (".pkl", ".pickle"):
        return _of_pickle(first, begin)
    if begin.startswith(b"\x89HDF") and b"pandas_type" not in begin:
        names = sorted({name.decode() for name in re.findall(rb"\0([A-Za-z]\w*)\0", begin)}, key=len)
        return _of_named(lambda: import_module("h5py").File(first), names[::-1])
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
    modules = dict.fromkeys(re.findall(r"\b(pandas|pyarrow\.ipc|sqlite3|yaml)\.", frame))
    program = f"import {', '.join(modules)}, sys; f = sys.argv[1]; {frame}.to_csv(sys.stdout, index=False)"
    return Form((), ending=".csv", program=program)


def _of_pickle(path: Path, begin: bytes) -> Form | None:
    """Return a table or arrays for a pickle by the strings in it; it is not opened for a look."""
    texts: list[str] = []
    with suppress(ValueError):  # where the look ends
        texts += (value for _, value, _ in pickletools.genops(begin) if isinstance(value, str))
    names = " ".join(texts).split()
    if "DataFrame" in names or not any(name.startswith("numpy") for name in names):
        return _frame(".pkl")._replace(note=_TRUSTED)
    form = _of_named(partial(np.load, path, allow_pickle=True), names, is_pair=True)
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


def _of_named(read: Callable[[], Any], names: Iterable[str], *, is_pair: bool = False) -> Form | None:
    """Return arrays X and y of others that are called like it; of a pair without names, those two."""
    names = list(names)
    called = [next(filter(pattern.fullmatch, names), None) for pattern in (_EXAMPLES, _LABELS)]
    places: list[Any] = [0, 1] if is_pair and None in called else called
    if None in places:
        return None

    def write(out: TextIO) -> None:
        arrays = read()
        X, y = (np.array(arrays[place]) for place in places)
        np.savez(out.buffer, X=X.reshape(len(X), -1), y=y.ravel())

    return Form((), ending=".new.npz", write=write)


def _of_npz(path: Path) -> Form | None:
    """Return arrays X and y, unless they are there."""
    with np.load(path) as arrays:
        names = arrays.files
    return None if {"X", "y"} <= {*names} else _of_named(partial(np.load, path), names)


def _of_matlab(path: Path) -> Form | None:
    """Return arrays X and y of a file of MATLAB."""
    io = import_module("scipy.io")
    return _of_named(partial(io.loadmat, path), (name for name, *_ in io.whosmat(path)))


def _of_mtx(path: Path) -> Form | None:
    """Return the labels of the last column of a Matrix Market file, if it may hold some."""
    if path.stat().st_size > MOST:
        return None
    matrix = import_module("scipy.io").mmread(path).tocsc()
    X = matrix[:, :-1].tocsr()
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    return _of_last(matrix[:, [-1]].toarray().ravel(), **parts)


def _of_npy(path: Path) -> Form | None:
    """Return the labels that lie beside an array, else those of its last column, if it may hold some."""
    array = np.load(path, mmap_mode="r")
    if array.ndim != 2:
        return None
    beside = [other for other in sorted(path.parent.glob("*.npy")) if _LABELS.fullmatch(other.stem)]
    for labels in beside:
        if np.load(labels, mmap_mode="r").shape == array.shape[:1]:
            return Form(["--labels", str(labels)])
    return _of_last(array[:, -1], X=array[:, :-1])


def _of_last(y: NDArray[Any], **parts: Any) -> Form | None:
    """Return examples with the labels that were their last column, if it may hold some."""
    classes = np.unique(y)
    if not (2 <= len(classes) <= CLASSES and np.array_equal(classes, np.floor(classes))):
        return None
    return Form((), ending=".new.npz", write=lambda out: np.savez(out.buffer, **parts, y=y.astype(int)))


#: Files that are told by their suffix.
_OF_SUFFIX: dict[str, Callable[[Path], Form | None]] = {
    ".npy": _of_npy,
    ".npz": _of_npz,
    ".mat": _of_matlab,
    ".mtx": _of_mtx,
    ".sql": lambda _: None,
}


#: What becomes of a line without a label, which somebody must write.
_BY_HAND = "in {}, write a label in place of each LABEL; then type: {}"


def proposal(
    word: str, typed: Sequence[str], target: str | None = None, *, is_known: bool = False
) -> str | None:
    """Return what to type for the one word of DATA that cannot be read; None if nobody knows.

    ``typed`` are the words of the command, whose options are kept: of those that say how to read it, that is
    --target alone. ``is_known``: a model knows how to read it, so that only another file is proposed.
    """
    with suppress(Exception), _large_cells():  # what a file holds that nobody can read, raises anything
        chosen.set(target)
        form = form_of(Path(word))
        return form and _line(word, list(typed), form, is_known=is_known)
    return None


def convert(word: str, target: str | None, out: TextIO) -> bool:
    """Write what a command learns from instead of a file; return whether there is such a thing."""
    Path(word).stat()  # which says what is wrong with a name
    with _large_cells():
        chosen.set(target)
        form = form_of(Path(word))
        if form is None or form.write is None:
            return False
        form.write(out)
    return True


@contextmanager
def _large_cells() -> Iterator[None]:
    limit = csv.field_size_limit(MOST)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _line(word: str, typed: list[str], form: Form, *, is_known: bool) -> str | None:
    options, file, steps = list(form.options), word, []
    if form.ending:
        path = Path(word)
        file = unused(f"{Path(path.stem if path.suffix in PACKED else path.name).stem}{form.ending}")
        target = chosen.get()
        of_target = [] if target is None else ["--target", target]
        program = ["python", "-c", form.program] if form.program else [PROGRAM, "convert"]
        steps = [f"{shlex.join([*program, word, *of_target])} > {shlex.quote(file)}"]
    forms = {SUFFIXES.get(Path(file).suffix), *options}
    if forms & {"csv", "tsv", "parquet"} and find_spec("pyarrow") is None:
        steps.insert(0, "pip install pyarrow")
    if is_known:
        options = options if "--labels" in options else []
        is_drawn = "two classes" in form.note and typed[0] != "predict"  # other files have other ones
        if is_drawn or form.is_by_hand or not (steps or options):
            return None
    elif form.is_short:
        return None
    elif typed[0] != "train":  # separable and margin: of one label, without a scale
        if form.command != "train" or "--multilabel" in options:
            return None
        options = options[: options.index("--scale")] if "--scale" in options else options
    new = [file if one == word else one for one in typed] + options
    if form.command != "train":
        new = [form.command, file]
    if new == typed or (not steps and options[:1] == ["--scale"]):  # a scale alone helps nobody to read
        return None
    line = f"{PROGRAM} {shlex.join(new)}"
    if form.is_by_hand:
        return f"{' && '.join(steps)}   # {_BY_HAND.format(file, line)}"
    return " && ".join([*steps, line]) + f"   # {form.note}" * bool(form.note)
