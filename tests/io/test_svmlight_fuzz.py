"""Mutated files: where scikit-learn reads one, so do we, equally; where it does not, we say why.

Small by default; 100,000 mutations with HYPOTHESIS_PROFILE=deep.
"""

import gzip
import io
import os
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import dump_svmlight_file, load_digits, load_svmlight_file

from perceptron_rs.io import load_svmlight

ALPHABET = b"0123456789" * 4 + b"::    \n\n\r\t#.-+eE_,naifqd\x00\xff\x0b\x0c"


def corpus():
    """Return a few lines each of several files."""
    X, y = load_digits(return_X_y=True)
    texts = []
    for values, zero_based in ((X, True), (X, False), (X / 7, False), (X * 1e-200, False)):
        buffer = io.BytesIO()
        dump_svmlight_file(values[:40], y[:40], buffer, zero_based=zero_based, query_id=y[:40])
        texts.append(buffer.getvalue())
    if folder := os.environ.get("PERCEPTRON_RS_DATA"):
        texts.append(gzip.decompress(Path(folder, "spam.train.svm.gz").read_bytes())[:40_000])
    lines = [text.splitlines(keepends=True)[1:] for text in texts]
    return [b"".join(part[at : at + 3]) for part in lines for at in range(0, len(part), 3)]


def mutated(text, random):
    text = bytearray(text[: random.integers(len(text) // 2, len(text))])
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        at, kind = int(random.integers(len(text) + 1)), random.integers(6)
        byte = ALPHABET[random.integers(len(ALPHABET))]
        if kind == 0:
            text[at : at + 1] = bytes([byte])
        elif kind == 1:
            text[at:at] = bytes([byte])
        elif kind == 2:
            del text[at : at + random.integers(1, 4)]
        elif kind == 3:
            text[at:at] = text[at : at + random.integers(1, 9)]
        elif kind == 4:
            text[at:at] = bytes([byte]) * random.integers(1, 30)
        elif at < len(text):
            text[at] ^= 1 << random.integers(8)
    return bytes(text)


@pytest.mark.parametrize("part", range(4))
def test_mutated_texts(compare, part):
    random, texts, outcomes = np.random.default_rng(part), corpus(), {True: 0, False: 0}
    bases = ["auto", "auto", True, False]
    for _ in range(settings().max_examples * 15):
        text = mutated(texts[random.integers(len(texts))], random)
        try:
            outcomes[compare(text, zero_based=bases[random.integers(4)]) == ""] += 1
        except BaseException as error:
            error.add_note(f"the text is {text!r}")
            raise
    # Neither outcome is rare, or the test would test little.
    assert min(outcomes.values()) > 0.1 * sum(outcomes.values()), outcomes


def test_mutated_gzip_files(tmp_path):
    random, path = np.random.default_rng(5), tmp_path / "x.gz"
    texts = corpus()
    for _ in range(settings().max_examples * 20):
        text = gzip.compress(texts[random.integers(len(texts))])
        content = bytearray(text + gzip.compress(b"1 1:1\n") * (random.random() < 0.5))
        for _ in range(random.integers(1, 3)):
            content[random.integers(len(content))] = random.integers(256)
        path.unlink(missing_ok=True)
        path.write_bytes(content)
        try:
            expected = load_svmlight_file(path)
        except (ValueError, OSError, EOFError, OverflowError, zlib.error):
            expected = None
        try:
            X, y = load_svmlight(path)
        except ValueError:
            continue  # the flags of a header are checked more strictly here than by Python's gzip
        assert expected is not None, bytes(content)
        assert X.data.tobytes() == expected[0].data.tobytes()
        assert y.tobytes() == expected[1].tobytes()
