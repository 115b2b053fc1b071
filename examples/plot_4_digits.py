"""
Digits with kernels
===================

Freund and Schapire (1999) let perceptrons with polynomial kernels learn handwritten digits. They compared
four ways to predict: with the last weight vector, with a random one, with the average of all vectors, and
with their vote. This is a part of their table, on the small digits of scikit-learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from perceptron_rs import KernelPerceptron

X, y = load_digits(return_X_y=True)
X = X.astype("uint8")  # integers are multiplied exactly, and fast
X_train, y_train, X_test, y_test = X[:1200], y[:1200], X[1200:], y[1200:]

# %%
# One fit serves all four predictions, since it keeps all mistakes in their order.

degrees, epochs, predictions = (1, 2, 3, 4), (1, 3, 10), ("last", "random", "average", "vote")
errors = np.empty((len(degrees), len(epochs), len(predictions)))
for i, degree in enumerate(degrees):
    for j, max_iter in enumerate(epochs):
        model = KernelPerceptron(
            "poly", degree=degree, gamma=1.0, coef0=1.0, max_iter=max_iter, normalize=True
        )
        model.fit(X_train, y_train)
        for k, prediction in enumerate(predictions):
            errors[i, j, k] = 100 - 100 * model.set_params(prediction=prediction).score(X_test, y_test)

print("test errors in per cent")
print("degree  epochs" + "".join(f"{name:>9}" for name in predictions))
for i, degree in enumerate(degrees):
    for j, max_iter in enumerate(epochs):
        print(f"{degree:6}{max_iter:8}" + "".join(f"{error:9.2f}" for error in errors[i, j]))

# %%
# Degree 1 is the linear perceptron. Products of two pixels already remove a large part of its errors.
# Averages and votes are better than the last vector mostly in the first epochs.

figure, axes = plt.subplots(1, len(degrees), figsize=(12, 3.2), sharey=True, layout="constrained")
styles = zip(predictions, ("#D55E00", "#E69F00", "#009E73", "#0072B2"), "s^Do", strict=True)
for k, (name, colour, marker) in enumerate(styles):
    for i, ax in enumerate(axes):
        ax.plot(epochs, errors[i, :, k], color=colour, marker=marker, label=name)
        ax.set(title=f"degree {degrees[i]}", xlabel="epochs", xscale="log", xticks=epochs)
        ax.set_xticks(epochs, labels=epochs, minor=False)
        ax.minorticks_off()
axes[0].set(ylabel="test errors in per cent", ylim=(0, None))
axes[-1].legend()
plt.show()

# %%
# What the best of them gets wrong:

model.set_params(prediction="vote")
wrong = np.flatnonzero(model.predict(X_test) != y_test)[:10]
figure, axes = plt.subplots(1, len(wrong), figsize=(12, 1.8), layout="constrained")
for ax, row in zip(axes, wrong, strict=True):
    ax.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
    ax.set(xticks=[], yticks=[], title=f"{y_test[row]} as {model.predict(X_test[[row]])[0]}")
plt.show()
