"""The parameters that several families have: type, default, what each may be, and what its option says.

A group is a dataclass, which makes the constructors of the learners that inherit it. What scikit-learn
validates (``_parameter_constraints``) and the `options` of commands are made of it. Nothing that takes time
may be imported here, so that ``--help`` is quick.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, TypeVar

from perceptron_rs.audit.key import KEY_CONSTRAINT, KeyGiven, KeyParameter
from perceptron_rs.choices import ClassWeight, EngineName, JointUpdate, Mixing, MultiClass, Step, Tie, words
from perceptron_rs.common.options import kinds
from perceptron_rs.common.options.kinds import SWITCH, Option, Parser
from perceptron_rs.common.options.ranges import LARGEST, Choice, Other, Range, Values, check_value

if TYPE_CHECKING:
    from numpy.random import RandomState

    from perceptron_rs.common.training.progress import Callback
else:  # they take long to import; `typing.get_type_hints` finds these
    RandomState = Callback = Any

__all__ = [
    "CALLBACK",
    "CLASS_WEIGHT",
    "EARLY_STOPPING",
    "ENGINE",
    "ETA0",
    "FIT_INTERCEPT",
    "MAX_ITER",
    "N_ITER_NO_CHANGE",
    "RANDOM_STATE",
    "TOL",
    "VERBOSE",
    "AddedFeatureParameters",
    "EpochParameters",
    "JointParameters",
    "MistakeParameters",
    "NoiseParameters",
    "Parameters",
    "PartitionParameters",
    "RunParameters",
    "StepParameters",
    "add_options",
    "allowed",
    "check_arguments",
    "constraints",
    "group_of",
    "options",
    "parameter",
]

T = TypeVar("T")


class _NoDataclass:
    """The attribute by which a dataclass is known, of a class that is to be none."""

    def __get__(self, instance: object, kind: type) -> NoReturn:
        raise AttributeError(f"{kind.__name__} is no dataclass")


class _Constraints:
    """Constraints for scikit-learn, computed when they are first read: that imports scikit-learn."""

    def __get__(self, instance: object, kind: type) -> dict[str, list[object]]:
        return constraints(group_of(kind))


class Parameters:
    """A group of parameters of estimators.

    The estimators that inherit it are no dataclasses: libraries take two of these for equal if their fields
    are, and so would models be that have learnt different things with the same parameters.
    """

    if not TYPE_CHECKING:  # scikit-learn's base class declares it
        _parameter_constraints = _Constraints()

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        # The decorator of a group, which comes next, puts its own into the place.
        cls.__dataclass_fields__ = _NoDataclass()  # type: ignore[attr-defined]


def allowed(
    values: Values,
    text: str | None = None,
    *,
    default: str | None = None,
    name: str | None = None,
    needs: Mapping[str, tuple[object, ...]] | None = None,
    sets: Mapping[str, object] | None = None,
    excludes: Mapping[str, object] | None = None,
    because: str = "",
    in_memory: str = "",
    of_model: str | Literal[False] | None = None,
) -> dict[str, object]:
    """Return the metadata of a parameter.

    Parameters
    ----------
    values : Range, Choice, Switch or Other
        What it may be.
    text : str or None
        What its option says, without the default; None: it has no option.
    default : str or None
        What the option says of the default, if that is not the one of the estimator.
    name : str or None
        A shorter name of the option, which comes before that of the parameter.
    needs : dict or None
        Values of other parameters without which this one would do nothing; no values: any that is given.
    sets : dict or None
        Values of other parameters that its option sets, too.
    excludes : dict or None
        Values that other parameters must have, where a learner has them, unless this one is at its default.
    because : str
        The reason.
    in_memory : str
        Why it takes all examples in memory, so that no fit over a stream or on a cluster has it.
    of_model : str, False or None
        What the option says of the default in commands that read a model, which may know better; None: the
        same as in others. False: these commands have no such option.
    """
    return {
        "values": values,
        "text": text,
        "default": default,
        "name": name,
        "needs": needs or {},
        "sets": sets or {},
        "excludes": excludes or {},
        "because": because,
        "in_memory": in_memory,
        "of_model": of_model,
    }


def parameter(default: T, values: Values, text: str | None = None, /, **facts: Any) -> T:
    """Declare a parameter with its default; the others are those of `allowed`."""
    found: T = field(default=default, metadata=allowed(values, text, **facts))
    return found


def group_of(kind: type) -> type:
    """Return the dataclass that declares the parameters of an estimator; a subclass may be one of others."""
    groups = (base for base in kind.__mro__ if isinstance(vars(base).get("__dataclass_fields__"), dict))
    return next(group for group in groups if all("values" in part.metadata for part in fields(group)))


def check_arguments(group: type, **given: Any) -> None:
    """Raise InvalidParameterError for arguments of a function that no parameter of their names may be."""
    declared = {parameter.name: parameter.metadata["values"] for parameter in fields(group)}
    for name, value in given.items():
        check_value(name, declared[name], value)


@cache
def constraints(group: type) -> dict[str, list[object]]:
    """Return what scikit-learn's validation is to know of the parameters of a group."""
    return {parameter.name: parameter.metadata["values"].constraint() for parameter in fields(group)}


