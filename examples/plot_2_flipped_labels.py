"""
Which variant stands wrong labels?
==================================

One label in ten is wrong. The same 300 examples are learnt in 20 orders by each variant, and each model
is judged by the true labels of 2,000 other examples.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptron_rs import AveragedPerceptron, Perceptron, PocketPerceptron, VotedPerceptron
from perceptron_rs.datasets import make_noisy, make_separable
from perceptron_rs.plots import ErrorsDisplay

X, y = make_noisy(2300, 20, margin=0.1, flipped=0.1, seed=1)
_, truth = make_separable(2300, 20, margin=0.1, seed=1)
X_train, y_train, X_test, y_test = X[:300], y[:300], X[300:], truth[300:]

learners = {
    "last weights": Perceptron(),
    "average": AveragedPerceptron(),
    "vote": VotedPerceptron(),
    "pocket of the paper": PocketPerceptron(average=False),
    "pocket": PocketPerceptron(),
    "added feature": Perceptron(added_feature=1.0),
    "at most 3 mistakes\non an example": Perceptron(max_mistakes_per_example=3),
    "added feature\nand average": AveragedPerceptron(added_feature=1.0),
}

# %%
# The last weights depend on the examples that came last. A wrong label among them turns the hyperplane
# away. Averages and votes hardly notice it. The pocket keeps the fewest training errors, wrong labels
# included: Gallant's paper lets it choose among the weights of the run, the default among averages, too.


def error(learner, seed):
    """Return the error rate on true labels after 20 epochs of one order."""
    learner.set_params(max_iter=20, tol=None, random_state=seed)
    return 1 - learner.fit(X_train, y_train).score(X_test, y_test)


errors = {name: [error(learner, seed) for seed in range(20)] for name, learner in learners.items()}

figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
for row, found in enumerate(errors.values()):
    ax.plot(found, row + np.linspace(-0.25, 0.25, 20), ".", color="#0072B2", alpha=0.6)
    ax.plot(np.mean(found), row, "|", color="#D55E00", markersize=28, markeredgewidth=2)
ax.set(yticks=range(len(errors)), yticklabels=errors, xlim=(0, None))
ax.set_xlabel("error rate on true labels: 20 orders and their mean")
ax.invert_yaxis()
plt.show()

for name, found in errors.items():
    print(f"{' '.join(name.split()):35} mean {np.mean(found):.3f}   worst {np.max(found):.3f}")

# %%
# After each epoch of one order. The training labels are those that were learnt, one in ten of them wrong;
# the test labels are the true ones. The best hyperplane has a training error of about 0.1, and no test error.

shown = {name: learners[name].set_params(random_state=0) for name in list(learners)[:5]}
figure, ax = plt.subplots(figsize=(9, 3.5), layout="constrained")
ErrorsDisplay.from_estimators(shown, X_train, y_train, X_test=X_test, y_test=y_test, ax=ax)
ax.set(ylabel="error rate", ylim=(0, None))
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
plt.show()
