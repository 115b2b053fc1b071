"""Programs of one line that make tables, arrays or lines of other files: by suffix, or by how they begin."""

from __future__ import annotations

import pickletools
import re
import subprocess
import sys
import zipfile
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from perceptron_rs.cli.proposal.columns import CLASSES
from perceptron_rs.cli.proposal.proposed import Proposal, python, quoted, to_train, written

#: A look at a file takes 4 GB at most, where the system holds a program to that, and so many seconds.
_LIMITED, _SECONDS = "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 32,) * 2); ", 60
#: Larger files are not looked at.
_MOST = 1 << 24
_TABLES = '"select name from sqlite_master where type = ?", ["table"]'
_OF_BASE = f'"select * from [%s]" % (c := sqlite3.connect(f)).execute({_TABLES}).fetchone()[0], c'
#: By suffix: a data frame of a file f, and what else that needs.
_FRAMES = {
    ".xlsx": ("pandas.read_excel(f)", "openpyxl"),
    ".xls": ("pandas.read_excel(f)", "xlrd"),
    ".ods": ("pandas.read_excel(f)", "odfpy"),
    ".html": ("pandas.read_html(f)[0]", "lxml"),
    ".xml": ("pandas.read_xml(f)", "lxml"),
    ".dta": ("pandas.read_stata(f)", "pandas"),
    ".sav": ("pandas.read_spss(f)", "pyreadstat"),
    ".sas7bdat": ('pandas.read_sas(f, encoding="latin1")', "pandas"),
    ".orc": ("pandas.read_orc(f)", "pyarrow"),
    ".feather": ("pandas.read_feather(f)", "pyarrow"),
    ".arrow": ("pandas.read_feather(f)", "pyarrow"),
    ".arrows": ('pyarrow.ipc.open_stream(open(f, "rb")).read_pandas()', "pandas"),
    ".sqlite": (f"pandas.read_sql({_OF_BASE})", "pandas"),
    ".db": (f"pandas.read_sql({_OF_BASE})", "pandas"),
    ".yaml": ('pandas.DataFrame(yaml.safe_load(open(f, encoding="utf-8")))', "pandas"),
    ".yml": ('pandas.DataFrame(yaml.safe_load(open(f, encoding="utf-8")))', "pandas"),
}
_PARAGRAPHS = (
    '[print(html.unescape(x)) for p in zipfile.ZipFile(f).read("word/document.xml").decode().split("</w:p>") '
    'if (x := re.sub("<[^>]*>", "", p.replace("<w:tab/>", "\\t")).strip())]'
)
_PAGES = (
    '[print("LABEL", x, sep="\\t") for p in pypdf.PdfReader(f).pages for x in p.extract_text().splitlines()]'
)
#: What programs import, and what pip calls that, if it is another name.
_MODULES = re.compile(
    r"\b(csv|h5py|html|numpy|pandas|pyarrow\.ipc|pypdf|re|scipy\.io|sqlite3|yaml|zipfile)\."
)
_PIP = {"odfpy": "odf", "pyyaml": "yaml"}
#: What arrays are read by: the suffix, or how a file begins.
_ARRAYS = {
    ".npz": "numpy.load(f)",
    ".mat": "scipy.io.loadmat(f)",
    "HDF": "h5py.File(f)",
    "pickle": "numpy.load(f, allow_pickle=True)",
}
_HDF = b"\x89HDF"
#: Arrays of all columns but the last one, and its labels.
_ROWS = "data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape"
_LAST = {
    ".npy": "d = numpy.load(f); numpy.savez(sys.stdout.buffer, X=d[:, :-1], y=d[:, -1].astype(int))",
    ".mtx": f"d = scipy.io.mmread(f).tocsc(); X = d[:, :-1].tocsr(); numpy.savez(sys.stdout.buffer, {_ROWS}, "
    "y=d[:, [-1]].toarray().ravel().astype(int))",
}
_ALL = f"X = scipy.io.mmread(f).tocsr(); numpy.savez(sys.stdout.buffer, {_ROWS})"
#: What examples and labels are called among arrays.
_EXAMPLES = re.compile("x|data|features|images|arr_0|x_?train|train_?(set_)?(x|data|images)", re.IGNORECASE)
_LABELS = re.compile("y|labels?|targets?|arr_1|y_?train|train_?(set_)?(y|labels?)", re.IGNORECASE)
#: A pickle may run anything, so that none is opened for a look.
_TRUSTED = "a pickle can run anything: only of somebody whom you trust"


