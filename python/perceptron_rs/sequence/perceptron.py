"""The structured perceptron for label sequences, as an estimator."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.parameters.checks import validated
from perceptron_rs.schema.schema import Schema
from perceptron_rs.sequence.base import SequenceLearner
from perceptron_rs.sequence.feeder import SequencesInMemory
from perceptron_rs.sequence.input import check_encoder, flat_labels, is_nested, split_labels, token_lists
from perceptron_rs.sequence.limits import Allowed, Forbidden
from perceptron_rs.sequence.schema import SEQUENCE
from perceptron_rs.sklearn_base import fit_context
from perceptron_rs.state.turns import consistent
from perceptron_rs.targets.labels import label_array
from perceptron_rs.training.train import train


class SequencePerceptron(SequenceLearner):
    r"""Structured perceptron on linear chains, which labels the tokens of sequences.

    The score of a label sequence is a sum of weights. Each token and its label have an emission weight
    (``coef_``). Each pair of neighbouring labels has a transition weight (``transition_``). The first label
    and the last one have weights of their own (``start_``, ``end_``). Viterbi's algorithm finds the
    sequence with the highest score. If it is wrong, the weights of the features of the true sequence
    increase by ``eta0``, and those of the predicted sequence decrease by ``eta0``. Predictions use the
    average of the weights over all sequences visited.

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
    step : {"constant", "pa1", "pa2"}, default="constant"
        Length of an update. "constant": the learning rate ``eta0``. "pa1", "pa2": passive-aggressive steps,
        PA-I and PA-II, also known as MIRA: the larger the loss of an example, the longer its step.
        :doc:`/guide/steps` says what the loss is, what counts as a mistake, and which parameters these
        steps exclude.
    C : float, default=1.0
        Aggressiveness, in (0, inf): "pa1" makes the shortest step that leaves no loss, at most C;
        "pa2" makes each step shorter, the more so the smaller C is. Ignored with ``step="constant"``.
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
    constraints : {"iob2", "iobes", "bilou"}, list of pairs of labels, or None, default=None
        What no answer may hold: all that is no chunk of this scheme, such as an I-NP behind an O; or pairs
        (label, next label), of a label that must not be the first (None, label), or not the last
        (label, None). Answers are those of ``predict``, ``predict_k``, ``predict_margins``, ``decode_scores``
        and ``score``, and on the sequences that ``early_stopping`` holds out; what is learnt from are the
        best sequences of all.
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
    n_partitions : int or array-like of int, default=1
        Number of contiguous parts of the sequences that ``fit`` learns from side by side, in [1, 2**31 - 1],
        and no more than there are sequences; or the number of sequences in each, which may be 0. In each
        epoch, every partition is visited once from the same weights, and the weights that this leads to are
        mixed. See :doc:`/guide/scale`. If ``n_jobs`` allows it, the partitions are visited in parallel. Not
        available with ``partial_fit``.
    mixing : {"uniform", "mistakes"}, default="uniform"
        How to mix the weights of the partitions. "uniform": their mean. "mistakes": their mean weighted by
        the number of mistakes on each partition. Ignored with ``n_partitions=1``.
    warm_start : bool, default=False
        Whether ``fit`` continues from the previous call, with its weights and number of epochs.
    n_jobs : int, default=None
        Number of threads of predictions, and of passes over partitions. The results do not depend on it.
    verbose : int, default=0
        If above 0, print a line about each epoch.
    callback : callable or None, default=None
        Function that is called with a `SequenceEpoch` after each epoch. If it returns true, training stops.
    keep_on_interrupt : bool, default=False
        Whether Ctrl-C ends ``fit`` with a warning and keeps what has been learnt so far. If False,
        ``KeyboardInterrupt`` is raised, and the estimator stays as it was before the call.
    audit : bool, default=False
        Whether to keep digests of the examples, in model files too. `reproduce` can then name the first block
        of examples that differs. ``random_state`` must be an integer.
    audit_key : str, path object, bytes or None, default=None
        Key of the digests: a file that holds it (32 bytes, or 64 hexadecimal digits), or 32 bytes. Without
        the key nobody can test whether a model has learnt from some examples. It is not shown, and not
        written to model files; pickles hold the name of the file alone.
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same bits; the reference is slow, and written to be read.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels, sorted.
    coef_ : ndarray of shape (n_classes, n_features)
        Emission weights. They are stored sparse, because most are 0; this array is made when it is read.
        Setting these, ``transition_``, ``start_`` or ``end_`` starts training anew from what is shown with
        that part replaced.
    sparse_coef_ : csc_matrix of shape (n_classes, n_features)
        Emission weights as they are stored.
    transition_ : ndarray of shape (n_classes, n_classes)
        Weight of each label (column) after each other label (row).
    start_, end_ : ndarray of shape (n_classes,)
        Weight of each label in the first and in the last position.
    transition_coef_ : ndarray of shape (n_classes, n_classes, n_features)
        Weights of a token's features for the previous label and its own. Only available with
        ``transition_features=True``.
    state_features_ : dict of (str or int, label) to float
        Emission weights other than 0 by the name of an attribute and a label, as in sklearn-crfsuite. Names
        are those of the encoder or of the columns of a DataFrame, else the numbers of the columns (also of
        hashed attributes, whose names are not kept). Made when it is read.
    transition_features_ : dict of (label, label) to float
        Transition weights other than 0, by a label and the next.
    bigram_features_ : dict of (str or int, label, label) to float
        Weights other than 0 of an attribute for the previous label and its own. Only available with
        ``transition_features=True``.
    encoder_ : AttributeEncoder
        Encoder of the attributes. Only available if X contained attributes.
    predictor_ : dict of str to ndarray
        What predicts: all arrays that a prediction is computed from, by name. Emission weights as the
        rows of a CSR matrix, and those of pairs of labels.
    n_features_in_ : int
        Number of columns.
    n_iter_ : int
        Number of epochs.
    n_seen_ : int
        Number of sequences that the weights have seen, T: with ``early_stopping``, up to the best epoch.
    sequence_errors_per_epoch_, token_errors_per_epoch_ : ndarray of shape (n_iter_,), int64
        Number of sequences that led to an update, and of wrong labels in the compared parts, in each epoch.
    loss_curve_ : list of float
        Mean loss of a sequence in each epoch: the number of its wrong labels, before the update.
    converged_ : bool
        Whether the last epoch was without a mistake.
    validation_scores_ : ndarray of shape (n_iter_, 1)
        Accuracy on the tokens of the validation set after each complete epoch. Only available with
        ``early_stopping=True``.

    Notes
    -----
    If some weights of norm 1 score every true sequence higher by gamma than any other, there are at most
    :math:`(R / \gamma)^2` updates. R is the maximum norm of the difference between the features of two label
    sequences of the same input. The number of sequences does not matter.

    With ``warm_start``, ``fit_stream`` continues, too. The labels and the vocabulary stay those of the first
    call: attributes that only occur later are ignored.

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

    _schema: ClassVar[Schema] = SEQUENCE

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: MatrixLike, y: ArrayLike, *, lengths: ArrayLike = None) -> Self:
        """Fit the model to sequences.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            The tokens of all sequences, one after another; or, for each sequence, a list of the attributes
            of its tokens, each a list of strings or a dict (see ``AttributeEncoder``). Lists may also be
            generators. Sequences without a token are left out before anything is counted or drawn.
        y : array-like of shape (n_tokens,), or list of sequences of labels
            Labels, in the same form. They may all be equal.
        lengths : array-like of shape (n_sequences,), default=None
            Number of rows of each sequence, at least 0, if X is a matrix. If None, all rows are one sequence.

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
        train(self, SequencesInMemory("fit", X, y, lengths))
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_encoded(
        self, encoder: AttributeEncoder, X: MatrixLike, y: ArrayLike, *, lengths: ArrayLike
    ) -> Self:
        """Fit the model to rows made by a fitted encoder. ``predict`` then takes attributes.

        Equivalent to ``fit`` with the attributes, which need not all be in memory at once: an encoder reads
        a generator.

        Parameters
        ----------
        encoder : AttributeEncoder
            Encoder that made the rows.
        X : sparse matrix of shape (n_tokens, n_features)
            The tokens of all sequences one after another.
        y : array-like of shape (n_tokens,)
            Labels of the examples.
        lengths : array-like of shape (n_sequences,)
            Number of rows of each sequence.

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
        train(self, SequencesInMemory("fit", X, y, lengths, encoder=encoder))
        return self

    @validated
    def partial_fit(
        self, X: MatrixLike, y: ArrayLike, *, lengths: ArrayLike = None, classes: ArrayLike = None
    ) -> Self:
        """Make one pass over sequences in the given order, continuing from what was learnt before.

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
            All labels that will ever occur in y. Required in the first call. Labels of the
            data say their type.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            As for ``fit``; also if y contains a label that is not in ``classes_``. The estimator then stays
            as it was before the call.
        TypeError
            As ``fit``.
        """
        train(self, SequencesInMemory("partial_fit", X, y, lengths, classes=classes))
        return self

    @validated
    def predict_then_learn(
        self, X: MatrixLike, y: ArrayLike, *, lengths: ArrayLike = None, classes: ArrayLike = None
    ) -> tuple[Any, int]:
        """Predict each sequence before learning from it (progressive validation).

        Makes one pass in the given order and learns the same as ``partial_fit``. Each sequence is labelled
        with the current weights, learnt from the sequences before it, and not with their average: these
        weights decide which sequences are mistakes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            As for ``fit``.
        y : array-like of shape (n_tokens,), or list of sequences of labels
            Labels, in the same form.
        lengths : array-like of shape (n_sequences,), default=None
            As for ``fit``.
        classes : array-like of shape (n_classes,), default=None
            All labels that will ever occur in y. Required in the first call. Labels of the
            data say their type.

        Returns
        -------
        y_pred : ndarray of shape (n_tokens,), or list of lists of labels
            Predicted labels, in the form of X.
        n_errors : int
            Number of tokens with a wrong label.

        Raises
        ------
        ValueError
            As for ``partial_fit``. The estimator then stays as it was before the call.
        TypeError
            As for ``fit``.

        Examples
        --------
        >>> from perceptron_rs import SequencePerceptron
        >>> X, y = [[["a"], ["b"]], [["b"], ["a"]]], [["A", "B"], ["B", "A"]]
        >>> model = SequencePerceptron(hash_columns=16)
        >>> model.predict_then_learn(X, y, classes=["A", "B"])
        ([['A', 'A'], ['B', 'B']], 2)
        """
        feeder = SequencesInMemory("partial_fit", X, y, lengths, classes=classes, tracks=True)
        train(self, feeder)
        answers = feeder.report.tracked["answers"]
        predicted = feeder.classes[answers]
        wrong = int(np.count_nonzero(answers != feeder.labels))
        return split_labels(predicted, feeder.lengths) if is_nested(feeder.X) else predicted, wrong

    @consistent
    def score(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        lengths: ArrayLike = None,
        allowed: Allowed = None,
        forbidden: Forbidden = None,
    ) -> float:
        """Return the fraction of tokens that are labelled correctly.

        Labels that did not occur in training count as errors.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_tokens, n_features), or list of sequences
            As for ``fit``.
        y : array-like of shape (n_tokens,), or list of sequences of labels
            True labels.
        lengths : array-like of shape (n_sequences,), default=None
            As for ``fit``.
        allowed, forbidden : default=None
            As for ``predict``.

        Returns
        -------
        float
            Token accuracy.
        """
        X = token_lists(self, X)
        labels, lengths = self._labels(X, lengths, (allowed, forbidden))
        truth = label_array(self, flat_labels(y, lengths) if is_nested(X) else y, None)
        if truth.shape != labels.shape:
            raise ValueError(f"y must have a label for each of {len(labels)} tokens, got shape {truth.shape}")
        if not len(truth):
            raise ValueError("X must hold at least one token, got none")
        predicted = self.classes_[labels]
        if predicted.dtype.kind != truth.dtype.kind:  # NumPy would round numbers, and not compare others
            predicted, truth = predicted.astype(object), truth.astype(object)
        return float(np.count_nonzero(predicted == truth) / len(truth))
