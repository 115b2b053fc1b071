"""The structured perceptron for label sequences, as an estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context

from perceptron_rs.common.errors import restored_on_error
from perceptron_rs.common.labels import encode, encode_new, label_array, new_classes
from perceptron_rs.engines import State
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.float_mode import standard
from perceptron_rs.models.saved import Saved
from perceptron_rs.sequence.encoded import Encoded
from perceptron_rs.sequence.input import flat_labels, is_nested
from perceptron_rs.sequence.parameters import CONSTRAINTS, check_parameters
from perceptron_rs.sequence.progress import Callback
from perceptron_rs.sequence.tagging import Tagging
from perceptron_rs.sequence.training import train, train_on
from perceptron_rs.sequence.weights import ChainWeights

__all__ = ["SequencePerceptron"]


class SequencePerceptron(Encoded, Tagging, ChainWeights, Saved, BaseEstimator):  # type: ignore[misc]
    """Structured perceptron on linear chains, which labels the tokens of sequences.

    The score of a label sequence is the sum of an emission weight for each token and label (``coef_``), a
    transition weight for each pair of neighbouring labels (``transition_``), and weights for the first
    label (``start_``) and the last one (``end_``). Viterbi's algorithm finds the sequence with the highest
    score. If it is wrong, the weights of the features of the true sequence increase by ``eta0``, and those
    of the predicted sequence decrease by ``eta0``. Predictions use the average of the weights over all
    sequences visited.

    Parameters
    ----------
    max_iter : int, default=10
        Maximum number of epochs. Training stops earlier after an epoch without a mistake.
    averaged : bool, default=True
        Whether to predict with the averaged weights or with the last ones.
    transition_features : bool, default=False
        Whether to also learn weights of a token's features for pairs of its label and the previous one.
        These are n_features * n_classes**2 weights, so use it with few labels.
    eta0 : float, default=1.0
        Learning rate, above 0. It scales the weights; predictions can only change through rounding.
    shuffle : bool, default=True
        Whether to shuffle the sequences before each epoch.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling and of the choice of the validation set.
    decode : {"viterbi", "beam"}, default="viterbi"
        How to search for the best sequence: exactly ("viterbi"), or with the ``beam_width`` best labels of
        each token ("beam").
    beam_width : int, default=8
        Width of the beam, with ``decode="beam"``. Prefixes that end in the same label are merged, so the
        search is exact if the beam is as wide as the number of labels.
    update : {"full", "early", "max_violation"}, default="full"
        Which part of a wrong sequence to update on. "full": the whole sequence. "early" (with a beam): the
        prefix up to the token where the beam loses the true sequence. "max_violation" (with a beam): the
        prefix where the best one in the beam exceeds the true one by most.
    early_stopping : bool, default=False
        Whether to hold out some sequences for validation, and stop when the accuracy on their tokens has
        not improved for ``n_iter_no_change`` epochs. The weights of the best epoch are kept.
    validation_fraction : float, default=0.1
        Fraction of the sequences that ``early_stopping`` holds out.
    n_iter_no_change : int, default=2
        Number of epochs without improvement before ``early_stopping`` stops training.
    min_count : int, default=1
        Ignore attributes of fewer tokens than this. Only used if X contains attributes.
    hash_columns : int, default=None
        If None, keep a vocabulary of attributes. If a number, hash attributes to that many columns. Only
        used if X contains attributes.
    n_jobs : int, default=None
        Number of threads of predictions. The results do not depend on it.
    verbose : int, default=0
        If above 0, print a line about each epoch.
    callback : callable or None, default=None
        Function that is called with a `SequenceEpoch` after each epoch. If it returns true, training stops.
    keep_on_interrupt : bool, default=False
        Whether Ctrl-C ends ``fit`` with a warning and keeps what has been learnt so far. If False,
        ``KeyboardInterrupt`` is raised, and the estimator stays as it was before the call.
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same bits; the reference is slow, and written to be read.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    coef_ : ndarray of shape (n_classes, n_features)
        Emission weights. They are stored sparse, because most are 0; this array is made when it is read.
    sparse_coef_ : csc_matrix of shape (n_classes, n_features)
        Emission weights as they are stored.
    transition_ : ndarray of shape (n_classes, n_classes)
        Weight of each label (column) after each other label (row).
    start_, end_ : ndarray of shape (n_classes,)
        Weight of each label in the first and in the last position.
    transition_coef_ : ndarray of shape (n_classes, n_classes, n_features)
        Weights of a token's features for the previous label and its own. Only available with
        ``transition_features=True``.
    encoder_ : AttributeEncoder
        Encoder of the attributes. Only available if X contained attributes.
    n_features_in_ : int
        Number of columns.
    n_iter_ : int
        Number of epochs.
    n_seen_ : int
        Number of sequences visited, T.
    sequence_errors_per_epoch_, token_errors_per_epoch_ : ndarray of shape (n_iter_,), int64
        Number of sequences that led to an update, and of wrong labels in the compared parts, in each epoch.
    converged_ : bool
        Whether the last epoch was without a mistake.
    validation_scores_ : ndarray of shape (n_iter_, 1)
        Accuracy on the tokens of the validation set after each complete epoch. Only available with
        ``early_stopping=True``.

    Notes
    -----
    If some weights of norm 1 score every true sequence higher by gamma than any other, there are at most
    ``(R / gamma)**2`` updates. R is the maximum norm of the difference between the features of two label
    sequences of the same input. The number of sequences does not matter.

    References
    ----------
    M. Collins, "Discriminative training methods for hidden Markov models: theory and experiments with
    perceptron algorithms", EMNLP 2002: figure 1, with averaged parameters (section 2.5).
    M. Collins, B. Roark, "Incremental parsing with the perceptron algorithm", ACL 2004 (early update).
    L. Huang, S. Fayong, Y. Guo, "Structured perceptron with inexact search", NAACL 2012 (max-violation).

    Examples
    --------
    With attributes, one list of tokens for each sequence:

    >>> from perceptron_rs import SequencePerceptron
    >>> X = [[["w=the"], ["w=dog"], ["w=barks"]], [["w=the"], ["w=bark"]]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN"]]
    >>> model = SequencePerceptron().fit(X, y)
    >>> model.predict([[["w=the"], ["w=dog"]]])
    [['DET', 'NOUN']]

    With a matrix and lengths:

    >>> import numpy as np
    >>> X, y = np.eye(3)[[0, 1, 2, 0, 1]], np.array([0, 1, 0, 0, 1])
    >>> SequencePerceptron().fit(X, y, lengths=[3, 2]).predict(X, lengths=[3, 2])
    array([0, 1, 0, 0, 1])
    """

    _parameter_constraints: dict[str, list[Any]] = CONSTRAINTS

    classes_: NDArray[Any]
    encoder_: AttributeEncoder
    n_features_in_: int
    n_iter_: int
    n_seen_: int
    converged_: bool
    validation_scores_: NDArray[np.float64]
    sequence_errors_per_epoch_: NDArray[np.int64]
    token_errors_per_epoch_: NDArray[np.int64]
    _weights: State  # as the engines' ``sequence_decode`` takes it

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
        """Fit the model to sequences.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            The tokens of all sequences, one after another; or, for each sequence, a list of the attributes
            of its tokens, each a list of strings or a dict (see ``AttributeEncoder``).
        y : array-like of shape (n_tokens,), or list of sequences of labels
            Labels, in the same form.
        lengths : array-like of shape (n_sequences,), default=None
            Number of rows of each sequence if X is a matrix. If None, all rows are one sequence.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If shapes, lengths or values are invalid, or if training overflows. The estimator then stays as
            it was before the call.
        TypeError
            If an argument does not contain numbers (or, for labels, numbers or strings; for tokens,
            attributes).
        """
        return self._fit(X, y, lengths, None)

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, *, lengths: Any = None, classes: Any = None) -> Self:
        """Make one pass over sequences in the given order, continuing from the last call.

        Consecutive batches give the same model as one pass over all of them. The vocabulary of attributes
        is that of the first call: attributes that only occur later are ignored, unless you set
        ``hash_columns`` or pass a matrix. Attributes that describe a fit refer to this call alone.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            As for ``fit``.
        y : array-like of shape (n_tokens,), or list of sequences of labels
            Labels, in the same form.
        lengths : array-like of shape (n_sequences,), default=None
            As for ``fit``.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever occur in y. Required in the first call.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            As for ``fit``; also if y contains a label that is not in ``classes_``, and after ``fit`` or
            ``load``, which keep the weights that predict but not the sums that training continues from. The
            estimator then stays as it was before the call.
        TypeError
            As ``fit``.
        """
        with restored_on_error(self), standard():
            self._check_parameters()
            if self.early_stopping:
                raise ValueError("early_stopping should be False with partial_fit, which is a single pass")
            first = not hasattr(self, "classes_")
            if not first and "_state" not in vars(self):
                raise ValueError(
                    "partial_fit cannot continue after fit or load, which keep only the weights that "
                    "predict; start with partial_fit, on a clone of the estimator"
                )
            given = new_classes(classes, self)
            data, lengths = self._examples(X, lengths, reset=first)
            labels = label_array(self, flat_labels(y, lengths) if is_nested(X) else y, data.rows.shape[0])
            if first:
                self.classes_ = given
            try:
                train_on(self, data, encode(labels, self.classes_), lengths)
            except OverflowError as error:
                data.assert_finite(self)
                raise ValueError(str(error)) from None
        return self

    def _check_parameters(self) -> None:
        check_parameters(self)

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
                        f"pass the rows that it made"
                    )
                self.encoder_ = encoder
            labels = flat_labels(y, lengths) if is_nested(X) else y
            self.classes_, labels = encode_new(label_array(self, labels, data.rows.shape[0]))
            try:
                train(self, data, labels, lengths)
            except OverflowError as error:
                data.assert_finite(self)
                raise ValueError(str(error)) from None
        return self
