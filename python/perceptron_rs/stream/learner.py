"""The method ``fit_stream``, of all estimators that have it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from perceptron_rs.arrays.likes import ArrayLike
from perceptron_rs.engines import LearntModel, RunState
from perceptron_rs.errors import OptionsError
from perceptron_rs.io.text.paths import PathLike
from perceptron_rs.parameters.checks import parameters_in_memory
from perceptron_rs.sklearn_base import fit_context
from perceptron_rs.stream.fit import Blocks, Options
from perceptron_rs.stream.run import Carrier
from perceptron_rs.training.train import Feeder, Trainable, train


class StreamFit(Trainable):
    """An estimator that learns from streams, too."""

    #: How many classes there must be.
    _least: ClassVar[int] = 2
    #: Whether a fit over a stream can go on from what was learnt before.
    _continues_in_streams: ClassVar[bool] = True

    @fit_context(prefer_skip_nested_validation=True)
    def fit_stream(
        self,
        source: object,
        classes: ArrayLike = None,
        *,
        shuffle: Literal[False, "block"] = False,
        block_size: int | None = None,
        cache: PathLike | None = None,
        checkpoint: PathLike | None = None,
        checkpoint_every: float = 60.0,
        resume: bool = False,
    ) -> Self:
        """Fit the model to examples that need not fit into memory, in epochs, as ``fit`` does.

        The examples are learnt block by block; meanwhile the next block is read. With ``shuffle=False``
        the result has the bits of ``fit`` on all examples with ``shuffle=False``, whatever
        the size of the blocks. The parameter ``shuffle`` of the estimator is for ``fit``. Parameters that
        need memory for each example, or examples that are held out, are refused; :doc:`/guide/streams` lists
        them.

        Parameters
        ----------
        source : Source, tuple of arrays, or iterable of batches
            The examples: what the functions ``open_...`` of ``perceptron_rs.io`` return, a tuple
            ``(X, y)`` or ``(X, y, sample_weight)``, or an object that gives such tuples each time it is
            iterated over, which may fill the same arrays for each. Of a sequence learner, sequences:
            tuples ``(X, y, None, lengths)``, or ``(X, y)`` of lists of sequences.
        classes : array-like of shape (n_classes,), default=None
            All classes that occur. Labels of the data say their type. If None, a first pass finds them. A
            vocabulary of attributes takes another pass.
        shuffle : {False, "block"}, default=False
            "block" shuffles the blocks, and the examples within each block, before each epoch. Sources
            other than arrays need a ``cache`` for that.
        block_size : int, default=None
            Number of examples, or of sequences, in a block. With ``shuffle="block"`` it changes the order,
            and so the result, and None means 16384. Otherwise None means as many as take about 8 MB.
        cache : str or path-like, default=None
            File for the examples in binary form. The first pass writes it, later ones map it into memory. A
            later call does so, too, if the files of the source and their times are still the same.
        checkpoint : str or path-like, default=None
            File for what has been learnt so far. Each checkpoint replaces it in one step. It is kept when the
            fit is done.
        checkpoint_every : float, default=60.0
            Seconds between two checkpoints; 0 writes one after each block.
        resume : bool, default=False
            Whether to go on from the checkpoint, if there is one. The result has the bits of a run that
            was never stopped. ``max_iter`` may be larger than before.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If examples, a parameter or a file is invalid, if passes over the source differ, or if training
            overflows. The estimator then stays as it was before the call.
        TypeError
            If the source gives no batches, or they do not contain numbers (or, for labels, numbers or
            strings).
        OSError
            If a file cannot be read or written.

        Warns
        -----
        sklearn.exceptions.ConvergenceWarning
            As ``fit``.

        Examples
        --------
        >>> import numpy as np
        >>> from perceptron_rs import Perceptron
        >>> class Batches:
        ...     def __iter__(self):
        ...         random = np.random.default_rng(0)
        ...         for _ in range(5):
        ...             X = random.normal(size=(100, 2))
        ...             yield X, X[:, 0] > X[:, 1]
        >>> Perceptron().fit_stream(Batches()).classes_
        array([False,  True])
        """
        options = Options(
            shuffle=shuffle,
            block_size=block_size,
            cache=cache,
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
            resume=resume,
        )
        train(self, Blocks(source, classes, options))
        return self

    def _check_stream(self) -> None:
        """Raise ValueError for parameters that a fit over a stream does not have."""
        for parameter in parameters_in_memory(type(self)):
            name, off = parameter.name, parameter.default
            value = vars(self)[name]
            if value != off:
                raise OptionsError(
                    f"{{{name}}} is not available with {{fit_stream}}: {parameter.metadata['in_memory']}",
                    f"set {{{name}}}",
                    cause="stream",
                    values={name: value},
                    settings={name: off},
                )
        if self.warm_start and not self._continues_in_streams:
            raise OptionsError(
                "{warm_start} is not available with {fit_stream} of this learner",
                "set it to False",
                cause="stream",
                values={"warm_start": True},
            )

    def _source(self, X: object, *, goes_on: bool) -> Any:  # noqa: ARG002
        """Return a source of batches, as `perceptron_rs.io` knows them."""
        return X

    def _carry(self, feeder: Feeder, state: LearntModel) -> tuple[Carrier, RunState]:  # noqa: ARG002
        """Return the `Carrier` of a run over blocks, and its first state."""
        return Carrier(), state.copy(last_pass=False)
