"""Readers of data files: whole, or batch by batch for ``fit_stream``."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perceptron_rs.io.files import open_examples
    from perceptron_rs.io.raw_text import open_lines
    from perceptron_rs.io.sentences import open_sentences
    from perceptron_rs.io.source import Batch, Source, as_source, open_arrays
    from perceptron_rs.io.svmlight import load_svmlight, open_svmlight
    from perceptron_rs.io.tables import open_arrow, open_csv, open_parquet

__all__ = [
    "Batch",
    "Source",
    "as_source",
    "load_svmlight",
    "open_arrays",
    "open_arrow",
    "open_csv",
    "open_examples",
    "open_lines",
    "open_parquet",
    "open_sentences",
    "open_svmlight",
]

#: Where each name lives: importing all of them imports scikit-learn, and `lines` needs none of that.
_HOME = {
    "Batch": "source",
    "Source": "source",
    "as_source": "source",
    "load_svmlight": "svmlight",
    "open_arrays": "source",
    "open_arrow": "tables",
    "open_csv": "tables",
    "open_examples": "files",
    "open_lines": "raw_text",
    "open_parquet": "tables",
    "open_sentences": "sentences",
    "open_svmlight": "svmlight",
}

if not TYPE_CHECKING:  # a type checker would take it as leave to read any name

    def __getattr__(name):
        """Import a public name when it is first asked for."""
        if name not in _HOME:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        return value
