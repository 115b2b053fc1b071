"""Answers from a model file beside scikit-learn, ONNX Runtime and river: one row, many, a new process.

    python benches/serving.py [--write]

A model of 100 numbers and two classes is trained here, and handed to scikit-learn (`to_sklearn`), ONNX
Runtime (`to_onnx`) and river (its weights). All give the same labels, which is checked. Times are taken in
turns, on one thread, each of the least of ten calls, so that no peer clears the caches of the next.
Of new processes the whole time counts, from the start of the interpreter to the first answer. A
peer that is not installed is left out.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bars
import numpy as np
from alternate import alternate

from perceptron_rs import AveragedPerceptron, load_predictor

D = 100
#: Of each peer, one after another.
CALLS = 10
#: What a new process does, after ``import sys``; the model's folder is ``sys.argv[1]``.
PROCESSES = {
    "load_predictor": """
from perceptron_rs import load_predictor
print(load_predictor(sys.argv[1] + "/model").predict([[1.0] * 100])[0])""",
    "load": """
from perceptron_rs import load
print(load(sys.argv[1] + "/model").predict([[1.0] * 100])[0])""",
    "scikit-learn": """
import pickle
with open(sys.argv[1] + "/pickle", "rb") as file:
    print(pickle.load(file).predict([[1.0] * 100])[0])""",
    "ONNX Runtime": """
import numpy, onnxruntime
session = onnxruntime.InferenceSession(sys.argv[1] + "/onnx")
print(session.run(["label"], {"X": numpy.ones((1, 100))})[0][0])""",
}
#: Prints the peak memory of its process.
MEMORY = """
with open("/proc/self/status") as status:
    print(status.read().split("VmHWM:")[1].split()[0])"""


def answers(folder, X):
    """Return what predicts the labels of rows, by name."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((5000, D))
    y = np.where(A @ rng.standard_normal(D) > 0, 1, 0)
    model = AveragedPerceptron(max_iter=5, tol=None).fit(A, y)
    model.save(folder / "model")
    predictor, other = load_predictor(folder / "model"), model.to_sklearn()
    (folder / "pickle").write_bytes(pickle.dumps(other))
    found = {
        "load_predictor": lambda: predictor.predict(X),
        "estimator": lambda: model.predict(X),
        "scikit-learn": lambda: other.predict(X),
    }
    try:
        import onnx
        import onnxruntime
    except ImportError:
        print("no ONNX Runtime is installed")
    else:
        onnx.save(model.to_onnx(), folder / "onnx")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        session = onnxruntime.InferenceSession(folder / "onnx", options)
        found["ONNX Runtime"] = lambda: session.run(["label"], {"X": X})[0]
    try:
        from river import linear_model, utils
    except ImportError:
        print("river is not installed")
    else:
        river = linear_model.Perceptron()
        river.learn_one(dict(enumerate(X[0].tolist())), True)
        river._weights = utils.VectorDict(dict(enumerate(model.coef_[0].tolist())))
        river.intercept = float(model.intercept_[0])
        rows = [dict(enumerate(row)) for row in X.tolist()]
        found["river"] = lambda: np.array([river.predict_one(row) for row in rows], dtype=int)
    return found


def in_turns(runs, works):
    """Return the least seconds of each of the works, run in turns of `CALLS` calls.

    One call is not enough to be warm: after a peer that reads much memory, the first calls of the next one
    are up to 1.6 times as slow, so the first in a turn looked slower than the same code after it.
    """
    times = {who: [] for who in works}
    for _ in range(runs):
        for who, work in works.items():
            for _ in range(CALLS):
                start = time.perf_counter()
                work()
                times[who].append(time.perf_counter() - start)
    return {who: min(seconds) for who, seconds in times.items()}


def process(code, folder):
    """Return what a new process prints."""
    argv = [sys.executable, "-c", f"import sys{code}", str(folder)]
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout.split()


def main():
    """Measure, print and hold the figures."""
    options = bars.parser(__doc__).parse_args()
    figures = bars.Figures("serving", write=options.write)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for n, runs in ((1, 500), (1000, 50)):
            X = np.random.default_rng(1).standard_normal((n, D))
            works = answers(folder, X)
            expected = works["load_predictor"]()
            for who, work in works.items():
                assert np.array_equal(np.asarray(work()), expected), who
            times = in_turns(runs, works)
            ours = times["load_predictor"]
            for who, seconds in times.items():
                said = "" if who == "load_predictor" else figures.hold(f"{n} rows, {who}", seconds / ours)
                print(f"{n:5} rows  {who:15} {seconds * 1e6:10.1f} us  {said}")
        codes = {who: code for who, code in PROCESSES.items() if who != "ONNX Runtime" or who in works}
        expected = process(codes["load_predictor"], folder)
        assert all(process(code, folder) == expected for code in codes.values())
        seconds = alternate(5, *((lambda code=code: process(code, folder)) for code in codes.values()))
        for who, spent in zip(codes, seconds, strict=True):
            said = (
                figures.hold(f"a new process, {who}", spent / seconds[0]) if who != "load_predictor" else ""
            )
            size = ""
            if sys.platform == "linux":
                size = f"{int(process(codes[who] + MEMORY, folder)[-1]) / 1000:.0f} MB"
            print(f"first answer {who:15} {spent:8.3f} s  {size}  {said}")
    return figures.end()


if __name__ == "__main__":
    sys.exit(main())
