"""Rows of bytes beside the same rows in float32: how much faster a byte is.

Ratios are medians of alternating runs in one process, on one thread; answers are compared first.

    python benches/bytes.py [--runs 25] [--columns 4 8 16 32 64 128 784] [--write]
"""

from __future__ import annotations

import sys

import bars
import numpy as np
from alternate import alternate
from threadpoolctl import threadpool_limits

from perceptron_rs import Perceptron

COLUMNS = 4, 8, 16, 32, 64, 128, 784
ENTRIES = 4_000_000


def drawn(d: int, classes: int):
    """Return rows of bytes whose labels a line through noise gives."""
    random = np.random.default_rng(d)
    X = random.integers(0, 256, (max(2_000, min(100_000, ENTRIES // d)), d), dtype=np.uint8)
    scores = (X - 127.5) @ random.standard_normal((d, classes))
    scores += random.normal(0, scores.std() / 10, scores.shape)
    return X, (scores.argmax(axis=1) if classes > 1 else (scores[:, 0] > 0).astype(int))


def main() -> int:
    parser = bars.parser(__doc__)
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--columns", type=int, nargs="+", default=COLUMNS)
    options = parser.parse_args()
    figures = bars.Figures("bytes", write=options.write)
    print(f"{'case':44} {'float32 ns/row':>14} {'bytes ns/row':>13} {'ratio':>6}")
    for classes in (1, 10):
        for d in options.columns:
            X, y = drawn(d, classes)
            for name, given in {"uint8": X, "int8": (X.astype(np.int16) - 128).astype(np.int8)}.items():
                floats = given.astype(np.float32)
                model = Perceptron(max_iter=2, tol=None, shuffle=False)
                fitted = [Perceptron(**model.get_params()).fit(rows, y) for rows in (given, floats)]
                assert fitted[0].coef_.tobytes() == fitted[1].coef_.tobytes()
                scores = [fitted[0].decision_function(rows) for rows in (given, floats)]
                assert scores[0].tobytes() == scores[1].tobytes()
                calls = {
                    "fit": (model.fit, 2),
                    "decision_function": (lambda rows, _: fitted[0].decision_function(rows), 1),  # noqa: B023
                }
                for method, (call, passes) in calls.items():
                    wide, narrow = alternate(
                        options.runs,
                        lambda: call(floats, y),  # noqa: B023
                        lambda: call(given, y),  # noqa: B023
                    )
                    visits = len(y) * passes
                    case = f"{name} d={d}, planes={classes}, {method}"
                    print(
                        f"{case:44} {wide / visits * 1e9:14.1f} {narrow / visits * 1e9:13.1f}",
                        figures.hold(case, wide / narrow),
                        flush=True,
                    )
    return figures.end()


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
