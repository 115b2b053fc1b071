"""The parameters that several families have: type, default, what each may be, and what its option says.

A group is a dataclass, which makes the constructors of the learners that inherit it. What scikit-learn
validates (``_parameter_constraints``) and the `options` of commands are made of it. Nothing that takes time
may be imported here, so that ``--help`` is quick.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, NoReturn, TypeVar

from perceptron_rs.arrays.scalars import number
from perceptron_rs.audit.key import KEY_CONSTRAINT, KeyGiven, KeyParameter
from perceptron_rs.choices import (
    ClassWeight,
    EngineName,
    JointUpdate,
    Mixing,
    MultiClass,
    StepLength,
    Tie,
    words,
)
from perceptron_rs.estimator_attributes import parameter_names, remembered
from perceptron_rs.parameters import kinds
from perceptron_rs.parameters.kinds import SWITCH, Option, OptionPlace
from perceptron_rs.parameters.ranges import LARGEST, Choice, Other, Range, Values, check_value

if TYPE_CHECKING:
    from numpy.random import RandomState

    from perceptron_rs.parameters.epoch_record import Callback
else:  # they take long to import; `typing.get_type_hints` finds these
    RandomState = Callback = Any

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

        def __new__(cls, *arguments, **named):
            """Refuse what the constructor does not take in words of this package."""
            check_constructor(cls, arguments, named)
            return super().__new__(cls)

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        # The decorator of a group, which comes next, puts its own into the place.
        cls.__dataclass_fields__ = _NoDataclass()  # type: ignore[attr-defined]


@dataclass(frozen=True)
class _Facts:
    """What is declared of a parameter.

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
    needs : dict
        Values of other parameters without which this one would do nothing; no values: any that is given.
    sets : dict
        Values of other parameters that its option sets, too.
    excludes : dict
        Values that other parameters must have, where a learner has them, unless this one is at its default.
    because : str
        The reason.
    in_memory : str
        Why it takes all examples in memory, so that no fit over a stream or on a cluster has it.
    of_model : str, False or None
        What the option says of the default in commands that read a model, which may know better; None: the
        same as in others. False: these commands have no such option.
    has_effect : bool
        Whether numbers that are learnt or predicted depend on it.
    in_pass : bool
        Whether a pass over examples reads it, and not only what makes several.
    """

    values: Values
    text: str | None = None
    default: str | None = None
    name: str | None = None
    needs: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    sets: Mapping[str, object] = field(default_factory=dict)
    excludes: Mapping[str, object] = field(default_factory=dict)
    because: str = ""
    in_memory: str = ""
    of_model: str | Literal[False] | None = None
    has_effect: bool = True
    in_pass: bool = True


def allowed(values: Values, text: str | None = None, /, **facts: Any) -> dict[str, object]:
    """Return the metadata of a parameter: what is declared of it, by name; see `_Facts`."""
    return vars(_Facts(values, text, **facts))


def parameter(default: T, values: Values, text: str | None = None, /, **facts: Any) -> T:
    """Declare a parameter with its default; the others are those of `allowed`."""
    declared: T = field(default=default, metadata=allowed(values, text, **facts))
    return declared


def group_of(kind: type) -> type:
    """Return the dataclass that declares the parameters of an estimator; a subclass may be one of others."""
    groups = (base for base in kind.__mro__ if isinstance(vars(base).get("__dataclass_fields__"), dict))
    return next(group for group in groups if all("values" in part.metadata for part in fields(group)))


def check_arguments(group: type, **arguments: Any) -> None:
    """Raise InvalidParameterError for arguments of a function that no parameter of their names may be."""
    declared = {parameter.name: parameter.metadata["values"] for parameter in fields(group)}
    for name, value in arguments.items():
        check_value(name, declared[name], value)


@remembered
def constraints(group: type) -> dict[str, list[object]]:
    """Return what scikit-learn's validation is to know of the parameters of a group."""
    return {parameter.name: parameter.metadata["values"].constraint() for parameter in fields(group)}


def options(group: type, *, of_model: bool = False) -> tuple[Option, ...]:
    """Return the options that set parameters of a group; ``of_model``: of a command that reads a model."""
    listed = []
    for parameter in fields(group):
        facts = parameter.metadata
        if facts.get("text") is None or (of_model and facts["of_model"] is False):
            continue
        default = facts["of_model"] if of_model and facts["of_model"] else facts["default"]
        default_text = _default(parameter.default) if default is None else default
        text = f"{facts['text']} ({default_text})" if default_text else facts["text"]
        more = {part: facts[part] for part in ("needs", "name", "sets")}
        listed.append(Option(parameter.name, text, facts["values"], parameter.default, **more))
    return tuple(listed)


