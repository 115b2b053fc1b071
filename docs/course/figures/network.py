"""A neuron, and a network with one hidden layer."""

import matplotlib.pyplot as plt

figure, (one, many) = plt.subplots(1, 2, figsize=(9, 3.4))


def circle(ax, x, y, text, colour="white"):
    """Draw a neuron or an input."""
    ax.add_patch(plt.Circle((x, y), 0.32, facecolor=colour, edgecolor="black", zorder=3))
    ax.text(x, y, text, ha="center", va="center", zorder=4)


def arrow(ax, tail, tip, text=""):
    """Draw a connection with its weight."""
    style = {"arrowstyle": "-|>", "color": "black", "shrinkA": 16, "shrinkB": 16}
    ax.annotate("", tip, tail, arrowprops=style)
    ax.text((tail[0] + tip[0]) / 2, (tail[1] + tip[1]) / 2 + 0.15, text, ha="center")


for y, name, weight in (2, "$x_1$", "$w_1$"), (1, "$x_2$", "$w_2$"), (0, "1", "b"):
    circle(one, 0, y, name)
    arrow(one, (0, y), (1.8, 1), weight)
circle(one, 1.8, 1, r"$\Sigma$", "#cfe2f3")
arrow(one, (1.8, 1), (3.4, 1), "a")
circle(one, 3.4, 1, "sign", "#cfe2f3")
arrow(one, (3.4, 1), (4.8, 1))
one.text(4.85, 1, r"$\hat y$", va="center")
one.set_title("a neuron")
for target in (2, 1, 0):
    for source in (1.5, 0.5):
        arrow(many, (0, source), (1.8, target))
    arrow(many, (1.8, target), (3.6, 1))
    circle(many, 1.8, target, f"$h_{3 - target}$", "#cfe2f3")
for y, name in (1.5, "$x_1$"), (0.5, "$x_2$"):
    circle(many, 0, y, name)
circle(many, 3.6, 1, r"$\sigma$", "#cfe2f3")
arrow(many, (3.6, 1), (5, 1))
many.text(5.05, 1, r"$\hat p$", va="center")
many.set_title("a network with a hidden layer")
for ax in one, many:
    ax.set(xlim=(-0.5, 5.5), ylim=(-0.6, 2.6), aspect="equal")
    ax.axis("off")
