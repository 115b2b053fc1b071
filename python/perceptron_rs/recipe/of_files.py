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
    data, reading = files.last, files.reading
    if data.names is not None:
        model.feature_names_in_ = np.array(data.names, dtype=object)
    if files.zero_based is not None:
        model._column_base = 0 if files.zero_based else 1
    chosen = reading.columns or reading.usual_tensor if files.form == "safetensors" else reading.columns
    columns, texts = data.hashed or (chosen, reading.texts)
    recipe = Recipe(
        files.form,
        reading.hash_bits,
        columns,
        texts,
        reading.scale,
        files.holdout,
        calibration=files.calibration,
        missing=reading.missing,
        decimal=reading.decimal,
        target=reading.target or reading.usual_target,
        delimiter=reading.delimiter or reading.usual_delimiter,
        header=reading.header,
        sample_weight=reading.sample_weight or reading.usual_weight if files.form == "jsonl" else None,
        # Columns of a table are chosen by their names, if they have some.
        drop=reading.drop
        if files.form == "jsonl" or (data.names is None and reading.columns is None and not reading.hash_bits)
        else (),
        text=reading.text() if files.form in RAW or reading.text_columns else None,
        text_columns=reading.text_columns or (),
        words=words,
    )
    model.recipe_ = recipe


def known_of(model: Any, options: Mapping[str, object]) -> dict[str, object]:
    """Return what a model knows of its data, as `reading_of` takes it; ``options`` are those of a reader."""
    own, base = learnt_recipe(model), learnt_of(model).column_base
    names = feature_names(model)
    known: dict[str, object] = {
        "n_features": int(model.n_features_in_),
        "names": None if names is None else tuple(map(str, names)),
        "label_kind": {"O": "U", "U": "U", "b": "b"}.get(model.classes_.dtype.kind, "i"),
        "classes": model.classes_,
        "multilabel": is_multilabel(model),
    }
    if known["multilabel"]:
        known["list_labels"] = tuple(model.classes_.tolist())
    if "zero_based" not in options and base is not None:
        known |= {"zero_based": base == 0, "base_of_model": True}
    if own is None:
        return known
    if own.blocks:
        raise ArgumentError(
            "the columns of this model were made by steps of a pipeline of scikit-learn: {steps}",
            "predict in Python, with perceptron_rs.load_predictor",
            steps=own.in_words(),
        )
    same = ("scale", "texts", "missing", "decimal", "header", "columns", "text_columns")
    known |= attributes(own, same)
    if own.format == "safetensors":  # later files may have another one, where names are of columns
        known |= {"columns": None, "usual_tensor": own.columns}
    if own.text is not None:
        known |= attributes(own.text, OF_TEXT)
    if own.hash_bits is not None:
        known["hash_bits"] = own.hash_bits
    if "columns" not in options:
        known["drop"] = own.drop
    if own.format in (*RAW, "vw"):  # by its suffix, .txt would be svmlight text
        known["format"] = own.format
    return known | {
        "usual": own.format,
        "usual_target": own.target,
        "usual_delimiter": own.delimiter,
        "usual_weight": own.sample_weight,
    }
