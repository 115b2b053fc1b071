"""What a tagger predicts with, and how."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.arrays.named import frozen
from perceptron_rs.arrays.scalars import number
from perceptron_rs.choices import Decoding
from perceptron_rs.engines import SearchWeights, State, get_engine
from perceptron_rs.features.templates import Template
from perceptron_rs.features.vocabulary import Vocabulary
from perceptron_rs.float_mode import standard
from perceptron_rs.parameters.ranges import LARGEST
from perceptron_rs.parameters.threads import n_threads
from perceptron_rs.prediction.predictor import Predictor
from perceptron_rs.schema.schema import History, Schema
from perceptron_rs.sequence.input import is_nested, read_sequences, split_labels, token_lists
from perceptron_rs.sequence.limits import Allowed, Constraints, Forbidden, constrained, limits_of
from perceptron_rs.sequence.schema import (
    SEQUENCE,
    beam_of,
    check_matrices,
    predictor_weights,
    template_of,
    vocabulary_of,
)
from perceptron_rs.state.fitted_attributes import Shown
from perceptron_rs.state.learnt import RunLearnt
from perceptron_rs.state.turns import consistent
from perceptron_rs.targets.planes import check_classes

Decoded = TypeVar("Decoded", bound=tuple[NDArray[np.generic], ...])


class _NoProbabilities:
    """A method that other taggers have: to read it raises an error, which names what is there instead."""

    def __get__(self, model: object, kind: type) -> NoReturn:
        raise AttributeError(
            f"{kind.__name__} has no probabilities of labels; predict_margins says for each token how far "
            f"the best labels with another one there are behind, predict_k finds the k best label sequences"
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SequenceLearnt(RunLearnt):
    """What sequence learners have beside their weights."""

    encoder: Any = None
    template: Template | None = None  # of the command line
    sequence_errors: NDArray[np.int64] | None = None
    token_errors: NDArray[np.int64] | None = None


class SequencePerceptronPredictor(Predictor):
    """The weights of a chain."""

    if not TYPE_CHECKING:
        predict_marginals = predict_marginals_single = predict_proba = _NoProbabilities()

    averaged: bool
    decode: Decoding
    beam_width: int
    constraints: Constraints
    encoder_ = Shown[Any]("encoder")
    template_ = Shown[Template]("template")
    sequence_errors_per_epoch_ = Shown[NDArray[np.int64]]("sequence_errors")
    token_errors_per_epoch_ = Shown[NDArray[np.int64]]("token_errors")
    _schema: ClassVar[Schema] = SEQUENCE
    _learnt: SequenceLearnt = SequenceLearnt()

    @consistent
    def predict(
        self,
        X: MatrixLike,
        *,
        lengths: ArrayLike = None,
        allowed: Allowed = None,
        forbidden: Forbidden = None,
    ) -> Any:
        """Predict the labels of sequences.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            As for ``fit``.
        lengths : array-like of shape (n_sequences,), default=None
            As for ``fit``.
        allowed : array-like of shape (n_tokens, n_classes), or list of sets of labels, default=None
            Labels that each token may have: a boolean array of tokens by classes, or a collection of labels
            for each token, where None allows all labels.
        forbidden : list of pairs of labels, default=None
            Pairs (label, next label) that must not occur, beside those of ``constraints``; of a label that
            must not be the first (None, label), or not the last (label, None).

        Returns
        -------
        y : ndarray of shape (n_tokens,), or list of lists of labels
            Predicted labels, in the form of X; of a sequence without a token an empty list. NumPy makes an
            array of lists of a list of lists, so `sklearn.model_selection.cross_val_predict` takes it.
        """
        X = token_lists(self, X)
        labels, lengths = self._labels(X, lengths, (allowed, forbidden))
        y = self.classes_[labels]
        return split_labels(y, lengths) if is_nested(X) else y

    @consistent
    def decode_scores(
        self,
        X: MatrixLike,
        *,
        lengths: ArrayLike = None,
        allowed: Allowed = None,
        forbidden: Forbidden = None,
    ) -> NDArray[np.float64]:
        """Return the score of the best labelling of each sequence.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            As for ``fit``.
        lengths : array-like of shape (n_sequences,), default=None
            As for ``fit``.
        allowed, forbidden : default=None
            As for ``predict``.

        Returns
        -------
        scores : ndarray of shape (n_sequences,)
            Sums of weights, not normalized.
        """
        X, search = token_lists(self, X), get_engine(self.engine).sequence_decode
        answer, lengths = self._search(X, lengths, (allowed, forbidden), search)
        scores = np.zeros(len(lengths))  # of nothing 0
        if answer is not None:
            scores[lengths > 0] = answer[1]
        return scores

    @consistent
    def predict_k(
        self,
        X: MatrixLike,
        k: int,
        *,
        lengths: ArrayLike = None,
        allowed: Allowed = None,
        forbidden: Forbidden = None,
    ) -> list[list[tuple[Any, float]]]:
        """Predict the k best label sequences of each sequence, with their scores.

        They are exact: no other label sequence has a higher score. With ``decode="beam"``, they are the best
        ones of the labels that the beam keeps. The first one is that of ``predict``, and its score that of
        ``decode_scores``. Equal scores are in the order of the labels from the last token back to the first,
        by their place in ``classes_``; where scores are rounded, that of prefixes decides as well.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            As for ``fit``.
        k : int
            How many label sequences, at least 1.
        lengths : array-like of shape (n_sequences,), default=None
            As for ``fit``.
        allowed, forbidden : default=None
            As for ``predict``.

        Returns
        -------
        list of lists of (labels, score)
            For each sequence, its best label sequences, best first; fewer than k if there are no more. Labels
            are an array if X is a matrix, else a list.

        Raises
        ------
        ValueError
            If k is below 1, or as for ``predict``.
        TypeError
            If k is not an integer.

        References
        ----------
        V. Jimenez, A. Marzal, "Computing the k shortest paths: a new algorithm and an experimental
        comparison", WAE 1999: the recursive enumeration algorithm.

        Examples
        --------
        >>> from perceptron_rs import SequencePerceptron
        >>> X = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=the"], ["w=bark"]]]
        >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN"]]
        >>> model = SequencePerceptron(averaged=False).fit(X, y)
        >>> for labels, score in model.predict_k([[["w=the"], ["w=barks"]]], 3)[0]:
        ...     print(labels, score)
        ['DET', 'VERB'] 4.0
        ['DET', 'NOUN'] 2.0
        ['VERB', 'VERB'] 2.0
        """
        if number(k, whole=True) is None:
            raise TypeError(f"k must be an integer, got {k!r:.80}")
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}")
        X, search = token_lists(self, X), get_engine(self.engine).sequence_k_best
        answer, lengths = self._search(X, lengths, (allowed, forbidden), search, k=min(int(k), LARGEST))
        labels, scores, counts = answer or (
            np.zeros(0, dtype=np.uint32),
            np.zeros(0),
            np.zeros(0, dtype=np.int64),
        )
        y, values, rest = self.classes_[labels], iter(scores.tolist()), iter(counts)
        best: list[list[tuple[Any, float]]] = []
        start = 0
        for length in lengths.tolist():
            ways = int(next(rest)) if length else 1
            parts = [y[start + i * length : start + (i + 1) * length] for i in range(ways)]
            start += ways * length
            answers: list[Any] = [part.tolist() for part in parts] if is_nested(X) else parts
            best.append([(answer, next(values) if length else 0.0) for answer in answers])
        return best

    @consistent
    def predict_margins(
        self,
        X: MatrixLike,
        *,
        lengths: ArrayLike = None,
        allowed: Allowed = None,
        forbidden: Forbidden = None,
    ) -> Any:
        """Return for each token how far the best label sequence with another label there is behind.

        The margin of a token is a difference of two scores (of max-marginals): that of the label sequence
        that ``predict`` finds, and the highest one with another label at this token. It is 0 if two of
        them tie, and infinite if no other label is possible. The smallest margin of a sequence is the
        difference of the two scores that ``predict_k`` finds with k=2, but for rounding. A margin says how
        sure the model is, but is no probability.

        It takes about twice as long as ``predict``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            As for ``fit``.
        lengths : array-like of shape (n_sequences,), default=None
            As for ``fit``.
        allowed, forbidden : default=None
            As for ``predict``.

        Returns
        -------
        ndarray of shape (n_tokens,), or list of lists of float
            Margins, at least 0, in the form of X.

        Raises
        ------
        ValueError
            As for ``predict``.

        Examples
        --------
        >>> from perceptron_rs import SequencePerceptron
        >>> X = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=the"], ["w=bark"]]]
        >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN"]]
        >>> model = SequencePerceptron(averaged=False).fit(X, y)
        >>> model.predict_margins([[["w=the"], ["w=barks"]]])
        [[2.0, 2.0]]
        """
        X, search = token_lists(self, X), get_engine(self.engine).sequence_margins
        answer, lengths = self._search(X, lengths, (allowed, forbidden), search)
        margins = np.zeros(0) if answer is None else answer[1]
        return split_labels(margins, lengths) if is_nested(X) else margins

    def _labels(
        self, X: MatrixLike, lengths: ArrayLike, limits: tuple[Allowed, Forbidden]
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Return the class indices of all tokens, and the length of each sequence, as `_search` takes X."""
        answer, lengths = self._search(X, lengths, limits, get_engine(self.engine).sequence_decode)
        return np.zeros(0, dtype=np.uint32) if answer is None else answer[0], lengths

    def _search(
        self,
        X: MatrixLike,
        lengths: ArrayLike,
        limits: tuple[Allowed, Forbidden],
        search: Callable[..., Decoded],
        **options: int,
    ) -> tuple[Decoded | None, NDArray[np.int64]]:
        """Return what a function of the engine finds in all sequences with a token, and each one's length.

        X is of `as_token_lists`; ``limits`` are ``allowed`` and ``forbidden``. None: there are no tokens.
        """
        self._assert_ready()
        weights, ready = self._ready
        check_classes(self.classes_, len(weights["start"]), least=1)
        if is_nested(X) and not any(map(len, X)):
            return None, np.zeros(len(X), dtype=np.int64)
        data, lengths = read_sequences(self, X, lengths, reset=False)
        some, pairs = lengths[lengths > 0], constrained(self.constraints, limits[1], self.classes_)
        allowed, forbidden = limits_of(limits[0], pairs, self.classes_, some)
        try:
            answer = search(
                data.rows,
                some,
                weights=ready,
                threads=n_threads(self, len(some)),
                beam=beam_of(self),
                allowed=allowed,
                forbidden=forbidden,
                **options,
            )
        except OverflowError as error:
            data.assert_finite(self)
            raise ValueError(str(error)) from None
        return answer, lengths

    def _sizes(self, history: History) -> dict[str, int]:
        columns, labels = history["n_features"], len(self.classes_)
        return {"L": labels, "E": history["n_iter"], "d": columns, "p": columns + 1}

    def _check_arrays(self, arrays: State, history: History) -> None:  # noqa: ARG002
        check_matrices(arrays, len(self.classes_))

    def _restored(self, arrays: State, document: dict[str, object]) -> None:
        if "encoder" in document:
            self.encoder_ = self._encoder_of(arrays, document["encoder"])
        elif "vocabulary" in arrays:
            raise ValueError("there is an unknown tensor 'vocabulary', as there is no encoder")
        if "template" in document:
            self.template_ = template_of(document["template"])
        if not all(np.isfinite(weights).all() for weights in self._weights.values()):
            raise ValueError("its average weights hold a NaN or an infinity")
        constrained(self.constraints, None, self.classes_)

    @property
    def _ready(self) -> tuple[State, SearchWeights]:
        """What predicts, as arrays, and as a search of the engine takes it again and again."""
        learnt, key = self._learnt, (bool(self.averaged), self.engine)
        ready: tuple[State, SearchWeights] | None = learnt.memo.get(key)
        if ready is None:  # made when it is first read
            engine = get_engine(self.engine)
            with standard():
                weights = frozen(predictor_weights(engine, learnt.model.state(), key[0]))
            ready = learnt.memo[key] = weights, engine.sequence_weights(weights)
        return ready

    @property
    def _weights(self) -> State:
        """What predicts, as arrays."""
        return self._ready[0]

    @property
    def predictor_(self) -> State:
        """What predicts: emission weights as the rows of a CSR matrix, and those of labels."""
        return dict(self._weights)

    def _encoder_of(self, arrays: State, description: object) -> Any:
        """Return what makes columns of attributes, as a file says."""
        return vocabulary_of(arrays, description, self.n_features_in_)

    @property
    def _known(self) -> Vocabulary:
        """What makes columns of attributes."""
        known: Vocabulary = self.encoder_
        return known
