"""What the five lectures say, computed: one function for each passage, or for passages that say the same.

A function returns whether the passage holds as it is printed. Where it holds under a condition, it returns
two answers: whether it holds with the condition, and without. docs/course/lectures.csv names them.
"""

from tests.teaching.claims import history, learners, runs, updates

CLAIMS = {
    name: claim
    for module in (updates, runs, learners, history)
    for name, claim in vars(module).items()
    if getattr(claim, "__annotations__", None) == {"return": "Answer"} and claim.__module__ == module.__name__
}
