"""Estimators that write themselves to model files."""

from __future__ import annotations

import os

__all__ = ["Saved"]


class Saved:
    """What has a ``save``."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to a file, from which `perceptron_rs.load` makes an equal one.

        Parameters
        ----------
        path : str or path object
            The file. One that is there is replaced, at once and only when all is written.

        Raises
        ------
        ValueError
            If a parameter or a label is something that a model file cannot hold.
        OSError
            If the file cannot be written. What was there before is then unchanged.
        """
        from perceptron_rs.models.writer import save

        save(self, path)