def options(group: type, *, of_model: bool = False) -> tuple[Option, ...]:
    """Return the options that set parameters of a group; ``of_model``: of a command that reads a model."""
    found = []
    for parameter in fields(group):
        facts = parameter.metadata
        if facts.get("text") is None or (of_model and facts["of_model"] is False):
            continue
        default = facts["of_model"] if of_model and facts["of_model"] else facts["default"]
        default_text = _default(parameter.default) if default is None else default
        text = f"{facts['text']} ({default_text})" if default_text else facts["text"]
        how = {part: facts[part] for part in ("needs", "name", "sets")}
        found.append(Option(parameter.name, text, facts["values"], parameter.default, **how))
    return tuple(found)


def add_options(place: Parser, group: type, *without: str, of_model: bool = False) -> None:
    """Add the options of a group to a parser, or to a group of its options."""
    for option in options(group, of_model=of_model):
        if option.parameter not in without:
            option.add_to(place)


def _default(value: object) -> str:
    """Return what the help of an option says of a default."""
    if isinstance(value, bool):
        return "the default" if value else ""
    return "none" if value is None else str(value).strip("(),").removesuffix(".0")


def _class_weight() -> list[object]:
    from perceptron_rs.sklearn_base import StrOptions

    return [StrOptions({"balanced"}), dict, None]


def _integer() -> list[object]:
    from numbers import Integral

    return [Integral, None]


# Of parameters whose defaults differ.
CALLBACK = allowed(Other(lambda: [callable, None]))
CLASS_WEIGHT = allowed(
    Other(_class_weight, {"action": "append", "type": kinds.class_weight, "metavar": "LABEL=X"}),
    "weight of the examples of a class; repeat for more classes; or: balanced",
    default="",
)
EARLY_STOPPING = allowed(
    SWITCH,
    "hold examples out: stop when their score stops improving, and keep the best epoch",
    in_memory="examples that are held out are read in each epoch",
)
ENGINE = allowed(Choice(words(EngineName)))
ETA0 = allowed(kinds.RATE, "learning rate")
FIT_INTERCEPT = allowed(SWITCH, "fit an intercept", name="intercept")
MAX_ITER = allowed(kinds.POSITIVE, "maximum number of epochs", name="epochs")
N_ITER_NO_CHANGE = allowed(kinds.POSITIVE, "epochs without improvement before stopping")
RANDOM_STATE = allowed(
    Other(lambda: ["random_state"], kinds.SEED.option()), "seed of the random generator", name="seed"
)
TOL = allowed(kinds.TOLERANCE, "stop when the loss improves by less than X; none: never")
VERBOSE = allowed(Other(lambda: ["verbose"]))


@dataclass(kw_only=True, eq=False, repr=False)
class RunParameters(Parameters):
    """Parameters of how a fit is computed and recorded."""

    n_jobs: int | None = parameter(None, Other(_integer))
    engine: EngineName = field(default="rust", metadata=ENGINE)
    audit: bool = parameter(False, SWITCH)
    audit_key: KeyGiven = parameter(None, Other(lambda: KEY_CONSTRAINT))


RunParameters.audit_key = KeyParameter()  # type: ignore[assignment]


