"""A pipeline of scikit-learn that is saved predicts alike; what a file cannot hold is refused by name."""

from __future__ import annotations

import pickle
import random

import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler

from perceptron_rs import (
    AveragedPerceptron,
    KernelPerceptron,
    Perceptron,
    digest,
    load,
    load_predictor,
    reproduce,
)
from perceptron_rs.cli import main
from perceptron_rs.models import describe, save

from .conftest import put_together, take_apart

pytestmark = pytest.mark.filterwarnings("ignore:the fit reached")
WORDS = ["Buy", "cheap", "watches now", "see", "you", "soon", "größe", "the", "ab", "a", "naïve, 12"]
LEARNERS = [Perceptron, AveragedPerceptron, KernelPerceptron]


def draw_texts(rng, n):
    return [" ".join(rng.choices(WORDS, k=rng.randrange(12))) for _ in range(n)]


def draw_vectorizer(rng):
    analyzer = rng.choice(["word", "word", "char", "char_wb"])
    least = rng.randint(1, 2)
    how = {
        "analyzer": analyzer,
        "ngram_range": (least, least + rng.randrange(2)),
        "lowercase": rng.random() < 0.7,
        "strip_accents": rng.choice([None, "ascii", "unicode"]),
        "binary": rng.random() < 0.3,
        "stop_words": rng.choice([None, "english"]) if analyzer == "word" else None,
    }
    norm = rng.choice(["l1", "l2", None])
    kind = rng.randrange(5)
    if kind == 0:
        return [HashingVectorizer(n_features=rng.choice([64, 1 << 12, 1000]), norm=norm, **how)]
    if kind == 1:
        weights = TfidfTransformer(norm=norm, use_idf=rng.random() < 0.7)
        return [HashingVectorizer(n_features=256, norm=None, **how), weights]
    if kind == 2:
        return [CountVectorizer(**how)]
    if kind == 3:
        return [CountVectorizer(**how), TfidfTransformer(norm=norm, smooth_idf=False)]
    return [TfidfVectorizer(norm=norm, use_idf=rng.random() < 0.7, max_features=30, **how)]


def draw_scaler(rng):
    with_mean = rng.random() < 0.7
    return rng.choice(
        [
            StandardScaler(with_mean=with_mean, with_std=rng.random() < 0.7),
            MinMaxScaler((-1, rng.randint(1, 3))),
            MaxAbsScaler(),
        ]
    )


def draw_table(rng, n):
    return pd.DataFrame(
        {
            "title": draw_texts(rng, n),
            "city": rng.choices(["Rome", "Bonn", "Oslo"], k=n),
            "rank": rng.choices([1, 2, 3], k=n),
            "size": [rng.gauss(5, 3) for _ in range(n)],
            "price": np.float32([rng.gauss(0, 100) for _ in range(n)]),
            "is_new": rng.choices([True, False], k=n),
            "body": draw_texts(rng, n),
        }
    )


def draw_columns(rng):
    unknown = rng.choice(["ignore", "error"])
    parts = [
        ("title", make_pipeline(*draw_vectorizer(rng)), "title"),
        ("body", make_pipeline(*draw_vectorizer(rng)), "body"),
        ("categories", OneHotEncoder(handle_unknown=unknown), ["city", "rank"]),
        ("size", draw_scaler(rng), ["size", "price"]),
        ("others", "passthrough", ["is_new", "rank"]),
    ]
    rng.shuffle(parts)
    rest = "drop"
    chosen = parts[: rng.randint(1, 5)]
    if {name for name, _, _ in chosen} >= {"title", "body", "categories"}:
        rest = "passthrough"
    return ColumnTransformer(chosen, remainder=rest, sparse_threshold=rng.choice([0, 0.3, 1]))


