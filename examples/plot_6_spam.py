"""
Spam from raw text
==================

Messages come one by one, each as a line of text. The filter judges each message, is told whether that was
right, and learns. No vocabulary is needed: words are hashed to columns.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

from perceptron_rs import AveragedPerceptron, Perceptron

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
# ``predict_then_learn`` predicts each message before it learns from it. So its errors are an honest
# estimate at any time.

X = HashingVectorizer(n_features=2**12, alternate_sign=False, norm=None).transform(texts)
errors = []
model = Perceptron()
for start in range(0, 4000, 100):
    batch = slice(start, start + 100)
    _, wrong = model.predict_then_learn(X[batch], y[batch], classes=["ham", "spam"])
    errors.append(wrong)

figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
seen = np.arange(100, 4001, 100)
ax.plot(seen, errors, color="#0072B2", marker=".", label="of the last 100")
ax.plot(seen, 100 * np.cumsum(errors) / seen, color="#D55E00", linestyle="--", label="of all so far")
ax.set(xlabel="messages", ylabel="wrong predictions in per cent", ylim=(0, None))
ax.legend()
plt.show()

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