def add_options(place: OptionPlace, group: type, *without: str, of_model: bool = False) -> None:
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
    from perceptron_rs.sklearn_base import StrOptions, WeightsByClass

    return [StrOptions({"balanced"}), WeightsByClass(Real, 0, None, closed="left", number=number), None]


def _is_class_weight(value: object) -> bool:
    """Whether it may be one, as a file has it; `_class_weight` says the same to scikit-learn."""
    if isinstance(value, dict):
        return all(kinds.AMOUNT.accepts(weight) for weight in value.values())
    return value is None or value == "balanced"


def _random_state() -> list[object]:
    from numpy.random import RandomState

    return [*kinds.SEED.constraint(), RandomState, None]


# Of parameters that several groups declare.
CALLBACK = allowed(Other(lambda: [callable, None]), has_effect=False)
CLASS_WEIGHT = allowed(
    Other(
        _class_weight,
        {"action": "append", "type": kinds.class_weight, "metavar": "LABEL=X"},
        _is_class_weight,
    ),
    "weight of the examples of a class; repeat for more classes; or: balanced",
    default="",
)
EARLY_STOPPING = allowed(
    SWITCH,
    "hold examples out: stop when their score stops improving, and keep the best epoch",
    in_memory="examples that are held out are read in each epoch",
)
ENGINE = allowed(Choice(words(EngineName)), has_effect=False)
ETA0 = allowed(kinds.RATE, "learning rate")
FIT_INTERCEPT = allowed(SWITCH, "fit an intercept", name="intercept")
MARGIN_THRESHOLD = allowed(kinds.AMOUNT, "margin that an example must exceed to count as correct")
MAX_MISTAKES_PER_EXAMPLE = allowed(
    Range(1, LARGEST, whole=True, none=True),
    "tolerate noise: maximum number of updates that one example may cause",
    in_memory="it keeps a count for each example",
)
MAX_ITER = allowed(kinds.POSITIVE, "maximum number of epochs", name="epochs", in_pass=False)
N_ITER_NO_CHANGE = allowed(kinds.POSITIVE, "epochs without improvement before stopping", in_pass=False)
RANDOM_STATE = allowed(
    Other(_random_state, kinds.SEED.option(), replace(kinds.SEED, none=True).accepts),
    "seed of the random generator",
    name="seed",
    in_pass=False,
)
TOL = allowed(kinds.TOLERANCE, "stop when the loss improves by less than X; none: never", in_pass=False)
VERBOSE = allowed(
    Other(
        lambda: [*kinds.COUNT.constraint(), "boolean"],
        accepted=lambda value: isinstance(value, bool) or kinds.COUNT.accepts(value),
    ),
    has_effect=False,
)


@dataclass(kw_only=True, eq=False, repr=False)
class RunParameters(Parameters):
    """Parameters of how a fit is computed and recorded.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all
        processors. It does not change any bit of the results.
    engine : {"rust", "reference"}
        Implementation to use. Both give the same bits; the reference is slow, and written to be read.
    audit : bool
        Whether to keep digests of the examples, in model files too. `reproduce` can then name the first block
        of examples that differs. ``random_state`` must be an integer.
    audit_key : str, path object, bytes or None
        Key of the digests: a file that holds it (32 bytes, or 64 hexadecimal digits), or 32 bytes. Without
        the key nobody can test whether a model has learnt from some examples. It is not shown, and not
        written to model files; pickles hold the name of the file alone.
    """

    n_jobs: int | None = parameter(None, kinds.THREADS, has_effect=False)
    engine: EngineName = field(default="rust", metadata=ENGINE)
    audit: bool = parameter(False, SWITCH, has_effect=False, in_pass=False)
    audit_key: KeyGiven = parameter(None, Other(lambda: KEY_CONSTRAINT), in_pass=False)


RunParameters.audit_key = KeyParameter()  # type: ignore[assignment]