def draw(rng):
    """Return a fitted pipeline, and examples that it has not seen."""
    kind, learner = rng.choice(["text", "numbers", "categories", "table"]), rng.choice(LEARNERS)()
    seen, new = draw_table(rng, 30), draw_table(rng, 20)
    if kind == "text":
        steps, seen, new = draw_vectorizer(rng), seen.title.tolist(), new.title.tolist()
    elif kind == "numbers":
        steps, seen, new = [draw_scaler(rng)], seen[["size", "rank"]], new[["size", "rank"]]
    elif kind == "categories":
        steps, seen, new = (
            [OneHotEncoder(handle_unknown="ignore")],
            seen[["city", "rank"]],
            new[["city", "rank"]],
        )
    else:
        steps = [draw_columns(rng)]
    y = [rng.choice(["a", "b", "c"]) for _ in range(30)]
    return make_pipeline(*steps, learner.set_params(max_iter=3)).fit(seen, y), seen, y, new


@pytest.mark.parametrize("seed", range(60))
def test_files_predict_as_pipelines_do(tmp_path, seed):
    pipeline, seen, y, new = draw(random.Random(seed))
    labels, scores = pipeline.predict(new), pipeline.decision_function(new)
    save(pipeline, tmp_path / "m")
    assert save(pipeline) == (tmp_path / "m").read_bytes() == save(load(tmp_path / "m"))
    predictor, model = load_predictor(tmp_path / "m"), load(tmp_path / "m")
    models = [predictor, model, pickle.loads(pickle.dumps(predictor)), pickle.loads(pickle.dumps(model))]
    given = [new]
    if isinstance(new, pd.DataFrame):
        given.append(pl.from_pandas(new))
        if "price" not in new.columns or "price" not in str(model.recipe_.in_words()):
            given.append(new.to_dict("records"))  # of numbers of Python, which are float64
    for one in models:
        for X in given:
            assert one.predict(X).tolist() == labels.tolist()
            assert one.decision_function(X).tobytes() == scores.tobytes()
    assert not hasattr(pipeline[-1], "recipe_"), "the pipeline's own learner is as it was"
    assert digest(model) != digest(pipeline[-1]), "how columns are made is a part of it"
    # fit_transform of a vectorizer may have added up in another order than transform
    columns, labels_of = pipeline[:-1].transform(seen), np.array(y)
    assert bool(reproduce(model, seen, labels_of)) == bool(reproduce(pipeline[-1], columns, labels_of))
    how = model.recipe_
    if how.makes_columns and hasattr(model, "to_onnx"):
        with pytest.raises(ValueError, match=r"trained on texts or names.*load_predictor"):
            model.to_onnx()
    elif hasattr(model, "to_onnx"):
        graph = model.to_onnx().SerializeToString()
        found = onnxruntime.InferenceSession(graph).run(None, {"X": new.to_numpy(dtype=np.float64)})
        assert found[0].tolist() == labels.tolist()
        np.testing.assert_allclose(found[1], scores, rtol=1e-12, atol=1e-12)


def predicted(capsys, *argv):
    status = main(list(map(str, argv)))
    return status, capsys.readouterr()


@pytest.mark.parametrize("seed", range(0, 60, 4))
def test_the_command_gives_the_same_answer_or_says_who_does(tmp_path, capsys, seed):
    pipeline, _, _, new = draw(random.Random(seed))
    save(pipeline, tmp_path / "m")
    how = load(tmp_path / "m").recipe_
    if isinstance(new, list):
        (tmp_path / "new.txt").write_text("".join(f"{text}\n" for text in new), "utf-8")
        argv = ("predict", tmp_path / "m", tmp_path / "new.txt", "--unlabelled")
    else:
        new.to_csv(tmp_path / "new.csv", index=False)
        argv = ("predict", tmp_path / "m", tmp_path / "new.csv", "--unlabelled")
    status, said = predicted(capsys, *argv)
    if how.blocks:
        assert status == 1
        assert "made by steps of a pipeline of scikit-learn" in said.err
        assert "load_predictor" in said.err
    else:
        assert said.out.split() == pipeline.predict(new).tolist()
    assert predicted(capsys, "inspect", tmp_path / "m")[0] == 0


