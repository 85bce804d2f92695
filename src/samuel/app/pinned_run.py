"""What a run pinned about the events inside its agent, for the Samuel that the hooks of the agent start.

The agent could change samuel.toml or a hook while it works. So the run hands on a digest of the handlers of these
events, their content and their settings, and a Samuel that finds others refuses to judge: a call is denied.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path

import msgspec

from samuel.base.errors import SamuelError
from samuel.events.names import INSIDE_AGENT
from samuel.files.survey import TooManyFiles, survey
from samuel.hooks.handler import Handler, Origin
from samuel.hooks.order import Chain
from samuel.process.passed import PINNED
from samuel.trust.digests import digest_file, tree_digest
from samuel.trust.permit import NEEDS_NO_TRUST, Permit

_EVERYTHING, _AGREED = "everything", "agreed"


class PinnedRun(msgspec.Struct, frozen=True):
    """The run whose agent's hooks started this process."""

    pin: str
    methodology: str

    @classmethod
    def around(cls, root: Path, environment: Mapping[str, str]) -> PinnedRun | None:
        """The run of this project around this process; None if there is none, or it pinned nothing."""
        pin = environment.get(PINNED, "")
        if not pin or environment.get("SAMUEL_PROJECT_ROOT") != str(root):
            return None
        return cls(pin, environment.get("SAMUEL_METHODOLOGY", ""))

    @property
    def trusts_everything(self) -> bool:
        """Whether the run was started with trust in all hooks as they were: the pin has their content."""
        return self.pin.startswith(_EVERYTHING)

    def expect(self, pin: str) -> None:
        """Raise SamuelError unless the handlers of tool calls are those that the run pinned."""
        if pin != self.pin:
            raise SamuelError(
                "the hooks for tool calls, or their settings, are not what they were when the run started",
                "undo the changes to samuel.toml and to the hooks",
            )


def pin_of(chains: Mapping[str, Chain], permit: Permit, *, trusts_everything: bool) -> str:
    """The handlers of tool calls with their content, settings and permission, as a digest."""

    import json  # only for a run

    def is_unagreed(handler: Handler) -> bool:
        return trusts_everything or handler.origin in NEEDS_NO_TRUST

    rows = [
        [
            event,
            *(handler.name, handler.digest, handler.origin.name, handler.runtime, handler.path, handler.arguments),
            *(handler.entry, handler.role, handler.match, handler.config, handler.status),
            *(step.strict, step.timeout, step.mode, step.background, permit(handler)),
            list(_content(handler, permit, directories=trusts_everything)) if is_unagreed(handler) else [],
        ]
        for event in INSIDE_AGENT
        for step in chains[event].steps
        for handler in (step.handler,)
        if handler.function is None or handler.origin is Origin.BUILT_IN  # others live in one process only
    ]
    text = json.dumps(rows, sort_keys=True, default=str)
    return f"{_EVERYTHING if trusts_everything else _AGREED}:{sha256(text.encode()).hexdigest()}"


def _content(handler: Handler, permit: Permit, *, directories: bool) -> Iterator[str]:
    """The content of what a handler runs, where no agreement is about it: of its files, or of all beside them."""
    files = [path for path in (handler.path, *handler.runs) if os.path.isabs(path)]
    if not directories:
        yield from (digest_file(path) for path in files)
        return
    places = {os.path.dirname(path) for path in files}
    if handler.package is not None:
        places.add(handler.package.directory)
    for place in sorted(places):
        try:
            yield tree_digest(place, survey(place), permit.digests)
        except (OSError, TooManyFiles) as error:
            yield str(error)
