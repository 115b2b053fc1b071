"""Options that are made of parameters: one for each that means something to a command, with its default."""

import pytest

from perceptron_rs.parameters.groups import options
from perceptron_rs.registry import REGISTRY

#: These have no meaning on a command line, or are set by each command.
LEFT_OUT = {"verbose", "warm_start", "track_mistakes", "callback", "keep_on_interrupt", "audit"}
LEFT_OUT |= {"audit_key", "n_jobs", "engine"}


@pytest.mark.parametrize("learner", [name for name, entry in REGISTRY.items() if entry.in_epochs])
def test_each_parameter_has_an_option_that_says_its_default(learner):
    """In brackets at the end, or in words."""
    defaults = REGISTRY[learner].kind().get_params()
    made = options(REGISTRY[learner].parameters)
    sets = {name for option in made for name in option.sets}
    assert {option.parameter for option in made} == set(defaults) - LEFT_OUT - sets
    for option in [option for option in made if not option.sets]:  # else nothing is done without it
        value = defaults[option.parameter]
        said = option.help.rpartition(" (")[2].removesuffix(")") if option.help.endswith(")") else None
        if said is None:
            assert value in (None, False), option
        elif said not in {"none", "the default"}:
            assert said == str(value).strip("(),").removesuffix(".0"), option
