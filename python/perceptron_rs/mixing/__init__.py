"""Iterative parameter mixing: the rule (shares), and epochs that follow it (rounds)."""
