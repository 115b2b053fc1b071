"""How separable data is: certified margins, proofs of the opposite, and the hard-margin separator."""
