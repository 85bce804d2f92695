"""The errors of host functions: a number for the module, and a message for the call's stderr."""

from __future__ import annotations


class NoAnswer(Exception):
    """A host function failed. The message goes to the call's stderr; the module gets `code`."""

    code: int


class Denied(NoAnswer):
    """The plugin was not granted this. The whole call is refused, whatever the module returns."""

    code = -1


class NotThere(NoAnswer):
    """A file or a setting does not exist."""

    code = -2


class Failed(NoAnswer):
    """Any other error."""

    code = -3


class TooLarge(NoAnswer):
    """More than LARGEST bytes, or than the module has memory for."""

    code = -4


class BadArgument(NoAnswer):
    """The module's arguments are invalid."""

    code = -5


LARGEST = 8 * 1024 * 1024
"""The most bytes of a file, a response or a program's output that a module can get."""
