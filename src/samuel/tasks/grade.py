"""How far it is shown that a completed task was done: the same word wherever a person or a program reads it."""

from __future__ import annotations

from typing import Literal, get_args

Grade = Literal["", "proven", "proven, new names only", "checked", "disputed", "unverified", "done by a person"]
"""proven: something failed without the work, by an assertion, and passes with it.
proven, new names only: without the work a name, a file or a module was missing, and nothing else failed.
checked: the checks pass; nothing shows that the task is done.
disputed: tests fail that were there before, and a person accepted that.
unverified: no check looked.
done by a person: a person called it done."""

GRADES: tuple[Grade, ...] = get_args(Grade)
PROVEN: tuple[Grade, ...] = ("proven", "proven, new names only")
