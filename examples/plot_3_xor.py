"""
XOR four ways
=============

No line separates the four points of the exclusive or. A perceptron runs in a cycle for ever. Three ways
lead out of it.
"""

import matplotlib.pyplot as plt

from perceptron_rs import (
    KernelPerceptron,
    MultilayerPerceptron,
    Perceptron,
    PocketPerceptron,
    is_separable,
    trace,
)
from perceptron_rs.datasets import xor
from perceptron_rs.plots import HyperplaneDisplay

X, y = xor()
print("separable:", is_separable(X, y))

# %%
# **The cycle.** After each epoch the weights are zero again. As nothing else decides what comes next, the
# run repeats itself for ever.

cycle = Perceptron(shuffle=False, tol=None, max_iter=2)
print(trace(cycle, X, y))

# %%
# **The pocket** keeps the best weights of the run. One mistake remains, and no line does better. **A
# kernel** of degree 2 adds the product of both coordinates, and a plane in the larger space separates the
# points. **A hidden layer** learns such features by itself.

ways = {
    "a cycle": cycle,
    "the pocket": PocketPerceptron(max_iter=50, tol=None, tie="positive"),
    "a kernel": KernelPerceptron("poly", degree=2, gamma=1.0, coef0=1.0, max_iter=50, prediction="last"),
    "a hidden layer": MultilayerPerceptron((4,), activation="tanh", learning_rate_init=0.1, max_iter=2000),
}
figure, axes = plt.subplots(1, 4, figsize=(13, 3.6), layout="constrained")
for ax, (name, learner) in zip(axes, ways.items(), strict=True):
    learner.fit(X, y)
    HyperplaneDisplay.from_estimator(learner, X, y, ax=ax)
    wrong = (learner.predict(X) != y).sum()
    ax.set_title(f"{name}: {wrong} wrong")
plt.show()
