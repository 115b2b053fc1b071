"""The pocket perceptron as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from perceptron_rs.engines import State
from perceptron_rs.linear.base import LinearLearner
from perceptron_rs.linear.parameters import PocketPerceptronParameters
from perceptron_rs.linear.predictor import PocketPerceptronPredictor
from perceptron_rs.schema.schema import History, Schema
from perceptron_rs.settings import Linear
from perceptron_rs.training.train import Feeder

_FEW_EXAMPLES = 300  #: examples of which ``check="auto"`` counts the errors after every update
_SWAP = np.dtype(
    [("class", np.int64), ("epoch", np.int64), ("t", np.int64), ("errors", np.float64), ("average", np.bool_)]
)
_SWAPS = ("swap_plane", "swap_epoch", "swap_t", "swap_errors", "swap_average")  #: in the order of these


class PocketPerceptron(PocketPerceptronParameters, LinearLearner):
    r"""Pocket perceptron: keeps the weights with the fewest errors on all examples.

    Training makes the same updates as `Perceptron`. If no hyperplane separates the classes, the run never
    settles, and its last weights may be bad. At certain moments, which ``check`` determines, the errors of
    the current weights on all examples are counted. If these are fewer than those of the weights in the
    pocket, the current weights replace them. At the end of each epoch, the average of all weights of the
    run, by which `AveragedPerceptron` predicts, is tried in the same way, unless ``average=False``.

    An error is a wrong prediction, where ``tie`` determines what an activation of exactly 0 predicts; it
    counts with its sample weight times the weight of its class. Weights of zeros, which have no sides, get
    all examples wrong. The initial weights start in the pocket.
    With more than two classes, each class has its own pocket.

    There is no ``partial_fit``, ``fit_stream`` or ``predict_then_learn``, because counting errors needs all
    examples at once.

    Parameters
    ----------
    check : {"auto", "run", "ratchet", "update", "epoch"}, default="auto"
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
    average : bool, default=True
        Whether the average of all weights since the start of the fit is a candidate for the pocket at the
        end of each epoch. On noisy data it often has far fewer errors than any weights of the run. The
        result is never worse than an `AveragedPerceptron` that makes the same epochs from the same initial
        weights. If False, training is exactly the algorithm of the paper.
    fit_intercept : bool, default=True
        Whether to learn an intercept. If False, the intercept keeps its initial value, which is 0 unless
        ``fit`` is given another one.
    max_iter : int, default=1000
        Maximum number of epochs in a call of ``fit``, in [1, 2**31 - 1].
    tol : float or None, default=0.001
        Stopping criterion, in [0, inf). Training stops for a class when the errors of its pocket have not
        fallen by at least ``tol`` for ``n_iter_no_change`` consecutive epochs. Without weights, errors are
        whole numbers, so any ``tol`` in (0, 1] asks for a better pocket. It also stops after an epoch
        without a mistake. If None or 0, only such an epoch and ``max_iter`` end training. Better weights come
        up by chance: with fewer epochs, a fit takes less time and may find worse ones.
    shuffle : bool, default=True
        Whether to shuffle the examples before each epoch of ``fit``.
    verbose : int, default=0
        If above 0, print a line about each epoch.
    eta0 : float, default=1.0
        Learning rate, in (0, inf). With initial weights of 0, a power of two only scales the learnt
        weights. Other values also change how they are rounded, and so possibly which examples are mistakes.
        Thresholds such as ``tol`` do not scale with it.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all
        processors. It does not change any bit of the results.
    random_state : int, RandomState instance or None, default=0
        Seed of the shuffling. An int in [0, 2**32 - 1] gives the same orders in each call of ``fit``.
        Otherwise, each ``fit`` that shuffles draws its seed from the given generator, or from NumPy's
        global one if None.
    early_stopping : bool, default=False
        Whether to stop by the pocket's accuracy on a validation set instead of its training errors, and to
        keep the pocket of the best epoch. If True, ``fit`` sets aside a stratified fraction of the examples,
        drawn by ``random_state``; errors are not counted on it. Training stops for a class when its
        validation accuracy has not improved on the best one by at least ``tol`` for ``n_iter_no_change``
        consecutive epochs. See :doc:`/guide/stopping`.
    validation_fraction : float, default=0.1
        Fraction of the examples that ``early_stopping`` sets aside, in (0, 1).
    n_iter_no_change : int, default=100
        Number of consecutive epochs without improvement before training stops, in [1, 2**31 - 1]. See
        ``tol``.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, at least 0, as ``{label: weight}``. Classes that are not named have
        weight 1. An update is multiplied by the weight of its example's class. "balanced" uses
        ``n_samples / (n_classes * count of the class)``. With more than two classes, the weight applies to
        a class's own examples where the class is learnt, and not where they belong to the rest.
    warm_start : bool, default=False
        Whether ``fit`` continues from the previous call: from the weights in the pocket, with its counters
        and number of epochs. The errors of these weights are counted anew on the new X.
    tie : {"mistake", "positive"}, default="mistake"
        How to treat an activation of exactly 0. With "mistake", it is a mistake for every class, and a
        model of two classes predicts the negative one. With "positive", it counts as positive in training
        and in prediction.
    track_mistakes : bool, default=False
        Whether to count the mistakes on each example, as ``mistakes_per_example_``.
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same bits; the reference is slow, and written to be read.
    callback : callable or None, default=None
        Function that is called with an `EpochRecord` after each epoch. If it returns true, training stops.
    keep_on_interrupt : bool, default=False
        Whether Ctrl-C ends ``fit`` with a warning and keeps what has been learnt so far. If False, or while
        the errors of the initial weights are counted, ``KeyboardInterrupt`` is raised, and the estimator
        stays as it was before the call.
    audit : bool, default=False
        Whether to keep digests of the examples, in model files too. `reproduce` can then name the first block
        of examples that differs. ``random_state`` must be an integer.
    audit_key : str, path object, bytes or None, default=None
        Key of the digests: a file that holds it (32 bytes, or 64 hexadecimal digits), or 32 bytes. Without
        the key nobody can test whether a model has learnt from some examples. It is not shown, and not
        written to model files; pickles hold the name of the file alone.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features), float64
        Weights in the pocket. With two classes, there is one row, for ``classes_[1]``.
    intercept_ : ndarray of shape (1,) or (n_classes,), float64
        Intercepts in the pocket.
    last_coef_ : ndarray of the shape of ``coef_``, float64
        Weights after the last update, which are those of `Perceptron`.
    last_intercept_ : ndarray of the shape of ``intercept_``, float64
        Intercepts after the last update.
    pocket_errors_ : ndarray of shape (1,) or (n_classes,), float64
        Errors of the weights in the pocket on all examples of the last ``fit``, each counted with its
        weight. They are whole numbers if no weights are given. Only available after ``fit``, as the next
        three, and not of weights that were assigned.
    pocket_run_ : ndarray of shape (1,) or (n_classes,), int64
        Number of examples in the run of the weights in the pocket when they were put there; 0 for an
        average.
    pocket_epoch_ : ndarray of shape (1,) or (n_classes,), int64
        Epoch, counted from 0 as in `EpochRecord`, in which the weights were put into the pocket; -1 if they
        are still the initial weights of the last ``fit``.
    swaps_ : ndarray of shape (n_swaps,), with the fields class, epoch, t, errors and average
        What was put into the pocket in the last ``fit``: the index of the class (0 for two classes), the
        epoch, the number of examples visited since the last cold start, the errors, and whether it was an
        average. Sorted by class, then by time.
    calibration_ : object
        What ``calibrate`` has found, with ``method``, ``slope`` and ``intercept``. Only available after it.
    recipe_ : object
        How texts, dictionaries or unscaled numbers become columns. Only of a file that holds such a recipe.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted. Of a matrix y of many labels, the numbers of its columns, or what
        ``partial_fit`` is told that they are; n_classes is then their number everywhere, also if it is 2.
    multilabel_ : bool
        Whether y had any number of labels for each example.
    n_iter_ : int
        Number of epochs of the last ``fit``, the maximum over the classes.
    n_iter_per_class_ : ndarray of shape (1,) or (n_classes,), int64
        Number of epochs for each class.
    n_mistakes_ : int
        Number of mistakes, and so of updates, in the last ``fit``.
    mistakes_per_epoch_ : ndarray of shape (n_iter_, 1) or (n_iter_, n_classes), int64
        Number of mistakes in each epoch of the last call; 0 for a class that has already stopped.
    loss_curve_ : list of float
        Mean perceptron loss of an example in each epoch, before its update, averaged over the classes; a
        class that has stopped counts as 0. Only available after ``fit``.
    converged_ : bool
        Whether the last epoch of every class was without a mistake. For the setting of the convergence
        theorem, set ``tol=None`` and a large ``max_iter``.
    mistakes_per_example_ : ndarray of shape (n_samples, 1) or (n_samples, n_classes), int64
        Number of mistakes on each example in the last call. Only available with ``track_mistakes=True``.
    n_seen_ : ndarray of shape (1,) or (n_classes,), int64
        Number of examples visited for each class since the last cold start, over all calls; with
        ``early_stopping``, those up to the best epoch.
    t_ : int
        Maximum of ``n_seen_``, plus 1.
    validation_scores_ : ndarray of shape (n_iter_, 1) or (n_iter_, n_classes), float64
        Accuracy on the validation set after each epoch. Only available with ``early_stopping=True``.
    predictor_ : dict of str to ndarray
        What predicts: all arrays that a prediction is computed from, by name: ``coef``, ``intercept``.
    n_features_in_ : int
        Number of features seen during ``fit``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen during ``fit``. Only available if X has feature names that are all
        strings.

    Raises
    ------
    ValueError
        Raised by ``fit`` if a parameter is out of range or the input contains invalid values.

    See Also
    --------
    Perceptron : Predicts with the last weights.
    AveragedPerceptron : Predicts with the average of all weights.

    References
    ----------
    .. [1] S. I. Gallant, "Perceptron-based learning algorithms", IEEE Transactions on Neural Networks
       1(2), 1990, pages 179-191: the pocket algorithm; with ``check="ratchet"``, that with ratchet;
       both with ``average=False``.

    Examples
    --------
    No line classifies the last example correctly, so the perceptron never settles.

    >>> import numpy as np
    >>> from perceptron_rs import Perceptron, PocketPerceptron
    >>> X, y = np.array([[-2], [-1], [1], [2], [9]]), np.array([-1, -1, 1, 1, -1])
    >>> model = PocketPerceptron(shuffle=False, max_iter=10, tol=None).fit(X, y)
    >>> model.pocket_errors_
    array([1.])
    >>> model.coef_, model.intercept_
    (array([[2.]]), array([-1.]))
    >>> model.swaps_["t"]  # the number of examples seen when the weights were put into the pocket
    array([1])
    >>> model.score(X, y), Perceptron(shuffle=False, max_iter=10, tol=None).fit(X, y).score(X, y)
    (0.8, 0.6)
    """

    _schema: ClassVar[Schema] = PocketPerceptronPredictor._schema

    pocket_errors_: NDArray[np.float64]
    pocket_run_: NDArray[np.int64]
    _swap_plane: NDArray[np.int64]
    _swap_epoch: NDArray[np.int64]

    @property
    def last_coef_(self) -> NDArray[np.float64]:
        """Weights after the last update."""
        coef: NDArray[np.float64] = self._last("coef")
        return coef

    @property
    def last_intercept_(self) -> NDArray[np.float64]:
        """Intercepts after the last update."""
        intercept: NDArray[np.float64] = self._last("intercept")
        return intercept

    def _last(self, name: str) -> Any:
        model = self._model
        return model[f"last_{name}" if f"last_{name}" in model else name]  # weights that were set are both

    @property
    def pocket_epoch_(self) -> NDArray[np.int64]:
        """Epochs in which the weights were put into the pocket."""
        epochs = np.full(len(self.pocket_run_), -1)
        epochs[self._swap_plane] = self._swap_epoch  # the last of a class is the one that stays
        return epochs

    @property
    def swaps_(self) -> NDArray[np.generic]:
        """What was put into the pocket."""
        swaps = np.empty(len(self._swap_plane), dtype=_SWAP)
        for name, part in zip(_SWAP.names or (), _SWAPS, strict=True):
            swaps[name] = getattr(self, f"_{part}")
        return swaps

    def _check_arrays(self, arrays: State, history: History) -> None:
        super()._check_arrays(arrays, history)
        if "swap_plane" not in arrays:
            return
        plane, errors = arrays["swap_plane"], arrays["pocket_errors"]
        if (plane >= len(errors)).any() or (np.diff(plane) < 0).any():
            raise ValueError(f"the tensor swap_plane must hold sorted indices below {len(errors)}")
        last = np.append(plane[1:] != plane[:-1], True)[: len(plane)]
        if (arrays["swap_errors"][last] != errors[plane[last]]).any():
            raise ValueError("the tensors swap_errors and pocket_errors disagree about the errors")

    def _settings(self, feeder: Feeder, **own: object) -> Linear:
        few = "update" if feeder.n_examples <= _FEW_EXAMPLES else "ratchet"
        check = few if self.check == "auto" else str.__str__(self.check)
        return super()._settings(feeder, check=check, average=bool(self.average), **own)
