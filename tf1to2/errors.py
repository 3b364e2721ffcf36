"""What a command says when it cannot do its job."""


class CommandError(Exception):
    """The job cannot be done; the message says what to do. Exit status 2."""