REFUSED = [
    (
        [HashingVectorizer(alternate_sign=False)],
        "'hashingvectorizer' is a HashingVectorizer.*alternate_sign=True",
    ),
    ([HashingVectorizer(dtype=np.float32)], "float64, got dtype="),
    ([HashingVectorizer(), TfidfTransformer()], "'tfidftransformer' is .* needs norm=None, got 'l2'"),
    ([TfidfVectorizer(sublinear_tf=True)], "sublinear_tf=False, got True"),
    ([TfidfVectorizer(token_pattern=r"\w+")], "token_pattern"),
    ([TfidfVectorizer(tokenizer=str.split, token_pattern=None)], "tokenizer=None"),
    ([TfidfVectorizer(preprocessor=str.upper)], "preprocessor=None"),
    ([TfidfVectorizer(analyzer=str.split)], "analyzer='word' or 'char' or 'char_wb'"),
    ([TfidfVectorizer(strip_accents=str.casefold)], 'strip_accents must be "ascii", "unicode" or None'),
    ([TfidfVectorizer(stop_words=["now"])], "stop_words=None or 'english'"),
    ([TfidfVectorizer(dtype=np.float32)], "dtype="),
    ([TfidfVectorizer(), TruncatedSVD(2)], "'truncatedsvd' is a TruncatedSVD, and behind"),
    ([TfidfVectorizer(), MaxAbsScaler()], "'maxabsscaler' is a MaxAbsScaler, and behind"),
    ([FeatureUnion([("a", TfidfVectorizer())])], "'featureunion' is a FeatureUnion, and a recipe has no"),
]
IN_TABLES = [
    ([MinMaxScaler(clip=True)], "clip=False"),
    ([StandardScaler(), MinMaxScaler()], "'minmaxscaler' is .* behind the step 'standardscaler'"),
    ([OneHotEncoder(drop="first")], "drop=None, got 'first'"),
    ([OneHotEncoder(min_frequency=2)], "min_frequency=None"),
    ([TruncatedSVD(1)], "a recipe has no such step"),
    ([ColumnTransformer([("n", MinMaxScaler(clip=True), ["size"])])], "the step 'n' is .* clip"),
    (
        [ColumnTransformer([("n", StandardScaler(), ["size"])], transformer_weights={"n": 2})],
        "transformer_weights",
    ),
    (
        [ColumnTransformer([("n", StandardScaler(), ["size"])]), MaxAbsScaler()],
        "behind the step 'columntransformer'",
    ),
]


