"""Fits on a Dask cluster within this process: the bits of a local fit with the same partitions."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import perceptron_rs
from perceptron_rs.distributed.fitting import parse_rows
from perceptron_rs.distributed.partition import (
    Encoding,
    EpochTask,
    PartitionChangedError,
    learn_partition,
    read_partition,
)
from perceptron_rs.features import column_attributes
from perceptron_rs.io import Batch, open_arrays, open_sentences
from tests.distributed.problems import P, Part, cuts, examples

dask = pytest.importorskip("dask", reason="the extra dask is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
on_dask = pytest.importorskip("perceptron_rs.dask")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
FEW = {"max_iter": 4, "tol": None}
X, Y = examples()
MANY = (X @ np.random.default_rng(1).standard_normal((X.shape[1], 40)) > 0.5).astype(np.int64)


@pytest.fixture(scope="module")
def client():
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as client:
        yield client


def same(model, local):
    for name in ("coef_", "intercept_", "mistakes_per_epoch_", "n_seen_", "classes_"):
        assert getattr(model, name).tobytes() == getattr(local, name).tobytes(), name
    return True


@pytest.mark.parametrize("learner", [on_dask.Perceptron, on_dask.AveragedPerceptron])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_many_labels(client, learner, weighted, form):
    labels = MANY[:, : 2 if weighted else 40]
    options = FEW | ({"class_weight": "balanced", "mixing": "mistakes"} if weighted else {"step": "pa1"})
    weights = np.arange(len(X)) % 3 / 2 if weighted else None
    parts = [slice(a, b) for a, b in itertools.pairwise([0, 0, 100, 250, len(X)])]
    blocks = [[values[part] for part in parts] for values in (X, form(labels))]
    more = [] if weights is None else [weights[part] for part in parts]
    model = learner(client=client, **options).fit(*blocks, sample_weight=more or None)
    local = model.to_local()
    assert local.n_partitions == (0, 100, 150, 150)
    assert same(model, clone(local).fit(X, labels, sample_weight=weights))
    assert model.multilabel_
    for k, y in enumerate(labels.T[:3]):
        own = clone(local).fit(X, y, sample_weight=weights)
        assert own.coef_.tobytes() == model.coef_[k : k + 1].tobytes()
    lazy = da.from_array(X, chunks=(90, X.shape[1]))
    for method in ("predict", "decision_function"):
        found, expected = getattr(model, method)(lazy), getattr(local, method)(X)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        assert found.compute().tobytes() == expected.tobytes()
        assert getattr(model, method)([X[:0]])[0].compute().shape == (0, labels.shape[1])
    assert model.score(*blocks) == local.score(X, labels)


def test_partitions_have_the_same_labels(client):
    parts = [X[:200], X[200:]]
    model = on_dask.Perceptron(client=client, warm_start=True, **FEW)
    for y, text in (
        ([MANY[:200], Y[200:]], "partitions 0 and 1 must both have one label for each example, or many"),
        ([MANY[:200], MANY[200:, :3]], "y of partition 1 must have the columns of partition 0, 40 of them"),
        ([MANY[:200] * 2, MANY[200:]], "partition 0: y has more than one column, so it must hold 0 and 1"),
    ):
        with pytest.raises(ValueError, match=text):
            model.fit(parts, y)
    with pytest.warns(UserWarning, match="Label 1 is present in all"):
        model.fit(parts, [np.stack([part[:, 0] > 0, part[:, 0] < 9], axis=1) for part in parts])
    with pytest.raises(ValueError, match=r"y has 40 columns, one for each label, but classes are \[0, 1\]"):
        model.fit(parts, [MANY[:200], MANY[200:]])
    with pytest.raises(ValueError, match="y has one label for each example, but the estimator continues"):
        model.fit(parts, [Y[:200], Y[200:]])


@pytest.mark.parametrize("partitions", [1, 2, 5, 8])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def test_bits_of_the_local_fit(client, partitions, form):
    ends = cuts(partitions)
    lengths = tuple(np.diff(ends).tolist())
    local = perceptron_rs.AveragedPerceptron(n_partitions=lengths, **FEW).fit(X, Y)
    reference = perceptron_rs.AveragedPerceptron(n_partitions=lengths, engine="reference", **FEW).fit(X, Y)
    blocks = [form(X[a:b]) for a, b in itertools.pairwise(ends)]
    labels = [Y[a:b] for a, b in itertools.pairwise(ends)]
    model = on_dask.AveragedPerceptron(client=client, **FEW).fit(blocks, labels)
    assert same(model, local)
    assert same(model, reference)
    assert model.to_local().get_params() == local.get_params()
    assert same(model.to_local(), local)


def test_a_saved_model_is_loaded_as_a_local_one(client, tmp_path):
    model = on_dask.AveragedPerceptron(client=client, **FEW).fit([X[:100], X[100:]], [Y[:100], Y[100:]])
    model.save(tmp_path / "model")
    assert model.save() == (tmp_path / "model").read_bytes()
    assert len(model.save(dtype="float16")) < len(model.save())
    loaded = perceptron_rs.load(tmp_path / "model")
    assert type(loaded) is perceptron_rs.AveragedPerceptron
    assert loaded.get_params() == model.to_local().get_params()
    assert same(loaded, model)


@pytest.mark.parametrize(
    "options",
    [
        {"mixing": "mistakes", "class_weight": "balanced"},
        {"multi_class": "joint", "penalty": "l2"},
        {"tol": 1e-3, "max_iter": 50, "margin_threshold": 0.1},
    ],
    ids=str,
)
def test_options(client, options):
    weights = np.arange(len(Y)) % 3 / 2
    lazy = da.from_array(X, chunks=(100, 2)), da.from_array(Y, chunks=130)
    model = on_dask.Perceptron(client=client, **FEW | options).fit(*lazy, sample_weight=weights)
    local = model.to_local()
    assert same(model, clone(local).fit(X, Y, sample_weight=weights))
    assert local.n_partitions == (100, 100, 100, 100)


def test_uneven_and_empty_partitions_and_missing_classes(client):
    order = np.argsort(Y, kind="stable")
    lengths = (0, 10, 0, 390)
    ends = np.cumsum([0, *lengths])
    parts = [slice(a, b) for a, b in itertools.pairwise(ends)]
    model = on_dask.AveragedPerceptron(client=client, **FEW)
    weights = 1.0 + Y[order] % 2
    blocks = ([values[part] for part in parts] for values in (X[order], Y[order], weights))
    rows, labels, weighted = blocks
    model.fit(rows, labels, sample_weight=weighted)
    local = perceptron_rs.AveragedPerceptron(n_partitions=lengths, **FEW)
    assert same(model, local.fit(X[order], Y[order], sample_weight=weights))
    assert [report.rows for report in model.partition_report_] == [0, 10, 0, 390]


def test_a_partition_whose_examples_all_have_weight_0(client):
    weights = (np.arange(len(Y)) >= 150).astype(np.float64)
    lazy = da.from_array(X, chunks=(100, X.shape[1])), da.from_array(Y, chunks=100)
    for learner in (on_dask.Perceptron, on_dask.AveragedPerceptron):
        model = learner(client=client, **FEW).fit(*lazy, sample_weight=weights)
        assert same(model, clone(model.to_local()).fit(X, Y, sample_weight=weights))


def test_data_frames_and_strings(client):
    frame = pd.DataFrame(X, columns=list("abcde"))
    names = pd.Series(np.array(["no", "so", "yes"])[Y])
    lazy = dd.from_pandas(frame, npartitions=3), dd.from_pandas(names, npartitions=3)
    model = on_dask.Perceptron(client=client, **FEW).fit(*lazy)
    local = clone(model.to_local()).fit(frame, names)
    assert model.coef_.tobytes() == local.coef_.tobytes()
    assert model.feature_names_in_.tolist() == list("abcde")
    predicted = model.predict(lazy[0]).compute()
    assert predicted.tolist() == local.predict(frame).tolist()
    assert model.score(*lazy) == local.score(frame, names)


def test_sources_and_promises(client):
    model = on_dask.Perceptron(client=client, **FEW).fit([Part(p) for p in range(P)])
    local = perceptron_rs.Perceptron(n_partitions=P, **FEW).fit(X, Y)
    assert same(model, local)
    promises = [dask.delayed(Part(p))() for p in range(P)]
    model.fit([part[0] for part in promises], [part[1] for part in promises])
    assert same(model, local)
    assert model.score([Part(p) for p in range(P)]) == local.score(X, Y)
    reports = model.partition_report_
    assert sum(report.mistakes for report in reports) == local.n_mistakes_
    assert [report.entries for report in reports] == [400] * P
    assert all(report.seconds > 0 for report in reports)
    assert len({report.digest for report in reports}) == P


def test_answers_are_lazy_and_come_block_by_block(client):
    lazy = da.from_array(X, chunks=(150, 3))
    model = on_dask.AveragedPerceptron(client=client, **FEW).fit(lazy, Y)
    local = model.to_local()
    scores = model.decision_function(lazy)
    assert isinstance(scores, da.Array)
    assert scores.chunks == ((150, 150, 100), (3,))
    assert scores.compute().tobytes() == local.decision_function(X).tobytes()
    assert model.predict(lazy).compute().tolist() == model.predict(X).tolist()
    parts = model.predict([X[:7], X[7:]])
    assert np.concatenate(dask.compute(*parts)).tolist() == local.predict(X).tolist()
    assert model.score(lazy, Y) == local.score(X, Y) == model.score(X, Y)


def test_a_fit_goes_on_from_a_checkpoint(client, tmp_path):
    blocks, path = [Part(p) for p in range(P)], tmp_path / "checkpoint"
    options = {"client": client, "max_iter": 6, "tol": None}

    def fail(record):
        if record.epoch == 2:
            raise KeyboardInterrupt

    model = on_dask.AveragedPerceptron(callback=fail, **options)
    with pytest.raises(KeyboardInterrupt):
        model.fit(blocks, checkpoint=path)
    epochs = []
    model = on_dask.AveragedPerceptron(callback=lambda record: epochs.append(record.mistakes), **options)
    with pytest.raises(FileExistsError, match="set resume=True"):
        model.fit(blocks, checkpoint=path)
    model.fit(blocks, checkpoint=path, resume=True)
    assert same(model, perceptron_rs.AveragedPerceptron(n_partitions=P, max_iter=6, tol=None).fit(X, Y))
    assert sum(report.mistakes for report in model.partition_report_) == sum(
        epochs[1:]
    )  # the last that was known is judged again
    with pytest.raises(ValueError, match="is of another run: partitions"):
        model.fit(blocks[:-1], checkpoint=path, resume=True)
    with pytest.raises(ValueError, match="resume=True needs checkpoint, the file to go on from"):
        model.fit(blocks, resume=True)


def test_files_that_workers_read(client, tmp_path):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y)
    parts = open_arrays(tmp_path / "X.npy", tmp_path / "y.npy").partitions(P)
    model = on_dask.Perceptron(client=client, **FEW).fit(parts)
    local = model.to_local()
    assert same(model, clone(local).fit(X, Y))
    assert np.concatenate(dask.compute(*model.predict(parts))).tolist() == local.predict(X).tolist()
    assert model.score(parts) == local.score(X, Y)


@pytest.mark.parametrize(
    ("large", "sums"),
    [(1 << 26, 0), (1, 16), (1 << 20, 4)],
    ids=["one task mixes", "a tree of tasks", "a tree, until it is known that few change"],
)
@pytest.mark.parametrize("mixing", ["uniform", "mistakes"])
def test_rows_that_touch_few_columns_of_many(client, monkeypatch, mixing, large, sums):
    """Only what has changed of the weights is sent; large ones are added in a tree of tasks."""
    rng = np.random.default_rng(2)
    wide = sp.random(60, 30_000, density=2e-4, format="csr", random_state=rng, dtype=np.float32)
    y = rng.integers(0, 3, 60)
    sent = []  # each function with its first argument
    monkeypatch.setattr("perceptron_rs.dask.cluster._SMALL", 0)
    monkeypatch.setattr("perceptron_rs.dask.cluster._LARGE", large)
    monkeypatch.setattr(client, "submit", lambda *a, s=client.submit, **k: sent.append(a[:2]) or s(*a, **k))
    ends = [0, 13, 13, 30, 50, 60]
    blocks = [wide[a:b] for a, b in itertools.pairwise(ends)]
    labels = [y[a:b] for a, b in itertools.pairwise(ends)]
    model = on_dask.AveragedPerceptron(client=client, mixing=mixing, **FEW).fit(blocks, labels)
    assert same(model, clone(model.to_local()).fit(wide, y))
    common = [type(given).__name__ for f, given in sent if f.__name__ == "handed_on"]
    assert common == ["Encoding", "EpochWeights", "Change", "Change", "Change"]
    assert [f.__name__ for f, _ in sent].count("sum_of") == sums


WHERE = set()  # partitions and the workers that made passes over them


def learn_noted(partition, *of_all):
    WHERE.add((partition.number, distributed.get_worker().address))
    return learn_partition(partition, *of_all)


def test_passes_are_made_where_the_partitions_are(client, monkeypatch):
    """Also where the weights are larger, and have come to one worker."""
    rng = np.random.default_rng(5)
    blocks = [sp.random(20, 400_000, density=1e-5, format="csr", random_state=rng) for _ in range(2)]
    monkeypatch.setattr("perceptron_rs.dask.cluster.learn_partition", learn_noted)
    WHERE.clear()
    on_dask.Perceptron(client=client, max_iter=8, tol=None).fit(blocks, [np.arange(20) % 2] * 2)
    assert sorted(number for number, _ in WHERE) == [0, 1]
    assert len({worker for _, worker in WHERE}) == 2


def sentences():
    rng = np.random.default_rng(3)
    words = [[f"w{i}" for i in rng.integers(0, 30, n)] for n in rng.integers(1, 6, 40)]
    tags = [["even" if int(word[1:]) % 2 == 0 else "odd" for word in sequence] for sequence in words]
    return [[[word, "bias"] for word in sequence] for sequence in words], tags


def weights(model):
    found = [model.sparse_coef_.toarray(), model.transition_, model.start_, model.end_]
    if model.transition_features:
        found.append(model.transition_coef_)
    return [
        array.tobytes() for array in (*found, model.sequence_errors_per_epoch_, model.token_errors_per_epoch_)
    ]


@pytest.mark.parametrize(
    "options",
    [{}, {"min_count": 3, "transition_features": True}, {"hash_columns": 16, "averaged": False}],
    ids=str,
)
def test_sequences_of_attributes(client, options):
    tokens, tags = sentences()
    ends = [0, 7, 7, 25, 40]
    blocks = [Batch(tokens[a:b], tags[a:b]) for a, b in itertools.pairwise(ends)]
    options = {"max_iter": 4, "mixing": "mistakes"} | options
    model = on_dask.SequencePerceptron(client=client, **options).fit(blocks)
    assert model.to_local().n_partitions == (7, 0, 18, 15)
    local = clone(model.to_local()).fit(tokens, tags)
    assert weights(model) == weights(local)
    assert model.encoder_.vocabulary_ == local.encoder_.vocabulary_
    parts = dask.compute(*model.predict([blocks[0], blocks[2], blocks[3]]))
    assert list(itertools.chain(*parts)) == local.predict(tokens) == model.predict(tokens)
    assert model.score([blocks[0], blocks[2], blocks[3]]) == local.score(tokens, tags)
    assert [report.rows for report in model.partition_report_] == [7, 0, 18, 15]


def test_sequences_of_one_tag(client):
    """There is nothing to tell apart, which taggers take as they are."""
    tokens = [[["a"], ["b"]], [["c"]], [["b"]]]
    tags = [["x"] * len(sequence) for sequence in tokens]
    blocks = [Batch(tokens[:2], tags[:2]), Batch(tokens[2:], tags[2:])]
    model = on_dask.SequencePerceptron(client=client, max_iter=2).fit(blocks)
    assert weights(model) == weights(clone(model.to_local()).fit(tokens, tags))
    assert model.predict(tokens) == tags


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def test_sequences_of_rows(client, form):
    rng = np.random.default_rng(6)
    rows, y = rng.integers(0, 2, (30, 5)).astype(np.float64), rng.integers(0, 3, 30)
    ends, lengths = (0, 12, 12, 30), np.full(10, 3)
    parts = [slice(a, b) for a, b in itertools.pairwise(ends)]
    blocks = [
        Batch(form(rows[part]), y[part], None, lengths[part.start // 3 : part.stop // 3]) for part in parts
    ]
    model = on_dask.SequencePerceptron(client=client, max_iter=3).fit(blocks)
    assert model.to_local().n_partitions == (4, 0, 6)
    assert weights(model) == weights(clone(model.to_local()).fit(rows, y, lengths=lengths))


def test_sequences_in_files(client, tmp_path):
    rng = np.random.default_rng(4)
    lengths = rng.integers(1, 5, 20)
    rows = rng.integers(0, 2, (lengths.sum(), 6)).astype(np.float32)
    y = rng.integers(0, 3, len(rows))
    for name, array in {"X": rows, "y": y, "lengths": lengths}.items():
        np.save(tmp_path / f"{name}.npy", array)
    files = [tmp_path / f"{name}.npy" for name in ("X", "y", "lengths")]
    parts = open_arrays(files[0], files[1], lengths=files[2]).partitions(3)
    model = on_dask.SequencePerceptron(client=client, max_iter=3).fit(parts)
    local = clone(model.to_local()).fit(rows, y, lengths=lengths)
    assert weights(model) == weights(local)
    assert model.score(parts) == local.score(rows, y, lengths=lengths)
    with pytest.raises(ValueError, match="partition 0: sample_weight is not for sequences"):
        model.fit([Batch(rows, y, np.ones(len(y)), lengths)])


def test_tagged_sentences_in_files(client, tmp_path):
    tokens, tags = sentences()
    texts = [
        "".join(f"{t[0]}\t{tag}\n" for t, tag in zip(*both, strict=True))
        for both in zip(tokens, tags, strict=True)
    ]
    (tmp_path / "a.tsv").write_text("\n".join(texts))
    source = open_sentences(tmp_path / "a.tsv", attributes=column_attributes)
    parts = source.partitions(3)
    model = on_dask.SequencePerceptron(client=client, max_iter=3).fit(parts)
    local = clone(model.to_local())
    assert len(local.n_partitions) == 3
    assert min(local.n_partitions) > 9
    assert weights(model) == weights(local.fit(*next(source.batches())[:2]))
    assert model.score(parts) == local.score(*next(source.batches())[:2])


def test_a_clone_keeps_the_client(client):
    model = on_dask.Perceptron(client=client, eta0=0.5)
    assert clone(model).client is client
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize(
    ("options", "arguments", "text"),
    [
        ({"n_partitions": 2}, (X, Y), "X must be a Dask array or dataframe, or a list of blocks"),
        ({"n_partitions": 2}, ([X], [Y]), "n_partitions=2 is not available on a cluster"),
        ({"early_stopping": True}, ([X], [Y]), "early_stopping=True is not available"),
        ({}, ([X, X], [Y]), "y must have as many blocks as X, 2, got 1"),
        ({}, ([X, X[:, 1:]], [Y, Y]), "partition 1 must have the columns of partition 0"),
        ({}, ([X, X], [Y, Y[1:]]), "partition 1: inconsistent numbers of samples"),
        ({}, ([X, X * np.nan], [Y, Y]), r"^partition 1: .* NaN in row 0 \(counted from 0\), column 0;"),
        ({"eta0": 1e300}, ([X * 1e20] * 2, [Y, Y]), "training overflowed in epoch 0"),
        ({}, ([X, X], [Y, Y.astype(str)]), "y: some labels are numbers, and others are text"),
        ({}, ([X, X], [Y > 1, Y]), "y: some labels are booleans, and others are numbers"),
        ({}, ([X, X], [Y * 0, Y * 0]), "number of classes has to be greater than one"),
        ({}, ([X, X], None), "y must be given"),
        ({}, ([X[:0]] * 2, [Y[:0]] * 2), "got 0 class: y in all partitions holds"),
        ({}, ([lambda: X], None), r"partition 0: a block without y must be a tuple \(X, y\)"),
        ({}, ([Batch(X, Y, None, [len(Y)])], None), "lengths are for a SequencePerceptron"),
        ({}, ([Batch(X, Y, 0 * Y)] * 2, None), "leave no example of positive weight"),
        ({"class_weight": dict.fromkeys(range(9), 0)}, ([X], [Y > 1]), "leave no example of positive weight"),
        # Neither weighs nothing alone.
        (
            {"class_weight": {0: 0, 1: 1}},
            ([Batch(X, Y > 1, 1.0 * (Y <= 1))] * 2, None),
            "leave no example of positive weight",
        ),
        (
            {"class_weight": {0: 0, 1: 1, 2: 1}, "multi_class": "joint"},
            ([Batch(X, Y, 1.0 * (Y == 0))] * 2, None),
            "leave no example of positive weight",
        ),
        (
            {"class_weight": dict.fromkeys(range(3), 0), "multi_class": "joint"},
            ([X], [Y]),
            "leave no example of positive weight",
        ),
        ({}, ([Batch(X, Y), Batch(X, Y[1:])], None), "partition 1: inconsistent numbers of samples"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_refused_leaves_the_estimator_alone(client, options, arguments, text):
    model = on_dask.Perceptron(client=client, **options)
    before = dict(vars(model))
    with pytest.raises((TypeError, ValueError), match=text):
        model.fit(*arguments)
    assert vars(model) == before


def test_weights_beside_blocks_that_hold_their_labels_are_refused(client):
    model, halves = on_dask.Perceptron(client=client), [slice(0, 200), slice(200, None)]
    blocks, weights = [Batch(X[half], Y[half]) for half in halves], [np.ones(len(Y[half])) for half in halves]
    with pytest.raises(ValueError, match="sample_weight must be None without y: each block has its own"):
        model.fit(blocks, sample_weight=weights)


def test_other_rows_on_a_second_reading_are_noticed(tmp_path):
    part = Part(1, "changing", str(tmp_path / "flag"))
    first = read_partition(1, parse_rows, part)
    (tmp_path / "flag").touch()
    second = read_partition(1, parse_rows, part)
    task = EpochTask("rust", "uniform", 0, ())
    with pytest.raises(PartitionChangedError, match="partition 1 was read again"):
        learn_partition(second, Encoding(np.arange(3)), None, first.facts.digest, {}, task)


def test_a_checkpoint_knows_what_its_fit_started_from(client, tmp_path):
    blocks, path = [Part(p) for p in range(P)], tmp_path / "checkpoint"
    model = on_dask.Perceptron(client=client, warm_start=True, **FEW)
    cold = clone(model).fit(blocks, checkpoint=path)
    warm = clone(model).fit(blocks[:1])
    with pytest.raises(ValueError, match="is of another run: start"):
        warm.fit(blocks, checkpoint=path, resume=True)
    with pytest.raises(ValueError, match="is of another run: learner"):
        on_dask.AveragedPerceptron(client=client, **FEW).fit(blocks, checkpoint=path, resume=True)
    ended = clone(model).set_params(callback=lambda record: record.epoch == 0)
    ended.fit(blocks, checkpoint=tmp_path / "ended")
    goes_on = clone(model).fit(blocks, checkpoint=tmp_path / "ended", resume=True)
    assert same(goes_on, cold.to_local())
