"""One module a command, each with ``run(arguments) -> int``, imported when the command is called."""
