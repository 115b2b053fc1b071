"""What a learner of sequences begins with, reads of a stream, keeps of a run, and shows of that."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from hashlib import sha256
from itertools import chain
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix, csr_matrix

from perceptron_rs.arrays.likes import MatrixLike, as_users_have
from perceptron_rs.engines import LearntModel, RunState, State
from perceptron_rs.errors import ArgumentError
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.features.vocabulary import Vocabulary
from perceptron_rs.io.batches import Batch
from perceptron_rs.io.source import Source, as_source
from perceptron_rs.models.saving import save
from perceptron_rs.models.values import values_to_json
from perceptron_rs.parameters.checks import shared_settings
from perceptron_rs.prediction.estimator import begin_anew
from perceptron_rs.prediction.predictor import LearntAttribute
from perceptron_rs.sequence.input import (
    as_token_lists,
    assert_columns,
    flat_labels,
    flat_tokens,
    is_nested,
    token_lists,
)
from perceptron_rs.sequence.limits import constrained
from perceptron_rs.sequence.parameters import SequencePerceptronParameters
from perceptron_rs.sequence.predictor import SequencePerceptronPredictor
from perceptron_rs.sequence.progress import SequenceObserver
from perceptron_rs.sequence.schema import attribute_names, beam_of, cold_state, dense_matrix, sparse_entries
from perceptron_rs.settings import Chain
from perceptron_rs.state.turns import exclusive
from perceptron_rs.stream.fit import StreamFit
from perceptron_rs.stream.run import Carrier
from perceptron_rs.targets.weights import start_value
from perceptron_rs.training.driver import Schedule
from perceptron_rs.training.progress import Observer
from perceptron_rs.training.train import Feeder


def sequence_source(model: SequenceLearner, examples: object, *, goes_on: bool) -> Source:
    """Return a source, also of a tuple (X, y) of lists of sequences."""
    if isinstance(examples, tuple) and examples and is_nested(X := _as_tokens(model, examples[0], goes_on)):
        return Source(batches=lambda: iter([(X, *examples[1:])]), name="the sequences")
    return as_source(examples)


def encoded(model: SequenceLearner, source: Source, *, goes_on: bool) -> Source:
    """Return a source of matrices; attributes are encoded by the encoder of the model, fitted if need be."""
    batches = iter(source.batches())
    first = next((batch for batch in batches if not _holds_nothing(batch)), None)
    if not source.again and first is not None:
        source = replace(source, batches=lambda: chain([first], batches))
    lists = partial(_as_tokens, model, goes_on=goes_on)
    nested = first is not None and is_nested(lists(first[0]))
    if goes_on and first is not None and nested != (model._learnt.encoder is not None):
        needed = "matrices" if nested else "attributes"
        raise ValueError(f"{source.name} must give {needed}, as the model has learnt from; fit anew")
    if not nested:
        return source
    if not goes_on:
        encoder = AttributeEncoder(min_count=model.min_count, n_columns=model.hash_columns)
        if model.hash_columns is None and not source.again:
            raise ArgumentError(
                "{name} can be read only once, but the vocabulary takes a pass of its own",
                "set {hash_columns}",
                name=source.name,
            )
        tokens = (token for batch in source.batches() for token in flat_tokens(lists(batch[0]))[0])
        model.encoder_ = encoder.fit(() if model.hash_columns is not None else tokens)
        assert_columns(encoder)
    encoder = model.encoder_

    def change(batch: Batch) -> Batch:
        if batch.sample_weight is not None:
            raise ValueError("a batch of lists of sequences must be (X, y), without sample_weight")
        tokens, lengths = flat_tokens(lists(batch.X))
        return Batch(encoder.transform(tokens), flat_labels(batch.y, lengths), None, lengths)

    names = sha256(repr(list(encoder.vocabulary_)).encode())  # none, if they are hashed
    reading = f"{source.reading}, hash_columns={encoder.n_columns}, {names.hexdigest()}"
    return replace(source.mapped(change, encoder.n_columns_), reading=reading)


def _as_tokens(model: SequenceLearner, X: MatrixLike, goes_on: bool) -> MatrixLike:
    return token_lists(model, X) if goes_on else as_token_lists(X)


def _holds_nothing(batch: object) -> bool:
    """Whether a batch is an empty list, which does not say what its items would be."""
    return isinstance(batch, tuple) and len(batch) > 1 and isinstance(batch[0], list) and not batch[0]


def _weights_of_labels(name: str, text: str) -> property:
    """Return an attribute that shows weights of this name; to set it is to start anew from others."""

    def read(learner: SequenceLearner) -> NDArray[np.float64]:
        return learner._weights[name]

    def start(learner: SequenceLearner, weights: object) -> None:
        learner._start_from(name, weights)

    return property(read, start, doc=text)


class SequenceLearner(SequencePerceptronParameters, StreamFit, SequencePerceptronPredictor):
    """A perceptron on linear chains, but for its public methods."""

    _least: ClassVar[int] = 1
    _columns_of_data: ClassVar[tuple[str, ...]] = ("encoder", "template")
    _observer: ClassVar[type[Observer] | None] = SequenceObserver
    tol: float | None = None  # all epochs are made, unless examples are held out

    save = save

    def _weights_shown(self) -> list[tuple[str, str]]:
        """Return each class with its largest weights, for a notebook."""
        from perceptron_rs.models.summary import rows_shown
        from perceptron_rs.sequence.summary import shown

        return rows_shown(shown(self, 5)["weights"])

    def _prediction_parameters(self) -> dict[str, object]:
        parameters: dict[str, object] = {"learner": "sequence", "beam": beam_of(self)}
        if self.constraints is not None:
            parameters |= values_to_json({"constraints": self.constraints})
        return parameters

    def _document(self) -> dict[str, object]:
        encoder, parts = self._learnt.encoder, {}
        if encoder is not None:
            hashed = None if encoder.n_columns is None else int(encoder.n_columns)
            parts["encoder"] = {"min_count": int(encoder.min_count), "n_columns": hashed}
        return parts | ({"template": dict(self.template_)} if self._learnt.template is not None else {})

    def _encoder_of(self, arrays: State, description: Any) -> AttributeEncoder:
        return AttributeEncoder._of(super()._encoder_of(arrays, description), description["min_count"])

    def _fit_encoder(self, tokens: list[object]) -> MatrixLike:
        """Return attributes as a matrix of columns, which they say."""
        self.encoder_ = AttributeEncoder(min_count=self.min_count, n_columns=self.hash_columns)
        matrix = self.encoder_.fit_transform(tokens)
        assert_columns(self.encoder_)
        return matrix

    @property
    def _known(self) -> Vocabulary:
        encoder: AttributeEncoder = self.encoder_
        return encoder._vocabulary()

    @property
    def _fixed(self) -> tuple[str, ...]:
        """Parameters that what has been learnt depends on."""
        of_encoder = ("min_count", "hash_columns") if self._learnt.encoder is not None else ()
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
        begin_anew(self, state | shown)

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
        return as_users_have(csc_matrix((data, indices, indptr), shape=(len(self.classes_), len(indptr) - 1)))

    transition_ = _weights_of_labels(
        "transition", "Weight of each label (column) after each other label (row)."
    )
    start_ = _weights_of_labels("start", "Weights of the first label.")
    end_ = _weights_of_labels("end", "Weights of the last label.")

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

    def _source(self, X: object, *, goes_on: bool) -> Source:
        return encoded(self, sequence_source(self, X, goes_on=goes_on), goes_on=goes_on)

    def _class_weights(self, *_: Any, **__: Any) -> NDArray[np.float64]:
        return np.ones((1, 2))

    def _start(self, feeder: Feeder) -> LearntModel:
        """Return what was learnt before, or nothing."""
        constrained(self.constraints, None, self.classes_)
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

    def _schedule(self, feeder: Feeder) -> Schedule:
        tolerance = None if feeder.held_out is None else 1.0  # a token
        return replace(super()._schedule(feeder), tol=tolerance)

    def _keep(self, feeder: Feeder, state: RunState) -> None:
        super()._keep(feeder, state)
        self._weights  # noqa: B018  an average that is not finite is an error of the fit

    def _reported(self, feeder: Feeder) -> dict[str, Any]:
        report = feeder.report
        # If nobody has counted the sequences: all that the weights have seen, in equal parts.
        n_sequences = feeder.n_examples or self.n_seen_ / max(1, len(report.mistakes))
        return {
            "sequence_errors": report.mistakes[:, 0],
            "token_errors": report.losses[:, 0].astype(np.int64),
            "loss_curve": (report.losses[:, 0] / max(1, n_sequences)).tolist(),
            "n_iter": len(report.mistakes),
            "converged": report.stopped == ["clean"],
        }
