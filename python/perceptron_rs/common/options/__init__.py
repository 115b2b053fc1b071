"""Parameters: what each of them may be, and the options of commands that are made of them."""
