"""Functions called in this process: Samuel's own defaults, and what an embedder registers.

There is no way to kill a function, so these bound their own children and are trusted to return.
"""

from __future__ import annotations

import traceback

from samuel.events import Event
from samuel.hooks.handler import Handler, Outcome
from samuel.runtimes.base import Reply
from samuel.runtimes.values import NotPlain, encode

_NOTHING = Reply(Outcome.OK)


class Inline:
    def call(self, handler: Handler, event: Event, timeout: float) -> Reply:
        assert handler.function is not None
        try:
            answer = handler.function(event)
            if answer is None:
                return _NOTHING
            encode(answer)  # the answer must be able to go wherever any other answer goes
            return Reply(Outcome.OK, answer)
        except NotPlain as error:
            return Reply(Outcome.BAD_OUTPUT, message=str(error))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  also SystemExit: a handler does not end its host
            said = "".join(traceback.format_exception(error))
            return Reply(Outcome.CRASHED, message=f"{type(error).__name__}: {error}", stderr=said)

    def close(self) -> None:
        pass
