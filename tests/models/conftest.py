"""Models to save, and model files that say what a test wants."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.learners import LINEAR
from tests.support import bits

from perceptron_rs import AveragedPerceptron, load


def data(classes=3, n=40, d=4, seed=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    return rng.normal(size=(n, d)), y


def fitted(learner=AveragedPerceptron, classes=3, **parameters):
    X, y = data(classes)
    return learner(**{"tol": None, "max_iter": 3} | parameters).fit(X, y)


def contents(model):
    """Return all that an estimator holds, arrays as bits; averages are computed when first read."""
    _ = model.coef_
    return {name: bits(value) for name, value in model.__getstate__().items() if name != "callback"}


def again(model, folder):
    """Return what was saved and loaded; saved again, it is the same file."""
    model.save(folder / "m")
    loaded = load(folder / "m")
    loaded.save(folder / "again")
    assert (folder / "again").read_bytes() == (folder / "m").read_bytes()
    return loaded


def change(name, function):
    """Return what changes a tensor of a model file."""
    return lambda document, tensors: tensors.update({name: function(tensors[name].copy())})


def at(place, value):
    """Return what sets a part of an array, a copy."""

    def function(array):
        array[place] = value
        return array

    return function


def build(tensors: dict[str, tuple[str, list[int], bytes]], texts: Any, **header: Any) -> bytes:
    """Return the bytes of a safetensors file, made without the library: an oracle of what is written."""
    body, entries = b"", {}
    for name, (dtype, shape, numbers) in tensors.items():
        places = [len(body), len(body) + len(numbers)]
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": places}
        body += numbers
    text = json.dumps({"__metadata__": texts} | entries | header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + body


def take_apart(file: bytes) -> tuple[dict[str, Any], dict[str, tuple[str, list[int], bytes]]]:
    """Return the document and the tensors of a model file, read without the library."""
    length = int.from_bytes(file[:8], "little")
    header = json.loads(file[8 : 8 + length])
    document = json.loads(header.pop("__metadata__")["perceptron_rs"])
    body = file[8 + length :]
    tensors = {
        name: (entry["dtype"], entry["shape"], body[slice(*entry["data_offsets"])])
        for name, entry in header.items()
    }
    return document, tensors


def put_together(document, tensors) -> bytes:
    """Return a model file with the right digest, whatever it says: the format, written down a second time."""
    document = {name: value for name, value in document.items() if name != "sha256"}
    names = {"F64": "float64", "F32": "float32", "F16": "float16"} | {
        f"I{bits}": f"int{bits}" for bits in (8, 16, 32, 64)
    }
    names |= {"U8": "uint8", "U16": "uint16"}
    parts = {name: [names.get(kind, kind), shape] for name, (kind, shape, _) in tensors.items()}
    text = json.dumps([document, parts], sort_keys=True, separators=(",", ":"))
    numbers = b"".join(tensors[name][2] for name in sorted(tensors))
    document["sha256"] = hashlib.sha256(text.encode() + numbers).hexdigest()
    return build(tensors, {"perceptron_rs": json.dumps(document)})


@dataclass
class Folder:
    """A folder, and what can be done with model files in it."""

    path: Path

    def saved(self, model=None) -> bytes:
        file = self.path / "saved.safetensors"
        (fitted() if model is None else model).save(file)
        return file.read_bytes()

    def loaded(self, file: bytes):
        path = self.path / "given.safetensors"
        path.unlink(missing_ok=True)  # some file systems wait for the disk where a file is written over
        path.write_bytes(file)
        return load(path)

    def loaded_or_none(self, file: bytes):
        """Return None if the file is refused, by that error and no other."""
        try:
            return self.loaded(file)
        except ValueError as error:
            if not str(error).startswith("cannot load '"):
                raise
            return None

    def refusal(self, file: bytes) -> str:
        """Return why the file is refused; the text names it, is lower-case and says what to do."""
        with pytest.raises(ValueError, match=r"cannot load '.*given\.safetensors'") as caught:
            self.loaded(file)
        return str(caught.value)


@pytest.fixture(name="folder")
def fixture_folder(tmp_path):
    return Folder(tmp_path)


@pytest.fixture(name="tools", scope="session")
def fixture_tools():
    """Return the functions above; test files cannot import each other."""

    class Tools:
        pass

    tools = Tools()
    for function in (data, fitted, contents, bits, build, take_apart, put_together):
        setattr(tools, function.__name__, function)
    return tools


@pytest.fixture(name="learner", params=LINEAR)
def fixture_learner(request):
    return request.param
