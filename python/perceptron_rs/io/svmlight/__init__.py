"""The text format of svmlight and libsvm: its lines, its lists of labels, its files."""
