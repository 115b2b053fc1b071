"""Readers of data files: whole, or batch by batch for ``fit_stream``."""

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
    "open_parquet",
    "open_sentences",
    "open_svmlight",
]
