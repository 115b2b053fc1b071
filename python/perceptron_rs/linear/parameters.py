"""The parameters of `linear` learners. Nothing that takes time may be imported here."""

from dataclasses import dataclass, field

from perceptron_rs.choices import LinearPrediction, Penalty, PocketCheck, words
from perceptron_rs.parameters import kinds
from perceptron_rs.parameters.groups import (
    FIT_INTERCEPT,
    N_ITER_NO_CHANGE,
    JointParameters,
    MistakeParameters,
    NoiseParameters,
    UpdateParameters,
    parameter,
)
from perceptron_rs.parameters.kinds import SWITCH
from perceptron_rs.parameters.ranges import LARGEST, Choice, Range


@dataclass(kw_only=True, eq=False, repr=False)
class LinearParameters(MistakeParameters):
    """Of all linear learners.

    Parameters
    ----------
    fit_intercept : bool
        Whether to learn an intercept. If False, the intercept keeps its initial value, which is 0 unless
        ``fit`` is given another one.
    """

    fit_intercept: bool = field(default=True, metadata=FIT_INTERCEPT)


@dataclass(kw_only=True, eq=False, repr=False)
class PerceptronParameters(UpdateParameters, NoiseParameters, JointParameters, LinearParameters):
    """Of `Perceptron`.

    Parameters
    ----------
    penalty : {"l2", "l1", "elasticnet"} or None
        Penalty that shrinks the weights at each example, whether it is a mistake or not.
    alpha : float
        Strength of the penalty, in [0, inf).
    l1_ratio : float
        Mixing parameter of "elasticnet", in [0, 1]: 0 is "l2", 1 is "l1".
    """

    penalty: Penalty | None = parameter(
        None, Choice(words(Penalty), none=True), "regularization of the weights"
    )
    alpha: float = parameter(
        0.0001, kinds.AMOUNT, "strength of the regularization", needs={"penalty": ("l2", "l1", "elasticnet")}
    )
    l1_ratio: float = parameter(
        0.15,
        kinds.UNIT_INTERVAL,
        "share of l1 in elasticnet, from 0 to 1",
        needs={"penalty": ("elasticnet",)},
    )


@dataclass(kw_only=True, eq=False, repr=False)
class AveragedPerceptronParameters(UpdateParameters, NoiseParameters, JointParameters, LinearParameters):
    """Of `AveragedPerceptron`."""


@dataclass(kw_only=True, eq=False, repr=False)
class PocketPerceptronParameters(LinearParameters):
    """Of `PocketPerceptron`.

    Parameters
    ----------
    early_stopping : bool
        Whether to stop by the pocket's accuracy on a validation set instead of its training errors, and to
        keep the pocket of the best epoch. If True, ``fit`` sets aside a stratified fraction of the examples,
        drawn by ``random_state``; errors are not counted on it. Training stops for a class when its
        validation accuracy has not improved on the best one by at least ``tol`` for ``n_iter_no_change``
        consecutive epochs. See :doc:`/guide/stopping`.
    warm_start : bool
        Whether ``fit`` continues from the previous call: from the weights in the pocket, with its counters
        and number of epochs. The errors of these weights are counted anew on the new X.
    keep_on_interrupt : bool
        Whether Ctrl-C ends ``fit`` with a warning and keeps what has been learnt so far. If False, or while
        the errors of the initial weights are counted, ``KeyboardInterrupt`` is raised, and the estimator
        stays as it was before the call.
    tol : float or None
        Stopping criterion, in [0, inf). Training stops for a class when the errors of its pocket have not
        fallen by at least ``tol`` for ``n_iter_no_change`` consecutive epochs. Without weights, errors are
        whole numbers, so any ``tol`` in (0, 1] asks for a better pocket. It also stops after an epoch
        without a mistake. If None or 0, only such an epoch and ``max_iter`` end training. Better weights come
        up by chance: with fewer epochs, a fit takes less time and may find worse ones.
    check : {"auto", "run", "ratchet", "update", "epoch"}
        When to count errors. A run is a series of consecutive examples that the weights classify correctly;
        it continues across epochs. Its length is the number of its examples, or the sum of their weights if
        sample or class weights are given.

        - "auto": "update" for at most 300 examples of positive weight, "ratchet" for more.
        - "run": when a run ends, by a mistake or with the fit, that is longer than all runs counted before.
          This takes about one count per epoch, but the weights with the longest runs are rarely the best.
        - "ratchet": as soon as a run is longer than that of the weights in the pocket. This takes several
          counts per epoch. Weights with short runs are never counted; with few examples, as in XOR, they can
          be the best ones.
        - "update": after every update. The result is the best of all weights of the run, but counting takes
          time proportional to the number of updates times the number of examples.
        - "epoch": only at the end of each epoch.

        At the end of each epoch, errors are always counted. A count stops as soon as it cannot win.
    average : bool
        Whether the average of all weights since the start of the fit is a candidate for the pocket at the
        end of each epoch. On noisy data it often has far fewer errors than any weights of the run. The
        result is never worse than an `AveragedPerceptron` that makes the same epochs from the same initial
        weights. If False, training is exactly the algorithm of the paper.
    """

    check: PocketCheck = parameter(
        "auto", Choice(words(PocketCheck)), "when the pocket counts training errors"
    )
    average: bool = parameter(
        True, SWITCH, "also try the average of the weights for the pocket, after each epoch"
    )
    n_iter_no_change: int = field(default=100, metadata=N_ITER_NO_CHANGE)


@dataclass(kw_only=True, eq=False, repr=False)
class VotedPerceptronParameters(NoiseParameters, LinearParameters):
    """Of `VotedPerceptron`.

    Parameters
    ----------
    random_state : int, RandomState instance or None
        Seed of the shuffling and of ``prediction="random"``. An int in [0, 2**32 - 1] is used in every
        call. Otherwise, each call that learns draws its seed from the given generator, or from NumPy's
        global one if None.
    tie : {"mistake", "positive"}
        How to treat an activation of exactly 0. With "mistake", it is a mistake for every class, no vote, and
        a model of two classes predicts the negative one. With "positive", it counts as positive in training,
        votes and predictions.
    margin_threshold : float
        An example that is classified correctly, but with an activation of no more than this in size, still
        counts as a mistake, in [0, inf).
    added_feature : float
        Value of an extra feature that each example has to itself during training, in [0, inf). If above 0,
        every data set becomes separable.
    prediction : {"vote", "average", "last", "random", "longest"}
        How to predict. "vote": all vectors vote. "average": with their average over the examples, as
        `AveragedPerceptron` does. "last": with the last vector, as `Perceptron` does. "random": with one
        vector, drawn when the estimator is fitted, with a probability proportional to its survival count.
        "longest": with the vector of the largest survival count; in a tie, the first one.
    max_vectors : int or None
        Maximum number of vectors to keep for each class, at least 1. If there are more at the end of a
        call, the oldest are dropped: the oldest remaining vector becomes the initial one, and rows that are
        no longer needed are forgotten. Dropped vectors no longer vote and cannot be drawn. The average and
        the last weights remain those of the whole run. If None, all vectors are kept.
    """

    prediction: LinearPrediction = parameter(
        "vote", Choice(words(LinearPrediction)), "how the weight vectors of a run predict"
    )
    max_vectors: int | None = parameter(
        None,
        Range(1, LARGEST, whole=True, none=True),
        "maximum number of vectors that a voted perceptron keeps",
    )
