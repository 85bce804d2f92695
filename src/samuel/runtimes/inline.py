"""Functions called in this process: Samuel's own defaults, and what an embedder registers.

There is no way to kill a function, so these bound their own children and are trusted to return.
"""

from __future__ import annotations

import traceback

import msgspec

from samuel.events import Event
from samuel.files.json import DEEPEST, InvalidJson
from samuel.hooks.handler import Handler, Outcome
from samuel.runtimes.base import Reply
from samuel.runtimes.results import encode

OK = Outcome.OK
SHORT = 2 * DEEPEST  # bytes; JSON cannot be nested too deeply in fewer
_encode = msgspec.json.Encoder().encode


class InlineRuntime:
    def call(self, handler: Handler, event: Event, timeout: float) -> Reply:
        try:
            answer = handler.function(event)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  also SystemExit: a handler does not end its host
            said = "".join(traceback.format_exception(error))
            return Reply(Outcome.CRASHED, message=f"{type(error).__name__}: {error}", stderr=said)
        # The answer must be able to go wherever any other goes. A short plain dict that encodes without a null
        # is fine; anything else gets the closer look.
        try:
            text = _encode(answer)
            if type(answer) is dict and len(text) < SHORT and b"null" not in text:
                return Reply(OK, answer, "", "", len(text))
        except Exception:  # noqa: BLE001  the closer look says what it is
            pass
        try:
            encode(answer)
        except InvalidJson as error:
            return Reply(Outcome.BAD_OUTPUT, message=str(error))
        return Reply(OK, answer or {}, size=len(text))

    def close(self) -> None:
        pass
