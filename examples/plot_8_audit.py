"""
The audit of a model
====================

A model file claims: "I was learnt from this data." `~perceptron_rs.reproduce` checks the claim by
learning again, to the last bit, and names what differs.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_matrix

import perceptron_rs
from perceptron_rs import AveragedPerceptron, Perceptron
from perceptron_rs.datasets import make_noisy, make_separable

X, y = make_noisy(2500, 10, margin=0.1, flipped=0.01, seed=5)
model = AveragedPerceptron(max_iter=10, tol=None, audit=True).fit(X, y)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "loans.safetensors"
    model.save(path)
    print(f"{path.name}: {path.stat().st_size:,} bytes")
    filed = perceptron_rs.load(path)
print("digest", perceptron_rs.digest(filed))

# %%
# The auditor has the data in another form, on another machine. It does not matter.

print(perceptron_rs.reproduce(filed, csr_matrix(X), y).message)

# %%
# Somebody has changed one label since then, or one number:

changed = y.copy()
changed[1234] *= -1
print(perceptron_rs.reproduce(filed, X, changed).message)
other = X.copy()
other[2, 3] += 1e-9
print(perceptron_rs.reproduce(filed, other, y).message)

# %%
# Labels that were wrong from the beginning are no matter of bits. But a learner stumbles over them: it
# makes a mistake on them in nearly every epoch.

_, truth = make_separable(2500, 10, margin=0.1, seed=5)
learner = Perceptron(max_iter=20, tol=None, track_mistakes=True).fit(X, y)
mistakes = learner.mistakes_per_example_[:, 0]
bins = np.arange(mistakes.max() + 2) - 0.5
figure, ax = plt.subplots(figsize=(8, 3.5), layout="constrained")
ax.hist(
    [mistakes[y == truth], mistakes[y != truth]],
    bins,
    color=["#0072B2", "#D55E00"],
    label=["right label", "wrong label"],
)
ax.set(xlabel="mistakes on an example in 20 epochs", ylabel="examples", yscale="log")
ax.legend()
plt.show()

suspects = np.argsort(-mistakes, kind="stable")[:25]
print(
    f"{(y != truth).sum()} labels are wrong; {(y != truth)[suspects].sum()} of them are among the 25 suspects"
)
