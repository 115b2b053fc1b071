"""The search for the largest margin of two classes, and of all: in a space of columns or of a kernel."""
