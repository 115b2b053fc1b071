"""The fits of the kernel perceptron."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context

from perceptron_rs.common.driver import Report
from perceptron_rs.common.errors import restored_on_error
from perceptron_rs.common.labels import encode_new, label_array
from perceptron_rs.common.rows.examples import Examples, examples
from perceptron_rs.engines import Engine, get_engine
from perceptron_rs.float_mode import standard
from perceptron_rs.kernel.fitting import learn, start
from perceptron_rs.kernel.predicting import KernelPredicting

__all__ = ["KernelTraining"]


class KernelTraining(KernelPredicting):
    """The methods ``fit`` and ``partial_fit``."""

    warm_start: bool
    shuffle: bool
    n_iter_: int

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
        self._partial_fit(X, y, classes, sample_weight)
        return self

    def _learn_pass(
        self,
        engine: Engine,  # noqa: ARG002
        data: Examples,
        labels: NDArray[np.uint32],
        sample_weight: Any,
        *,
        first: bool,
        record: bool = False,
    ) -> Report:
        if first:
            start(self, data, self.classes_)
        return learn(self, data, labels, sample_weight, max_iter=1, tol=None, shuffle=False, record=record)
