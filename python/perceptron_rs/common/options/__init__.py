"""Options of commands: their kinds, and those that several families share."""
