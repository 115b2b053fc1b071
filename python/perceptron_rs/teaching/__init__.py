"""To look at: runs step by step, and the convergence theorem replayed on one."""
