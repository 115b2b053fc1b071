"""What a learner has learnt, declared as data: files, digests and comparisons are made of it."""
