"""Probes on half floats: how fast for each byte, beside float32; how accurate, beside logistic regression.

The activations lie in a safetensors file, which is mapped. Ratios are medians of alternating runs in one
process, on one thread; answers are compared first.

    python benches/probes.py [--rows 100000] [--columns 1024] [--runs 5] [--write]
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from pathlib import Path

import bars
import ml_dtypes
import numpy as np
from alternate import alternate
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from perceptron_rs import AveragedPerceptron, Perceptron, is_separable, max_margin
from perceptron_rs.io import load_safetensors

KINDS = {"F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16}


def written(path: Path, n: int, d: int) -> np.ndarray:
    """Write layers whose numbers all three types hold, one after another; return the answers."""
    random = np.random.default_rng(0)
    y = random.integers(0, 2, n)
    direction = random.normal(size=d) / np.sqrt(d)
    tensors = {}
    for layer, strength in enumerate((0.0, 1.5, 8.0)):
        X = random.standard_normal((n, d), dtype=np.float32)
        X += np.outer(2 * y - 1, strength * direction).astype(np.float32)
        X[np.abs(X) < 2.0**-14] = 0  # the least normal number of float16
        X = X.astype(ml_dtypes.bfloat16).astype(np.float32)
        for kind in KINDS if layer == 2 else ("F16",):
            tensors[f"{layer} {kind}"] = X.astype(KINDS[kind])
    save_file(tensors, path)
    return y


def per_byte(path: Path, y: np.ndarray, runs: int, figures: bars.Figures) -> None:
    """Compare types of one layer."""
    layers = {kind: load_safetensors(path, f"2 {kind}") for kind in KINDS}
    model = Perceptron(max_iter=1, tol=None, shuffle=False)
    fitted = {kind: Perceptron(**model.get_params()).fit(X, y) for kind, X in layers.items()}
    assert len({found.coef_.tobytes() for found in fitted.values()}) == 1
    for method in ("fit", "decision_function"):
        times = dict(
            zip(
                KINDS,
                alternate(
                    runs,
                    *(
                        (lambda X=X: model.fit(X, y))
                        if method == "fit"
                        else (lambda X=X: fitted["F32"].decision_function(X))
                        for X in layers.values()
                    ),
                ),
                strict=True,
            )
        )
        for kind in ("F16", "BF16"):
            ratio = times["F32"] / times[kind] / 2  # of the seconds for a byte
            case = f"{method}, {kind.lower()} for each byte of f32"
            print(
                f"{case:44} {times['F32']:.4f} s, {times[kind]:.4f} s", figures.hold(case, ratio), flush=True
            )


def probes(path: Path, y: np.ndarray) -> list[dict[str, object]]:
    """Compare probes of all layers."""
    n, found = len(y) * 4 // 5, []
    for layer in range(3):
        X = load_safetensors(path, f"{layer} F16")
        wide = X.astype(np.float32)
        result: dict[str, object] = {"layer": layer, "shape": list(X.shape)}
        for name, work in {
            "averaged": lambda X=X: AveragedPerceptron(max_iter=10, tol=None).fit(X[:n], y[:n]),
            "logistic": lambda wide=wide: LogisticRegression(C=0.01, max_iter=1000).fit(wide[:n], y[:n]),
        }.items():
            started = time.perf_counter()
            model = work()
            result[f"{name} s"] = time.perf_counter() - started
            result[name] = model.score(wide[n:] if name == "logistic" else X[n:], y[n:])
        for name, call in {"separable": is_separable, "margin": max_margin}.items():
            if name == "margin" and not result["separable"]:
                continue
            started = time.perf_counter()
            answer = call(X[:n], y[:n])
            result[f"{name} s"] = time.perf_counter() - started
            result[name] = bool(answer) if name == "separable" else [answer.lower, answer.upper]
        print(result, flush=True)
        found.append(result)
    return found


def main() -> int:
    parser = bars.parser(__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=1024)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    figures = bars.Figures("probes", write=options.write)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "layers.safetensors"
        y = written(path, options.rows, options.columns)
        per_byte(path, y, options.runs, figures)
        found = probes(path, y)
    return figures.end(probes=found)


if __name__ == "__main__":
    with threadpool_limits(1):
        sys.exit(main())
