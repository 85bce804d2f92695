"""Calls functions in this process: Samuel's built-in handlers, and those that an embedding program registers.

A function cannot be killed, so these limit the processes that they start themselves, and must return.
"""

from __future__ import annotations

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
    """Calls handlers that are functions of this process."""

    def call(self, handler: Handler, event: Event, timeout: float) -> Reply:
        try:
            answer = handler.function(event)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  also SystemExit: a handler must not end this process
            import traceback  # slow to import, and hopefully not needed

            stack_trace = "".join(traceback.format_exception(error))
            return Reply(Outcome.CRASHED, message=f"{type(error).__name__}: {error}", stderr=stack_trace)
        # The result must be valid JSON, like that of any other runtime. A short plain dict that encodes without a
        # null is fine; any other value is checked by `encode`.
        try:
            text = _encode(answer)
            # `find`, since `in` takes twice as long.
            if type(answer) is dict and len(text) < SHORT and text.find(b"null") < 0:
                return Reply(OK, answer, "", "", len(text))
        except Exception:  # noqa: BLE001  `encode` below raises the proper error
            pass
        try:
            encode(answer)
        except InvalidJson as error:
            return Reply(Outcome.BAD_OUTPUT, message=str(error))
        return Reply(OK, answer or {}, size=len(text))

    def close(self) -> None:
        pass
