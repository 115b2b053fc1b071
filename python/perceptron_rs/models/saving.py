"""The method ``save``, of all estimators that a model file can hold."""

from __future__ import annotations

import os
from typing import BinaryIO

from perceptron_rs.choices import WeightType
from perceptron_rs.state.turns import consistent


@consistent
def save(
    self: object,
    path: str | os.PathLike[str] | BinaryIO | None = None,
    *,
    dtype: WeightType | None = None,
    prune: float | None = None,
) -> bytes | None:
    """Save the fitted estimator to a file that `perceptron_rs.load` reads.

    The file is in the safetensors format. It is replaced completely or not at all: after an error, the
    previous file is unchanged. The same model always gives the same bytes.

    Parameters
    ----------
    path : str, path object, binary file or None, default=None
        File to write. An existing file is replaced; one that is open is written to. None: what a file
        would hold is returned.
    dtype : {"float32", "float16"} or None, default=None
        Of a linear model, the type to which weights are rounded, for a smaller file. What is read
        predicts with these weights, so its predictions have bits of their own, and its `digest` is
        another one. It has no record of its training, and learns on as from given weights.
    prune : float or None, default=None
        Of a linear model, columns whose weights are all below this in size are left out, as if they
        were 0.

    Returns
    -------
    content : bytes or None
        What a file holds, if there is no path.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.
    ValueError
        If the file cannot hold a parameter or the classes, such as a ``RandomState``. A callback is
        left out instead. If ``dtype`` or ``prune`` is of no use: the model has no weights of columns, or
        one that the type does not hold.
    OSError
        If the file cannot be written.

    See Also
    --------
    perceptron_rs.load : Read such a file, with an example of both.
    """
    from perceptron_rs.models import writer

    return writer.save(self, path, dtype=dtype, prune=prune)
