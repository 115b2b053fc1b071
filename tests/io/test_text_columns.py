"""Columns of texts are those of scikit-learn's HashingVectorizer, to the last bit."""

import random
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import HashingVectorizer, TfidfTransformer
from sklearn.utils import murmurhash3_32

from perceptron_rs.features.idf import IdfFit
from perceptron_rs.features.text import HashedRows, HashedText, Words, hashed_rows, normalized

TEXTS = [
    "", " ", "a", "I", "\t\t", "The cat, the CAT and the cat's hat: the_end 42",
    "don't   stop\u2003\u2003now",
    "ΣΑΣ ΟΔΥΣΣΕΥΣ ς İstanbul ǅ ﬁ ß", "naïve café — “quotes” … 日本語 テキスト 한국어", "١٢٣ ² ½ a² _ __ ___",
    "\u3392 \u212a \u01c5",
    "e\u0301le\u0300ve \U0001d54f\U0001d54f \U0001f600\U0001f600 x\u200dy", "word" * 4200,
    "\x00\x00 \x1c \x85\x85 a\x00b",
    "nevertheless everywhere of the whole", "ab cd ab cd ab", "tab\tand\x0bmore\x0c\x0cspaces  here",
]  # fmt: skip
LETTERS = "ab cdE,.é\u00a0\u3000\u2028ß日İΣ_7²\u0301\U0001f600\x00\t'- the of"
OPTIONS = [
    {"analyzer": analyzer, "ngrams": ngrams, "lowercase": lowercase}
    for analyzer, ngrams, lowercase in product(
        ["word", "char", "char_wb"], [(1, 1), (1, 2), (2, 2), (2, 5), (3, 3)], [True, False]
    )
] + [
    {"stop_words": "english", "ngrams": (1, 2)},
    {"strip_accents": "unicode", "ngrams": (1, 2)},
    {"strip_accents": "ascii", "analyzer": "char_wb", "ngrams": (2, 3), "lowercase": False},
    {"binary": True, "ngrams": (1, 2)},
    {"norm": "l1"},
    {"norm": None},
    {"analyzer": "char", "ngrams": (1, 3), "binary": True, "norm": "l1"},
]


def drawn(seed, n=60):
    chosen = random.Random(seed)
    return ["".join(chosen.choices(LETTERS, k=chosen.randrange(40))) for _ in range(n)]


def assert_like_sklearn(texts, options, n_columns):
    names = {"ngrams": "ngram_range"}
    other = HashingVectorizer(n_features=n_columns, **{names.get(k, k): v for k, v in options.items()})
    expected = other.transform(texts)
    made = HashedText(**options)
    made.check()
    rows = normalized(hashed_rows(texts, made, n_columns), made.norm)
    assert rows.indptr.tolist() == expected.indptr.tolist()
    assert rows.indices.tolist() == expected.indices.tolist()
    assert rows.data.tobytes() == expected.data.tobytes()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_columns_and_bits_are_those_of_scikit_learn(options):
    for n_columns in (1 << 18, 1 << 4, 1000, 2) if options == OPTIONS[0] else (1 << 18, 1000):
        assert_like_sklearn(TEXTS + drawn(n_columns), options, n_columns)


@pytest.mark.parametrize("before", ["", "naïve^"])
def test_words_of_columns_are_the_most_frequent(before):
    texts, n_columns = [*TEXTS[:11], *drawn(3, 200)], 64
    options = HashedText(ngrams=(1, 2))
    words = Words()
    for part in (texts[:100], texts[100:]):
        hashed_rows(part, options, n_columns, words, before.encode())
    analyze = HashingVectorizer(ngram_range=(1, 2)).build_analyzer()
    counts = Counter(before + gram for each in texts for gram in analyze(each))
    expected = defaultdict(list)
    for gram, count in counts.items():
        h = murmurhash3_32(gram.encode(), seed=0)
        expected[abs(h) % n_columns].append((-count, h, gram))
    columns = np.array(sorted(expected))[::2]
    kept = words.most_frequent(columns, n_columns, 3)
    for column in range(n_columns):
        found = sorted(expected[column]) if column in columns else []
        grams, signs = [gram for *_, gram in found], [1 if h >= 0 else -1 for _, h, _ in found]
        assert kept.of(column) == (grams[:3], signs[:3], max(len(found) - 3, 0))


def test_sums_of_rows_are_added_one_after_another():
    rng = np.random.default_rng(0)
    X = csr_matrix(rng.random((30, 50)) * (rng.random((30, 50)) < 0.4))
    sums = [0.0] * 30
    for row in range(30):
        for value in X.data[X.indptr[row] : X.indptr[row + 1]].tolist():
            sums[row] += value
    rows = HashedRows(X.data, X.indices, X.indptr.astype(np.int64))
    assert normalized(rows, "l1").data.tolist() == (X.data / np.repeat(sums, np.diff(X.indptr))).tolist()


def test_weights_of_columns_are_those_of_scikit_learn():
    X = HashingVectorizer(n_features=1 << 8, norm=None).transform(TEXTS + drawn(2))
    fit = IdfFit("l2")
    for part in (X[:10], X[10:11], X[11:]):
        fit.add(part)
    found, weights = fit.scale(), np.zeros(X.shape[1])
    weights[:] = found.idf[-1]
    weights[found.columns[:-1]] = found.idf[:-1]
    assert weights.tobytes() == TfidfTransformer().fit(X).idf_.tobytes()
    assert found.columns[-1] == X.shape[1]
    assert found.difference(fit.scale()) is None
    for other in (replace(found, columns=found.columns + 1), replace(found, idf=found.idf + 1)):
        assert found.difference(other) == "the tf-idf weights of the model are not those of the data"
