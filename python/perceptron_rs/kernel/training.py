"""The fits of the kernel perceptron."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning

from perceptron_rs.common.data import examples
from perceptron_rs.common.errors import restored_on_error
from perceptron_rs.common.labels import encode, encode_new, label_array, new_classes
from perceptron_rs.engines import get_engine
from perceptron_rs.float_mode import standard
from perceptron_rs.kernel.fitting import learn, start
from perceptron_rs.kernel.predicting import KernelPredicting

__all__ = ["KernelTraining"]


class KernelTraining(KernelPredicting):
    """The methods ``fit`` and ``partial_fit``."""

    warm_start: bool
    max_iter: int
    tol: float | None
    shuffle: bool
    n_iter_: int
    _n_epochs: int  # run by ``fit`` since the last cold start: the next one's number

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Fit the model to X and y, in epochs, until a stopping criterion is met.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples. C-contiguous arrays and CSR matrices of float64, float32, int8, uint8,
            int16, uint16 or int32 are read in place; anything else is converted once. With
            ``kernel="precomputed"``, the kernel values of all pairs of examples.
        y : array-like of shape (n_samples,)
            Class labels: integers, booleans or strings, of at least two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples, at least 0. An update is multiplied by the weight of its example.
            Examples of weight 0 are ignored.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument has an invalid shape, length or value, or if training overflows. The estimator
            then stays as it was before the call.
        TypeError
            If an argument does not contain numbers (or, for labels, numbers or strings).

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            If ``max_iter`` ended the fit before the stopping criterion was met, unless ``tol`` is None; or
            if Ctrl-C ended it.
        """
        with restored_on_error(self), standard():
            self._check_parameters()
            warm = bool(self.warm_start) and hasattr(self, "classes_")
            data = examples(self, get_engine(self.engine), X, reset=not warm)
            classes, labels = encode_new(label_array(self, y, data.rows.shape[0]))
            if warm and not np.array_equal(classes, self.classes_):
                raise ValueError(
                    f"warm_start=True goes on from a fit with the classes {self.classes_.tolist()!r:.200}, "
                    f"but y holds {classes.tolist()!r:.200}; set warm_start=False"
                )
            if not warm:
                start(self, data, classes)
            report = learn(
                self,
                data,
                labels,
                sample_weight,
                max_iter=int(self.max_iter),
                tol=None if self.tol is None else float(self.tol),
                shuffle=bool(self.shuffle),
            )
            self._n_epochs += self.n_iter_
            self._warn(report.stopped)
        return self

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Make one pass over X and y in the given order, continuing from what was learnt before.

        Consecutive batches give the same model as one pass over all of them. Attributes that describe a fit
        (``n_iter_``, ``mistakes_per_epoch_``, ``n_mistakes_``, ``converged_``, ...) refer to this call
        alone. Not available with ``kernel="precomputed"``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), default=None
            All classes that will ever occur in y. Required in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples, at least 0. An update is multiplied by the weight of its example.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If an argument has an invalid shape, length or value, if y contains a class that is not in
            ``classes_``, or if training overflows. The estimator then stays as it was before the call.
        TypeError
            If an argument does not contain numbers (or, for labels, numbers or strings).
        """
        self._pass(X, y, classes, sample_weight)
        return self

    def predict_then_learn(
        self, X: Any, y: Any, *, classes: Any = None, sample_weight: Any = None
    ) -> tuple[NDArray[Any], int]:
        """Predict each example before learning from it (progressive validation).

        Makes one pass in the given order and learns the same as ``partial_fit``. Each example is predicted
        with the current vector, learnt from the examples before it, whatever ``prediction`` is, because it
        decides which examples are mistakes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The examples.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), default=None
            All classes that will ever occur in y. Required in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the examples, above 0. An update is multiplied by the weight of its example.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Predicted classes.
        n_errors : int
            Number of wrong predictions.

        Raises
        ------
        ValueError
            As for ``partial_fit``; also if an example has weight 0, because it is not visited.
        TypeError
            If an argument does not contain numbers (or, for labels, numbers or strings).
        """
        activations, labels = self._pass(X, y, classes, sample_weight, record=True)
        if activations.shape[1] == 1:
            a = activations[:, 0]
            index = (a >= 0 if self.tie == "positive" else a > 0).astype(np.intp)
        else:
            index = np.argmax(activations, axis=1)
        return self.classes_[index], int(np.count_nonzero(index != labels))

    def _pass(
        self, X: Any, y: Any, classes: Any, sample_weight: Any, *, record: bool = False
    ) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """Run one pass; return the activations of the examples, if recorded, and their class indices."""
        with restored_on_error(self), standard():
            self._check_parameters(for_partial_fit=True)
            if self.kernel == "precomputed":
                raise ValueError("kernel='precomputed' is not available with partial_fit; use fit")
            first = not hasattr(self, "classes_")
            given = new_classes(classes, self)
            data = examples(self, get_engine(self.engine), X, reset=first)
            y = label_array(self, y, data.rows.shape[0])
            if first:
                start(self, data, given)
            labels = encode(y, self.classes_)
            report = learn(
                self, data, labels, sample_weight, max_iter=1, tol=None, shuffle=False, record=record
            )
            if report.activations is None:
                return np.zeros((0, 1)), labels
            if np.isnan(report.activations).any():
                raise ValueError(
                    "sample_weight and class_weight must be above 0 here: an example of weight 0 is not "
                    "visited; use predict and partial_fit"
                )
        return report.activations, labels

    def _warn(self, stopped: list[str]) -> None:
        if self.tol is not None and "max_iter" in stopped:
            warnings.warn(
                f"max_iter={self.max_iter} epochs ended the fit before the stopping rule did; "
                f"raise max_iter, or set tol=None if the number of epochs is meant",
                ConvergenceWarning,
                stacklevel=4,
            )
        if "interrupt" in stopped:
            warnings.warn(
                f"ctrl-c ended the fit in epoch {self._n_epochs} (counted from 1); "
                f"what was learnt until then is kept",
                ConvergenceWarning,
                stacklevel=4,
            )
