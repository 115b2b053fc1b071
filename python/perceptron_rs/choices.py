"""The words that parameters take, as types. Nothing that takes time may be imported here."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, get_args

Accents: TypeAlias = Literal["ascii", "unicode"] | None
Activation: TypeAlias = Literal["logistic", "tanh", "relu"]
Analyzer: TypeAlias = Literal["word", "char", "char_wb"]
Bias: TypeAlias = Literal["free", "augmented", "none"]
BudgetPolicy: TypeAlias = Literal["oldest", "random", "forgetron", "projectron"]
CalibrationMethod: TypeAlias = Literal["temperature", "sigmoid"]
ClassWeight: TypeAlias = dict[Any, float] | Literal["balanced"]
Decoding: TypeAlias = Literal["viterbi", "beam"]
EngineName: TypeAlias = Literal["rust", "reference"]
#: Of files of examples.
Format: TypeAlias = Literal[
    "svmlight", "csv", "tsv", "lines", "fasttext", "vw", "jsonl", "npz", "npy", "parquet", "safetensors"
]
Gamma: TypeAlias = float | Literal["scale", "auto"]
JointUpdate: TypeAlias = Literal["max", "uniform", "proportional"]
KernelName: TypeAlias = Literal["linear", "poly", "rbf", "sigmoid", "precomputed"]
LinearPrediction: TypeAlias = Literal["vote", "average", "last", "random", "longest"]
MarginKernel: TypeAlias = Literal["linear", "poly", "rbf", "precomputed"]
Mixing: TypeAlias = Literal["uniform", "mistakes"]
MultiClass: TypeAlias = Literal["ovr", "joint"]
Norm: TypeAlias = Literal["l1", "l2"] | None
#: Of weights in a file.
WeightType: TypeAlias = Literal["float32", "float16"]
Penalty: TypeAlias = Literal["l2", "l1", "elasticnet"]
PocketCheck: TypeAlias = Literal["auto", "run", "ratchet", "update", "epoch"]
Prediction: TypeAlias = Literal["vote", "average", "last", "random"]
Scheme: TypeAlias = Literal["iob2", "iobes", "bilou"]
SequenceUpdate: TypeAlias = Literal["full", "early", "max_violation"]
Solver: TypeAlias = Literal["auto", "wolfe", "descent"]
StepLength: TypeAlias = Literal["constant", "pa1", "pa2"]
Tie: TypeAlias = Literal["mistake", "positive"]


#: Of a polynomial kernel: a power is made by as many products.
LARGEST_DEGREE = 100
#: Of a word, on each side: each makes attributes.
MOST_NEIGHBOURS = 100


def words(choice: object) -> tuple[str, ...]:
    """Return the words of one of these types, in the order in which they are written."""
    return tuple(word for word in get_args(choice) if isinstance(word, str))
