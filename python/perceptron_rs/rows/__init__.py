"""From X to the rows of an engine: its values, its sparse formats, some of its rows."""