def of_program(word: str, path: Path, begin: bytes) -> tuple[Proposal | None, bytes] | None:
    """Return what makes another file of one, and the beginning of that; None: it is read as it is."""
    suffix = path.suffix.lower()
    if suffix == ".arrow" and not begin.startswith(b"ARROW1"):
        suffix = ".arrows"
    is_hdf = begin.startswith(_HDF)
    frame, needs = _FRAMES.get(suffix, ("", ""))
    if is_hdf and b"pandas_type" in begin:
        frame, needs = "pandas.read_hdf(f)", "tables"
    if frame:
        return _made(word, path, ".csv", f"{frame}.to_csv(sys.stdout, index=False)", needs)
    if suffix == ".docx":
        return _made(word, path, ".txt", _PARAGRAPHS)
    if suffix in (".npy", ".mtx"):
        return _of_array(word, path), b""
    if suffix in (".pkl", ".pickle"):
        return _of_pickle(word, path, begin), b""
    if begin.startswith(b"%PDF"):
        proposed, _ = _made(word, path, ".labels.txt", _PAGES, is_looked_at=False)
        return proposed._replace(options=["--text"], is_by_hand=True), b""
    if is_hdf:
        found = {name.decode() for name in re.findall(rb"\0([A-Za-z]\w*)\0", begin)}
        names = sorted(found, key=len, reverse=True)  # numbers may look like short ones
        return _of_arrays(word, path, "HDF", names), b""
    if suffix == ".mat":
        names = [name for name, *_ in import_module("scipy.io").whosmat(path)]
        return _of_arrays(word, path, suffix, names), b""
    if suffix == ".npz":
        names = [name.removesuffix(".npy") for name in zipfile.ZipFile(path).namelist()]
        return (None if {"X", "y"} <= {*names} else _of_arrays(word, path, suffix, names)), b""
    return (None, b"") if suffix == ".sql" else None


def _made(
    word: str, path: Path, ending: str, code: str, needs: str = "", *, is_looked_at: bool = True
) -> tuple[Proposal, bytes]:
    """Return what makes a file, and its beginning; that is empty, if nobody may look at it."""
    modules = dict.fromkeys(_MODULES.findall(code))
    code = f"import {', '.join([*modules, 'sys'])}; f = sys.argv[1]; {code}"
    new, step = written(word, ending, python(code))
    wanted = dict.fromkeys([*(name.partition(".")[0] for name in modules), *needs.split()])
    lacking = [name for name in wanted if find_spec(_PIP.get(name, name)) is None]
    pip = {module: name for name, module in _PIP.items()}
    first = [f"pip install {' '.join(pip.get(name, name) for name in lacking)}"] * bool(lacking)
    data = b""
    if is_looked_at and not lacking and path.stat().st_size <= _MOST:
        program = [sys.executable, "-c", _LIMITED * (sys.platform == "linux") + code, str(path)]
        how: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        data = subprocess.run(program, timeout=_SECONDS, check=True, **how).stdout
    return to_train(new, steps=[*first, step]), data


def _of_arrays(
    word: str, path: Path, how: str, names: list[str], two: tuple[str, ...] = ()
) -> Proposal | None:
    """Propose arrays X and y for others that are called like it, or stand in two places; none is read."""
    called = [next(filter(of.fullmatch, names), None) for of in (_EXAMPLES, _LABELS)]
    places = two if None in called else tuple(map(quoted, called))
    if not places:
        return None
    X, y = (f"numpy.array(d[{place}])" for place in places)
    code = f"d = {_ARRAYS[how]}; X = {X}; y = {y}; "
    code += "numpy.savez(sys.stdout.buffer, X=X.reshape(len(X), -1), y=y.ravel())"
    return _made(word, path, ".new.npz", code, is_looked_at=False)[0]


def _of_pickle(word: str, path: Path, begin: bytes) -> Proposal | None:
    """Propose a table or arrays for a pickle by the strings in it; it is not opened."""
    texts: list[str] = []
    with suppress(ValueError):  # where the look ends
        texts += (value for _, value, _ in pickletools.genops(begin) if isinstance(value, str))
    code, names = (
        "pandas.DataFrame(pandas.read_pickle(f)).to_csv(sys.stdout, index=False)",
        " ".join(texts).split(),
    )
    if "DataFrame" in names or not any(name.startswith("numpy") for name in names):
        proposed: Proposal | None = _made(word, path, ".csv", code, is_looked_at=False)[0]
    else:
        proposed = _of_arrays(word, path, "pickle", names, ("0", "1"))
    return proposed and proposed._replace(note=_TRUSTED)


def _of_array(word: str, path: Path) -> Proposal | None:
    """Propose the labels that lie beside an array, else those of its last column, if it may hold some."""
    is_sparse = path.suffix == ".mtx"
    if is_sparse and path.stat().st_size > _MOST:
        return None
    array = import_module("scipy.io").mmread(path).tocsc() if is_sparse else np.load(path, mmap_mode="r")
    if array.ndim != 2:
        return None
    beside = [other for other in sorted(path.parent.glob("*.npy")) if _LABELS.fullmatch(other.stem)]
    labels = next((one for one in beside if np.load(one, mmap_mode="r").shape == array.shape[:1]), None)
    options = [] if labels is None else ["--labels", str(labels)]
    if options and not is_sparse:
        return to_train(word, *options)
    last = np.unique(array[:, [-1]].toarray() if is_sparse else array[:, -1])
    if not options and not (2 <= len(last) <= CLASSES and np.array_equal(last, np.floor(last))):
        return None
    code = _ALL if options else _LAST[path.suffix]
    return _made(word, path, ".new.npz", code, is_looked_at=False)[0]._replace(options=options)
