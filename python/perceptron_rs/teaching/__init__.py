"""To look at: runs step by step, the convergence theorem replayed on one, losses."""
