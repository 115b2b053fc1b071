"""Train a model again from its record, and report whether all bits are equal, or the first difference."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from perceptron_rs._core import ARITHMETIC_VERSION
from perceptron_rs.arrays.likes import ArrayLike, MatrixLike
from perceptron_rs.audit.digests import refuse_other_key
from perceptron_rs.audit.key import KeyGiven, key_of
from perceptron_rs.audit.record import Call, calls_of, has_seed, same_value
from perceptron_rs.choices import EngineName
from perceptron_rs.errors import ArgumentError
from perceptron_rs.estimator_attributes import attributes
from perceptron_rs.features import AttributeEncoder
from perceptron_rs.models.comparison import arrays, difference, learnt_arrays
from perceptron_rs.parameters.checks import parameters_without_effect
from perceptron_rs.prediction.estimator import Estimator
from perceptron_rs.recipe.of_files import OF_FILES
from perceptron_rs.rerun.examples import Arguments, CallExamples, call_examples, unfitted
from perceptron_rs.sequence.base import SequenceLearner
from perceptron_rs.state.learnt import learnt_of
from perceptron_rs.training.train import Trainable

#: Why a model was not reproduced: the first of these that differs.
Reason: TypeAlias = Literal["data", "parameters", "arithmetic", "numbers"]

#: How data became columns: the examples are given as columns, so the run has none of these, or does not say
#: which; nor does it learn from what a model was calibrated on. Names of columns are compared before, where
#: both have any.
_OF_DATA = ("template_", *OF_FILES, "calibration_")


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Result of `reproduce`. It is true if the model was reproduced.

    Parameters
    ----------
    equal : bool
        Whether training again gave the same model, to the last bit, from the data and parameters of the
        record.
    reason : {"data", "parameters", "arithmetic", "numbers"} or None
        What differs. "data": the examples or labels. "parameters": they were changed after training.
        "arithmetic": the version of the arithmetic with which the model was learnt. "numbers": what was
        learnt, although all of these are the same.
    message : str
        Description of the result, with the first place that differs.
    digest : str
        The `digest` of the model.
    digest_again : str or None
        The `digest` of the model trained again; None if it was not trained, because the data or the order of
        the classes differs.
    """

    equal: bool
    reason: Reason | None
    message: str
    digest: str
    digest_again: str | None

    def __bool__(self) -> bool:
        return self.equal


def reproduce(
    model: Estimator,
    X: MatrixLike,
    y: ArrayLike = None,
    sample_weight: ArrayLike = None,
    *,
    lengths: ArrayLike = None,
    encoder: AttributeEncoder | None = None,
    engine: EngineName | None = None,
    audit_key: KeyGiven = None,
    classes: ArrayLike = None,
) -> Reproduction:
    """Train a model again from its record, and compare all that `digest` covers to the last bit.

    What is told of the training (epochs, mistakes, losses, certificates) and all parameters that matter are
    compared, too.

    A model records the calls that trained it, with their parameters and numbers of rows. With
    ``audit=True``, and on the command line, it also keeps digests of the examples. The result can then
    name the first block of examples that differs. The model is not changed.

    Parameters
    ----------
    model : Perceptron, KernelPerceptron, MultilayerPerceptron, ...
        A fitted estimator, for instance one that `load` has read.
    X : {array-like, sparse matrix} of shape (n_samples, n_features), list of sequences, or Source
        The examples of all calls, one after another, in any storage. Calls of ``fit`` on the same examples,
        which go on with ``warm_start``, have them once. A `perceptron_rs.io.Source`, of a model that
        ``fit_stream`` has trained, is read in blocks and need not fit into memory.
    y : array-like of shape (n_samples,), or list of sequences of labels, default=None
        Class labels. None with a source, which gives them.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the examples, if training used any.
    lengths : array-like of shape (n_sequences,), default=None
        For a sequence learner, number of rows of each sequence if X is a matrix.
    encoder : AttributeEncoder, default=None
        For a sequence learner that was fitted to attributes, the encoder that made the matrix X of them
        anew, as for ``fit_encoded``.
    engine : {"rust", "reference"}, default=None
        Implementation to use. By default, that of the model; the other one is an independent check.
    audit_key : str, path object, bytes or None, default=None
        The key with which the digests were made, if there was one. By default, that of the model.
    classes : array-like of shape (n_classes,), default=None
        All classes, as the first call of ``partial_fit`` or ``fit_stream`` was given them. By default,
        columns of many labels have their numbers, and other models the classes that they say they have.

    Returns
    -------
    Reproduction
        Whether the model was reproduced, and if not, what differs.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    ValueError
        If the model has no record of its training, or one that cannot be repeated; if ``audit_key`` is not
        the key of its digests; or for functions that `digest` refuses.

    See Also
    --------
    digest : One line for what a model has learnt.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptron_rs import Perceptron, reproduce
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Perceptron(audit=True).fit(X, y)
    >>> bool(reproduce(model, X, y))
    True
    >>> X[3, 0] += 0.1
    >>> print(reproduce(model, X, y).message)
    other data: rows 0 to 149 differ somewhere in their entries or labels; compare them with a copy
    """
    own = learnt_arrays(model).digest  # of a fitted estimator of this package
    calls = _calls(model)
    if not np.array_equal(model.classes_, np.unique(model.classes_)):
        order = f"classes_ is {model.classes_.tolist()!r:.200} in the model, and every training sorts classes"
        return Reproduction(False, "numbers", f"other numbers: {order}", own, None)
    key = _checked_key(model, calls, audit_key)
    arguments = Arguments(X, y, sample_weight, lengths, encoder, classes)
    examples = call_examples(model, calls, arguments, key)
    differing = examples.difference()
    if differing is not None:
        return Reproduction(False, "data", f"other data: {differing}", own, None)
    again = _trained(model, calls, examples, engine)
    digest_again = learnt_arrays(again).digest
    for name, value in attributes(model, calls[-1].parameters).items():  # which are compared by themselves
        setattr(again, name, value)
    numbers = difference("the model", arrays(model), "the run", arrays(again))
    differences: dict[Reason, str | None] = {
        "parameters": _other_parameters(model, calls[-1]),
        "arithmetic": _other_arithmetic(calls),
        "numbers": numbers,
    }
    reason = next((reason for reason, text in differences.items() if text is not None), None)
    message = "equal to the last bit" + (_OTHERS if learnt_of(model).calibration is not None else "")
    if reason is not None:
        message = f"other {reason}: {differences[reason]}"
        if reason != "numbers":
            message += f"; {numbers or 'all that was learnt is equal to the last bit'}"
        digests = calls[-1].digests
        if numbers is not None and (digests is None or digests.has_gaps):
            message += _NO_DIGESTS
    return Reproduction(reason is None, reason, message, own, digest_again)


