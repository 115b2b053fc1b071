"""What a model keeps of the files that it learnt from, and what readers of later files are told of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptron_rs.errors import ArgumentError
from perceptron_rs.estimator_attributes import attributes, feature_names
from perceptron_rs.features.text import KeptWords
from perceptron_rs.io.reading import OF_TEXT, RAW
from perceptron_rs.recipe.learnt import learnt_recipe
from perceptron_rs.recipe.recipe import Recipe
from perceptron_rs.state.learnt import learnt_of
from perceptron_rs.targets.planes import is_multilabel

if TYPE_CHECKING:
    from perceptron_rs.io.training_files import TrainingFiles
    from perceptron_rs.prediction.estimator import Estimator

#: The attributes that say how columns were made of files: what is given as a matrix has none.
OF_FILES = ("feature_names_in_", "_column_base", "recipe_")


def keep_recipe(model: Estimator, files: TrainingFiles, words: KeptWords | None = None) -> None:
    """Keep with a model how its columns were made of files, which have been read, and n-grams of them."""
    data, how = files.last, files.reading
    if data.names is not None:
        model.feature_names_in_ = np.array(data.names, dtype=object)
    if files.zero_based is not None:
        model._column_base = 0 if files.zero_based else 1
    chosen = how.columns or how.usual_tensor if files.form == "safetensors" else how.columns
    columns, texts = data.hashed or (chosen, how.texts)
    found = Recipe(
        files.form,
        how.hash_bits,
        columns,
        texts,
        how.scale,
        files.holdout,
        calibration=files.calibration,
        missing=how.missing,
        decimal=how.decimal,
        target=how.target or how.usual_target,
        delimiter=how.delimiter or how.usual_delimiter,
        header=how.header,
        sample_weight=how.sample_weight or how.usual_weight if files.form == "jsonl" else None,
        # Columns of a table are chosen by their names, if they have some.
        drop=how.drop
        if files.form == "jsonl" or (data.names is None and how.columns is None and not how.hash_bits)
        else (),
        text=how.text() if files.form in RAW or how.text_columns else None,
        text_columns=how.text_columns or (),
        words=words,
    )
    model.recipe_ = found


def known_of(model: Any, options: Mapping[str, object]) -> dict[str, object]:
    """Return what a model knows of its data, as `reading_of` takes it; ``options`` are those of a reader."""
    own, base = learnt_recipe(model), learnt_of(model).column_base
    names = feature_names(model)
    found: dict[str, object] = {
        "n_features": int(model.n_features_in_),
        "names": None if names is None else tuple(map(str, names)),
        "label_kind": {"O": "U", "U": "U", "b": "b"}.get(model.classes_.dtype.kind, "i"),
        "classes": model.classes_,
        "multilabel": is_multilabel(model),
    }
    if found["multilabel"]:
        found["list_labels"] = tuple(model.classes_.tolist())
    if "zero_based" not in options and base is not None:
        found |= {"zero_based": base == 0, "base_of_model": True}
    if own is None:
        return found
    if own.blocks:
        raise ArgumentError(
            "the columns of this model were made by steps of a pipeline of scikit-learn: {steps}",
            "predict in Python, with perceptron_rs.load_predictor",
            steps=own.in_words(),
        )
    same = ("scale", "texts", "missing", "decimal", "header", "columns", "text_columns")
    found |= attributes(own, same)
    if own.format == "safetensors":  # later files may have another one, where names are of columns
        found |= {"columns": None, "usual_tensor": own.columns}
    if own.text is not None:
        found |= attributes(own.text, OF_TEXT)
    if own.hash_bits is not None:
        found["hash_bits"] = own.hash_bits
    if "columns" not in options:
        found["drop"] = own.drop
    if own.format in (*RAW, "vw"):  # by its suffix, .txt would be svmlight text
        found["format"] = own.format
    return found | {
        "usual": own.format,
        "usual_target": own.target,
        "usual_delimiter": own.delimiter,
        "usual_weight": own.sample_weight,
    }
