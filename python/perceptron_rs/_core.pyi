# The compiled engine. What each function does is said in the reference; see engines.Engine.
import os
from collections.abc import Sequence
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import disjoint_base

from perceptron_rs.arrays.named import State
from perceptron_rs.engines import Engine, Rows
from perceptron_rs.settings import Data, Epoch, EpochPart, Linear, Settings

__all__ = [
    "ARITHMETIC_VERSION",
    "_STANDARD_FLOAT_CONTROL",
    "Blake3",
    "CsrRows",
    "DenseRows",
    "Draft",
    "Model",
    "NGrams",
    "Pass",
    "Rule",
    "Run",
    "SequenceWeights",
    "_Standard",
    "__version__",
    "_enter_standard",
    "_first_draw",
    "_force_instruction_set",
    "_instruction_sets",
    "_leave_standard",
    "_swap_float_control",
    "added_rows",
    "attribute_rows",
    "average",
    "crc32",
    "csr_rows",
    "dense_rows",
    "elementary",
    "hashed_texts",
    "kernel_matrix",
    "kernel_scores",
    "margin",
    "mlp_scores",
    "mlp_start",
    "murmur3",
    "normalized",
    "permutation",
    "read_svmlight",
    "read_svmlight_part",
    "replay",
    "row_digests",
    "scale_gamma",
    "scores",
    "separate",
    "sequence_average",
    "sequence_decode",
    "sequence_k_best",
    "sequence_margins",
    "sequence_weights",
    "settled",
    "smallest",
    "start",
    "structured_update",
    "updates_until_right",
    "votes",
]

ARITHMETIC_VERSION: int
__version__: str
_STANDARD_FLOAT_CONTROL: int

@final
class DenseRows:
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def canonical(self) -> bool: ...
    @property
    def _address(self) -> int: ...

@final
class CsrRows:
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def canonical(self) -> bool: ...
    @property
    def _addresses(self) -> list[int]: ...

def dense_rows(values: NDArray[Any]) -> DenseRows: ...
def csr_rows(
    indptr: NDArray[Any], indices: NDArray[Any], values: NDArray[Any], n_columns: int
) -> CsrRows: ...
def row_digests(rows: Rows) -> bytes: ...

@final
class Blake3:
    def __new__(cls, key: bytes | None = None) -> Self: ...
    def copy(self) -> Self: ...
    def update(self, data: bytes) -> None: ...
    def update_rows(self, rows: Rows, first: int, last: int) -> None: ...
    def digest(self) -> bytes: ...

def start(data: Data, model: Model, settings: Settings) -> Run: ...

@final
class Run:
    def epoch(self, number: int) -> Epoch: ...
    def part(
        self, number: int, losses: NDArray[np.float64], data: Data | None = None, seed: int | None = None
    ) -> EpochPart: ...
    @property
    def last_part(self) -> EpochPart | None: ...
    def end(self, decision: int) -> None: ...
    def state(self) -> Model: ...
    def tracked(self) -> State: ...

@final
class Model:
    def __new__(cls, learner: str, planes: int, columns: int) -> Self: ...
    @staticmethod
    def from_state(learner: str, state: State) -> Model: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def is_zero(self) -> bool: ...
    @property
    def last_pass(self) -> Pass | None: ...
    @property
    def coef(self) -> NDArray[np.float64]: ...
    @property
    def intercept(self) -> NDArray[np.float64]: ...
    def keys(self) -> list[str]: ...
    def __contains__(self, name: object, /) -> bool: ...
    def __getitem__(self, name: str, /) -> NDArray[Any]: ...
    def __len__(self) -> int: ...
    def state(self, columns: NDArray[np.int64] | None = None) -> State: ...
    def columns(self) -> NDArray[np.int64]: ...
    def learn(
        self,
        rule: Rule,
        rows: Any,
        y: NDArray[Any],
        sample_weight: NDArray[Any] | None = None,
        owner: dict[str, Any] | None = None,
        turns: list[Any] | None = None,
        *,
        encoded: bool = False,
        track_activations: bool = False,
        note: Any = None,
    ) -> bool: ...
    def scores(self, rows: Rows, *, threads: int) -> NDArray[np.float64]: ...
    def first_largest(self, rows: Rows, *, threads: int) -> NDArray[np.int64] | None: ...
    def copy(self, *, last_pass: bool = True) -> Model: ...
    def with_planes(self, other: Model, planes: list[int]) -> Model | None: ...
    def spread(self, columns: NDArray[np.int64], n_columns: int) -> Model | None: ...

