"""Cases of multilayer.txt."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from words import TYPES, Case, bits, draw, floats, rows

from perceptron_rs.arrays.named import State
from perceptron_rs.engines import Engine
from perceptron_rs.reference.order import splitmix64
from perceptron_rs.settings import Data, Network
from perceptron_rs.training.driver import Schedule, follow

LAYERS = """
Inputs. X (n x d) = draw(type, seed, n*d, zeros). The same answer must come out with X dense, and as
CSR with its zeros left out, for 32-bit and 64-bit indices.
  labels         z mod classes, from SplitMix64(seed + 1); outputs: 1 for two classes, else their number
  hidden         neurons of each hidden layer
  start_seed     key of the start weights
  activation, rate, alpha, batch_size, first_epoch, max_iter, n_iter_no_change: as they are named
  shuffle        none, or the seed of the permutations
  tol            none, or a float64
Outputs.
  start_0, start_1, ...  weights of each layer (neurons x inputs) and its intercepts behind them, at the start
  losses, stopped        mean loss of each epoch, and why the run ended
  layer_0, layer_1, ...  the same as start_0, ..., at the end
  scores, probabilities  (n x outputs) of the rows of X
"""


def layers(engine: Engine, case: Case, layout: str) -> Case:
    """Outputs of a case of multilayer.txt."""
    n, d, seed, classes = (int(case[name]) for name in ("n", "d", "seed", "classes"))
    matrix = rows(engine, draw(case["type"], seed, (n, d), int(case["zeros"])), layout)
    hidden = [int(size) for size in case["hidden"].split(",") if size]
    activation = case["activation"]
    start = engine.mlp_start(
        d, hidden, 1 if classes == 2 else classes, activation=activation, seed=int(case["start_seed"])
    )
    found = {f"start_{i}": bits(both) for i, both in enumerate(_joined(start))}
    settings = Network(
        activation=activation,
        rate=float(floats(case["rate"])[0]),
        alpha=float(floats(case["alpha"])[0]),
        batch_size=int(case["batch_size"]),
        seed=None if case["shuffle"] == "none" else int(case["shuffle"]),
    )
    schedule = Schedule(
        int(case["first_epoch"]),
        int(case["max_iter"]),
        None if case["tol"] == "none" else float(floats(case["tol"])[0]),
        int(case["n_iter_no_change"]),
        until_clean=False,
    )
    labels = (splitmix64(seed + 1, n) % np.uint64(classes)).astype(np.uint32)
    model = engine.Model.from_state("network", start)
    report = follow(engine.start(Data(matrix, labels), model, settings), settings, schedule)
    after = report.state.state()
    found |= {"losses": bits(report.losses), "stopped": report.stopped[0]}
    found |= {f"layer_{i}": bits(both) for i, both in enumerate(_joined(after))}
    for name, probabilities in (("scores", False), ("probabilities", True)):
        values = engine.mlp_scores(
            matrix, after, activation=activation, probabilities=probabilities, threads=1
        )
        found[name] = bits(values)
    return found


def _joined(state: State) -> Iterator[np.ndarray]:
    for i in range(len(state) // 2):
        yield np.concatenate([state[f"coef_{i}"].ravel(), state[f"intercept_{i}"]])


def layer_cases() -> Iterator[Case]:
    """Each activation on each type; then what changes the run."""
    base = {"n": "10", "d": "5", "type": "float64", "zeros": "2", "seed": "0", "classes": "2", "hidden": "3"}
    base |= {
        "start_seed": "0",
        "activation": "relu",
        "rate": bits(0.1),
        "alpha": bits(1e-4),
        "batch_size": "1",
    }
    base |= {"shuffle": "3", "first_epoch": "0", "max_iter": "3", "tol": "none", "n_iter_no_change": "2"}
    changes: list[Case] = []
    for activation in ("relu", "tanh", "logistic"):
        for dtype in TYPES:
            changes += [
                {"activation": activation, "type": dtype, "rate": bits(0.1 if "float" in dtype else 2.0**-40)}
            ]
        for classes in ("2", "3"):
            changes += [{"activation": activation, "classes": classes, "hidden": "4,2", "batch_size": "3"}]
    changes += [{"hidden": ""}, {"hidden": "", "classes": "4"}, {"hidden": "9,8,17"}, {"d": "1"}, {"d": "17"}]
    changes += [{"shuffle": "none"}, {"first_epoch": "7"}, {"alpha": bits(0.0)}, {"alpha": bits(0.5)}]
    changes += [{"batch_size": "10"}, {"batch_size": "99", "classes": "3"}, {"start_seed": "12345"}]
    changes += [
        {"tol": bits(0.5), "max_iter": "20"},
        {"tol": bits(1e-3), "max_iter": "20", "rate": bits(2.0)},
    ]
    changes += [{"activation": "tanh", "rate": bits(30.0), "classes": "3"}]  # saturated
    for i, change in enumerate(changes):
        yield base | {"seed": str(1000 * (i + 1)), "start_seed": str(i)} | change
