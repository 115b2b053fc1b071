"""Files that are cut, changed, or claim what they do not hold: refused by name, at no cost in memory."""

from __future__ import annotations

import itertools
import json
import os
import random
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save as foreign

from perceptron_rs import Perceptron, load
from perceptron_rs.models import container

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
REMEDY = "copy it again, or save the model again"


def small(tools):
    return tools.fitted(Perceptron, 2)


def test_a_file_cut_at_every_byte(tools, folder):
    file = folder.saved(tools.fitted(track_mistakes=True))
    for length in range(len(file)):
        text = folder.refusal(file[:length])
        assert REMEDY in text, (length, text)
        assert "cut" in text


def test_a_file_with_more_at_its_end(tools, folder):
    file = folder.saved(small(tools))
    for more in (b"\0", b" ", b"{}", file):
        assert "but it has" in folder.refusal(file + more)


def test_every_byte_changed(tools, folder):
    """Each bit counts: what still loads, because a blank became another one, is the same model."""
    model = small(tools)
    file = folder.saved(model)
    generator = random.Random(1)
    loaded = 0
    for place in range(len(file)):
        for change in range(1, 256) if DEEP else (32, generator.randrange(1, 256)):
            changed = bytearray(file)
            changed[place] ^= change
            found = folder.loaded_or_none(bytes(changed))
            if found is not None:
                loaded += 1
                assert tools.contents(found) == tools.contents(model)
    assert loaded <= 64


