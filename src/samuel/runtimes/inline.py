"""Calls functions in this process: Samuel's built-in handlers, and those that an embedding program registers.

A function cannot be killed, so these limit the processes that they start themselves, and must return.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import astuple, replace

from samuel.events import Event
from samuel.files.json import DEEPEST, InvalidJson
from samuel.hooks.handler import Handler, Origin, Outcome
from samuel.runtimes.base import Reply, Setting
from samuel.runtimes.results import encode
from samuel.trust.content import NO_CONTENT, TrustedContent

OK, BUILT_IN = Outcome.OK, Origin.BUILT_IN  # looked up once, since the lookup of an enum's member takes time
SHORT = 2 * DEEPEST  # bytes; JSON cannot be nested too deeply in fewer
_encode = msgspec.json.Encoder().encode


class InlineRuntime:
    """Calls handlers that are functions of this process."""

    def __init__(self, setting: Setting | None = None) -> None:
        """The setting is not used: functions have all that this process has."""

    def call(self, handler: Handler, event: Event, timeout: float, content: TrustedContent = NO_CONTENT) -> Reply:
        try:
            answer = handler.function(event if handler.origin is BUILT_IN else _own_copy(event))
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


def _own_copy(event: Event) -> Event:
    """`event` with dicts and lists of its own, as a handler in another process has them.

    What a handler changes in place must not reach the next one: it contributes by what it returns.
    """
    fields = zip(event.__struct_fields__, astuple(event), strict=True)
    return replace(event, **{name: _copy(value) for name, value in fields if type(value) in _MUTABLE})


_MUTABLE = (dict, list)


def _copy(value: Any) -> Any:
    if type(value) is dict:
        return {key: _copy(item) if type(item) in _MUTABLE else item for key, item in value.items()}
    return [_copy(item) if type(item) in _MUTABLE else item for item in value]
