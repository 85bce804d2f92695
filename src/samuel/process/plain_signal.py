"""`signal` without its enumerations, which are a noticeable part of what `samuel emit` takes to start.

Functions and numbers are those of the standard library; the numbers are plain integers.
"""

TYPE_CHECKING = False  # `typing` is slow to import; type checkers know this name
if TYPE_CHECKING:
    import signal as plain_signal
else:
    import _signal as plain_signal

__all__ = ("plain_signal",)
