"""The structured perceptron for label sequences, as an estimator."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, _fit_context

from perceptron_rs.common.errors import restored_on_error
from perceptron_rs.common.labels import encode_new, label_array
from perceptron_rs.engines import State
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.models.saved import Saved
from perceptron_rs.reference.arith.environment import standard
from perceptron_rs.sequence.encoded import Encoded
from perceptron_rs.sequence.input import flat_labels, is_nested
from perceptron_rs.sequence.parameters import CONSTRAINTS, check_parameters
from perceptron_rs.sequence.progress import Callback
from perceptron_rs.sequence.tagging import Tagging
from perceptron_rs.sequence.training import train
from perceptron_rs.sequence.weights import ChainWeights

__all__ = ["SequencePerceptron"]


class SequencePerceptron(Encoded, Tagging, ChainWeights, Saved, BaseEstimator):  # type: ignore[misc]
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
        Part of the sequences that is held out.
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
        Sequences seen, T.
    sequence_errors_per_epoch_, token_errors_per_epoch_ : ndarray of shape (n_iter_,), int64
        Sequences that led to an update, and labels that differed in what was compared, while training.
    converged_ : bool
        Whether the last epoch was without a mistake.
    validation_scores_ : ndarray of shape (n_iter_,)
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
    def fit(self, X: Any, y: Any, lengths: Any = None) -> Self:
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
                        f"give the rows that it has made"
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
