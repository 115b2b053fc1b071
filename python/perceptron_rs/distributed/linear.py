"""Linear learners on a cluster: how a partition is read, and what all partitions weigh."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.distributed.fitting import Partitions
from perceptron_rs.distributed.partition import Parse, Parsed
from perceptron_rs.engines import LearntModel, get_engine
from perceptron_rs.estimator_attributes import feature_names
from perceptron_rs.io.batches import Batch
from perceptron_rs.linear.perceptron import Perceptron
from perceptron_rs.rows.examples import examples
from perceptron_rs.rows.storage import to_stored
from perceptron_rs.settings import Linear, Settings
from perceptron_rs.targets.label_sets import indicator, is_indicator
from perceptron_rs.targets.labels import label_array
from perceptron_rs.targets.weights import nothing_to_learn, sample_weights
from perceptron_rs.training.driver import Report, Schedule
from perceptron_rs.training.progress import Observer
from perceptron_rs.training.train import is_one_decision


def parse(batch: Batch) -> Parsed:
    """Read examples."""
    X, y, sample_weight, lengths = batch
    if lengths is not None:
        raise ValueError("lengths are for a SequencePerceptron; a block must be (X, y[, sample_weight])")
    if not X.shape[0]:
        return Parsed({"rows": to_stored(np.zeros(X.shape))}, X.shape[1], None, np.asarray(y).reshape(-1)[:0])
    model = Perceptron()  # whose checks these are
    data = examples(model, get_engine("rust"), X, reset=True)
    names = feature_names(model)
    n = X.shape[0]
    labels: NDArray[np.generic] = indicator(y, n) if is_indicator(y) else label_array(model, y, n)
    weights = sample_weights(sample_weight, labels, of_part=True)  # others may have examples to learn from
    if weights is not None:
        data.assert_finite_in(weights == 0, model, None)  # the engine does not meet these rows
    return Parsed(data.stored, X.shape[1], None if names is None else tuple(map(str, names)), labels, weights)


class LinearPartitions(Partitions):
    """Examples of a linear learner."""

    def parse(self) -> Parse:
        """Return what reads a partition."""
        return parse

    def weigh(self) -> None:
        """Find the weights of the classes; refuse those that leave nothing to learn."""
        super().weigh()
        # Of examples whose own weight is not 0.
        counts, planes = self.counts, self.weighed.planes
        if is_one_decision(self.model):
            planes = planes[:, 1]
        elif not self.multilabel:
            held = counts[-len(planes) :]  # two classes have one plane, that of the second
            counts = np.column_stack([counts.sum() - held, held])
        if not ((counts > 0) & (planes > 0)).any():
            raise nothing_to_learn()

    def learn(
        self, state: LearntModel, settings: Settings, schedule: Schedule, observer: Observer | None
    ) -> Report:
        """Learn; each partition is learnt from on one thread."""
        assert isinstance(settings, Linear)
        return super().learn(state, replace(settings, threads=1), schedule, observer)
