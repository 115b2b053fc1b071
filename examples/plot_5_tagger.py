"""
A tagger
========

Many words have more than one part of speech: "the dog barks", "the barks".
`~perceptron_rs.SequencePerceptron` finds the best sequence of labels for the whole sentence. Here it
learns from sentences that a small grammar makes.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptron_rs import SequencePerceptron
from perceptron_rs.features import word_attributes

words = {
    "DET": ["the", "a", "this"],
    "NOUN": ["dog", "cat", "walk", "bark", "plant", "light", "play"],
    "VERB": ["see", "like", "walk", "bark", "plant", "light", "play"],
    "ADJ": ["old", "light", "small", "green"],
}
patterns = [
    ["DET", "NOUN", "VERB"],
    ["DET", "NOUN", "VERB", "DET", "NOUN"],
    ["DET", "ADJ", "NOUN", "VERB", "DET", "NOUN"],
    ["NOUN", "VERB", "ADJ", "NOUN"],
    ["VERB", "DET", "ADJ", "ADJ", "NOUN"],
]
rng = np.random.default_rng(0)
tags = [patterns[k] for k in rng.integers(len(patterns), size=400)]
sentences = [[str(rng.choice(words[tag])) for tag in sentence] for sentence in tags]
print(" ".join(f"{word}/{tag}" for word, tag in zip(sentences[0], tags[0], strict=True)))

# %%
# Two taggers: one sees each word alone, the other whole sentences. Words have one attribute, the word
# itself.

X = [[[f"word={word}"] for word in sentence] for sentence in sentences]
ways = {
    "words alone": ([[word] for sentence in X for word in sentence], [[tag] for own in tags for tag in own]),
    "whole sentences": (X, tags),
}
for name, (X, y) in ways.items():
    n = len(X) // 4
    model = SequencePerceptron(max_iter=8).fit(X[:n], y[:n])
    print(
        f"{name:16} accuracy {model.score(X[n:], y[n:]):.3f}   wrong by epoch {model.token_errors_per_epoch_}"
    )

# %%
# What it has learnt about neighbours stands in ``transition_``: a determiner is followed by a noun or an
# adjective, never by a verb.

figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
most = np.abs(model.transition_).max()
image = ax.imshow(model.transition_, cmap="RdBu", vmin=-most, vmax=most)
names = model.classes_
ax.set(xticks=range(len(names)), xticklabels=names, yticks=range(len(names)), yticklabels=names)
ax.set(xlabel="label", ylabel="label before it", title="weights of transitions")
figure.colorbar(image)
plt.show()

# %%
# `~perceptron_rs.features.word_attributes` is the template for real text: words, their neighbours, their
# endings and shapes.

for attribute in word_attributes(["the", "old", "dog", "barks"])[2]:
    print(attribute)
