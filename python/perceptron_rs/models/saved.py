"""Estimators that write themselves to model files."""

from __future__ import annotations

import os

from perceptron_rs.common.errors import FittedAttributes

__all__ = ["Saved"]


class Saved(FittedAttributes):
    """The method ``save``."""

    def _check_parameters(self) -> None:
        """Raise ValueError for values that scikit-learn's look at single parameters lets through."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file; `perceptron_rs.load` makes an equal one from it.

        The file is in the safetensors format, and appears whole or not at all: after an error, what was
        there before still is. One model is always the same bytes.

        Parameters
        ----------
        path : str or path object
            The file. One that is there already is replaced.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If a parameter or the classes are of a kind that the file cannot hold, such as a
            ``RandomState``. A parameter ``callback`` is left out instead.
        OSError
            If the file cannot be written.

        See Also
        --------
        perceptron_rs.load : Reads such a file; its example shows both.
        """
        from perceptron_rs.models.writer import save

        save(self, path)
