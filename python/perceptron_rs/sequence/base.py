"""What a learner of sequences begins with, what it keeps of a run, and what it shows of that."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix

from perceptron_rs.array_likes import MatrixLike
from perceptron_rs.common.errors import warn_caller
from perceptron_rs.common.parameters import shared_settings
from perceptron_rs.common.prediction.predictor import LearntAttribute
from perceptron_rs.common.targets.weights import start_value
from perceptron_rs.common.training.sklearn_callbacks import FitTask
from perceptron_rs.common.training.train import Feeder
from perceptron_rs.common.turns import exclusive
from perceptron_rs.engines import LearntModel, RunState, State
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.io.source import Source
from perceptron_rs.models.saving import Saved
from perceptron_rs.sequence.input import assert_columns
from perceptron_rs.sequence.parameters import SequencePerceptronParameters
from perceptron_rs.sequence.predictor import SequencePerceptronPredictor
from perceptron_rs.sequence.progress import SequenceObserver
from perceptron_rs.sequence.schema import Template
from perceptron_rs.sequence.source import encoded, sequence_source
from perceptron_rs.sequence.weights import attribute_names, beam_of, cold_state, dense_matrix, sparse_entries
from perceptron_rs.settings import Chain
from perceptron_rs.sklearn_base import ConvergenceWarning
from perceptron_rs.stream.learner import StreamFit
from perceptron_rs.stream.run import Carrier

__all__ = ["SequenceLearner"]


class SequenceLearner(SequencePerceptronParameters, StreamFit, Saved, SequencePerceptronPredictor):
    """A perceptron on linear chains, but for its public methods."""

    _least: ClassVar[int] = 1
    classes_: NDArray[np.generic]
    encoder_: AttributeEncoder
    template_: Template  # of the command line
    n_features_in_: int
    n_iter_: int
    converged_: bool
    sequence_errors_per_epoch_: NDArray[np.int64]
    token_errors_per_epoch_: NDArray[np.int64]
    loss_curve_: list[float]
    _average: list[Any]  # what is made of it to predict, when it is first read

    def _prediction_parameters(self) -> dict[str, object]:
        return {"learner": "sequence", "beam": beam_of(self)}

    def _document(self) -> dict[str, object]:
        encoder, parts = vars(self).get("encoder_"), {}
        if encoder is not None:
            hashed = None if encoder.n_columns is None else int(encoder.n_columns)
            parts["encoder"] = {"min_count": int(encoder.min_count), "n_columns": hashed}
        return parts | ({"template": dict(self.template_)} if "template_" in vars(self) else {})

    def _encoder_of(self, arrays: State, description: Any) -> AttributeEncoder:
        return AttributeEncoder._of(super()._encoder_of(arrays, description), description["min_count"])

    def _fit_encoder(self, tokens: list[object]) -> MatrixLike:
        """Return attributes as a matrix of columns, which they say."""
        self.encoder_ = AttributeEncoder(min_count=self.min_count, n_columns=self.hash_columns)
        matrix = self.encoder_.fit_transform(tokens)
        assert_columns(self.encoder_)
        return matrix

    def _encoded(self, tokens: list[object]) -> MatrixLike:
        return self.encoder_.transform(tokens)

    @property
    def _fixed(self) -> tuple[str, ...]:
        """Parameters that what has been learnt depends on."""
        of_encoder = ("min_count", "hash_columns") if "encoder_" in vars(self) else ()
        return ("transition_features", *of_encoder)

    @exclusive
    def _start_from(self, name: str, weights: object) -> None:
        """Start anew from what is shown and these weights instead; they may be sparse."""
        shown, labels = dict(self._weights), len(self.classes_)
        columns = len(shown["emission_indptr"]) - 1
        shape = {"emission": (labels, columns), "transition": (labels, labels)}.get(name, (labels,))
        numbers = start_value(weights, "coef_" if name == "emission" else f"{name}_", shape)
        if name == "emission":
            rows = csr_matrix(numbers.T)
            shown["emission_indptr"] = rows.indptr.astype(np.int64)
            shown["emission_indices"], shown["emission_data"] = rows.indices.astype(np.int32), rows.data
        else:
            shown[name] = numbers
        state = cold_state(columns, labels, pair="pair_indptr" in shown)
        self._begin_anew(state | shown, _average=[])

    @LearntAttribute
    def n_seen_(self) -> int:
        """Number of sequences that the weights have seen."""
        return int(self._model["seen"][0])

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Emission weights."""
        return dense_matrix(self._weights, "emission", len(self.classes_)).T

    @coef_.setter
    def coef_(self, coef: object) -> None:
        self._start_from("emission", coef)

    @LearntAttribute
    def sparse_coef_(self) -> csc_matrix:
        """Emission weights, sparse."""
        indptr, indices, data = (self._weights[f"emission_{part}"] for part in ("indptr", "indices", "data"))
        return csc_matrix((data, indices, indptr), shape=(len(self.classes_), len(indptr) - 1))

    @property
    def transition_(self) -> NDArray[np.float64]:
        """Weight of each label (column) after each other label (row)."""
        return self._weights["transition"]

    @transition_.setter
    def transition_(self, transition: object) -> None:
        self._start_from("transition", transition)

    @property
    def start_(self) -> NDArray[np.float64]:
        """Weights of the first label."""
        return self._weights["start"]

    @start_.setter
    def start_(self, start: object) -> None:
        self._start_from("start", start)

    @property
    def end_(self) -> NDArray[np.float64]:
        """Weights of the last label."""
        return self._weights["end"]

    @end_.setter
    def end_(self, end: object) -> None:
        self._start_from("end", end)

    @LearntAttribute
    def transition_coef_(self) -> NDArray[np.float64]:
        """Weights of a token's features for the label before it and its own."""
        if "pair_indptr" not in self._weights:
            raise AttributeError("transition_coef_ exists only with transition_features=True")
        labels = len(self.classes_)
        return dense_matrix(self._weights, "pair", labels**2).T.reshape(labels, labels, -1)

    @LearntAttribute
    def state_features_(self) -> dict[tuple[Any, Any], float]:
        """Emission weights other than 0, by name and label."""
        names, classes = attribute_names(self), self.classes_.tolist()
        return {(names[j], classes[k]): w for j, k, w in sparse_entries(self._weights, "emission")}

    @LearntAttribute
    def transition_features_(self) -> dict[tuple[Any, Any], float]:
        """Transition weights other than 0, by label and next label."""
        classes, weights = self.classes_.tolist(), self.transition_
        places = np.argwhere(weights != 0).tolist()
        return {(classes[a], classes[b]): float(weights[a, b]) for a, b in places}

    @LearntAttribute
    def bigram_features_(self) -> dict[tuple[Any, Any, Any], float]:
        """Weights other than 0 of a token's features, by name, label before and label."""
        if "pair_indptr" not in self._weights:
            raise AttributeError("bigram_features_ exists only with transition_features=True")
        names, classes = attribute_names(self), self.classes_.tolist()
        labels = len(classes)
        return {
            (names[j], classes[pair // labels], classes[pair % labels]): w
            for j, pair, w in sparse_entries(self._weights, "pair")
        }

    def _forget(self) -> None:
        for name in ("encoder_", "template_"):
            vars(self).pop(name, None)

    def _source(self, given: object, *, goes_on: bool) -> Source:
        return encoded(self, sequence_source(given), goes_on=goes_on)

    def _class_weights(self, feeder: Feeder, counts: NDArray[np.int64] | None) -> NDArray[np.float64]:  # noqa: ARG002
        return np.ones((1, 2))

    def _start(self, feeder: Feeder) -> LearntModel:
        """Return what was learnt before, or nothing."""
        if feeder.goes_on:
            return self._model_of(feeder.engine)
        labels, pair = len(feeder.classes), bool(self.transition_features)
        return self._owned(feeder.engine, cold_state(self.n_features_in_, labels, pair=pair))

    def _carry(self, feeder: Feeder, state: LearntModel) -> tuple[Carrier, State]:  # noqa: ARG002
        return Carrier(), self._arrays(state)

    def _settings(self, feeder: Feeder) -> Chain:
        return Chain(
            **shared_settings(self, Chain)
            | {
                "seed": feeder.order,
                "beam": beam_of(self),
                "track_answers": feeder.tracks,  # an interrupted run lacks some
                "keep_on_interrupt": bool(self.keep_on_interrupt)
                and not feeder.tracks,  # it would lack answers
            }
        )

    def _tolerance(self, feeder: Feeder) -> float | None:
        return None if feeder.held_out is None else 1.0  # a token

    def _observer(self, feeder: Feeder, task: FitTask | None) -> SequenceObserver:  # noqa: ARG002
        return SequenceObserver(
            self, feeder.n_examples, feeder.scores, lambda model, state: model._keep(feeder, state)
        )

    def _keep(self, feeder: Feeder, state: RunState) -> None:
        super()._keep(feeder, state)
        self._average = []
        self._weights  # noqa: B018  an average that is not finite is an error of the fit

    def _publish_report(self, feeder: Feeder) -> None:
        report = feeder.report
        # If nobody has counted the sequences: all that the weights have seen, in equal parts.
        n_sequences = feeder.n_examples or self.n_seen_ / max(1, len(report.mistakes))
        self.sequence_errors_per_epoch_ = report.mistakes[:, 0]
        self.token_errors_per_epoch_ = report.losses[:, 0].astype(np.int64)
        self.loss_curve_ = (report.losses[:, 0] / max(1, n_sequences)).tolist()
        self.n_iter_ = len(report.mistakes)
        self.converged_ = report.stopped == ["clean"]

    def _warn(self, feeder: Feeder) -> None:
        if feeder.report.stopped == ["interrupt"]:
            warn_caller(
                f"ctrl-c ended the fit in epoch {self.n_iter_} (counted from 1); "
                f"what was learnt until then is kept",
                ConvergenceWarning,
            )

    def _check_parameters(self, *, for_partial_fit: bool = False) -> None:
        super()._check_parameters(for_partial_fit=for_partial_fit)
        if self.update != "full" and self.decode != "beam":
            raise ValueError(f"update={self.update!r} needs decode='beam', got decode={self.decode!r}")
