"""
.. _hamming:

Categories and the Hamming distance
===================================

Examples often have categories instead of numbers: a colour, a shape, an odour. One-hot encoding gives
each category a column of its own. The dot product of two examples is then the number of attributes in
which they agree, which is the number of attributes minus their Hamming distance. So every kernel of dot
products is a kernel of the Hamming distance.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import OneHotEncoder

from perceptron_rs import AveragedPerceptron, KernelPerceptron

# %%
# Mushrooms, made by rule: one is edible if exactly one of two conditions holds. One attribute alone says
# nothing.

rng = np.random.default_rng(0)
values = {
    "cap": ["bell", "flat", "cone"],
    "colour": ["white", "brown", "red", "green"],
    "odour": ["none", "almond", "foul"],
    "gills": ["free", "attached"],
    "ring": ["none", "one", "two"],
    "habitat": ["wood", "meadow", "path"],
}
mushrooms = np.column_stack([rng.choice(own, 1000) for own in values.values()])
edible = (mushrooms[:, 2] == "almond") ^ np.isin(mushrooms[:, 1], ["red", "green"])
y = np.where(edible, "edible", "poisonous")
encoder = OneHotEncoder(dtype=np.uint8)
X = encoder.fit_transform(mushrooms)
agree = (X[:1] @ X[:3].T).toarray()[0]
distance = [int((mushrooms[0] != mushrooms[k]).sum()) for k in range(3)]
print("agree in", agree.tolist(), "attributes, differ in", distance)

# %%
# The table and the plot show the errors on 600 other mushrooms by the number of examples. A linear
# learner cannot learn such a rule. A polynomial kernel of degree d has a feature for every combination of
# up to d categories. The last kernel decays with the Hamming distance: :math:`2^{-h}`.

X = X.toarray()


def by_distance(A, B):
    """Return 2 to the power of minus the Hamming distance."""
    return 2.0 ** (A.astype(float) @ B.T.astype(float) - len(values))


learners = {
    "linear": AveragedPerceptron(max_iter=10, tol=None),
    "degree 2": KernelPerceptron("poly", degree=2, gamma=1.0, coef0=1.0),
    "degree 3": KernelPerceptron("poly", degree=3, gamma=1.0, coef0=1.0),
    "$2^{-h}$": KernelPerceptron(by_distance),
}
sizes = (25, 50, 100, 200, 400)
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
styles = zip(learners.items(), ("#222222", "#0072B2", "#009E73", "#D55E00"), "osD^", strict=True)
for (name, learner), colour, marker in styles:
    errors = [1 - learner.fit(X[:n], y[:n]).score(X[400:], y[400:]) for n in sizes]
    ax.plot(sizes, errors, color=colour, marker=marker, label=name)
    print(f"{name:10}", " ".join(f"{error:.3f}" for error in errors))
ax.set(xlabel="examples learnt from", ylabel="error rate", ylim=(0, None), xticks=sizes)
ax.legend()
plt.show()