@pytest.mark.filterwarnings("ignore:.*token_pattern")
@pytest.mark.parametrize(("steps", "said"), REFUSED + IN_TABLES, ids=range(len(REFUSED + IN_TABLES)))
def test_steps_that_no_file_holds(tmp_path, steps, said):
    table = draw_table(random.Random(1), 20)
    X = table.title if (steps, said) in REFUSED else table[["size", "rank"]]
    pipeline = make_pipeline(*steps, Perceptron()).fit(X, [0, 1] * 10)
    with pytest.raises(ValueError, match=said):
        save(pipeline, tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_other_last_steps():
    texts, y = draw_texts(random.Random(0), 20), [0, 1] * 10
    with pytest.raises(ValueError, match="'clf' is a LogisticRegression, and a model file holds learners"):
        save(Pipeline([("v", HashingVectorizer()), ("clf", LogisticRegression())]).fit(texts, y))
    with pytest.raises(ValueError, match="not fitted"):
        save(make_pipeline(TfidfVectorizer(), Perceptron()))
    plain = make_pipeline(Perceptron()).fit([[1.0], [2.0]], [0, 1])
    assert save(plain) == plain[-1].save()


def test_raw_examples_that_cannot_be(tmp_path):
    table, y = draw_table(random.Random(2), 20), [0, 1] * 10
    columns = ColumnTransformer([("t", TfidfVectorizer(), "title"), ("c", OneHotEncoder(), ["city"])])
    content = save(make_pipeline(columns, Perceptron()).fit(table, y))
    for model in (load(content), load_predictor(content)):
        for X, said in [
            (table.drop(columns="city"), "X has 0 columns called 'city'"),
            ([{"title": "a"}], "example 0 of X: it lacks the column 'city'"),
            (table.assign(city="Paris"), "unknown category 'Paris' in column 'city'"),
            ([{"title": 3, "city": "Rome"}], "X must hold texts"),
            ([[1.0, 2.0]], "X must be a data frame or a list of dictionaries, with the column 'title'"),
            ({"title": "a", "city": "Rome"}, "got one dictionary"),
        ]:
            with pytest.raises((TypeError, ValueError), match=said):
                model.predict(X)


def test_places_of_columns(tmp_path):
    table, y = draw_table(random.Random(3), 20), [0, 1] * 10
    X = table[["title", "city", "size"]].to_numpy(dtype=object)
    columns = ColumnTransformer(
        [("t", CountVectorizer(), 0), ("c", OneHotEncoder(), [1]), ("n", StandardScaler(), slice(2, 3))]
    )
    pipeline = make_pipeline(columns, Perceptron()).fit(X, y)
    predictor = load_predictor(save(pipeline))
    for given in (X, X.tolist()):
        assert predictor.decision_function(given).tobytes() == pipeline.decision_function(X).tobytes()


def changed(block, **parts):
    return {name: value for name, value in (block | parts).items() if value is not ...}


def test_hostile_blocks_are_refused(tmp_path):
    table, y = draw_table(random.Random(4), 20), [0, 1] * 10
    columns = ColumnTransformer(
        [
            ("t", TfidfVectorizer(), "title"),
            ("c", OneHotEncoder(), ["city"]),
            ("n", StandardScaler(), ["size"]),
        ]
    )
    content = save(make_pipeline(columns, Perceptron()).fit(table, y))
    assert describe(content)["input"]["blocks"][1]["categories"] == [["Bonn", "Oslo", "Rome"]]
    document, tensors = take_apart(content)
    text, cities, sizes = document["input"]["blocks"]
    kind, shape, ends = tensors["block0_ends"]
    cases = [
        ([text, cities], {}, "unknown|make .* columns, but it has"),
        ([text, cities, sizes, sizes], {}, "make .* columns, but it has"),
        ([changed(text, columns=[]), cities, sizes], {}, "must name columns, for there are several"),
        ([changed(text, columns=[-1]), cities, sizes], {}, "names or places"),
        ([changed(text, width=True), cities, sizes], {}, "its width must be a count"),
        ([changed(text, more=1), cities, sizes], {}, "may hold"),
        ([changed(text, has_terms=1), cities, sizes], {}, "must be booleans"),
        ([changed(text, has_terms=...), cities, sizes], {}, "unknown tensor"),
        ([changed(text, text=...), cities, sizes], {}, "unsound"),
        ([text, changed(cities, categories=[["a", "a", "b"]]), sizes], {}, "different strings"),
        ([text, changed(cities, categories=[["a", "b", None]]), sizes], {}, "different strings"),
        ([text, changed(cities, categories=[["a"]]), sizes], {}, "as many as its width"),
        ([text, cities, changed(sizes, columns=["size", "rank"])], {}, "which cannot be"),
        (
            [text, cities, changed(sizes, scale={"kind": "log", "scale": [1.0], "offset": None})],
            {},
            "one of stand",
        ),
        ([text, cities, sizes], {"block0_ends": (kind, shape, ends[8:] + ends[:8])}, "which rise"),
        ([text, cities, sizes], {"block0_terms": ("U8", [1], b"a")}, "do not divide"),
        ([text, cities, sizes], {"block0_terms": ...}, "must be a vector of uint8"),
        ({"a": 1}, {}, "must be a list"),
    ]
    for blocks, other, said in cases:
        crafted = {name: tensor for name, tensor in (tensors | other).items() if tensor is not ...}
        changed_input = document["input"] | {"blocks": blocks}
        bad = put_together(document | {"input": changed_input}, crafted)
        for read in (load, load_predictor):
            with pytest.raises(ValueError, match=said):
                read(bad)
