"""What a model keeps of the files that it learnt from: as JSON, and how long."""

import json

import numpy as np
import pytest

from perceptron_rs import Perceptron, load, load_predictor
from perceptron_rs.cli import main
from perceptron_rs.models import describe
from perceptron_rs.recipe.document import recipe_from_json
from perceptron_rs.recipe.recipe import Recipe
from perceptron_rs.recipe.scale import Scale

from .conftest import put_together, take_apart

GOOD = Recipe(
    "csv", 2, ("a", "b"), ("b",), Scale("minmax", (1.0, 2.0, 0.5, 1.0), (0.0, 1.0, 2.0, 3.0)), 0.25, ("NA",)
)


TEXT = {
    "ngrams": [1, 1],
    "lowercase": True,
    "analyzer": "word",
    "stop_words": None,
    "binary": False,
    "norm": "l2",
}


def test_an_input_as_json():
    written = json.loads(json.dumps(GOOD.to_json()))
    assert recipe_from_json(written, 4) == GOOD
    assert recipe_from_json(Recipe("npy").to_json(), 3) == Recipe("npy")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"format": "xls"}, "the format of its input must be one of"),
        ({"format": ["csv"]}, "the format of its input must be one of"),
        ({"hash_bits": 3}, "hashed to 2"),
        ({"hash_bits": True}, "hashed to 2"),
        ({"columns": [1]}, "must be a list of strings"),
        ({"texts": "a"}, "must be a list of strings"),
        ({"scale": {"kind": "minmax"}}, "must hold a kind, scale and offset"),
        ({"scale": {"kind": "log", "scale": [1.0] * 4, "offset": None}}, "must be one of standard"),
        ({"scale": {"kind": "maxabs", "scale": [1.0] * 3, "offset": None}}, "must have 4 numbers"),
        ({"scale": {"kind": "maxabs", "scale": [1.0] * 4, "offset": [1] * 4}}, "must hold finite numbers"),
        ({"holdout": 1.0}, "between 0 and 1"),
        ({"more": 1}, "its input must hold"),
        ({"text": {"ngrams": [1, 2]}}, "the text of its input must hold"),
        ({"text": TEXT | {"ngrams": [2, 1]}}, "the text of its input is unsound"),
        ({"text": TEXT | {"ngrams": [1.0, 2]}}, "two whole numbers"),
        ({"text": TEXT | {"lowercase": 1}}, "booleans"),
        ({"text": TEXT | {"analyzer": "x"}}, 'analyzer must be "word", "char" or "char_wb"'),
        ({"text": TEXT | {"strip_accents": "all"}}, 'must be "ascii", "unicode" or None'),
        ({"strip_accents": "ascii"}, "its input must hold"),
        ({"text": TEXT | {"norm": "l3"}}, 'norm must be "l1", "l2" or None'),
        ({"text": TEXT | {"stop_words": "german"}}, 'stop_words must be "english" or None'),
        ({"scale": {"kind": "tf-idf", "norm": "l3"}}, "a kind and a norm"),
        ({"scale": {"kind": "tf-idf", "norm": None}}, "idf are missing"),
    ],
)
def test_an_input_that_is_not_sound(change, text):
    with pytest.raises(ValueError, match=text):
        recipe_from_json(GOOD.to_json() | change, 4)


def test_it_ends_with_a_new_fit(tmp_path):
    X, y = [[1.0], [-1.0]], [1, 0]
    model = Perceptron().fit(X, y)
    model.recipe_ = Recipe("svmlight")
    model.save(tmp_path / "m")
    learnt = load(tmp_path / "m")
    learnt.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "m").read_bytes()
    learnt.partial_fit(X, y).save(tmp_path / "again")
    assert describe(tmp_path / "again")["input"]["format"] == "svmlight"
    learnt.fit(X, y).save(tmp_path / "again")
    assert "input" not in describe(tmp_path / "again")


TYPES = {"I64": "<i8", "F64": "<f8", "U8": "u1"}


def _vector(kind, values):
    return kind, [len(values)], np.asarray(values, dtype=TYPES[kind]).tobytes()


def test_hostile_words_and_weights_are_refused(tmp_path):
    model, texts = tmp_path / "m", tmp_path / "texts"
    texts.write_text("ham\tmilk bread\nspam\twin money now\nham\tbread now\n" * 3)
    argv = [
        "train",
        texts,
        "--text",
        "--tf-idf",
        "--hash-bits",
        6,
        "--epochs",
        2,
        "--quiet",
        "--model",
        model,
    ]
    assert main(list(map(str, argv))) == 0
    document, tensors = take_apart(model.read_bytes())
    numbers = {name: np.frombuffer(tensor[2], dtype=TYPES[tensor[0]]) for name, tensor in tensors.items()}
    columns, idf = numbers["idf_columns"], numbers["idf"]
    words, used, ends = numbers["words_columns"], numbers["words_used"], numbers["words_ends"]
    cases = {
        "idf_columns must end": {"idf_columns": _vector("I64", [*columns[:-1], 2**40])},
        "rise": {"idf_columns": _vector("I64", columns[::-1])},
        "each of idf_columns": {"idf": _vector("F64", idf[1:])},
        "finite": {"idf": _vector("F64", [np.nan, *idf[1:]])},
        "in order": {"words_columns": _vector("I64", words[::-1])},
        "below 64": {"words_used": _vector("I64", [*used[:-1], 64])},
        "different lengths": {"words_ends": _vector("I64", ends[:-1])},
        "does not divide": {"words_ends": _vector("I64", [*ends[:-1], 2**50])},
        "disagree": {"words_counts": _vector("I64", np.zeros(len(used), dtype=int))},
        "must be a vector of int64": {"words_used": _vector("F64", used)},
        "must be a vector of uint8": {"words_text": ...},
        "are missing": {"idf": ...},
    }
    for said, changes in cases.items():
        changed = {name: tensor for name, tensor in (tensors | changes).items() if tensor is not ...}
        (tmp_path / "bad").write_bytes(put_together(document, changed))
        for read in (load, load_predictor):
            with pytest.raises(ValueError, match=said):
                read(tmp_path / "bad")