@given(
    changes=st.lists(st.tuples(st.integers(0, 10**6), st.binary(max_size=9), st.integers(0, 9)), min_size=1)
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # the file is written anew
def test_random_damage(tools, folder, changes):
    model = small(tools)
    file = folder.saved(model)
    for place, new, removed in changes:
        place %= len(file) + 1
        file = file[:place] + new + file[place + removed :]
    found = folder.loaded_or_none(file)
    assert found is None or tools.contents(found) == tools.contents(model)


@given(file=st.binary(max_size=300))
def test_random_bytes(tmp_path_factory, file):
    path = tmp_path_factory.mktemp("junk") / "junk"
    for start in (b"", len(file).to_bytes(8, "little"), (len(file) + 1).to_bytes(8, "little") + b"{"):
        path.write_bytes(start + file)
        with pytest.raises(ValueError, match="cannot load"):
            load(path)


TERABYTES = [
    (2**40, b'{"a":1}'),
    (2**63, b'{"a":1}'),
    (2**64 - 1, b'{"a":1}'),
    (2**40, b"{" + b" " * 1000),
]


def peak(call):
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(("length", "rest"), TERABYTES)
def test_a_header_of_terabytes(folder, length, rest):
    file = length.to_bytes(8, "little") + rest
    used = peak(lambda: folder.refusal(file))
    assert f"its header claims {length}" in folder.refusal(file)
    assert used < 200_000


@pytest.mark.parametrize(
    "shape", [[2**40], [2**32, 2**32], [2**62, 4], [0, 2**62], [2**40, 0], [1] * 65, [1] * 64]
)
@pytest.mark.parametrize("size", ["small", "claimed"])
def test_tensors_of_terabytes(tools, folder, shape, size):
    document, tensors = tools.take_apart(folder.saved())
    file = tools.put_together(document, tensors)
    length = int.from_bytes(file[:8], "little")
    header = json.loads(file[8 : 8 + length])
    total = 8 * int(np.prod([float(part) for part in shape])) if size == "claimed" else 8
    header["coef"] |= {"shape": shape, "data_offsets": [0, total]}
    text = json.dumps(header).encode()
    file = len(text).to_bytes(8, "little") + text + file[8 + length :]
    used = peak(lambda: folder.refusal(file))
    assert used < 300_000


def test_a_header_longer_than_any_is_not_read(folder):
    """The file has the size that its header claims, in a hole that takes no place on the disk."""
    path = folder.path / "hole"
    with path.open("wb") as file:
        file.write((2**40).to_bytes(8, "little") + b"{")
        file.truncate(2**40 + 8)
    with pytest.raises(ValueError, match="more than any model needs"):
        assert peak(lambda: load(path)) < 200_000


def test_reading_takes_no_more_than_the_file_twice(folder, monkeypatch):
    # The probe is counted, too, though it is given back untouched.
    monkeypatch.setattr("perceptron_rs.models.container.probe_memory", lambda *_: None)
    rng = np.random.default_rng(0)
    model = Perceptron(max_iter=1, tol=None).fit(rng.normal(size=(20, 200_000)), np.arange(20) % 3)
    path = folder.path / "large"
    model.save(path)
    assert peak(lambda: load(path)) < 2.2 * path.stat().st_size


NOT_OURS = {
    "empty": (b"", "it is empty"),
    "text": (b"# a text file, and no model at all\n", "it is not a model file of perceptrons"),
    "pickle": (b"\x80\x04\x95\x00\x00\x00\x00\x00\x00\x00\x00}\x94.", "it is not a model file"),
    "zip": (b"PK\x03\x04" + b"\0" * 40, "it is not a model file"),
    "zeros": (bytes(100), "it is not a model file"),
    "foreign": (foreign({"weight": np.zeros(3)}), "it is not a model file"),
    "foreign text": (foreign({"weight": np.zeros(3)}, {"format": "pt"}), "it is not a model file"),
    "no tensors": (foreign({}), "it is not a model file"),
}


@pytest.mark.parametrize("name", NOT_OURS)
def test_what_is_not_one_of_ours(folder, name):
    file, pattern = NOT_OURS[name]
    assert pattern in folder.refusal(file)


def test_hostile_json(tools, folder):
    document, tensors = tools.take_apart(folder.saved(small(tools)))
    good = json.dumps(document)
    deep = "[" * 10**5 + "]" * 10**5
    texts = [
        deep,
        '{"a":' * 10**5,
        "[]",
        "null",
        "1",
        '"text"',
        good + "}",
        good[:-1] + ',"estimator":"averaged"}',
        *(good.replace('"epochs": ', f'"epochs": {number}') for number in ("NaN, ", "1e999, ", "9" * 5000)),
        good.replace('"epochs": ', '"epochs": -'),
        good.replace('"epochs": ', '"epochs": 0.'),
        good.replace('"parameters": {', '"parameters": {"max_iter": 1' + "0" * 10**5 + ", "),
        good.replace('"written_by": "', '"written_by": "\\ud800'),
    ]
    for text in texts:
        assert text != good
        folder.refusal(tools.build(tensors, {"perceptron_rs": text}))
    for other in (deep, 3, None, ["a"], {"a": good}):
        folder.refusal(tools.build(tensors, {"perceptron_rs": other}))
        folder.refusal(tools.build(tensors, other))
    for header in (deep, "[]", '{"a"', "{" + "x" * 9):
        folder.refusal(len(header).to_bytes(8, "little") + header.encode())
    assert "UTF-8" in folder.refusal((3).to_bytes(8, "little") + b"{\xff}")


def test_hostile_entries(tools, folder):
    document, tensors = tools.take_apart(folder.saved(small(tools)))
    _, shape, numbers = tensors["coef"]
    bad = [
        None,
        3,
        "F64",
        [],
        {},
        {"dtype": "F64"},
        {"dtype": "F64", "shape": [1], "data_offsets": [0, 8], "x": 1},
    ]
    kinds, shapes = (
        ["F32", "U8", "BF16", "F63", "", None, 8, [], {}],
        [None, 4, [-1], [2.0], [True], ["4"], [[4]]],
    )
    places = [
        None,
        8,
        [0],
        [0, 8, 8],
        [8, 0],
        [-8, 24],
        [0, 31],
        [0, 2**63],
        [0, 2**80],
        ["0", "32"],
        [0.0, 32.0],
    ]
    for entry in itertools.chain(
        bad,
        ({"dtype": kind, "shape": shape, "data_offsets": [0, len(numbers)]} for kind in kinds),
        ({"dtype": "F64", "shape": value, "data_offsets": [0, len(numbers)]} for value in shapes),
        ({"dtype": "F64", "shape": shape, "data_offsets": value} for value in places),
    ):
        rest = {name: tensor for name, tensor in tensors.items() if name != "coef"}
        texts = {"perceptron_rs": json.dumps(document)}
        folder.refusal(tools.build({"coef_": tensors["coef"]} | rest, texts, coef=entry))


def test_tensors_that_share_bytes_or_leave_gaps(tools, folder):
    file = folder.saved()
    length = int.from_bytes(file[:8], "little")
    header = json.loads(file[8 : 8 + length])
    for name, shift in itertools.product(("coef", "seen"), (-8, 8)):
        moved = json.loads(json.dumps(header))
        moved[name]["data_offsets"] = [place + shift for place in moved[name]["data_offsets"]]
        text = json.dumps(moved).encode()
        folder.refusal(len(text).to_bytes(8, "little") + text + file[8 + length :])


def test_numbers_are_little_endian_on_every_machine():
    kinds = {
        "F64": "d",
        "F32": "f",
        "F16": "e",
        "I8": "b",
        "U8": "B",
        "I16": "h",
        "U16": "H",
        "I32": "i",
        "I64": "q",
    }
    for kind, letter in kinds.items():
        entry = {"dtype": kind, "shape": [2], "data": bytearray(struct.pack(f"<2{letter}", 1, 77))}
        array = container._native_array(entry)
        assert array.tolist() == [1, 77]
        assert array.dtype.isnative
    assert kinds.keys() == container._TYPES.keys()
