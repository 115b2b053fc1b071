"""Linear learners on a cluster: how a partition is read, and how a fit to many begins and ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from perceptron_rs.audit.record import RECORD
from perceptron_rs.common.driver import Report, Schedule, publish_report
from perceptron_rs.common.labels import encode_again, encode_new, label_array
from perceptron_rs.common.parameters import draw_seed
from perceptron_rs.common.planes import is_joint, n_planes, positive_labels
from perceptron_rs.common.progress import Observer
from perceptron_rs.common.rows.examples import examples
from perceptron_rs.common.rows.storage import to_stored
from perceptron_rs.common.weights import class_weights, nothing_to_learn, refuse_odd_weights, sample_weights
from perceptron_rs.distributed.fitting import Family, Plan, all_labels
from perceptron_rs.distributed.partition import Encoding, Facts, Parsed
from perceptron_rs.engines import get_engine
from perceptron_rs.io.source import Batch
from perceptron_rs.linear.fitting import check_same_problem, publish, settings_of, start_state
from perceptron_rs.linear.perceptron import Perceptron

__all__ = ["LINEAR"]


def parse(batch: Batch) -> Parsed:
    """Read examples."""
    X, y, sample_weight, lengths = batch
    if lengths is not None:
        raise ValueError("lengths are for a SequencePerceptron; a block must be (X, y[, sample_weight])")
    if not X.shape[0]:
        return Parsed({"rows": to_stored(np.zeros(X.shape))}, X.shape[1], None, np.asarray(y).reshape(-1)[:0])
    model = Perceptron()  # whose checks these are
    data = examples(model, get_engine("rust"), X, reset=True)
    names = getattr(model, "feature_names_in_", None)
    labels, weights = label_array(model, y, X.shape[0]), None
    if sample_weight is not None:
        refuse_odd_weights(sample_weight)
        is_zero = np.shape(sample_weight) in ((), labels.shape) and not np.any(sample_weight)
        # scikit-learn refuses weights that are all 0, but other partitions may have examples to learn from.
        weights = np.zeros(len(labels)) if is_zero else sample_weights(sample_weight, labels)
        assert weights is not None
        data.assert_finite_in(weights == 0, model)  # the engine does not meet these rows
    return Parsed(data.stored, X.shape[1], None if names is None else tuple(map(str, names)), labels, weights)


def plan(estimator: Any, facts: Sequence[Facts]) -> Plan:
    """Put what is known before the fit on the estimator, and plan the fit."""
    goes_on = estimator.warm_start and hasattr(estimator, "classes_")
    state = estimator._model_of(get_engine(estimator.engine)) if goes_on else None
    first = next((fact for fact in facts if fact.examples), facts[0])
    estimator.n_features_in_ = first.columns
    vars(estimator).pop("feature_names_in_", None)
    if first.names is not None:
        estimator.feature_names_in_ = np.array(first.names, dtype=object)
    labels, each = all_labels(facts)
    if state is None:
        classes, indices = encode_new(labels, "the labels of all partitions")
    else:
        classes, indices = estimator.classes_, encode_again(labels, estimator.classes_)
    counts = np.zeros(len(classes), dtype=np.int64)
    np.add.at(counts, indices, each)
    if state is None:
        state = start_state(estimator, classes, None, None, None)
        estimator._n_epochs = 0
    else:
        check_same_problem(estimator, state, classes)
    estimator.classes_ = classes
    vars(estimator).pop(RECORD, None)
    K = n_planes(estimator, classes)
    planes = class_weights(estimator.class_weight, classes, counts, K)
    of_classes = planes[:, 1] if is_joint(estimator) else planes
    if not of_classes.any() or all(fact.weightless for fact in facts if fact.examples):
        raise nothing_to_learn()
    seed = draw_seed(estimator.random_state) if estimator.shuffle else None

    def publish_all(report: Report) -> None:
        publish(estimator, report.state)
        publish_report(estimator, report, is_fit=True)
        estimator._n_epochs += estimator.n_iter_

    return Plan(
        state=estimator._arrays(state),
        settings=replace(settings_of(estimator, positive_labels(K), planes, seed, settle=True), threads=1),
        encodings=[Encoding(classes)] * len(facts),
        schedule=Schedule(
            estimator._n_epochs,
            int(estimator.max_iter),
            None if estimator.tol is None else float(estimator.tol),
            int(estimator.n_iter_no_change),
        ),
        observer=Observer(estimator, int(counts.sum()), None, publish),
        publish=publish_all,
    )


LINEAR = Family(
    refused=(
        ("n_partitions", 1),
        ("early_stopping", False),
        ("track_mistakes", False),
        ("audit", False),
        ("audit_key", None),
        ("added_feature", 0),
        ("max_mistakes_per_example", None),
    ),
    parse=lambda _: parse,
    plan=plan,
)
