"""Functions that must know all learners: readers of model files, and converters for skl2onnx."""

from __future__ import annotations

from typing import Any

from perceptron_rs.choices import EngineName
from perceptron_rs.engines import get_engine
from perceptron_rs.models.files import ModelSource
from perceptron_rs.models.reader import read_estimator, read_predictor
from perceptron_rs.parameters.threads import check_n_jobs
from perceptron_rs.prediction.predictor import Predictor
from perceptron_rs.registry import REGISTRY


def load(path: ModelSource) -> Any:
    """Load an estimator from a file written by its ``save`` method.

    It predicts the same bits as the saved estimator, and ``partial_fit``, or ``fit`` with ``warm_start``,
    continues with the same bits. Of a model that the command line trained on texts, on hashed names or on
    columns that it scaled, X are texts, dictionaries, or the columns before they were scaled, as for
    `load_predictor`. Unlike with a pickle, no code from the file is run. A file that is truncated, corrupted
    or inconsistent is rejected.

    Parameters
    ----------
    path : str, path object, bytes or binary file
        The file, or what it holds.

    Returns
    -------
    estimator : Perceptron, AveragedPerceptron, SequencePerceptron, ...
        Fitted estimator of the class that was saved. A ``callback`` is not stored in files, and is None.
        Classes that are strings have the width of the longest one.

    Raises
    ------
    ValueError
        If the file is not a model file, is corrupted, or needs a newer version of perceptrons.
    OSError
        If the file cannot be read. `FileNotFoundError` if it does not exist.
    MemoryError
        If the model does not fit into memory.

    Warns
    -----
    UserWarning
        If the model was learnt with an older version of the arithmetic. It predicts and continues training
        with the current one.

    See Also
    --------
    Perceptron.save : Write such a file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import perceptron_rs
    >>> model = perceptron_rs.Perceptron().fit([[1, 0], [0, 1]], ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "model.safetensors")
    ...     again = perceptron_rs.load(Path(folder) / "model.safetensors")
    >>> again
    Perceptron()
    >>> again.predict([[0, 2]])
    array(['spam'], dtype='<U4')
    """
    return read_estimator(path, REGISTRY)[0]


def load_predictor(path: ModelSource, *, engine: EngineName = "rust", n_jobs: int | None = None) -> Predictor:
    """Load what predicts of a model file, for use in production.

    Its predictions are those of the estimator in the file, to the last bit. It imports neither scikit-learn
    nor SciPy, so a new process answers within a tenth of the time. It cannot learn. All is computed that
    can be computed before the first prediction, and nothing changes afterwards, so threads may share it.

    Parameters
    ----------
    path : str, path object, bytes or binary file
        A file written by the ``save`` method of an estimator, or by the command line.
    engine : {"rust", "reference"}, default="rust"
        Implementation to use. Both give the same bits.
    n_jobs : int or None, default=None
        Number of threads of a call. None means 1, unless in a ``joblib.parallel_config`` context; -1 means
        all processors. It does not change any bit of the results.

    Returns
    -------
    predictor : Predictor
        It has the methods with which the estimator predicts: ``predict``, ``decision_function`` or
        ``decode_scores``, and ``predict_proba`` if the estimator has it; and the attributes ``classes_``,
        ``n_features_in_`` and perhaps ``feature_names_in_``. X is an array, a list of lists, a matrix of
        SciPy, or a data frame with the columns of the fit in their order; of sequences also lists of
        attributes, and of a model of ``tag-train`` lists of words, or of tuples of columns. Where the columns
        have names, it may be a list of dictionaries. Of a model that the command line trained on texts, on
        hashed names or on columns that it scaled, X are texts, dictionaries, or the columns before they were
        scaled, and the answers are those of
        ``perceptrons predict``.

    Raises
    ------
    ValueError
        If the file is not a model file, is corrupted, or needs a newer version of perceptrons; or if
        ``n_jobs`` is 0.
    TypeError
        If ``n_jobs`` is not a whole number.
    OSError
        If the file cannot be read.
    MemoryError
        If the model does not fit into memory.

    Warns
    -----
    UserWarning
        If the model was learnt with an older version of the arithmetic.

    See Also
    --------
    load : Loads the estimator, which can go on learning.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import perceptron_rs
    >>> model = perceptron_rs.Perceptron().fit([[1, 0], [0, 1]], ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder) / "model.safetensors")
    ...     predictor = perceptron_rs.load_predictor(Path(folder) / "model.safetensors")
    >>> predictor
    <PerceptronPredictor: 2 features, 2 classes>
    >>> predictor.predict([[0, 2]])
    array(['spam'], dtype='<U4')
    """
    get_engine(engine)
    check_n_jobs(n_jobs)
    predictor: Predictor = read_predictor(
        path, REGISTRY, engine=engine, n_jobs=None if n_jobs is None else int(n_jobs)
    )
    return predictor


def describe(path: ModelSource) -> dict[str, Any]:
    """Return the description in a model file, with the type and shape of each array.

    Parameters
    ----------
    path : str, path object, bytes or binary file
        The file, or what it holds.

    Returns
    -------
    description : dict
        What the file says, as in JSON. Each model has ``format_version``, ``arithmetic_version``,
        ``written_by``, ``estimator``, ``parameters``, ``classes``, ``history`` and ``tensors``. Some have
        more. ``feature_names`` are those of the columns. ``column_base`` is the number of the first column in
        an svmlight file. ``input`` says how the command line made columns of the data. ``calls`` and
        ``digests`` are the record of the training, see :doc:`/guide/audits`.

    Raises
    ------
    ValueError
        If the file is not a model file, is corrupted, or needs a newer version of perceptrons.
    OSError
        If the file cannot be read.
    """
    _, document, tensors = read_estimator(path, REGISTRY)
    shapes = {name: [array.dtype.name, list(array.shape)] for name, array in tensors.items()}
    return document | {"tensors": shapes}


def register_skl2onnx() -> None:
    """Register a converter, so that skl2onnx converts estimators of this package, also in pipelines.

    An estimator becomes nodes with two outputs, ``label`` and ``scores`` (as ``decision_function`` returns
    them), which compute in float64. Give the pipeline a ``DoubleTensorType`` as input, so that its other
    steps compute in float64, too. Needs the package skl2onnx: ``pip install skl2onnx``.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.

    Examples
    --------
    >>> from perceptron_rs.models import register_skl2onnx
    >>> register_skl2onnx()  # doctest: +SKIP
    """
    from perceptron_rs.models.exporting import Exported, register

    kinds = (learner.kind for learner in REGISTRY.values())
    register(kind for kind in kinds if issubclass(kind, Exported))
