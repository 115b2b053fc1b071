"""All learners, by the names that model files and the command line give them: one line a learner.

A learner belongs to a family, which is a folder of the package. Files and commands know families by this
table and by the modules that each of them has: ``summary`` (what ``inspect`` adds to the schema),
``parameters`` (of its learners, of which the options of commands are made) and ``predictor`` (what predicts
alone). Some have ``options`` (commands of their own) and ``exports`` (models of other libraries). Nothing is
imported before it is asked for, so that ``--help`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import perceptron_rs

if TYPE_CHECKING:
    from perceptron_rs.parameters.groups import Parameters
    from perceptron_rs.prediction.estimator import Estimator
    from perceptron_rs.prediction.predictor import Predictor

FamilyModule: TypeAlias = Literal["summary", "options", "parameters", "predictor", "exports"]


class Entry(NamedTuple):
    """Where a learner lives: its class is a name of the package, whose list says in which module."""

    family: str
    class_name: str
    #: What it is, for lists of learners.
    about: str
    #: What it learns from.
    data: Literal["examples", "sequences"] = "examples"
    #: Whether it learns in epochs: what the commands ``train`` and ``parity`` are about.
    in_epochs: bool = True
    #: Whether it has ``fit_stream``.
    in_streams: bool = False
    #: Whether ``save`` rounds its weights, and leaves small ones out.
    is_rounded: bool = False

    @property
    def is_linear(self) -> bool:
        """Whether it has one weight a feature."""
        return self.family == "linear"

    @property
    def kind(self) -> type[Estimator]:
        """The class of the estimator."""
        kind: type[Estimator] = getattr(perceptron_rs, self.class_name)
        return kind

    @property
    def predictor(self) -> type[Predictor]:
        """The class of what predicts alone, which imports neither scikit-learn nor SciPy."""
        kind: type[Predictor] = getattr(self.part("predictor"), f"{self.class_name}Predictor")
        return kind

    def part(self, name: FamilyModule) -> ModuleType:
        """Return the module of the family for one purpose."""
        return family_part(self.family, name)

    @property
    def parameters(self) -> type[Parameters]:
        """The dataclass that declares the parameters of the estimator, which imports no library."""
        group: type[Parameters] = getattr(self.part("parameters"), f"{self.class_name}Parameters")
        return group


REGISTRY: dict[str, Entry] = {
    "perceptron": Entry(
        "linear", "Perceptron", "the perceptron, with its last weights", in_streams=True, is_rounded=True
    ),
    "averaged": Entry(
        "linear",
        "AveragedPerceptron",
        "the average of all weight vectors of a run",
        in_streams=True,
        is_rounded=True,
    ),
    "pocket": Entry(
        "linear", "PocketPerceptron", "the weights with the fewest training errors", is_rounded=True
    ),
    "voted": Entry("linear", "VotedPerceptron", "a vote of all weight vectors of a run", in_streams=True),
    "kernel": Entry("kernel", "KernelPerceptron", "the perceptron in the space of a kernel"),
    "budgeted-kernel": Entry(
        "kernel", "BudgetedKernelPerceptron", "a kernel perceptron that keeps few mistakes", in_streams=True
    ),
    "multilayer": Entry(
        "multilayer", "MultilayerPerceptron", "hidden layers of neurons, by gradient descent"
    ),
    "max-margin": Entry(
        "margins", "MaxMarginClassifier", "the hyperplane of largest margin", in_epochs=False
    ),
    "sequence": Entry("sequence", "SequencePerceptron", "labels of sequences", data="sequences"),
}

#: Those whose learners are trained on examples, by one command with the options of all of them.
FAMILIES = tuple(
    dict.fromkeys(
        learner.family for learner in REGISTRY.values() if learner.in_epochs and learner.data == "examples"
    )
)


#: Those that bring commands of their own.
OTHER_FAMILIES = tuple(
    dict.fromkeys(learner.family for learner in REGISTRY.values() if learner.family not in FAMILIES)
)


def family_part(family: str, name: FamilyModule) -> ModuleType:
    """Return the module of a family for one purpose."""
    return import_module(f"perceptron_rs.{family}.{name}")
