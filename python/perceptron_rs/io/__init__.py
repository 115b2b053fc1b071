"""Readers of data files: whole, or batch by batch for ``fit_stream``."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perceptron_rs.io.any_format import open_examples as open_examples
    from perceptron_rs.io.raw_text import open_lines as open_lines
    from perceptron_rs.io.sentences import open_sentences as open_sentences
    from perceptron_rs.io.source import Batch as Batch
    from perceptron_rs.io.source import Source as Source
    from perceptron_rs.io.source import as_source as as_source
    from perceptron_rs.io.source import open_arrays as open_arrays
    from perceptron_rs.io.svmlight.files import load_svmlight as load_svmlight
    from perceptron_rs.io.svmlight.files import open_svmlight as open_svmlight
    from perceptron_rs.io.tables.tables import open_arrow as open_arrow
    from perceptron_rs.io.tables.tables import open_csv as open_csv
    from perceptron_rs.io.tables.tables import open_parquet as open_parquet
    from perceptron_rs.io.tensors import load_safetensors as load_safetensors
    from perceptron_rs.io.tensors import open_safetensors as open_safetensors
else:
    from perceptron_rs.lazy import attach

    __getattr__, __dir__, __all__ = attach(
        __name__,
        {
            "io.any_format": ["open_examples"],
            "io.raw_text": ["open_lines"],
            "io.sentences": ["open_sentences"],
            "io.source": ["Batch", "Source", "as_source", "open_arrays"],
            "io.svmlight.files": ["load_svmlight", "open_svmlight"],
            "io.tables.tables": ["open_arrow", "open_csv", "open_parquet"],
            "io.tensors": ["load_safetensors", "open_safetensors"],
        },
    )
