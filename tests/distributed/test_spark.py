"""Fits on Spark on this machine, two tasks at a time: the bits of a local fit, also after workers died."""

from __future__ import annotations

import inspect
import os
import shutil
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

import perceptron_rs
from tests.distributed.problems import die, die_once, examples

pyspark = pytest.importorskip("pyspark", reason="the extra spark is not installed")
on_spark = pytest.importorskip("perceptron_rs.spark")

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java 17; on Debian openjdk-17-jre"),
]
FEW = {"max_iter": 3, "tol": None}
LENGTHS = (30, 0, 50)
X, Y = examples(80)


def started(master, **options):
    """Give a session; afterwards it is stopped."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        builder = pyspark.sql.SparkSession.builder.master(master)
        for name, value in {"ui.enabled": "false", "driver.bindAddress": "127.0.0.1", **options}.items():
            builder = builder.config(f"spark.{name}", value)
        session = builder.getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="module")
def session():
    yield from started("local[2,4]")


@pytest.fixture(scope="module")
def frame(session):
    return framed(session)


def framed(session):
    """Return a data frame whose partitions have these lengths."""
    rows = [(X[i].tolist(), int(Y[i]), 1.0 + i % 2) for i in range(len(Y))]
    ends = np.cumsum(LENGTHS)
    numbered = [(int(np.searchsorted(ends, i, side="right")), row) for i, row in enumerate(rows)]
    placed = session.sparkContext.parallelize(numbered, 1).partitionBy(len(LENGTHS), int).values()
    return session.createDataFrame(placed, ["features", "label", "weight"]).cache()


@pytest.fixture(scope="module")
def expected():
    return perceptron_rs.AveragedPerceptron(n_partitions=LENGTHS, **FEW).fit(X, Y)


def upstream(frame, trouble):
    """Return the same rows, after a function on the workers that may end them."""

    def passed_on(batches):
        trouble()
        yield from batches

    return frame.mapInArrow(passed_on, frame.schema)


def test_bits_of_the_local_fit(frame, expected):
    model = on_spark.AveragedPerceptron(**FEW).fit(frame)
    assert model.coef_.tobytes() == expected.coef_.tobytes()
    assert model.mistakes_per_epoch_.tobytes() == expected.mistakes_per_epoch_.tobytes()
    assert tuple(report.rows for report in model.partition_report_) == LENGTHS
    answers = model.predict(frame).collect()
    assert [row["prediction"] for row in answers] == expected.predict(X).tolist()
    assert model.to_local().fit(X, Y).coef_.tobytes() == expected.coef_.tobytes()


def test_many_labels(session):
    many = np.stack([Y == 0, Y > 0, X[:, 0] > 0], axis=1)
    rows = [(row.tolist(), labels.tolist()) for row, labels in zip(X, many, strict=True)]
    frame = session.createDataFrame(rows, "features array<double>, label array<boolean>").coalesce(2).cache()
    model = on_spark.AveragedPerceptron(**FEW).fit(frame)
    local = model.to_local().fit(X, many)
    assert model.coef_.tobytes() == local.coef_.tobytes()
    assert [row["prediction"] for row in model.predict(frame).collect()] == local.predict(X).tolist()


def test_columns_vectors_and_weights(session, frame):
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions as f

    weights = np.array([1.0 + i % 2 for i in range(len(Y))])
    local = perceptron_rs.Perceptron(n_partitions=LENGTHS, mixing="mistakes", **FEW)
    local.fit(X, Y, sample_weight=weights)
    vectors = frame.select(array_to_vector("features").alias("features"), "label", "weight")
    numbers = frame.select(*[f.col("features")[j].alias(f"x{j}") for j in range(5)], "label", "weight")
    for given, features in ((vectors, "features"), (numbers, [f"x{j}" for j in range(5)])):
        model = on_spark.Perceptron(features=features, weight="weight", mixing="mistakes", **FEW).fit(given)
        assert model.coef_.tobytes() == local.coef_.tobytes()


def test_weights_are_broadcast_once_and_then_what_has_changed(session, monkeypatch):
    rng = np.random.default_rng(5)
    wide, labels = np.zeros((8, 5000)), np.arange(8) % 2
    for row in wide:
        row[rng.choice(5000, 50, replace=False)] = rng.standard_normal(50)
    wide[1] = wide[0]  # which has the other label, so no epoch is clean
    rows = [(row.tolist(), int(label)) for row, label in zip(wide, labels, strict=True)]
    frame = session.createDataFrame(rows, "features array<double>, label int").coalesce(2).cache()
    made = []
    context = type(session.sparkContext)
    broadcast = context.broadcast
    monkeypatch.setattr(context, "broadcast", lambda *of: made.append((of[1], broadcast(*of))) or made[-1][1])
    model = on_spark.AveragedPerceptron(**FEW).fit(frame)
    assert [type(given).__name__ for given, _ in made] == ["list", "EpochWeights", "Change", "Change"]
    assert not any(Path(sent._path).exists() for _, sent in made)  # all are destroyed
    assert model.coef_.tobytes() == model.to_local().fit(wide, labels).coef_.tobytes()


def test_a_python_worker_that_is_killed(frame, expected, tmp_path):
    flag = str(tmp_path / "flag")
    model = on_spark.AveragedPerceptron(**FEW).fit(upstream(frame, lambda: die_once(flag)))
    assert (tmp_path / "flag").exists()
    assert model.coef_.tobytes() == expected.coef_.tobytes()


def test_a_partition_that_ends_each_worker(frame):
    def only_the_last():
        if pyspark.TaskContext.get().partitionId() == 2:
            die()

    model = on_spark.Perceptron(**FEW)
    with pytest.raises(on_spark.PartitionError, match="partition 2 ended each worker"):
        model.fit(upstream(frame, only_the_last))
    assert not hasattr(model, "classes_")


def test_rows_that_change(frame, tmp_path):
    from pyspark.sql import functions as f

    readings = tmp_path / "readings"
    readings.touch()

    def count(batches):
        size = 0
        if pyspark.TaskContext.get().partitionId() == 2:  # each one that fails is tried four times
            size = readings.stat().st_size
            with readings.open("a") as file:
                file.write(".")
        for batch in batches:
            weight = batch.column("weight").to_numpy() + size  # other ones at each reading
            yield type(batch).from_arrays([*batch.columns[:2], weight], schema=batch.schema)

    changing = frame.select("features", "label", f.col("weight")).mapInArrow(count, frame.schema)
    with pytest.raises(on_spark.PartitionChangedError, match="partition 2 was read again"):
        on_spark.Perceptron(weight="weight", **FEW).fit(changing)


def test_other_calls_and_classes_of_users(frame):
    class Extra:
        """What somebody mixes in."""

    class InFront(Extra, on_spark.Perceptron):
        """A class of a user."""

    assert type(InFront(**FEW).fit(frame).to_local()) is perceptron_rs.Perceptron
    for call in (on_spark.Perceptron().partial_fit, on_spark.Perceptron().predict_then_learn):
        with pytest.raises(TypeError, match="takes examples in memory, and these lie on a cluster"):
            call(frame, Y)
    with pytest.raises(TypeError, match="fit_stream takes examples in memory"):
        on_spark.SequencePerceptron().fit_stream(frame)
    own = {"features", "label", "weight", "prediction"}
    local = inspect.signature(perceptron_rs.Perceptron).parameters
    assert inspect.signature(on_spark.Perceptron).parameters.keys() == own | local.keys()


def sentences():
    rng = np.random.default_rng(3)
    words = [[f"w{i}" for i in rng.integers(0, 9, n)] for n in rng.integers(1, 6, 24)]
    tags = [["even" if int(word[1:]) % 2 == 0 else "odd" for word in sequence] for sequence in words]
    return [[[word, "bias"] for word in sequence] for sequence in words], tags


def test_sequences(session):
    tokens, tags = sentences()
    frame = session.createDataFrame(list(zip(tokens, tags, strict=True)), ["features", "label"]).coalesce(2)
    model = on_spark.SequencePerceptron(max_iter=3).fit(frame)
    local = perceptron_rs.SequencePerceptron(max_iter=3, n_partitions=model.to_local().n_partitions)
    local.fit(tokens, tags)
    assert model.sparse_coef_.toarray().tobytes() == local.sparse_coef_.toarray().tobytes()
    assert model.encoder_.vocabulary_ == local.encoder_.vocabulary_
    assert [row["prediction"] for row in model.predict(frame).collect()] == local.predict(tokens)


def test_sequences_of_numbers(session):
    rng = np.random.default_rng(4)
    rows = [rng.standard_normal((n, 3)) for n in rng.integers(1, 5, 12)]
    tags = [(sequence[:, 0] > 0).astype(int) for sequence in rows]
    given = [(sequence.tolist(), labels.tolist()) for sequence, labels in zip(rows, tags, strict=True)]
    frame = session.createDataFrame(given, ["features", "label"]).coalesce(1)
    model = on_spark.SequencePerceptron(max_iter=3).fit(frame)
    local = perceptron_rs.SequencePerceptron(max_iter=3)
    local.fit(np.concatenate(rows), np.concatenate(tags), lengths=list(map(len, rows)))
    assert model.coef_.tobytes() == local.coef_.tobytes()
    answers = [row["prediction"] for row in model.predict(frame).collect()]
    predicted = local.predict(np.concatenate(rows), lengths=list(map(len, rows)))
    assert np.concatenate(answers).tolist() == predicted.tolist()


def test_a_wrong_value_is_named(frame):
    from pyspark.sql import functions as f

    wrong = frame.withColumn("weight", f.when(f.spark_partition_id() == 2, -1.0).otherwise(1.0))
    with pytest.raises(ValueError, match="sample_weight must be finite and >= 0"):
        on_spark.Perceptron(weight="weight", **FEW).fit(wrong)


def test_names_with_dots_and_ticks(session, frame):
    from pyspark.sql import functions as f

    names = {"features": "x.of`all", "label": "y.1", "weight": "weight"}
    odd = frame.select(*[f.col(name).alias(new) for name, new in names.items()])
    model = on_spark.Perceptron(features=names["features"], label=names["label"], **FEW).fit(odd)
    assert model.coef_.tobytes() == on_spark.Perceptron(**FEW).fit(frame).coef_.tobytes()
    assert model.predict(odd).columns == [*names.values(), "prediction"]
    assert {row["prediction"] for row in model.predict(odd).collect()} <= {*model.classes_.tolist()}


def test_a_missing_vector_names_its_row(session):
    """Spark's own function fails on it, in words of Java."""
    from pyspark.ml.linalg import Vectors, VectorUDT
    from pyspark.sql.types import StringType, StructField, StructType

    schema = StructType([StructField("features", VectorUDT()), StructField("label", StringType())])
    rows = [(Vectors.dense([1.0, 2.0]), "a"), (None, "b"), (Vectors.sparse(2, [0], [1.0]), "a")]
    frame = session.createDataFrame(rows, schema).coalesce(1)
    with pytest.raises(ValueError, match="partition 0: row 2: column 'features' has no list"):
        on_spark.Perceptron(**FEW).fit(frame)


@pytest.fixture
def executors(tmp_path, monkeypatch):
    """Give a session on two executors, each a process."""
    home = tmp_path / "spark"  # executors work in this folder
    home.mkdir()
    for part in Path(pyspark.__file__).parent.iterdir():
        (home / part.name).symlink_to(part)
    monkeypatch.setenv("SPARK_HOME", str(home))
    root = str(Path(__file__).parents[2])
    yield from started("local-cluster[2,1,1024]", **{"executorEnv.PYTHONPATH": root})


def end_executor(flag):
    """Kill the executor that runs this task, once: the process that started the one that forks workers."""
    if not Path(flag).exists():
        Path(flag).touch()
        pid = int(Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()[1])
        assert b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes()
        os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the executor in /proc")
def test_an_executor_that_is_killed(executors, expected, tmp_path):
    flag = str(tmp_path / "flag")
    model = on_spark.AveragedPerceptron(**FEW).fit(upstream(framed(executors), lambda: end_executor(flag)))
    assert (tmp_path / "flag").exists()
    assert model.coef_.tobytes() == expected.coef_.tobytes()