@dataclass(kw_only=True, eq=False, repr=False)
class EpochParameters(RunParameters):
    """Of all that learns in epochs."""

    max_iter: int = field(default=1000, metadata=MAX_ITER)
    n_iter_no_change: int = field(default=5, metadata=N_ITER_NO_CHANGE)
    shuffle: bool = parameter(True, SWITCH, "shuffle the examples in each epoch")
    random_state: int | RandomState | None = field(default=0, metadata=RANDOM_STATE)
    early_stopping: bool = field(default=False, metadata=EARLY_STOPPING)
    validation_fraction: float = parameter(
        0.1, kinds.FRACTION, "share of the examples in the validation set", needs={"early_stopping": (True,)}
    )
    warm_start: bool = parameter(False, SWITCH)
    keep_on_interrupt: bool = parameter(False, SWITCH)


@dataclass(kw_only=True, eq=False, repr=False)
class MistakeParameters(EpochParameters):
    """Of all that learns examples by mistakes."""

    tol: float | None = field(default=1e-3, metadata=TOL)
    eta0: float = field(default=1.0, metadata=ETA0)
    tie: Tie = parameter("mistake", Choice(words(Tie)), "how to treat an activation of exactly 0")
    class_weight: ClassWeight | None = field(default=None, metadata=CLASS_WEIGHT)
    track_mistakes: bool = parameter(False, SWITCH, in_memory="it keeps a count for each example")
    verbose: int = field(default=0, metadata=VERBOSE)
    callback: Callback | None = field(default=None, metadata=CALLBACK)


@dataclass(kw_only=True, eq=False, repr=False)
class JointParameters(Parameters):
    """Of all that can decide between the classes jointly."""

    _fixed: ClassVar[tuple[str, ...]] = ("multi_class",)

    multi_class: MultiClass = parameter(
        "ovr",
        Choice(words(MultiClass)),
        "one class against the rest, or all classes jointly",
        excludes={"tie": "mistake", "margin_threshold": 0, "added_feature": 0},
    )
    joint_update: JointUpdate = parameter(
        "max",
        Choice(words(JointUpdate)),
        "which classes a joint update demotes",
        needs={"multi_class": ("joint",)},
    )


@dataclass(kw_only=True, eq=False, repr=False)
class NoiseParameters(Parameters):
    """Of all that tolerates noise."""

    margin_threshold: float = parameter(
        0.0, kinds.AMOUNT, "margin that an example must exceed to count as correct"
    )
    max_mistakes_per_example: int | None = parameter(
        None,
        Range(1, LARGEST, whole=True, none=True),
        "tolerate noise: maximum number of updates that one example may cause",
        in_memory="it keeps a count for each example",
    )


@dataclass(kw_only=True, eq=False, repr=False)
class AddedFeatureParameters(NoiseParameters):
    """Of all that tolerates noise, and can make every data set separable."""

    added_feature: float = parameter(
        0.0,
        kinds.AMOUNT,
        "tolerate noise: value of an extra feature per example",
        in_memory="it keeps a weight for each example",
    )


@dataclass(kw_only=True, eq=False, repr=False)
class StepParameters(Parameters):
    """Of all that can make passive-aggressive steps."""

    step: Step = parameter(
        "constant",
        Choice(words(Step)),
        "length of an update: the learning rate, or passive-aggressive",
        # They choose their length and their margin.
        excludes={
            "eta0": 1,
            "penalty": None,
            "margin_threshold": 0,
            "added_feature": 0,
            "joint_update": "max",
        },
    )
    C: float = parameter(
        1.0,
        kinds.RATE,
        "limit of the steps of pa1 and pa2: the smaller, the shorter they are",
        needs={"step": ("pa1", "pa2")},
    )


@dataclass(kw_only=True, eq=False, repr=False)
class PartitionParameters(Parameters):
    """Of all that can learn from partitions."""

    n_partitions: int | Sequence[int] = parameter(
        1,
        Range(1, LARGEST, whole=True, also=("array-like",)),
        "number of parts of the data to learn from side by side",
        excludes={"added_feature": 0, "max_mistakes_per_example": None},
        because="because each pass starts from the mixed weights alone",
        in_memory="a stream is read from its first block to its last",
    )
    mixing: Mixing = parameter(
        "uniform",
        Choice(words(Mixing)),
        "how to mix what was learnt from the parts",
        needs={"n_partitions": ()},
    )
