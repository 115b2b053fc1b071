"""What linear classifiers have learnt."""

from __future__ import annotations

from functools import partial

from perceptron_rs.schema.schema import COUNTS, EPOCHS, RUN_COUNTS, Array, Schema, StoredExamples

__all__ = ["AVERAGED", "PERCEPTRON", "POCKET", "VOTED"]

_SEEN = Array("seen", "K", COUNTS, shown="n_seen_", reported=True)

PERCEPTRON = Schema(
    "perceptron",
    (
        Array("coef", "Kd", shown="coef_"),
        Array("intercept", "K", shown="intercept_"),
        _SEEN,
        # Penalties that are pending, which depends on how calls were cut.
        Array("ages", "Kd", COUNTS, group="pending", predicts=False, compared=False),
        Array("strengths", (3,), group="pending", predicts=False, compared=False),
        *EPOCHS,
    ),
    RUN_COUNTS,
)

AVERAGED = Schema(
    "averaged",
    (
        Array("coef", "Kd", shown="last_coef_"),
        Array("intercept", "K", shown="last_intercept_"),
        Array("coef_u", "Kd", shown="_coef_u"),
        Array("intercept_u", "K", shown="_intercept_u"),
        _SEEN,
        *EPOCHS,
    ),
    RUN_COUNTS,
)

#: What a fit leaves beside the weights in the pocket; none of weights that were set.
_of_pocket = partial(Array, group="pocket", predicts=False)
POCKET = Schema(
    "pocket",
    (
        Array("coef", "Kd", shown="coef_"),
        Array("intercept", "K", shown="intercept_"),
        _SEEN,
        _of_pocket("last_coef", "Kd"),
        _of_pocket("last_intercept", "K"),
        _of_pocket("pocket_errors", "K", shown="pocket_errors_"),
        _of_pocket("pocket_run", "K", COUNTS, shown="pocket_run_"),
        _of_pocket("swap_plane", "m", COUNTS, shown="_swap_plane"),
        _of_pocket("swap_epoch", "m", COUNTS, shown="_swap_epoch"),
        _of_pocket("swap_t", "m", COUNTS, shown="_swap_t"),
        _of_pocket("swap_errors", "m", shown="_swap_errors"),
        _of_pocket("swap_average", "m", COUNTS, shown="_swap_average", most=1),
        *EPOCHS,
    ),
    RUN_COUNTS,
)

#: See `perceptron_rs.linear.vectors`. Numbers of stored rows and of rows of X are no part of what predicts.
VOTED = Schema(
    "voted",
    (
        Array("coef", "Kd", label="_coef"),
        Array("intercept", "K", label="_intercept"),
        _SEEN,
        Array("vectors_coef", "Kd"),
        Array("vectors_intercept", "K"),
        Array("vectors_coef_u", "Kd", finite=False),
        Array("vectors_intercept_u", "K", finite=False),
        Array("vectors_first_t", "K", COUNTS, least=1),
        Array("vectors_first_row", "K", COUNTS, least=-1, predicts=False),
        Array("vectors_log_start", "S", COUNTS),
        Array("vectors_log_row", "M", COUNTS, predicts=False),
        Array("vectors_log_t", "M", COUNTS),
        Array("vectors_log_step", "M"),
        Array("vectors_log_bias", "M"),
        Array("vectors_log_origin", "M", COUNTS, predicts=False),
        StoredExamples("rd", prefix="vectors_", index="vectors_log_row"),
        Array("vectors_seed", (1,), COUNTS, predicts=False),
        *EPOCHS,
    ),
    RUN_COUNTS,
)
