"""How files of examples are read: one set of options for all formats, and what a model knows of its data."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from perceptron_rs.arrays.likes import ArrayLike, n_dimensions
from perceptron_rs.arrays.scalars import check_among
from perceptron_rs.errors import ArgumentError, OptionsError
from perceptron_rs.estimator_attributes import attributes
from perceptron_rs.features.numerals import MARKS
from perceptron_rs.io.options import FileOptions
from perceptron_rs.io.text.lines import is_read_once, name_of_file, names_of
from perceptron_rs.io.text.paths import PACKED, SUFFIXES
from perceptron_rs.parameters.kinds import HASH_BITS, RATIO, is_delimiter
from perceptron_rs.parameters.ranges import check_value

if TYPE_CHECKING:
    from perceptron_rs.features.categories import Categories, TextNotes
    from perceptron_rs.features.text import HashedText
    from perceptron_rs.io.hashed.hasher import ExampleHasher

#: How labels become classes: integers, text, or, of a model that has them, booleans.
LabelKind: TypeAlias = Literal["i", "U", "b"]
#: Of the columns of a hashed text, as vw has them.
USUAL_BITS = 18
TEXT_TABLES = ("csv", "tsv")
TABLES = (*TEXT_TABLES, "parquet")
#: Those that are text, and so can be read line by line, and compressed.
TEXTS = ("svmlight", "csv", "tsv", "lines", "fasttext", "vw", "jsonl")
#: Those whose examples are texts alone.
RAW = ("lines", "fasttext")
#: Those of no columns: names and words are hashed.
HASHED = (*RAW, "vw", "jsonl")
#: Options that say how text is hashed.
OF_TEXT = ("ngrams", "lowercase", "strip_accents", "analyzer", "stop_words", "binary", "norm")
#: Those that ``.txt`` stands for beside svmlight text, if the model has learnt from them.
_AS_TXT = (*TEXT_TABLES, "jsonl")
#: The formats that an option is about.
_FORMATS_OF = {
    "target": (*TABLES, "jsonl", "safetensors"),
    "sample_weight": (*TABLES, "jsonl", "safetensors"),
    "columns": (*TABLES, "safetensors"),
    "drop": (*TABLES, "jsonl"),
    "delimiter": TEXT_TABLES,
    "header": TEXT_TABLES,
    "missing": TEXT_TABLES,
    "decimal": TEXT_TABLES,
    "hash_bits": (*TABLES, *HASHED),
    **dict.fromkeys((*OF_TEXT, "tf_idf"), (*TABLES, *RAW, "jsonl")),
    "keep_words": (*TABLES, *HASHED),
    "text_columns": (*TABLES, "jsonl"),
    "zero_based": ("svmlight",),
    "multilabel": ("svmlight", *HASHED),
}


@dataclass(frozen=True, kw_only=True)
class Reading(FileOptions):
    """The options of a reader, and what a model knows of its data."""

    with_labels: bool = True  # whether there must be labels
    labelled: bool | None = None  # whether there are some nevertheless; None: as it looks
    as_written: bool = False  # whether labels of svmlight text stay floats, as of `open_svmlight`
    refuses_query_ids: bool = False  # of svmlight text
    classes: ArrayLike = None  # of the model
    #: All labels of lists, sorted; None: the file tells them.
    list_labels: tuple[Any, ...] | None = None
    usual: str | None = None  # the format, as in the training, of what the suffix leaves open
    usual_target: str | None = None  # the column of the labels, if no option names it, as in the training
    usual_weight: str | None = None  # the key of the weights, as in the training: it is no feature
    usual_tensor: tuple[str, ...] | None = None  # its name, if no option says it, as in the training
    usual_delimiter: str | None = None  # of tables in the usual format
    texts: tuple[str, ...] | None = None  # columns to hash that hold strings; None: as they look
    in_blocks: bool = False  # whether texts are counted apart, so that a scale can be learnt
    ngrams_of: Any = None  # a `Words` that is told which n-grams and names lead to each column
    categories: Categories | None = None  # are told of strings that are hashed as they are
    notes: TextNotes | None = None  # are told of texts
    names: tuple[str, ...] | None = None  # of the model's columns
    #: Of several tables the first, and the names of its columns: others have them, in any order.
    first: tuple[str, tuple[str, ...]] | None = None
    #: The type of labels that are text in the file, as of the model's classes; None: by the file.
    label_kind: LabelKind | None = None
    base_of_model: bool = False  # whether the model says whether columns are counted from 0, and no option
    scale: Any = None  # has ``applied(X)``, which scales the columns as the model's
    threads: int | None = None
    given: frozenset[str] = frozenset()  # names of the options that somebody has set

    def separator(self, form: str) -> str:
        """Return what separates the columns of a text table."""
        usual = self.usual_delimiter if form == self.usual else None
        return self.delimiter or usual or ("\t" if form == "tsv" else ",")

    def text(self) -> HashedText:
        """Return how text is hashed; ValueError if options do not go together."""
        from perceptron_rs.features.text import HashedText

        options: dict[str, Any] = attributes(self, OF_TEXT)
        text = HashedText(**options | {"ngrams": tuple(self.ngrams)})
        text.check()
        return text

    @property
    def is_weighed(self) -> bool:
        """Whether who hashes texts applies the scale: to them, or to what is beside them."""
        return self.in_blocks or bool(self.text_columns) or (self.scale is not None and self.scale.of_texts)

    def hasher(self, form: str) -> ExampleHasher:
        """Return what hashes examples of a format."""
        from perceptron_rs.io.hashed.hasher import ExampleHasher

        assert self.hash_bits is not None
        return ExampleHasher(
            n_columns=1 << self.hash_bits,
            n_texts=1 if form in RAW else len(self.text_columns or ()),
            text=self.text() if form in RAW or self.text_columns else None,
            scale=self.scale if self.is_weighed else None,
            in_blocks=self.in_blocks,
            words=self.ngrams_of,
            categories=self.categories,
            notes=self.notes,
        )

    def asks_labels(self, form: str) -> bool:
        """Whether all labels tell whether they are integers."""
        is_text = form in (*TEXT_TABLES, *RAW, "vw") and self.labels is None and not self.multilabel
        return self.with_labels and is_text and self.label_kind is None

    def asks_strings(self, form: str) -> bool:
        """Whether all cells tell which columns of a table are strings to hash."""
        return form in TABLES and self.hash_bits is not None and self.texts is None


def reading_of(options: Mapping[str, Any], of_model: Mapping[str, Any] | None = None, **more: Any) -> Reading:
    """Return how files are read: by the options that somebody has set.

    Parameters
    ----------
    options : mapping
        Values of `FileOptions` that are set, be it to their defaults; other names are of other things, of
        which some are for one format alone.
    of_model : mapping or None
        What a model knows of its data, where no option says another thing.
    **more : object
        Other fields of the `Reading`.
    """
    values = {option.name: options[option.name] for option in fields(FileOptions) if option.name in options}
    named = values.keys() | (options.keys() & _FORMATS_OF.keys())
    return Reading(given=frozenset(named), **{**(of_model or {}), **values}, **more)


def checked_options(**options: Any) -> dict[str, Any]:
    """Return arguments of a reader as `FileOptions` has them; raise for one that it cannot have."""
    for name in ("columns", "drop", "missing", "text_columns"):
        if (names := options.get(name)) is not None:
            options[name] = check_names(name, names)
        elif name in ("drop", "missing"):
            options[name] = ()
    if options.get("columns") is not None and options["drop"]:
        raise ArgumentError(
            "{columns} says which columns are features, so {drop} has no effect", "leave one out"
        )
    for name in ("target", "sample_weight"):
        check_name(name, options.get(name))
    for name in ("lowercase", "binary", "multilabel"):
        check_among(name, options.get(name, False), True, False)
    if "ngrams" in options:
        from perceptron_rs.features.text import HashedText, checked_ngrams

        options["ngrams"] = checked_ngrams(options["ngrams"])
        HashedText(**{name: options[name] for name in OF_TEXT}).check()
    for name, values in (("hash_bits", HASH_BITS), ("max_ratio", RATIO)):
        if options.get(name) is not None:
            check_value(name, values, options[name])
    check_among("header", options.get("header"), True, False, None)
    check_among("decimal", options.get("decimal"), *MARKS, None)
    if (delimiter := options.get("delimiter")) is not None:
        check_delimiter(delimiter)
    return options


def check_name(name: str, value: object) -> None:
    """Raise TypeError unless an argument is a name, or None."""
    if not isinstance(value, str | None):
        raise TypeError(f"{name} must be a string, a name that the file has, got {value!r:.80}")


def check_names(name: str, values: object) -> tuple[str, ...]:
    """Return strings as a tuple; TypeError for anything else, also for a string: its letters are no names."""
    if isinstance(values, str | bytes):
        raise TypeError(
            f"{name} must be a list of strings, got {values!r:.80}; write {name}=[{values!r:.80}]"
        )
    is_list = isinstance(values, Iterable) and n_dimensions(values) != 0
    entries = tuple(values) if isinstance(values, Iterable) and is_list else (None,)
    names = tuple(one for one in entries if isinstance(one, str))
    if len(names) < len(entries):
        raise TypeError(f"{name} must be a list of strings, names as the file has them, got {values!r:.80}")
    return names


def meant_by(name: str, names: Iterable[str]) -> str | None:
    """Return the one of some names that differs in blanks around, or in the case of letters, alone."""
    return next((one for one in names if one.strip().casefold() == name.strip().casefold()), None)


def check_weight(target: str | None, weight: str | None) -> None:
    """Raise OptionsError if one column, or key, is to hold both the labels and the weights."""
    if weight is not None and weight == target:
        raise OptionsError(
            "{target} and {sample_weight} name the same column, {weight!r}",
            "name another one, or leave {sample_weight} out",
            weight=weight,
        )


def check_delimiter(delimiter: object) -> None:
    """Raise ValueError for what cannot separate the columns of CSV."""
    if not isinstance(delimiter, str) or not is_delimiter(delimiter):
        raise ValueError(
            f"delimiter must be one character of ASCII, and no quote or line end, got {delimiter!r:.80}"
        )


def format_of(files: Sequence[object], reading: Reading) -> str:
    """Return the format that an option or the suffix says; OptionsError if options do not go with it."""
    form = reading.format or _by_suffix(files[0], reading)
    for file in files[1:]:
        if reading.format is None and (other := _by_suffix(file, reading)) != form:
            raise OptionsError(
                f"{{name}}: is {other}, but {{first}} is {form}",
                "name files of one format, or {format}",
                name=name_of_file(file),
                first=name_of_file(files[0]),
            )
    for option, forms in _FORMATS_OF.items():
        if option in reading.given and form not in forms:
            known = " and ".join([", ".join(forms[:-1]), forms[-1]] if len(forms) > 1 else forms)
            remedy = ""
            if form in RAW:
                remedy = "name columns of texts with {text_columns}, and leave {format='lines'} out"
            elif "lines" in forms:
                remedy = "add {format='lines'}, or leave it out"
            raise OptionsError(
                f"{{{option}}} is for {known}, and {{name}} is {form}", remedy, name=names_of(files)
            )
    about_texts = next((name for name in (*OF_TEXT, "tf_idf") if name in reading.given), None)
    if about_texts is not None and form not in RAW and not reading.text_columns:
        raise OptionsError(
            f"{{{about_texts}}} is about texts, and no column is said to hold some",
            "name it with {text_columns}, or add {format='lines'} if each line is a label, a tab and a text",
        )
    is_hashed = form in HASHED or reading.text_columns or reading.hash_bits is not None
    if "keep_words" in reading.given and not is_hashed:
        raise OptionsError("{keep_words} has no effect without {hash_bits} or {text_columns}")
    if reading.multilabel and reading.labels is not None:
        raise OptionsError(
            "{labels} has one label for each example, {multilabel} lists of them", "leave one out"
        )
    if form in HASHED and reading.usual is not None and reading.hash_bits is None:
        raise OptionsError(
            f"{{name}} is {form}, whose words become columns by hashing, and the model learnt from "
            f"{reading.usual} without hashing",
            "name a file as in the training, or leave {format} out",
            name=names_of(files),
        )
    check_weight(reading.target or reading.usual_target, reading.sample_weight)
    # Of a model: options were looked at already.
    of_model = (("columns", reading.columns, TABLES), ("drop", reading.drop, _FORMATS_OF["drop"]))
    if any(value and name not in reading.given and form not in known for name, value, known in of_model):
        raise OptionsError(
            f"the columns of the model were chosen from a table, and {{name}} is {form}",
            "name a table",
            name=names_of(files),
        )
    return form


def _by_suffix(file: object, reading: Reading) -> str:
    name = name_of_file(file)
    suffix = Path(name).suffix.lower()
    own = Path(Path(name).stem).suffix.lower() if suffix in PACKED else suffix
    if reading.usual in TEXTS and own not in SUFFIXES:
        return reading.usual
    if own == ".txt" and reading.usual in _AS_TXT:
        return reading.usual
    if suffix in PACKED:
        inner = SUFFIXES.get(own)
        if inner in TEXTS:
            return inner
        known = ", ".join(suffix for suffix, form in SUFFIXES.items() if form in TEXTS)
        raise OptionsError(
            "{name}: only {known} may be compressed, as in {example}",
            name=name,
            known=known,
            example=f"data.svm{suffix}",
        )
    if suffix in SUFFIXES:
        return SUFFIXES[suffix]
    if is_read_once([file]):
        if reading.usual is None:
            raise OptionsError("{name} has no suffix that says its format", "add {format}", name=name)
        return reading.usual
    if not suffix and not Path(name).exists():  # a word that was to be something else
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    raise OptionsError(
        "unknown suffix {suffix!r}",
        f"the suffix must be one of {', '.join(SUFFIXES)}, or {{format}} must name the format",
        place=f"{name}: ",
        suffix=suffix,
    )


def wrong_width(name: str, width: int, reading: Reading, zero_based: bool | None = None) -> ArgumentError:
    """Return the error for examples that have another number of features than an option or a model says."""
    counted = reading.base_of_model and zero_based is not None
    base = f", counted from {int(not zero_based)} as by the model" if counted else ""
    remedy, settings = "", {}
    if "n_features" in reading.given:
        remedy = "leave {n_features} out, or give another number"
    elif zero_based is not None:
        remedy = "to expect more features than the training file has, train with {n_features}"
        settings = {"n_features": "N"}
    problem = f"has {width} features{base}, but {reading.n_features} are expected"
    return ArgumentError(problem, remedy, place=f"{name}: ", settings=settings)
