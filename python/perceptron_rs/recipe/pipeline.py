"""From a fitted pipeline of scikit-learn to a learner with a recipe, which makes the same columns."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn import preprocessing
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction import text as of_text
from sklearn.pipeline import Pipeline

from perceptron_rs.errors import with_article
from perceptron_rs.estimator_attributes import check_is_fitted
from perceptron_rs.features.idf import Idf
from perceptron_rs.features.text import HashedText
from perceptron_rs.recipe.recipe import ColumnBlock, Recipe, Terms
from perceptron_rs.recipe.scale import OFFSETS, Scale

PipelineSteps = Sequence[tuple[str, Any]]

_TEXTS = (of_text.HashingVectorizer, of_text.CountVectorizer, of_text.TfidfVectorizer)
_SCALERS = {
    preprocessing.StandardScaler: "standard",
    preprocessing.MinMaxScaler: "minmax",
    preprocessing.MaxAbsScaler: "maxabs",
}
#: The values that parameters must have, for a recipe says nothing of others.
_NEEDED: dict[str, tuple[Any, ...]] = {
    "alternate_sign": (True,),
    "analyzer": ("word", "char", "char_wb"),
    "clip": (False,),
    "drop": (None,),
    "handle_unknown": ("ignore", "error"),
    "input": ("content",),
    "max_categories": (None,),
    "min_frequency": (None,),
    "preprocessor": (None,),
    "stop_words": (None, "english"),
    "sublinear_tf": (False,),
    "tokenizer": (None,),
    "token_pattern": (r"(?u)\b\w\w+\b",),
    "transformer_weights": (None,),
}


def of_pipeline(pipeline: Pipeline) -> Any:
    """Return a copy of the last step that takes what the pipeline takes.

    ValueError, which names the step, if no recipe makes the same columns.
    """
    *before, (name, learner) = _flat(pipeline.steps)
    check_is_fitted(learner)
    predictor = copy.copy(learner)
    if not before:
        return predictor
    if not hasattr(type(learner), "recipe_"):
        raise _refused(name, learner, "a model file holds learners of perceptrons alone")
    if getattr(learner, "recipe_", None) is not None:
        raise _refused(name, learner, "it has a recipe of its own")
    for _, step in before:
        check_is_fitted(step)
    first, table = before[0]
    if type(table) is ColumnTransformer:
        if before[1:]:
            raise _refused(*before[1], f"behind the step {first!r} a recipe has none")
        _check(first, table)
        blocks = tuple(_blocks_of(table))
    else:
        is_text = type(table) in _TEXTS
        blocks = (_block(before, () if is_text else _names(table)),)
    (block, *others) = blocks
    bits = block.width.bit_length() - 1
    is_hashed = block.text is not None and block.terms is None and block.width == 1 << bits
    if not others and is_hashed and not block.columns:
        predictor.recipe_ = Recipe("lines", bits, text=block.text, scale=block.scale)
    elif type(table) in _SCALERS:
        predictor.recipe_ = Recipe("npy", scale=block.scale)
        if hasattr(table, "feature_names_in_"):
            predictor.feature_names_in_ = table.feature_names_in_
    else:
        predictor.recipe_ = Recipe("npy", blocks=blocks)
    return predictor


def _flat(steps: PipelineSteps) -> list[tuple[str, Any]]:
    """Return steps and those of pipelines in them, without those that do nothing."""
    flat: list[tuple[str, Any]] = []
    for name, step in steps:
        if isinstance(step, Pipeline):
            flat += [(f"{name}__{inner}", part) for inner, part in _flat(step.steps)]
        elif step not in (None, "passthrough") and not _does_nothing(step):
            flat.append((name, step))
    return flat


def _does_nothing(step: Any) -> bool:
    return type(step) is preprocessing.FunctionTransformer and step.func is None


def _names(table: Any) -> tuple[Any, ...]:
    """Return what a transformer calls its columns: their names, or their places; none of dictionaries."""
    names = getattr(table, "feature_names_in_", None)
    return tuple(range(getattr(table, "n_features_in_", 0)) if names is None else names.tolist())


def _blocks_of(table: ColumnTransformer) -> list[ColumnBlock]:
    every, blocks = _names(table), []
    for name, step, columns in table.transformers_:
        if isinstance(step, str) and step == "drop":
            continue
        if isinstance(columns, slice):
            if isinstance(columns.start, str) or isinstance(columns.stop, str):
                raise _refused(name, step, "its columns are a slice of names")
            columns = np.arange(len(every))[columns]
        chosen = np.atleast_1d(np.asarray(columns))
        own = (
            chosen.tolist() if chosen.dtype.kind in "UOT" else np.array(every, dtype=object)[chosen].tolist()
        )
        if own:
            blocks.append(_block(_flat([(name, step)]), tuple(own)))
    if not blocks:
        raise ValueError("the ColumnTransformer makes no columns")
    return blocks


def _block(steps: PipelineSteps, columns: tuple[Any, ...]) -> ColumnBlock:
    """Return what the steps for some columns make."""
    if not steps:
        return ColumnBlock(columns, len(columns))
    (name, step), *others = steps
    make: Callable[..., ColumnBlock]
    if type(step) in _TEXTS:
        make = _of_texts
        is_weighed = bool(others) and type(others[0][1]) is of_text.TfidfTransformer
        if is_weighed and type(step) is not of_text.TfidfVectorizer:
            _check(*others[0])
            return _idf(make(name, step, columns), *others[0], others[1:])
    elif type(step) is preprocessing.OneHotEncoder:
        make = _of_categories
    elif type(step) in _SCALERS:
        make = _of_numbers
    else:
        raise _refused(name, step, "a recipe has no such step")
    if others:
        raise _refused(*others[0], f"behind the step {name!r} a recipe has none")
    return make(name, step, columns)


def _check(name: str, step: Any) -> None:
    """Raise ValueError for a step with a parameter of which a recipe says nothing."""
    of_words = ("token_pattern", "stop_words", "tokenizer")  # which analyzers of characters ignore
    ignored = of_words if getattr(step, "analyzer", "word") in ("char", "char_wb") else ()
    parameters = step.get_params(deep=False)
    for parameter, values in _NEEDED.items():
        value = parameters.get(parameter, values[0])
        if parameter not in ignored and not any(value is one or value == one for one in values):
            allowed = " or ".join(map(repr, values))
            raise _refused(name, step, f"a recipe needs {parameter}={allowed}, got {value!r:.80}")


def _of_texts(name: str, step: Any, columns: tuple[Any, ...]) -> ColumnBlock:
    _check(name, step)
    is_hashed, is_weighed = type(step) is of_text.HashingVectorizer, type(step) is of_text.TfidfVectorizer
    counts = () if is_hashed or is_weighed else (np.dtype(np.int64),)
    if np.dtype(step.dtype) not in (np.dtype(np.float64), *counts):
        raise _refused(name, step, f"a recipe computes in float64, got dtype={step.dtype!r}")
    text = HashedText(
        ngrams=tuple(step.ngram_range),
        lowercase=bool(step.lowercase),
        strip_accents=step.strip_accents,
        analyzer=step.analyzer,
        stop_words=step.stop_words if step.analyzer == "word" else None,
        binary=bool(step.binary),
        norm=step.norm if is_hashed or is_weighed else None,
    )
    try:
        text.check()
    except ValueError as error:
        raise _refused(name, step, str(error)) from None
    if is_hashed:
        return ColumnBlock(columns, step.n_features, text)
    terms = Terms.of(step.vocabulary_)
    block = ColumnBlock(columns, len(terms.ends), text, terms)
    return _idf(block, name, step) if is_weighed else block


def _idf(block: ColumnBlock, name: str, step: Any, behind: PipelineSteps = ()) -> ColumnBlock:
    """Return texts whose n-grams a transformer weighs."""
    if behind:
        raise _refused(*behind[0], f"behind the step {name!r} a recipe has none")
    settings = vars(block.text) | {"norm": step.norm}
    if block.terms is None and block.text is not None and block.text.norm is not None:
        raise _refused(name, step, f"its vectorizer needs norm=None, got {block.text.norm!r}")
    if not step.use_idf:
        return ColumnBlock(block.columns, block.width, HashedText(**settings), block.terms)
    weights = np.asarray(step.idf_, dtype=np.float64)
    if step.idf_.dtype != np.float64 or not np.isfinite(weights).all():
        raise _refused(name, step, "a recipe has finite weights of float64")
    usual = weights.max()  # of columns that no text had
    columns = np.flatnonzero(weights != usual)
    scale = Idf(step.norm, np.append(columns, block.width), np.append(weights[columns], usual))
    return ColumnBlock(block.columns, block.width, block.text, block.terms, scale)


def _of_categories(name: str, step: Any, columns: tuple[Any, ...]) -> ColumnBlock:
    _check(name, step)
    categories = tuple(tuple(values.tolist()) for values in step.categories_)
    for values in categories:
        for value in values:
            is_number = type(value) in (bool, int, float) and np.isfinite(value)
            if not is_number and not isinstance(value, str):
                raise _refused(name, step, f"categories must be strings or finite numbers, got {value!r:.80}")
    return ColumnBlock(
        columns, sum(map(len, categories)), categories=categories, refuses=step.handle_unknown == "error"
    )


def _of_numbers(name: str, step: Any, columns: tuple[Any, ...]) -> ColumnBlock:
    _check(name, step)
    kind, width = _SCALERS[type(step)], step.n_features_in_
    scale = step.scale_ if getattr(step, "scale_", None) is not None else np.ones(width)
    offset = getattr(step, OFFSETS.get(kind, ""), None)
    if kind == "standard" and not step.with_mean:
        offset = None
    for numbers in (scale, *([] if offset is None else [offset])):
        if np.asarray(numbers).dtype != np.float64 or not np.isfinite(numbers).all():
            raise _refused(name, step, "a recipe has finite numbers of float64; fit it on float64")
    offsets = None if offset is None else tuple(offset.tolist())
    return ColumnBlock(columns, width, scale=Scale(kind, tuple(scale.tolist()), offsets))


def _refused(name: str, step: object, why: str) -> ValueError:
    return ValueError(
        f"the step {name!r} is {with_article(type(step).__name__)}, and {why}; pickle the pipeline, or save "
        f"the learner alone and give it columns"
    )