@dataclass(kw_only=True, eq=False, repr=False)
class EpochParameters(RunParameters):
    """Of all that learns in epochs.

    Parameters
    ----------
    max_iter : int
        Maximum number of epochs in a call of ``fit``, in [1, 2**31 - 1].
    n_iter_no_change : int
        Number of consecutive epochs without improvement before training stops, in [1, 2**31 - 1]. See
        ``tol``.
    shuffle : bool
        Whether to shuffle the examples before each epoch of ``fit``.
    random_state : int, RandomState instance or None
        Seed of the shuffling. An int in [0, 2**32 - 1] gives the same orders in each call of ``fit``.
        Otherwise, each ``fit`` that shuffles draws its seed from the given generator, or from NumPy's
        global one if None.
    early_stopping : bool
        Whether to stop by the accuracy on a validation set instead of the training loss, and to keep what was
        learnt by the best epoch. If True, ``fit`` sets aside a stratified fraction of the examples, drawn by
        ``random_state``. Training stops for a class when its validation accuracy has not improved on the best
        one by at least ``tol`` for ``n_iter_no_change`` consecutive epochs. See :doc:`/guide/stopping`.
    validation_fraction : float
        Fraction of the examples that ``early_stopping`` sets aside, in (0, 1).
    warm_start : bool
        Whether ``fit`` continues from the previous call, with its weights, counters and number of epochs.
    keep_on_interrupt : bool
        Whether Ctrl-C ends ``fit`` with a warning and keeps what has been learnt so far. If False,
        ``KeyboardInterrupt`` is raised, and the estimator stays as it was before the call.
    """

    max_iter: int = field(default=1000, metadata=MAX_ITER)
    n_iter_no_change: int = field(default=5, metadata=N_ITER_NO_CHANGE)
    shuffle: bool = parameter(True, SWITCH, "shuffle the examples in each epoch", in_pass=False)
    random_state: int | RandomState | None = field(default=0, metadata=RANDOM_STATE)
    early_stopping: bool = field(default=False, metadata=EARLY_STOPPING)
    validation_fraction: float = parameter(
        0.1,
        kinds.OPEN_UNIT_INTERVAL,
        "share of the examples in the validation set",
        needs={"early_stopping": (True,)},
        in_pass=False,
    )
    # Only what was learnt before has an effect.
    warm_start: bool = parameter(False, SWITCH, has_effect=False, in_pass=False)
    keep_on_interrupt: bool = parameter(False, SWITCH, has_effect=False, in_pass=False)


@dataclass(kw_only=True, eq=False, repr=False)
class MistakeParameters(EpochParameters):
    """Of all that learns examples by mistakes.

    Parameters
    ----------
    tol : float or None
        Stopping criterion, in [0, inf). Training stops for a class when its mean loss has not improved on
        the best loss by at least ``tol`` for ``n_iter_no_change`` consecutive epochs. It also stops after
        an epoch without a mistake. If None, only such an epoch and ``max_iter`` end training.
    eta0 : float
        Learning rate, in (0, inf). With initial weights of 0, a power of two only scales the learnt
        weights. Other values also change how they are rounded, and so possibly which examples are mistakes.
        Thresholds such as ``tol`` do not scale with it.
    tie : {"mistake", "positive"}
        How to treat an activation of exactly 0. With "mistake", it is a mistake for every class, and a
        model of two classes predicts the negative one. With "positive", it counts as positive in training
        and in prediction.
    class_weight : dict, "balanced" or None
        Weights of the classes, at least 0, as ``{label: weight}``. Classes that are not named have
        weight 1. An update is multiplied by the weight of its example's class. "balanced" uses
        ``n_samples / (n_classes * count of the class)``. With more than two classes, the weight applies to
        a class's own examples where the class is learnt, and not where they belong to the rest.
    track_mistakes : bool
        Whether to count the mistakes on each example, as ``mistakes_per_example_``.
    verbose : int
        If above 0, print a line about each epoch.
    callback : callable or None
        Function that is called with an `EpochRecord` after each epoch. If it returns true, training stops.
    """

    tol: float | None = field(default=1e-3, metadata=TOL)
    eta0: float = field(default=1.0, metadata=ETA0)
    tie: Tie = parameter("mistake", Choice(words(Tie)), "how to treat an activation of exactly 0")
    class_weight: ClassWeight | None = field(default=None, metadata=CLASS_WEIGHT)
    track_mistakes: bool = parameter(False, SWITCH, in_memory="it keeps a count for each example")
    verbose: int = field(default=0, metadata=VERBOSE)
    callback: Callback | None = field(default=None, metadata=CALLBACK)


@dataclass(kw_only=True, eq=False, repr=False)
class JointParameters(Parameters):
    """Of all that can decide between the classes jointly.

    Parameters
    ----------
    multi_class : {"ovr", "joint"}
        With "ovr", each class is learnt against the rest, independently of the others. With "joint", an
        example is a mistake if another class scores at least as high as the true one, and the classes
        involved are updated together.
    joint_update : {"max", "uniform", "proportional"}
        Which classes a joint update moves down. "max": the one with the highest score. "uniform": all that
        score at least as high as the true class, in equal parts. "proportional": the same ones, in
        proportion to how far they exceed it. Ignored with "ovr".
    """

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
    """Of all that tolerates noise, and can make every data set separable.

    Parameters
    ----------
    margin_threshold : float
        An example that is classified correctly, but with an activation of no more than this in size, still
        counts as a mistake, in [0, inf). Not available with ``multi_class="joint"``.
    max_mistakes_per_example : int or None
        Maximum number of updates on one example in a call, for each class. If None, there is no limit.
    added_feature : float
        Value of an extra feature that each example has to itself during training, in [0, inf). If above 0,
        every data set becomes separable. Not available with ``multi_class="joint"``.
    """

    margin_threshold: float = field(default=0.0, metadata=MARGIN_THRESHOLD)
    max_mistakes_per_example: int | None = field(default=None, metadata=MAX_MISTAKES_PER_EXAMPLE)
    added_feature: float = parameter(
        0.0,
        kinds.AMOUNT,
        "tolerate noise: value of an extra feature per example",
        in_memory="it keeps a weight for each example",
    )


