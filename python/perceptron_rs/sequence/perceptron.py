"""The structured perceptron for label sequences, as an estimator."""

from __future__ import annotations

import math
import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix
from sklearn.base import BaseEstimator, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from perceptron_rs.common.data import Examples, examples
from perceptron_rs.common.driver import Report
from perceptron_rs.common.errors import restored_on_error
from perceptron_rs.common.labels import check_classes, encode, encode_new, label_array, new_classes
from perceptron_rs.common.parameters import n_threads
from perceptron_rs.engines import ENGINES, State, get_engine
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.float_mode import standard
from perceptron_rs.models.saved import Saved
from perceptron_rs.sequence.fitting import beam_of, cold, dense, learn
from perceptron_rs.sequence.input import (
    allowed_labels,
    check_lengths,
    flat_labels,
    flat_tokens,
    forbidden_pairs,
    is_nested,
    split_labels,
)
from perceptron_rs.sequence.progress import Callback

__all__ = ["SequencePerceptron"]

_LARGEST = 2**31 - 1


class SequencePerceptron(Saved, BaseEstimator):  # type: ignore[misc]
    """Structured perceptron on linear chains: labels for the tokens of sequences.

    The score of a label sequence is the sum of an emission weight for each token and label (``coef_``), a
    transition weight for each pair of neighbours (``transition_``), and weights for the first label
    (``start_``) and the last (``end_``). The best of all sequences is found by Viterbi's algorithm;
    where it is wrong, the features of the true sequence gain ``eta0`` and those of the chosen one lose
    it. Predictions use the average of the weights over all sequences visited.

    Parameters
    ----------
    max_iter : int, default=10
        Largest number of epochs. An epoch without a mistake ends the fit before.
    averaged : bool, default=True
        Whether the average or the last weights predict.
    transition_features : bool, default=False
        Whether a token's features have weights for its label and the one before together, too. That is
        n_features * n_classes**2 weights: for few labels.
    eta0 : float, default=1.0
        Learning rate, above 0. From zero it changes no prediction but by rounding.
    shuffle : bool, default=True
        Whether each epoch visits the sequences in an order of its own.
    random_state : int, RandomState instance or None, default=0
        Seed of the orders and of the choice of the validation part.
    decode : {"viterbi", "beam"}, default="viterbi"
        The search: exact, or with the ``beam_width`` best labels of each token.
    beam_width : int, default=8
        For ``decode="beam"``. Prefixes that end in one label are merged, so that a beam as wide as
        there are labels is exact.
    update : {"full", "early", "max_violation"}, default="full"
        What is learnt from a mistake: the whole of both sequences; or, with a beam, the prefixes up to
        the token where the beam loses the true sequence, or up to the one where its best prefix is
        ahead of the true one by most.
    early_stopping : bool, default=False
        Whether to hold out some sequences, and to stop when the accuracy on their tokens has not grown
        for ``n_iter_no_change`` epochs; the weights of the best epoch are kept.
    validation_fraction : float, default=0.1
        Part of the sequences that ``early_stopping`` holds out.
    n_iter_no_change : int, default=2
        Patience of ``early_stopping``, in epochs.
    min_count : int, default=1
        For attributes: those that fewer tokens have are left out.
    hash_columns : int, default=None
        For attributes: None keeps a vocabulary, a number hashes them to so many columns.
    n_jobs : int, default=None
        Threads that predict; the answers do not depend on it.
    verbose : int, default=0
        Above 0, a line for each epoch is printed.
    callback : callable or None, default=None
        Called with a `SequenceEpoch` after each epoch. If it returns true, the fit ends there.
    keep_on_interrupt : bool, default=False
        Whether Ctrl-C ends a fit with what it has learnt so far, and a warning. Otherwise
        ``KeyboardInterrupt`` is raised and the estimator is as it was before.
    engine : {"rust", "reference"}, default="rust"
        What computes it; the answers are equal, to the last bit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    coef_ : ndarray of shape (n_classes, n_features)
        Emission weights. Most are 0, so that they are kept sparse; this array is made when it is read.
    sparse_coef_ : csc_matrix of shape (n_classes, n_features)
        The same as they are kept.
    transition_ : ndarray of shape (n_classes, n_classes)
        Weights of a label (column) after another (row).
    start_, end_ : ndarray of shape (n_classes,)
        Weights of the first and of the last label.
    transition_coef_ : ndarray of shape (n_classes, n_classes, n_features)
        With ``transition_features``: weights of a token's features for the label before it and its own.
    encoder_ : AttributeEncoder
        If the sequences were given as attributes.
    n_features_in_ : int
        Number of columns.
    n_iter_ : int
        Epochs run.
    n_seen_ : int
        Sequences that the weights have seen, T: with ``early_stopping`` those up to the best epoch.
    sequence_errors_per_epoch_, token_errors_per_epoch_ : ndarray of shape (n_iter_,), int64
        Sequences that led to an update, and labels that differed in what was compared, while training.
    converged_ : bool
        Whether the last epoch was without a mistake.
    validation_scores_ : ndarray of shape (n_iter_, 1)
        With ``early_stopping``: the accuracy on the held-out tokens after each whole epoch.

    Notes
    -----
    If the labels can be chosen right with a margin gamma by some weights of norm 1, there are at most
    ``(R / gamma)**2`` updates, R the largest norm of the difference of the features of two label sequences
    of one input. The size of the set of sequences does not matter.

    References
    ----------
    M. Collins, "Discriminative training methods for hidden Markov models: theory and experiments with
    perceptron algorithms", EMNLP 2002: figure 1, with averaged parameters (section 2.5).
    M. Collins, B. Roark, "Incremental parsing with the perceptron algorithm", ACL 2004 (early update).
    L. Huang, S. Fayong, Y. Guo, "Structured perceptron with inexact search", NAACL 2012 (max-violation).

    Examples
    --------
    Attributes, one list of tokens a sequence:

    >>> from perceptron_rs import SequencePerceptron
    >>> X = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=the"], ["w=bark"]]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN"]]
    >>> model = SequencePerceptron().fit(X, y)
    >>> model.predict([[["w=the"], ["w=dog"]]])
    [['DET', 'NOUN']]

    A matrix with lengths:

    >>> import numpy as np
    >>> X, y = np.eye(3)[[0, 1, 2, 0, 1]], np.array([0, 1, 0, 0, 1])
    >>> SequencePerceptron().fit(X, y, lengths=[3, 2]).predict(X, lengths=[3, 2])
    array([0, 1, 0, 0, 1])
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012  scikit-learn's name
        "max_iter": [Interval(Integral, 1, _LARGEST, closed="both")],
        "averaged": ["boolean"],
        "transition_features": ["boolean"],
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "decode": [StrOptions({"viterbi", "beam"})],
        "beam_width": [Interval(Integral, 1, _LARGEST, closed="both")],
        "update": [StrOptions({"full", "early", "max_violation"})],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, _LARGEST, closed="both")],
        "min_count": [Interval(Integral, 1, None, closed="left")],
        "hash_columns": [Interval(Integral, 1, _LARGEST, closed="both"), None],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "callback": [callable, None],
        "keep_on_interrupt": ["boolean"],
        "engine": [StrOptions(set(ENGINES))],
    }

    classes_: NDArray[Any]
    encoder_: AttributeEncoder
    n_features_in_: int
    n_iter_: int
    n_seen_: int
    converged_: bool
    validation_scores_: NDArray[np.float64]
    sequence_errors_per_epoch_: NDArray[np.int64]
    token_errors_per_epoch_: NDArray[np.int64]
    _state: State  # what learning goes on from
    _weights: State  # made of it: what predicts, as the engines' ``sequence_decode`` takes it

    def __init__(
        self,
        *,
        max_iter: int = 10,
        averaged: bool = True,
        transition_features: bool = False,
        eta0: float = 1.0,
        shuffle: bool = True,
        random_state: int | np.random.RandomState | None = 0,
        decode: str = "viterbi",
        beam_width: int = 8,
        update: str = "full",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 2,
        min_count: int = 1,
        hash_columns: int | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        callback: Callback | None = None,
        keep_on_interrupt: bool = False,
        engine: str = "rust",
    ) -> None:
        self.max_iter = max_iter
        self.averaged = averaged
        self.transition_features = transition_features
        self.eta0 = eta0
        self.shuffle = shuffle
        self.random_state = random_state
        self.decode = decode
        self.beam_width = beam_width
        self.update = update
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.min_count = min_count
        self.hash_columns = hash_columns
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.keep_on_interrupt = keep_on_interrupt
        self.engine = engine

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, *, lengths: Any = None) -> Self:
        """Learn from sequences.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            The tokens of all sequences one after another; or, for each sequence, a list of the attributes
            of its tokens: a list of strings or a dict (see ``AttributeEncoder``).
        y : array-like of shape (n_tokens,), or list of sequences of labels
            In the same form.
        lengths : array-like of shape (n_sequences,), default=None
            For a matrix: how many rows each sequence has; None: all of them are one sequence.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If shapes, lengths or values are wrong, or if training overflows. The estimator is then as
            it was before the call.
        TypeError
            If an argument holds something else than numbers (labels: numbers or strings; tokens:
            attributes).
        """
        return self._fit(X, y, lengths, None)

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit_encoded(self, encoder: AttributeEncoder, X: Any, y: Any, *, lengths: Any) -> Self:
        """Learn from the rows that a fitted encoder has made; ``predict`` then takes attributes.

        The same as ``fit`` with the attributes themselves, which need not be in memory all at once: an
        encoder reads a generator.

        Parameters
        ----------
        encoder : AttributeEncoder
            What made the rows.
        X : sparse matrix of shape (n_tokens, n_features)
            The tokens of all sequences one after another.
        y : array-like of shape (n_tokens,)
            Their labels.
        lengths : array-like of shape (n_sequences,)
            How many rows each sequence has.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError, TypeError
            As ``fit``.

        Examples
        --------
        >>> from perceptron_rs import SequencePerceptron
        >>> from perceptron_rs.features import AttributeEncoder, word_attributes
        >>> sentences, y = [["the", "dog"], ["a", "cat", "sleeps"]], ["D", "N", "D", "N", "V"]
        >>> encoder = AttributeEncoder()
        >>> X = encoder.fit_transform(token for words in sentences for token in word_attributes(words))
        >>> model = SequencePerceptron().fit_encoded(encoder, X, y, lengths=[2, 3])
        >>> model.predict([word_attributes(["the", "cat"])])
        [['D', 'N']]
        """
        check_encoder(self, encoder)
        return self._fit(X, y, lengths, encoder)

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, *, lengths: Any = None, classes: Any = None) -> Self:
        """Learn from one pass over sequences in the given order, going on from what was learnt before.

        Batches one after another give what one pass over all of them gives. Attributes become columns as the
        first call has seen them, and later ones that are new are left out: set ``hash_columns``, or give
        rows, if all are to count. What reports a fit describes this call alone.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            As for ``fit``.
        y : array-like of shape (n_tokens,), or list of sequences of labels
            In the same form.
        lengths : array-like of shape (n_sequences,), default=None
            As for ``fit``.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever be seen; needed in the first call.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            As ``fit``; also if y holds a label that is not in ``classes_``. The estimator is then as it was
            before the call.
        TypeError
            As ``fit``.
        """
        self._pass(X, y, lengths, classes)
        return self

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def predict_then_learn(
        self, X: Any, y: Any, *, lengths: Any = None, classes: Any = None
    ) -> tuple[Any, int]:
        """Predict each sequence before learning from it: progressive validation.

        One pass in the given order, which learns what ``partial_fit`` learns from it. Each sequence is
        labelled by the last weights that the sequences before it have led to, whatever ``averaged`` says:
        these are the weights that its mistakes are judged by.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            As for ``fit``.
        y : array-like of shape (n_tokens,), or list of sequences of labels
            In the same form.
        lengths : array-like of shape (n_sequences,), default=None
            As for ``fit``.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever be seen; needed in the first call.

        Returns
        -------
        y_pred : ndarray of shape (n_tokens,), or list of lists of labels
            The label predicted for each token, in the form of X.
        n_errors : int
            How many of these labels are wrong.

        Raises
        ------
        ValueError
            As ``partial_fit``. The estimator is then as it was before the call.
        TypeError
            As ``fit``.

        Examples
        --------
        >>> from perceptron_rs import SequencePerceptron
        >>> X, y = [[["a"], ["b"]], [["b"], ["a"]]], [["A", "B"], ["B", "A"]]
        >>> model = SequencePerceptron(hash_columns=16)
        >>> model.predict_then_learn(X, y, classes=["A", "B"])
        ([['A', 'A'], ['B', 'A']], 1)
        """
        report, labels, lengths = self._pass(X, y, lengths, classes, record=True)
        answers = report.record["answers"]
        predicted = self.classes_[answers]
        wrong = int(np.count_nonzero(answers != labels))
        return split_labels(predicted, lengths) if is_nested(X) else predicted, wrong

    def predict(self, X: Any, *, lengths: Any = None, allowed: Any = None, forbidden: Any = None) -> Any:
        """Return the best labels of sequences.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            As for ``fit``.
        lengths : array-like of shape (n_sequences,), default=None
            As for ``fit``.
        allowed : array-like of shape (n_tokens, n_classes), or list of sets of labels, default=None
            The labels that each token may have: booleans by token and class, or for each token a
            collection of labels, None standing for all of them.
        forbidden : list of pairs of labels, default=None
            Pairs (label, next label) that may not follow each other.

        Returns
        -------
        y : ndarray of shape (n_tokens,), or list of lists of labels
            In the form of X.
        """
        labels, _, lengths = self._decode(X, lengths, allowed, forbidden)
        y = self.classes_[labels]
        return split_labels(y, lengths) if is_nested(X) else y

    def decode_scores(self, X: Any, *, lengths: Any = None) -> NDArray[np.float64]:
        """Return the score of the best label sequence of each sequence.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            As for ``fit``.
        lengths : array-like of shape (n_sequences,), default=None
            As for ``fit``.

        Returns
        -------
        scores : ndarray of shape (n_sequences,)
            Sums of weights, as the model has them.
        """
        return self._decode(X, lengths, None, None)[1]

    def score(self, X: Any, y: Any, *, lengths: Any = None) -> float:
        """Return the part of the tokens whose label is right; labels never seen in training are wrong.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            As for ``fit``.
        y : array-like of shape (n_tokens,), or list of sequences of labels
            The true labels.
        lengths : array-like of shape (n_sequences,), default=None
            As for ``fit``.

        Returns
        -------
        float
            Token accuracy.
        """
        labels, _, lengths = self._decode(X, lengths, None, None)
        truth = np.asarray(flat_labels(y, lengths) if is_nested(X) else y)
        if truth.shape != labels.shape:
            raise ValueError(f"y must have a label for each of {len(labels)} tokens, got shape {truth.shape}")
        return float(np.count_nonzero(self.classes_[labels] == truth) / len(truth))

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Emission weights."""
        return dense(self._weights, "emission", len(self.classes_)).T

    @property
    def sparse_coef_(self) -> csc_matrix:
        """Emission weights, sparse."""
        indptr, indices, data = (self._weights[f"emission_{part}"] for part in ("indptr", "indices", "data"))
        return csc_matrix((data, indices, indptr), shape=(len(self.classes_), len(indptr) - 1))

    @property
    def transition_(self) -> NDArray[np.float64]:
        """Weights of a label (column) after another (row)."""
        return self._weights["transition"]

    @property
    def start_(self) -> NDArray[np.float64]:
        """Weights of the first label."""
        return self._weights["start"]

    @property
    def end_(self) -> NDArray[np.float64]:
        """Weights of the last label."""
        return self._weights["end"]

    @property
    def transition_coef_(self) -> NDArray[np.float64]:
        """Weights of a token's features for the label before it and its own."""
        if "pair_indptr" not in self._weights:
            raise AttributeError("transition_coef_ exists only with transition_features=True")
        labels = len(self.classes_)
        return dense(self._weights, "pair", labels**2).T.reshape(labels, labels, -1)

    def _fit(self, X: Any, y: Any, lengths: Any, encoder: AttributeEncoder | None) -> Self:
        with restored_on_error(self), standard():
            self._check_parameters()
            for name in ("encoder_", "template_"):
                self.__dict__.pop(name, None)
            data, lengths = self._examples(X, lengths, reset=True)
            if encoder is not None:
                if encoder.n_columns_ != data.rows.shape[1]:
                    raise ValueError(
                        f"encoder has {encoder.n_columns_} columns, but X has {data.rows.shape[1]}; "
                        f"give the rows that it has made"
                    )
                self.encoder_ = encoder
            labels = flat_labels(y, lengths) if is_nested(X) else y
            self.classes_, labels = encode_new(label_array(self, labels, data.rows.shape[0]))
            self._learn(data, labels, lengths, self._cold(data), one_pass=False)
        return self

    def _pass(
        self, X: Any, y: Any, lengths: Any, classes: Any, *, record: bool = False
    ) -> tuple[Report, NDArray[np.uint32], NDArray[np.int64]]:
        """Run one pass; return its report, the class indices of the tokens, and the lengths."""
        with restored_on_error(self), standard():
            self._check_parameters()
            if self.early_stopping:
                raise ValueError("early_stopping should be False with partial_fit, which is a single pass")
            first = not hasattr(self, "classes_")
            given = new_classes(classes, self)
            data, lengths = self._examples(X, lengths, reset=first)
            y = label_array(self, flat_labels(y, lengths) if is_nested(X) else y, data.rows.shape[0])
            if first:
                self.classes_ = given
            state, pair = self._cold(data) if first else self._state, bool(self.transition_features)
            if ("pair_indptr" in state) != pair:
                raise ValueError(
                    f"transition_features={pair} differs from the calls that this one goes on from; set it "
                    f"again, or begin anew by fit"
                )
            labels = encode(y, self.classes_)
            report = self._learn(data, labels, lengths, state, one_pass=True, record=record)
        return report, labels, lengths

    def _learn(
        self,
        data: Examples,
        labels: NDArray[np.uint32],
        lengths: NDArray[np.int64],
        state: State,
        **options: bool,
    ) -> Report:
        try:
            report = learn(self, data, labels, lengths, state, **options)
        except OverflowError as error:
            data.assert_finite(self)
            raise ValueError(str(error)) from None
        if report.stopped == ["interrupt"]:
            warnings.warn(
                f"ctrl-c ended the fit in epoch {self.n_iter_} (counted from 1); "
                f"what was learnt until then is kept",
                ConvergenceWarning,
                stacklevel=5,
            )
        return report

    def _cold(self, data: Examples) -> State:
        return cold(data.rows.shape[1], len(self.classes_), pair=bool(self.transition_features))

    def _check_parameters(self) -> None:
        """Refuse combinations that have no meaning, and what scikit-learn's validation lets through."""
        if not 0 < float(self.eta0) < math.inf:
            raise ValueError(f"eta0 must be finite and above 0, got {self.eta0!r}")
        if self.update != "full" and self.decode != "beam":
            raise ValueError(f"update={self.update!r} needs decode='beam', got decode={self.decode!r}")
        if self.hash_columns is not None and self.min_count != 1:
            raise ValueError(f"min_count must be 1 with hash_columns, got {self.min_count}")

    def _decode(
        self, X: Any, lengths: Any, allowed: Any, forbidden: Any
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64], NDArray[np.int64]]:
        check_is_fitted(self)
        check_classes(self.classes_, len(self._weights["start"]))
        with standard():
            data, lengths = self._examples(X, lengths, reset=False)
            try:
                labels, scores = get_engine(self.engine).sequence_decode(
                    data.rows,
                    lengths,
                    weights=self._weights,
                    threads=n_threads(self),
                    beam=beam_of(self),
                    allowed=allowed_labels(allowed, self.classes_, data.rows.shape[0]),
                    forbidden=forbidden_pairs(forbidden, self.classes_),
                )
            except OverflowError as error:
                data.assert_finite(self)
                raise ValueError(str(error)) from None
        return labels, scores, lengths

    def _examples(self, X: Any, lengths: Any, *, reset: bool) -> tuple[Examples, NDArray[np.int64]]:
        engine = get_engine(self.engine)
        if is_nested(X):
            if lengths is not None:
                raise ValueError("lengths must be None for a list of sequences, which tells them itself")
            tokens, found = flat_tokens(X)
            if reset:
                self.encoder_ = AttributeEncoder(min_count=self.min_count, n_columns=self.hash_columns)
                matrix = self.encoder_.fit_transform(tokens)
            elif not hasattr(self, "encoder_"):
                raise ValueError("X must be a matrix, because the model was fitted to one; got attributes")
            else:
                matrix = self.encoder_.transform(tokens)
            return examples(self, engine, matrix, reset=reset), found
        if not reset and hasattr(self, "encoder_"):
            raise ValueError(
                "X must be a list of sequences of attributes, because the model was fitted to such; "
                "encode a matrix with encoder_ and a model fitted to matrices"
            )
        data = examples(self, engine, X, reset=reset)
        return data, check_lengths(lengths, data.rows.shape[0])


def check_encoder(model: Any, encoder: Any) -> None:
    """Refuse what is no fitted encoder with the model's parameters."""
    if not isinstance(encoder, AttributeEncoder):
        raise TypeError(f"encoder must be an AttributeEncoder, got {encoder!r:.80}")
    check_is_fitted(encoder)
    if (encoder.min_count, encoder.n_columns) != (model.min_count, model.hash_columns):
        raise ValueError(
            f"min_count and hash_columns must be those of the encoder, {encoder.min_count} and "
            f"{encoder.n_columns}, got {model.min_count} and {model.hash_columns}"
        )
