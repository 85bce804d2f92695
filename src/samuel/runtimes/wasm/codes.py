"""What a host function says when it has no answer: a number for the module, and words for a person."""

from __future__ import annotations


class NoAnswer(Exception):
    """The message is for whoever reads the call's stderr; the module gets `code`."""

    code: int


class Denied(NoAnswer):
    """The plugin was not granted this. The whole call is refused, whatever the module makes of it."""

    code = -1


class NotThere(NoAnswer):
    code = -2


class Failed(NoAnswer):
    code = -3


class TooLarge(NoAnswer):
    code = -4


class BadArgument(NoAnswer):
    code = -5


LARGEST = 8 * 1024 * 1024
"""Bytes of one file, one response or one program's output that a module is given."""