@dataclass(kw_only=True, eq=False, repr=False)
class UpdateParameters(Parameters):
    """Of all whose updates can be passive-aggressive steps, and can be mixed over partitions.

    Parameters
    ----------
    step : {"constant", "pa1", "pa2"}
        Length of an update. "constant": the learning rate ``eta0``. "pa1", "pa2": passive-aggressive steps,
        PA-I and PA-II, also known as MIRA: the larger the loss of an example, the longer its step.
        :doc:`/guide/steps` says what the loss is, what counts as a mistake, and which parameters these
        steps exclude.
    C : float
        Aggressiveness, in (0, inf): "pa1" makes the shortest step that leaves no loss, at most C;
        "pa2" makes each step shorter, the more so the smaller C is. Ignored with ``step="constant"``.
    n_partitions : int or array-like of int
        Number of contiguous parts of the examples that ``fit`` learns from side by side, in [1, 2**31 - 1],
        and no more than there are examples; or the number of examples in each, which may be 0. In each
        epoch, every partition is visited once from the same weights, and the weights that this leads to are
        mixed. See :doc:`/guide/scale`. If ``n_jobs`` allows it, the partitions are visited in parallel. Not
        available with ``partial_fit``, ``added_feature`` and ``max_mistakes_per_example``.
    mixing : {"uniform", "mistakes"}
        How to mix the weights of the partitions. "uniform": their mean. "mistakes": their mean weighted by
        the number of mistakes on each partition. Ignored with ``n_partitions=1``.
    """

    step: StepLength = parameter(
        "constant",
        Choice(words(StepLength)),
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
    n_partitions: int | Sequence[int] = parameter(
        1,
        Range(1, LARGEST, whole=True, many=0),
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
        in_pass=False,
    )


#: Parameters that other libraries' linear learners have, and what has their place here.
_ELSEWHERE = {
    "average": "AveragedPerceptron predicts with the average",
    "learning_rate": "the rate is eta0, and step='pa1' or 'pa2' chooses the length of each update",
    "loss": "the loss is that of the perceptron, and with step='pa1' or 'pa2' the hinge loss",
}


class _Taken(NamedTuple):
    """What a constructor takes: names, and how many values without a name."""

    names: frozenset[str]
    places: int


def check_constructor(kind: type, by_place: tuple[object, ...], named: Mapping[str, object]) -> None:
    """Raise TypeError for arguments that the constructor of a class does not take."""
    taken = _taken(kind)
    if taken is None:
        return
    if len(by_place) > taken.places:
        value = by_place[taken.places]
        raise TypeError(
            f"{kind.__name__} takes parameters by name alone, got {value!r:.80}; {_named(kind, value)}"
        )
    for name in named:
        if name not in taken.names:
            raise TypeError(f"{kind.__name__} has no parameter {name!r:.80}; {_nearest(name, taken.names)}")


@remembered
def _taken(kind: type) -> _Taken | None:
    """Return what a constructor takes; None for one of others that hands on what it does not know."""
    from inspect import Parameter, signature

    own = list(signature(getattr(kind, "__init__")).parameters.values())[1:]  # noqa: B009  a type checker trusts no instance
    kinds = [parameter.kind for parameter in own]
    names = {parameter.name for parameter in own}
    if Parameter.VAR_KEYWORD in kinds or Parameter.VAR_POSITIONAL in kinds:
        if not kind.__module__.startswith("perceptron_rs."):
            return None
        names |= set(parameter_names(kind))
    return _Taken(frozenset(names), kinds.count(Parameter.POSITIONAL_OR_KEYWORD))


def _nearest(name: str, names: frozenset[str]) -> str:
    from difflib import get_close_matches

    if name in _ELSEWHERE:
        return _ELSEWHERE[name]
    near = get_close_matches(name, sorted(names), n=1)
    return f"did you mean {near[0]}?" if near else f"it has {', '.join(sorted(names))}"


def _named(kind: type, value: object) -> str:
    """Return a positional value as a keyword argument: of the parameter that takes such a word."""
    from perceptron_rs.parameters.groups import group_of
    from perceptron_rs.parameters.ranges import Choice

    for parameter in fields(group_of(kind)):
        values = parameter.metadata["values"]
        if isinstance(value, str) and isinstance(values, Choice) and value in values.words:
            return f"write {parameter.name}={value!r}"
    return f"write {kind.__name__}(name=value)"
