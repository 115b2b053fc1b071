"""What kernel perceptrons have learnt: mistaken examples, and a log of them or the members of sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from perceptron_rs.engines import State
from perceptron_rs.schema.kernel_spec import KERNEL_ARRAY
from perceptron_rs.schema.schema import COUNTS, EPOCHS, RUN_COUNTS, Array, Schema, StoredExamples
from perceptron_rs.settings import check_kept
from perceptron_rs.targets.planes import is_joint

if TYPE_CHECKING:
    from perceptron_rs.kernel.predictor import BudgetedKernelPerceptronPredictor


_SHARED = (
    Array("seen", "K", COUNTS, shown="n_seen_", label="seen", reported=True),
    KERNEL_ARRAY,
    Array("origin", "r", COUNTS, shown="support_", predicts=False),
    *EPOCHS,
)
_COUNTS = RUN_COUNTS | {"seed": "_seed"}

KERNEL = Schema(
    "kernel",
    (
        *_SHARED,
        Array("intercept", "K", shown="intercept_"),
        Array("norm", "K", shown="_norm", predicts=False),
        Array("log_start", "S", COUNTS),
        Array("log_row", "M", COUNTS, predicts=False),
        Array("log_t", "M", COUNTS),
        Array("log_step", "M"),
        Array("log_bias", "M"),
        Array("log_norm", "M"),
        StoredExamples("rc", index="log_row"),
    ),
    _COUNTS,
)

#: The members of the sets; the log of mistakes is made of them.
BUDGETED = Schema(
    "budgeted-kernel",
    (
        *_SHARED,
        Array("kept_start", "s", COUNTS),
        Array("kept_row", "m", COUNTS, predicts=False),
        Array("kept_number", "m", COUNTS),
        Array("kept_step", "mw"),
        Array("kept_mistakes", "g", COUNTS),
        Array("kept_harm", "g"),
        Array("kept_factor", "f"),
        StoredExamples("rc", index="kept_row"),
        # The key of what the policy "random" draws.
        Array(
            "kept_seed",
            (1,),
            COUNTS,
            attribute="_policy_seed",
            predicts=False,
            compared=False,
            pack=np.atleast_1d,
            unpack=np.ndarray.item,
        ),
    ),
    _COUNTS,
    engine_name="budget",
)


def check_kernel_log(arrays: State) -> None:
    """Raise ValueError unless the log of mistakes leads to the intercepts and norms."""
    start, n_rows = arrays["log_start"], len(arrays["origin"])
    if start[0] != 0 or (np.diff(start) < 0).any() or start[-1] != len(arrays["log_row"]):
        raise ValueError("the tensor log_start must rise from 0 to the number of mistakes")
    if arrays["log_row"].max(initial=-1) >= n_rows:
        raise ValueError(f"the tensor log_row must name one of {n_rows} rows")
    for k, (intercept, norm, seen) in enumerate(
        zip(arrays["intercept"], arrays["norm"], arrays["seen"], strict=True)
    ):
        plane = slice(start[k], start[k + 1])
        times = arrays["log_t"][plane]
        if (np.diff(times, prepend=0) < 1).any() or times.max(initial=0) > seen:
            raise ValueError("the tensor log_t must rise within each plane to the examples seen")
        last_intercept = np.add.accumulate(np.concatenate([[0.0], arrays["log_bias"][plane]]))[-1]
        last_norm = np.concatenate([[0.0], arrays["log_norm"][plane]])[-1]
        if last_intercept != intercept or last_norm != norm:
            raise ValueError("the tensors log_... do not lead to the intercept and norm of the file")


def check_members(model: BudgetedKernelPerceptronPredictor, arrays: State) -> None:
    """Raise ValueError unless the members are those of sets on a budget."""
    width = len(arrays["seen"]) if is_joint(model) else 1
    sets, rows = len(arrays["seen"]) // width, len(arrays["origin"])
    check_kept(arrays, int(model.budget), model.budget_policy, sets=sets, width=width, rows=rows)
    numbers = np.split(arrays["kept_number"], arrays["kept_start"][1:-1])
    for number, mistakes, seen in zip(numbers, arrays["kept_mistakes"], arrays["seen"], strict=False):
        if (np.diff(number, prepend=0) < 1).any() or not number.max(initial=0) <= mistakes <= seen:
            raise ValueError("the tensor kept_number must rise within each set to the number of its mistakes")
