"""The recipe in a model file, from JSON and tensors: all is checked, for strangers may have written it."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, get_args

import numpy as np

from perceptron_rs.arrays.named import State
from perceptron_rs.choices import Format
from perceptron_rs.features.idf import KIND, Idf
from perceptron_rs.features.numerals import MARKS
from perceptron_rs.features.text import HashedText, KeptWords
from perceptron_rs.parameters.kinds import HASH_BITS, SCALES, is_delimiter
from perceptron_rs.recipe.recipe import LATER, LATER_OF_TEXT, WORDS, ColumnBlock, Recipe, Terms, described
from perceptron_rs.recipe.scale import Scale
from perceptron_rs.schema.columns import check_columns
from perceptron_rs.schema.schema import is_count

_OF_BLOCK = ("idf_columns", "idf", "terms", "ends")
_BLOCK = {"columns", "width", "text", "has_terms", "scale", "categories", "refuses"}


def recipe_from_json(description: object, n_features: int, tensors: State | None = None) -> Recipe:
    """Return what ``Recipe.to_json`` wrote of a model with so many columns, and take the tensors of it.

    ValueError if it did not.
    """
    tensors = {} if tensors is None else tensors
    names = [part.name for part in described()]
    if not isinstance(description, dict) or {*description, *LATER} != set(names):
        raise ValueError(f"its input must hold {', '.join(names)}")
    for name in ("target", "delimiter", "sample_weight"):
        if not (description[name] is None or (isinstance(description[name], str) and description[name])):
            raise ValueError(f"the {name} of its input must be a string, got {description[name]!r:.80}")
    if description["delimiter"] is not None and not is_delimiter(description["delimiter"]):
        raise ValueError(
            f"the delimiter of its input must be one character of ASCII, and no quote or line end, got "
            f"{description['delimiter']!r:.80}"
        )
    if description.get("decimal") not in (*MARKS, None):
        raise ValueError(f"the decimal of its input must be . or , and is {description['decimal']!r:.80}")
    if not isinstance(description["header"], bool | None):
        raise ValueError(f"the header of its input must be a boolean, got {description['header']!r:.80}")
    form, bits, holdout = (description[name] for name in ("format", "hash_bits", "holdout"))
    if form not in (forms := get_args(Format)):
        raise ValueError(f"the format of its input must be one of {', '.join(forms)}, got {form!r:.80}")
    if bits is not None and not (type(bits) is int and HASH_BITS.accepts(bits) and 1 << bits == n_features):
        raise ValueError(f"its input is hashed to 2**{bits!r:.20} columns, but it has {n_features}")
    if holdout is not None and not (type(holdout) is float and 0 < holdout < 1):
        raise ValueError(f"the holdout of its input must be a number between 0 and 1, got {holdout!r:.80}")
    share = description.get("calibration")
    if share is not None and not (type(share) is float and holdout and 0 < share <= holdout):
        raise ValueError(f"the calibration of its input must be a part of its holdout, got {share!r:.80}")
    scale = _idf(description["scale"], n_features, tensors) or _scale(description["scale"], n_features)
    lists = ("columns", "texts", "missing", "drop", "text_columns")
    parsed: dict[str, Any] = {name: _column_names(description.get(name)) for name in lists}
    parsed |= {name: parsed[name] or () for name in ("missing", "drop", "text_columns")}
    text, words = _hashed_text(description["text"]), _kept_words(n_features, tensors)
    if parsed["text_columns"] and text is None:
        raise ValueError("its input has columns of texts, but does not say how they are hashed")
    if blocks := description.get("blocks", []):
        said = [name for name in names if name not in ("format", "blocks") and description.get(name)]
        if said:
            raise ValueError(f"its input has blocks, so its {said[0]} must say nothing")
        parsed["blocks"] = _blocks(blocks, n_features, tensors)
    return Recipe(**description | parsed | {"scale": scale, "text": text}, words=words)


def _blocks(descriptions: object, n_features: int, tensors: State) -> tuple[ColumnBlock, ...]:
    if not isinstance(descriptions, list):
        raise ValueError("the blocks of its input must be a list")
    blocks = []
    for i, description in enumerate(descriptions):
        own = {name: tensors.pop(f"block{i}_{name}", None) for name in _OF_BLOCK}
        try:
            blocks.append(_block(description, {name: part for name, part in own.items() if part is not None}))
        except ValueError as error:
            raise ValueError(f"block {i} of its input is unsound: {error}") from None
    if any(not block.columns for block in blocks) and len(blocks) > 1:
        raise ValueError("each block of its input must name columns, for there are several")
    if (width := sum(block.width for block in blocks)) != n_features:
        raise ValueError(f"the blocks of its input make {width} columns, but it has {n_features}")
    return tuple(blocks)


def _block(description: object, tensors: State) -> ColumnBlock:
    if not isinstance(description, dict) or not {"columns", "width"} <= description.keys() <= _BLOCK:
        raise ValueError(f"it must hold columns and width, and may hold {', '.join(sorted(_BLOCK))}")
    columns, width = description["columns"], description["width"]
    if not isinstance(columns, list) or not all(
        isinstance(name, str) or (is_count(name) and name < 1 << 31) for name in columns
    ):
        raise ValueError(f"its columns must be names or places, got {columns!r:.80}")
    if not is_count(width) or not 0 < width < 1 << 31:
        raise ValueError(f"its width must be a count of at least 1, got {width!r:.80}")
    if any(type(description.get(name, True)) is not bool for name in ("refuses", "has_terms")):
        raise ValueError("refuses and has_terms must be booleans")
    text, scale, terms = _hashed_text(description.get("text")), description.get("scale"), None
    weights = _idf(scale, width, tensors) if text is not None else _scale(scale, width)
    if (weights is None) != (scale is None):
        raise ValueError("its scale is none of texts")
    if description.get("has_terms"):
        terms = _terms(tensors, width)
    categories = description.get("categories")
    if categories is not None:
        if not isinstance(categories, list) or not all(_are_categories(values) for values in categories):
            raise ValueError("its categories must be lists of different strings or finite numbers")
        categories = tuple(map(tuple, categories))
        if len(categories) != len(columns) or sum(map(len, categories)) != width:
            raise ValueError("its categories must be those of its columns, and as many as its width")
    if tensors:
        raise ValueError(f"it has the unknown tensor {min(tensors)}")
    kinds = [text is not None, categories is not None, terms is not None and text is None]
    if sum(kinds) > 1 or (categories is not None and scale is not None):
        raise ValueError("it must be of texts, of categories or of numbers")
    least = {0, 1} if text is not None else {width} if categories is None else {len(columns)} - {0}
    if len(columns) not in least:
        raise ValueError(f"it takes {len(columns)} columns and makes {width}, which cannot be")
    return ColumnBlock(
        tuple(columns), width, text, terms, weights, categories, description.get("refuses", False)
    )


def _are_categories(values: object) -> bool:
    if not isinstance(values, list):
        return False
    numbers = [value for value in values if not isinstance(value, str)]
    are_sound = all(type(value) in (bool, int, float) and math.isfinite(value) for value in numbers)
    return are_sound and len(set(values)) == len(values)


def _terms(tensors: State, width: int) -> Terms:
    text, ends = tensors.pop("terms", None), tensors.pop("ends", None)
    if text is None or ends is None or text.dtype != np.uint8 or ends.dtype != np.int64:
        raise ValueError("its terms must be a vector of uint8, with ends of int64")
    if text.ndim != 1 or ends.shape != (width,) or (np.diff(ends, prepend=0) < 0).any():
        raise ValueError(f"its terms must have {width} ends, which rise")
    if ends[-1] != len(text):
        raise ValueError("the ends of its terms do not divide the text")
    return Terms(text, ends)


def _column_names(values: object) -> tuple[str, ...] | None:
    if values is None:
        return None
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("the columns of its input must be a list of strings")
    return tuple(values)


def _scale(description: object, n_features: int) -> Scale | None:
    if description is None:
        return None
    if not isinstance(description, dict) or set(description) != {"kind", "scale", "offset"}:
        raise ValueError("the scale of its input must hold a kind, scale and offset")
    kind, scale, offset = (description[name] for name in ("kind", "scale", "offset"))
    if kind not in SCALES:
        raise ValueError(f"the scale of its input must be one of {', '.join(SCALES)}, got {kind!r:.80}")
    for numbers in (scale, *([] if offset is None else [offset])):
        if not isinstance(numbers, list) or len(numbers) != n_features:
            raise ValueError(f"the scale of its input must have {n_features} numbers, one for each column")
        if not all(type(number) is float and math.isfinite(number) for number in numbers):
            raise ValueError("the scale of its input must hold finite numbers")
    return Scale(kind, tuple(scale), None if offset is None else tuple(offset))


def _hashed_text(description: object) -> HashedText | None:
    if description is None:
        return None
    names = [part.name for part in fields(HashedText)]
    if not isinstance(description, dict) or {*description, *LATER_OF_TEXT} != set(names):
        raise ValueError(f"the text of its input must hold {', '.join(names)}")
    ngrams = description["ngrams"]
    if not isinstance(ngrams, list) or len(ngrams) != 2 or any(type(n) is not int for n in ngrams):
        raise ValueError("the ngrams of its input must be two whole numbers")
    if any(type(description[name]) is not bool for name in ("lowercase", "binary")):
        raise ValueError("the text of its input must hold lowercase and binary as booleans")
    text = HashedText(**description | {"ngrams": tuple(ngrams)})
    try:
        text.check()
    except ValueError as error:
        raise ValueError(f"the text of its input is unsound: {error}") from None
    return text


def _idf(description: object, n_features: int, tensors: State) -> Idf | None:
    if not isinstance(description, dict) or description.get("kind") != KIND:
        return None
    norm = description.get("norm")
    if set(description) != {"kind", "norm"} or norm not in (None, "l1", "l2"):
        raise ValueError("the scale of its input must hold a kind and a norm")
    columns, idf = tensors.pop("idf_columns", None), tensors.pop("idf", None)
    if columns is None or idf is None:
        raise ValueError("the tensors idf_columns and idf are missing")
    if check_columns(columns, "idf_columns") != n_features:
        raise ValueError(f"the tensor idf_columns must end with {n_features}")
    if idf.dtype != np.float64 or idf.shape != columns.shape or not np.isfinite(idf).all():
        raise ValueError("the tensor idf must hold a finite float64 number for each of idf_columns")
    return Idf(norm, columns, idf)


def _kept_words(n_features: int, tensors: State) -> KeptWords | None:
    names = [f"{WORDS}{name}" for name in KeptWords._fields]
    parts = [tensors.pop(name, None) for name in names]
    if all(array is None for array in parts):
        return None
    arrays: list[Any] = []
    for name, array in zip(names, parts, strict=True):
        needed = np.dtype(np.uint8 if name == f"{WORDS}text" else np.int64)
        if array is None or array.ndim != 1 or array.dtype != needed:
            raise ValueError(f"the tensor {name} must be a vector of {needed}")
        arrays.append(array)
    words = KeptWords(*arrays)
    for array, step in ((words.columns, 0), (words.used, 1)):
        if len(array) and (array[0] < 0 or array[-1] >= n_features or (np.diff(array) < step).any()):
            raise ValueError(f"the tensors {WORDS}... must hold columns below {n_features}, in order")
    ends = words.ends
    if len(ends) != len(words.columns) or len(words.counts) != len(words.used):
        raise ValueError(f"the tensors {WORDS}... have different lengths")
    if (np.diff(ends, prepend=0) < 0).any() or (ends[-1] if len(ends) else 0) != len(words.text):
        raise ValueError(f"the tensor {WORDS}ends does not divide the text")
    kept = np.bincount(np.searchsorted(words.used, words.columns), minlength=len(words.used) + 1)
    if kept[-1] or (kept[:-1] > words.counts).any() or not np.isin(words.columns, words.used).all():
        raise ValueError(f"the tensors {WORDS}... disagree about the n-grams of a column")
    return words
