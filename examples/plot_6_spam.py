"""
Spam from raw text
==================

Messages come one by one, each as a line of text. The filter judges each message, is told whether that was
right, and learns. No vocabulary is needed: words are hashed to columns.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from perceptron_rs import AveragedPerceptron, Perceptron, PocketPerceptron
from perceptron_rs.plots import ProgressDisplay

# %%
# The messages are made by rule. Most words occur in both kinds of message, and one message in fifty has
# the wrong label.

both = "a and by call for free from here if in is it meet new now of please the this time to up we will you"
spam = "bonus cash claim click credit free loan offer prize urgent winner"
ham = "dinner family garden lecture lunch notes project question report tomorrow train"
rng = np.random.default_rng(0)


def message(is_spam):
    """Return a message of 5 to 14 words, of which one in four is typical of its kind."""
    typical = rng.random(rng.integers(5, 15)) < 0.25
    words = [(spam if is_spam else ham) if own else both for own in typical]
    return " ".join(rng.choice(own.split()) for own in words)


truth = rng.random(4000) < 0.4
texts = [message(is_spam) for is_spam in truth]
y = np.where(truth ^ (rng.random(4000) < 0.02), "spam", "ham")
for label, text in zip(y[:4], texts[:4], strict=True):
    print(f"{label:5}{text}")

# %%
# Each message is predicted before it is learnt from. So the mistakes are an honest estimate at any time
# (progressive validation). The comparator is a plane that was found in hindsight, with few errors on all
# messages: what is lost against it is the regret.

X = HashingVectorizer(n_features=2**12, alternate_sign=False, norm=None).transform(texts)
learners = {"no margin": Perceptron(), "margin 1": Perceptron(margin_threshold=1.0)}
best = PocketPerceptron(max_iter=20, tol=None).fit(X, y)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
display = ProgressDisplay.from_estimators(learners, X, y, comparator=best, kind="rate", ax=axes[0])
display.plot(axes[1], kind="regret")
plt.show()
print(display.table([100, 1000, 4000]))

# %%
# The average of all weights is steadier than the last ones.

train, test = slice(0, 3000), slice(3000, 4000)
for learner in Perceptron(), AveragedPerceptron():
    learner.partial_fit(X[train], y[train], classes=["ham", "spam"])
    print(f"{type(learner).__name__:20} accuracy {learner.score(X[test], y[test]):.3f}")

# %%
# Hashed columns have no names. To see what was learnt, count the words under their names.

words = CountVectorizer(token_pattern=r"\w+")
model = AveragedPerceptron().fit(words.fit_transform(texts), y)
names, weights = words.get_feature_names_out(), model.coef_[0]
shown = np.argsort(weights)[[*range(10), *range(-10, 0)]]
figure, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
ax.bar(names[shown], weights[shown], color=np.where(weights[shown] > 0, "#D55E00", "#0072B2"))
ax.axhline(0, color="#222222", linewidth=0.8)
ax.set(ylabel="weight for spam")
ax.tick_params(axis="x", rotation=60)
plt.show()