#: Of a calibrated model.
_OTHERS = "; its calibration, of other examples, is taken as it is"
_NO_DIGESTS = "; whether the data is the same is not known, as there are examples without a digest"


def _checked_key(model: Estimator, calls: tuple[Call, ...], audit_key: KeyGiven) -> bytes | None:
    """Return the key of the digests; ValueError for another one."""
    digests = calls[-1].digests
    if audit_key is None and (digests is None or digests.key is None):
        return None
    key = key_of(audit_key if audit_key is not None else model.audit_key)
    refuse_other_key(digests, key)
    return key


def _calls(model: object) -> tuple[Call, ...]:
    calls = calls_of(model)
    if not calls and not has_seed(model):
        raise ArgumentError(
            "{random_state} must be an integer, or no training can be repeated",
            "set {random_state} and train again",
            cause="no seed",
            values={"random_state": getattr(model, "random_state", None)},
            settings={"random_state": 0},
        )
    if not calls:
        raise ArgumentError(
            "this {kind} has no record of its training",
            "train it by fit with an integer {random_state}, or with {audit} from the first call on, which "
            "also notes calls of {partial_fit} and start weights; what a cluster trained has none: fit a "
            "learner of this machine with {n_partitions} for the same bits; nor has a file that save made "
            "smaller: repeat the training of the whole one",
            cause="no record",
            settings={"audit": True},
            kind=type(model).__name__,
        )
    for call in calls:
        if call.ended is not None and call.ended[0] == "interrupt":
            raise ValueError(
                "Ctrl-C ended the training of this model, which cannot be repeated; train it to the end"
            )
    return calls


def _trained(
    model: Estimator, calls: tuple[Call, ...], examples: CallExamples, engine: EngineName | None
) -> Estimator:
    """Return another estimator, that has learnt from the same calls."""
    again = unfitted(model, calls[0])
    for call, begin in zip(calls, examples.begins, strict=True):
        for name, value in call.parameters.items():
            setattr(again, name, value)
        again.audit, again.audit_key = False, None
        again.engine = model.engine if engine is None else engine
        again.n_jobs = model.n_jobs
        if call.ended is not None and isinstance(again, Trainable):
            again.max_iter = call.ended[1]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            examples.learn(again, call, begin)
    if examples.encoder is not None and isinstance(again, SequenceLearner):
        again.encoder_ = examples.encoder
    for name in _OF_DATA:
        if (value := getattr(model, name, None)) is not None and getattr(again, name, None) is None:
            setattr(again, name, value)
    return again


def _other_parameters(model: object, call: Call) -> str | None:
    without_effect = parameters_without_effect(type(model))
    for name, now in attributes(model, call.parameters).items():
        value = call.parameters[name]
        if name not in without_effect and not same_value(now, value):
            return f"{name} is {now!r} in the model, which was trained with {value!r}"
    return None


def _other_arithmetic(calls: tuple[Call, ...]) -> str | None:
    for call in calls:
        if call.arithmetic != ARITHMETIC_VERSION:
            return (
                f"the model was learnt by version {call.arithmetic}, and this is version {ARITHMETIC_VERSION}"
            )
    return None
