"""Estimators that write themselves to model files."""

from __future__ import annotations

import os

from perceptron_rs.common.errors import FittedAttributes
from perceptron_rs.common.turns import consistent

__all__ = ["Saved"]


class Saved(FittedAttributes):
    """The method ``save``."""

    @consistent
    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the fitted estimator to a file that `perceptron_rs.load` reads.

        The file is in the safetensors format. It is replaced completely or not at all: after an error, the
        previous file is unchanged. The same model always gives the same bytes.

        Parameters
        ----------
        path : str or path object
            File to write. An existing file is replaced.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If the file cannot hold a parameter or the classes, such as a ``RandomState``. A callback is
            left out instead.
        OSError
            If the file cannot be written.

        See Also
        --------
        perceptron_rs.load : Read such a file, with an example of both.
        """
        from perceptron_rs.models.writer import save

        save(self, path)
