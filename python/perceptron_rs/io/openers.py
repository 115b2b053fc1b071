"""Files of examples as sources: of any format by one set of options, raw text, svmlight text."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, Literal

from perceptron_rs.arrays.scalars import check_among, number
from perceptron_rs.choices import Accents, Analyzer, Format, Norm, words
from perceptron_rs.io.options import FileOptions
from perceptron_rs.io.reading import Reading, checked_options, reading_of
from perceptron_rs.io.source import Source, refuse_pipe
from perceptron_rs.io.svmlight.files import check_options, cut_lines, files_of
from perceptron_rs.io.text.opening import MAX_RATIO
from perceptron_rs.io.text.paths import PathLike, paths_of
from perceptron_rs.io.training_files import TrainingFiles
from perceptron_rs.parameters.kinds import RATIO
from perceptron_rs.parameters.ranges import Choice, check_value


def open_examples(
    path: PathLike | Sequence[PathLike],
    *,
    format: Format | None = None,  # noqa: A002  as the option of the command is called
    target: str | None = None,
    sample_weight: str | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    delimiter: str | None = None,
    header: bool | None = None,
    missing: Sequence[str] = (),
    decimal: Literal[".", ","] | None = None,
    text_columns: Sequence[str] | None = None,
    hash_bits: int | None = None,
    ngrams: tuple[int, int] = (1, 1),
    lowercase: bool = True,
    strip_accents: Accents = None,
    analyzer: Analyzer = "word",
    stop_words: Literal["english"] | None = None,
    binary: bool = False,
    norm: Norm = "l2",
    labels: PathLike | None = None,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    multilabel: bool = False,
    max_ratio: float = MAX_RATIO,
) -> Source:
    r"""Read files of examples in any format in parts, for ``fit_stream``, as the command does.

    Parameters
    ----------
    path : str, path-like, or list of them
        Files, read as if they were one; patterns such as ``"part-*.csv.gz"`` and folders name several. gzip,
        bzip2 or xz may have compressed text.
    format : str, default=None
        The format: "svmlight", "csv", "tsv", "lines" (raw text), "fasttext", "vw", "jsonl", "npz", "npy",
        "parquet" or "safetensors". None: what the suffix says.
    target : str, default=None
        Name of the column of labels in a table, of their key in JSON lines, or of their tensor. None: the
        last column; the keys of Vowpal Wabbit or river, see :doc:`/guide/files`; of tensors ``labels``.
    sample_weight : str, default=None
        Name of the column, of the key, or of the tensor, of the weights of the examples.
    columns : list of str, default=None
        Names of the columns of a table that are features; None: all but the target. Or the name of the
        tensor of features; None: the only one of two dimensions.
    drop : list of str, default=()
        Names of columns of a table, or keys of JSON lines, that are no features.
    delimiter : str, default=None
        Character between two cells of CSV; None: a comma, or a tab in TSV.
    header : bool, default=None
        Whether the first line of CSV holds the names of the columns, as for `open_csv`.
    missing : list of str, default=()
        Cells of CSV that stand for a missing value, such as "NA".
    decimal : {".", ","} or None, default=None
        What comes before a fraction in CSV, as for `open_csv`.
    text_columns : list of str, default=None
        Columns that hold texts, or keys of JSON lines: their n-grams, as those of text, are hashed beside the
        other features, to the names "column^n-gram". ``()``: all strings are categories. None: the same, but
        strings that must be texts raise an error.
    hash_bits : int, default=None
        Hash the names and values of a table or of JSON lines to ``2 ** hash_bits`` columns, as scikit-learn's
        ``FeatureHasher`` does, or the n-grams of a text, as ``HashingVectorizer`` does; from 1 to 30. None:
        tables without texts are not hashed, and others to 18.
    ngrams : tuple of two ints, default=(1, 1)
        Of text, the shortest and the longest n-grams, from 1 to 100: ``ngram_range`` of
        ``HashingVectorizer``.
    lowercase : bool, default=True
        Of text, whether to turn it into lower case.
    strip_accents : {"ascii", "unicode"} or None, default=None
        Of text, whether to leave out accents, and with "ascii" also letters that are not of ASCII. Texts in
        other normal forms of Unicode then have the same words.
    analyzer : {"word", "char", "char_wb"}, default="word"
        Of text, whether n-grams are of words, of characters, or of the characters of each word by itself.
    stop_words : {"english"} or None, default=None
        Of text, which words to leave out.
    binary : bool, default=False
        Of text, whether n-grams that occur have the value 1, however often.
    norm : {"l1", "l2"} or None, default="l2"
        Of text, the norm that the row of each text is scaled to.
    labels : path, default=None
        A ``.npy`` file of labels, one for each example.
    n_features : int, default=None
        Number of features; None: as found in the files.
    zero_based : bool or "auto", default="auto"
        Whether columns of svmlight text are counted from 0, as for `open_svmlight`.
    multilabel : bool, default=False
        Whether examples have lists of labels: ``1,3`` before svmlight text, as for `open_svmlight`, before
        the tab of raw text and the bar of ``vw``; several ``__label__``; a list in JSON.
    max_ratio : float, default=250.0
        How many times its size a compressed file may unpack to.

    Returns
    -------
    Source
        The examples; the names of the columns of a table become ``feature_names_in_``.

    Raises
    ------
    ValueError
        If an option is not about the format, or, when it is read, if a file is not as the options say.
    OSError
        If a file cannot be read.
    ImportError
        If pyarrow, which reads tables, is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from perceptron_rs import Perceptron
    >>> from perceptron_rs.io import open_examples
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "two.svm")
    ...     _ = file.write_text("+1 1:0.5 3:2\n-1 2:25e-2\n")
    ...     model = Perceptron().fit_stream(open_examples(file))
    >>> model.classes_
    array([-1,  1])
    """
    options = {name: value for name, value in locals().items() if name != "path"}
    check_options(n_features, zero_based, "ignore")
    check_value("format", Choice(words(Format), none=True), format)
    if not isinstance(labels, str | os.PathLike | None):
        raise TypeError(f"labels must be the path of a .npy file, got {labels!r:.80}")
    options["labels"] = None if labels is None else Path(labels)
    options["zero_based"] = "auto" if isinstance(zero_based, str) else bool(zero_based)
    usual = vars(FileOptions())
    checked = checked_options(**options)
    files = TrainingFiles(
        paths_of(path), reading_of({name: value for name, value in checked.items() if value != usual[name]})
    )
    if files.is_read_once:
        raise ValueError(f"{files.name} can be read only once; name files")
    return files.opened()


def open_lines(
    path: PathLike | Sequence[PathLike],
    *,
    hash_bits: int = 18,
    ngrams: tuple[int, int] = (1, 1),
    lowercase: bool = True,
    strip_accents: Accents = None,
    analyzer: Analyzer = "word",
    stop_words: Literal["english"] | None = None,
    binary: bool = False,
    norm: Norm = "l2",
    labelled: bool = True,
    max_ratio: float = MAX_RATIO,
) -> Source:
    r"""Read raw text in parts, for ``fit_stream``.

    Parameters
    ----------
    path : str, path-like, or list of them
        Files in UTF-8, read as if they were one; patterns such as ``"part-*.txt.gz"`` and folders name
        several. gzip, bzip2 or xz may have compressed them. A line holds a label, a tab and a text.
    hash_bits : int, default=18
        N-grams are hashed to ``2 ** hash_bits`` columns, with the columns and values of scikit-learn's
        ``HashingVectorizer``.
    ngrams, lowercase, strip_accents, analyzer, stop_words, binary, norm
        As for `open_examples`.
    labelled : bool, default=True
        Whether each line begins with a label and a tab. If not, all of it is text, and y of the batches is
        None.
    max_ratio : float, default=250.0
        How many times its size a compressed file may unpack to.

    Returns
    -------
    Source
        The examples. Labels are integers if all of the files are, else text: a first pass tells it.

    Raises
    ------
    ValueError
        When it is read, if a line has no tab, or is not UTF-8. The message names the file and the line.
    OSError
        If a file is missing, or when it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from perceptron_rs import Perceptron
    >>> from perceptron_rs.io import open_lines
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "mail.txt")
    ...     _ = file.write_text("spam\tbuy now\nham\tsee you soon\n")
    ...     model = Perceptron().fit_stream(open_lines(file, hash_bits=10))
    >>> model.classes_.tolist()
    ['ham', 'spam']
    """
    options = {name: value for name, value in locals().items() if name not in ("path", "labelled")}
    check_among("labelled", labelled, True, False)
    files = paths_of(path)
    for file in files:
        refuse_pipe(file, "raw text is read")
    options = checked_options(format="lines", **options)
    return TrainingFiles(files, Reading(**options, with_labels=labelled, labelled=labelled)).source()


def open_svmlight(
    path: PathLike | BinaryIO | Sequence[PathLike | BinaryIO],
    *,
    n_features: int | None = None,
    zero_based: bool | Literal["auto"] = "auto",
    query_id: Literal["ignore", "refuse"] = "ignore",
    labelled: bool | Literal["auto"] = True,
    max_ratio: float = MAX_RATIO,
    multilabel: bool = False,
    labels: Sequence[float] | None = None,
) -> Source:
    r"""Read svmlight / libsvm files in parts, for ``fit_stream``.

    Parameters
    ----------
    path : str, path-like or binary file, or list of them
        Files, read as if they were one: as for `load_svmlight`.
        A named pipe, or a file that is already open, such as ``sys.stdin.buffer``, can be passed through
        only once.
    n_features : int, default=None
        Number of features seen during ``fit``. If None, a first pass counts them.
    zero_based : bool or "auto", default="auto"
        As for `load_svmlight`. "auto" takes a first pass.
    query_id : {"ignore", "refuse"}, default="ignore"
        Whether to ignore ``qid:...`` or to raise an error.
    labelled : bool or "auto", default=True
        Whether each line begins with a label. Lines to predict need not: y of the batches is then None, and
        an empty line is an example without entries. "auto": the first line tells it.
    max_ratio : float, default=250.0
        As for `load_svmlight`.
    multilabel : bool, default=False
        Whether a line has a list of labels, such as ``1,3 2:0.5``, which may be missing. y of the batches is
        then a matrix of 0 and 1.
    labels : list of float, default=None
        All labels of the lists. None: they are looked for in the files, now.

    Returns
    -------
    Source
        The examples.

    Raises
    ------
    ValueError
        When it is read, if a line cannot be parsed or a compressed file is cut. The message names the
        file, line, column and text.
    OSError
        If a file is missing, or when it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from perceptron_rs import Perceptron
    >>> from perceptron_rs.io import open_svmlight
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "two.svm")
    ...     _ = file.write_text("+1 1:0.5 3:2\n-1 2:25e-2\n")
    ...     model = Perceptron().fit_stream(open_svmlight(file))
    >>> model.classes_
    array([-1.,  1.])
    """
    files = files_of(path)
    base = check_options(n_features, zero_based, query_id)
    check_value("max_ratio", RATIO, max_ratio)
    check_among("labelled", labelled, True, False, "auto")
    check_among("multilabel", multilabel, True, False)
    if multilabel and labelled is not True:
        raise ValueError(
            "labelled must be True with multilabel: an empty list looks like a line without labels"
        )
    if labels is not None and not multilabel:
        raise ValueError("labels are for multilabel=True, where each line has a list of them; leave them out")
    reading = Reading(
        format="svmlight",
        zero_based="auto" if base is None else base,
        multilabel=multilabel,
        list_labels=_known_labels(labels),
        max_ratio=max_ratio,
        with_labels=labelled is True,
        labelled=None if isinstance(labelled, str) else labelled,
        as_written=True,
        refuses_query_ids=query_id == "refuse",
    )
    examples = TrainingFiles(files, reading)
    if multilabel and labels is None and examples.is_read_once:
        raise ValueError(f"labels must be given with multilabel, as {examples.name} can be read only once")
    cut = partial(cut_lines, files, n_features=n_features, zero_based=base, query_id=query_id)
    return replace(examples.source(), n_features=n_features, cut=None if multilabel else cut)


def _known_labels(labels: Sequence[float] | None) -> tuple[float, ...] | None:
    """Return all labels of lists, sorted; None: the files tell them."""
    if labels is None:
        return None
    numbers = [number(label) for label in labels] if isinstance(labels, Iterable) else []
    known = tuple(sorted({float(label) for label in numbers if label is not None}))
    if len(known) < 2 or len(known) < len(numbers):
        raise ValueError(f"labels must be two or more different numbers, got {labels!r:.200}")
    return known