@final
class Draft:
    def __new__(cls, model: Model) -> Self: ...
    def learn(self, data: Data, settings: Linear, number: int) -> tuple[Epoch, State, State]: ...
    def at(self, places: NDArray[np.int64]) -> State: ...
    def put(self, now: State) -> None: ...
    def model(self) -> Model: ...

@final
class Rule:
    def __new__(cls, settings: Settings, classes: NDArray[Any]) -> Self: ...

@final
class Pass:
    @property
    def n_iter(self) -> NDArray[np.int64]: ...
    @property
    def n_mistakes(self) -> int: ...
    @property
    def mistakes(self) -> NDArray[np.int64]: ...
    @property
    def mistakes_per_example(self) -> NDArray[np.int64] | None: ...
    @property
    def activations(self) -> NDArray[np.float64] | None: ...
    @property
    def note(self) -> Any: ...

def attribute_rows(
    names: dict[str, int], tokens: list[object]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[Any]] | None: ...

@final
class SequenceWeights: ...

@final
class NGrams:
    def __new__(cls) -> Self: ...
    def add(self, names: list[bytes], counts: list[int]) -> None: ...
    def arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64]]: ...

def hashed_texts(
    texts: Sequence[str],
    options: object,
    *,
    letters: str,
    stop_words: Sequence[str],
    columns: int,
    before: bytes,
    known: dict[bytes, int] | None,
    met: NGrams | None,
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]: ...
def murmur3(texts: list[bytes]) -> NDArray[np.uint32]: ...
def normalized(values: NDArray[np.float64], ends: NDArray[np.int64], norm: str) -> NDArray[np.float64]: ...
def added_rows(
    parts: list[tuple[NDArray[np.float64], NDArray[Any], NDArray[np.int64]]],
) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[np.int64]]: ...
def read_svmlight(
    paths: Sequence[str | os.PathLike[str]],
    *,
    zero_based: bool | None,
    refuse_query_ids: bool,
    threads: int,
    max_ratio: float,
    block: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64], NDArray[np.float64], int, bool]: ...
def read_svmlight_part(
    part: bytes,
    *,
    path: str | os.PathLike[str],
    lines_before: int,
    zero_based: bool | None,
    refuse_query_ids: bool,
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64], NDArray[np.float64], int, bool]: ...
def smallest(values: NDArray[Any]) -> NDArray[Any]: ...
def crc32(data: NDArray[np.uint8], before: int) -> int: ...
def _first_draw(seed: int, epoch: int, partition: int) -> int: ...
def _swap_float_control(control: int) -> int: ...

@disjoint_base
class _Standard:
    def __enter__(self) -> None: ...
    def __exit__(self, *_error: object) -> None: ...

def _enter_standard() -> bool: ...
def _leave_standard() -> bool: ...
def _instruction_sets() -> list[str]: ...
def _force_instruction_set(name: str | None) -> None: ...

# Functions that every engine has: their arguments are declared there, and compared by tests/test_engines.py.
_engine: Engine
scores = _engine.scores
settled = _engine.settled
average = _engine.average
votes = _engine.votes
replay = _engine.replay
kernel_scores = _engine.kernel_scores
kernel_matrix = _engine.kernel_matrix
scale_gamma = _engine.scale_gamma
separate = _engine.separate
margin = _engine.margin
permutation = _engine.permutation
elementary = _engine.elementary
mlp_start = _engine.mlp_start
mlp_scores = _engine.mlp_scores
updates_until_right = _engine.updates_until_right
sequence_average = _engine.sequence_average
sequence_decode = _engine.sequence_decode
sequence_k_best = _engine.sequence_k_best
sequence_margins = _engine.sequence_margins
sequence_weights = _engine.sequence_weights
structured_update = _engine.structured_update
