"""
Probes of the layers of a network
=================================

A probe is a linear classifier on the activations of one layer: does the layer say what the input is about?
The activations of large networks are saved in files of half floats. They are read here where they are:
nothing is widened to a copy, and nothing need fit in memory.

The activations are made here: a layer holds the answer in one direction, the stronger the later the layer is,
under noise. With ``n_inputs`` and ``width`` this is as large as you like.
"""

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from safetensors.numpy import save_file
from sklearn.linear_model import LogisticRegression

from perceptron_rs import AveragedPerceptron, is_separable, max_margin
from perceptron_rs.io import load_safetensors, open_safetensors

n_inputs, width, layers = 1200, 64, 6
random = np.random.default_rng(0)
answers = random.integers(0, 2, n_inputs)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "activations.safetensors"


def activations(layer):
    """Return what a layer says of all inputs."""
    direction = random.normal(size=width) / np.sqrt(width)
    noise = random.normal(size=(n_inputs, width))
    return (noise + np.outer(2 * answers - 1, layer * direction)).astype(np.float16)


save_file({"answer": answers} | {f"layer.{k}": activations(k) for k in range(layers)}, path)
print(f"{path.stat().st_size / 1e6:.1f} MB in one file")

# %%
# Each layer is mapped. The averaged perceptron learns in a few passes, `~perceptron_rs.is_separable` proves
# whether some plane is right on all inputs, and `~perceptron_rs.max_margin` bounds by how much. Logistic
# regression needs the numbers as float64.

train, test = slice(0, n_inputs * 2 // 3), slice(n_inputs * 2 // 3, None)
found = []
print("layer  perceptron         logistic           separable  margin")
for layer in range(layers):
    X = load_safetensors(path, f"layer.{layer}")
    started = time.perf_counter()
    probe = AveragedPerceptron(max_iter=10, tol=None).fit(X[train], answers[train])
    mid = time.perf_counter()
    wide = X.astype(np.float64)
    logistic = LogisticRegression(C=0.1, max_iter=1000).fit(wide[train], answers[train])
    ended = time.perf_counter()
    accuracies = probe.score(X[test], answers[test]), logistic.score(wide[test], answers[test])
    separable = bool(is_separable(X[train], answers[train]))
    margin = max_margin(X[train], answers[train]).lower if separable else 0.0
    found.append((*accuracies, margin))
    times = mid - started, ended - mid
    cells = (f"{accuracy:.3f} in {t:6.4f} s" for accuracy, t in zip(accuracies, times, strict=True))
    print(f"{layer:5}  {'  '.join(cells)}  {separable!s:9}  {margin:.3f}")

# %%
# Where the classes overlap, logistic regression is a little more accurate: it weighs all inputs, and a
# perceptron learns from its mistakes alone. It takes longer. Where a layer separates the inputs, both are
# right, and the margin still tells the layers apart. :doc:`/guide/linear` has figures for 100,000 inputs of
# 1,024 numbers.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
perceptrons, logistics, margins = np.transpose(found)
left.plot(perceptrons, "o-", label="averaged perceptron")
left.plot(logistics, "s--", label="logistic regression")
left.set(xlabel="layer", ylabel="accuracy on other inputs")
left.legend()
right.bar(range(layers), margins)
right.set(xlabel="layer", ylabel="margin; none where not separable")
plt.show()

# %%
# A file that is larger than the memory is streamed, with the same bits as blocks of it in memory:

source = open_safetensors(path, f"layer.{layers - 1}", target="answer")
streamed = AveragedPerceptron(max_iter=3, tol=None).fit_stream(source, block_size=256)
print("streamed:", streamed.score(X, answers))
folder.cleanup()
