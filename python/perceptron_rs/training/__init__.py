"""A call that learns: its steps, its epochs, its examples in memory, when it stops, and what it reports."""
