"""What a shell command runs, for guards: `samuel.shell.commands(text)`.

    reading = samuel.shell.commands("cd build && sudo rm -rf $DIR | tee log")
    [command.program for command in reading.commands]    # ["cd", "sudo", "rm", "tee"]
    reading.opaque                                       # () where everything could be read

It reads text as bash does, without running anything: through pipes, lists, subshells, substitutions, functions and
here-documents, and through programs that start other programs (`sudo`, `env`, `xargs`, `find -exec`, `bash -c`).
Where the text alone does not tell what runs, `opaque` says why. What a program does after it was started (a script
file, `make`, an alias of git) is not read.
"""

from __future__ import annotations

from samuel.shell.reading import Opaque, Reading, Redirect, ShellCommand

__all__ = ["Opaque", "Reading", "Redirect", "ShellCommand", "commands"]


def commands(text: str) -> Reading:
    """The commands that a shell would run for `text`, and the parts of which that cannot be known.

    It never raises and never starts a process; the same text always gives the same reading. Its time is bounded:
    text that is too long, too deeply nested or too complicated is opaque.
    """
    from samuel.shell.reader import Reader  # loads the parser, which only readers of commands pay for

    reader = Reader()
    reader.read_script(text)
    return Reading(tuple(reader.commands), tuple(reader.opaque))
