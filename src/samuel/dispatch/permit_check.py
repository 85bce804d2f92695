"""Whether a handler may run, and whether what ran is what was looked at."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from samuel.hooks.handler import Handler
from samuel.trust.content import NO_CONTENT, TrustedContent

FileStamp = Callable[[Handler], object]  # changes with the files that the permit looks at
CHANGED = "its files changed while it was called, so it is not known what ran"


def _no_files(handler: Handler) -> object:
    return ()


def _no_content(handler: Handler) -> TrustedContent:
    return NO_CONTENT


class PermitCheck(NamedTuple):
    """What is asked before each call, and compared after it."""

    refusal: Callable[[Handler], str]  # "" or the reason why the handler may not run
    stamp: FileStamp = _no_files
    content: Callable[[Handler], TrustedContent] = _no_content  # of a handler that was permitted
