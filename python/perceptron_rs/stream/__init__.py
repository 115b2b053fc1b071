"""Learning from more than memory holds: a source in blocks, their cache, a run over them, its checkpoints.

Start with `run`: an engine's run over one block after another is a run again, which the driver follows like
any other.
"""
