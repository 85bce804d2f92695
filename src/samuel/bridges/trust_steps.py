"""What a client asks of its user before it runs hooks, and whether the user did it.

Clients skip hooks that they do not trust, and say nothing. So `bridge add` names the step, and `bridge check`
looks where the client records it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Literal, NamedTuple

from samuel.bridges.files import BridgeContext
from samuel.clients.entries.hook_trust import Ask, BridgeEntry, Level, TrustQuestion
from samuel.clients.table import LAYOUTS
from samuel.process import environment
from samuel.process.conversation import Conversation
from samuel.process.reason import NotRunnable

TrustState = Literal["trusted", "untrusted", "unknown", "not needed"]

ANSWER_TIMEOUT = 20.0
LONGEST_ANSWER = 4 * 1024 * 1024


class TrustStep(NamedTuple):
    """What the client asks for, and where that stands."""

    state: TrustState
    step: str
    """What the user has to do; "" if nothing."""


def trust_step(
    context: BridgeContext, client: str, level: Level, entries: Iterable[BridgeEntry] = ()
) -> TrustStep:
    """Where the client's trust in these entries stands."""
    layout = LAYOUTS[client]
    step = layout.trust.steps.get(level, "")
    if not step:
        return TrustStep("not needed", "")
    if layout.trust.look_up is None:
        return TrustStep("unknown", step)
    home = layout.home(context.environment, context.user.home)
    converse = partial(conversing, context)
    question = TrustQuestion(context.root, context.environment, home, tuple(entries), converse)
    return TrustStep("trusted" if layout.trust.look_up(question) else "untrusted", step)


@contextmanager
def conversing(context: BridgeContext, argv: Sequence[str], pass_names: Sequence[str]) -> Iterator[Ask]:
    """A program of the client that answers questions on its stdin; one that cannot be started answers none."""
    env = environment.clean(pass_names=pass_names, base=context.environment)
    try:
        conversation = Conversation(argv, cwd=str(context.root), env=env, over_stdio=True)
    except NotRunnable:
        yield lambda question: None
        return

    def ask(question: bytes) -> bytes | None:
        reply = conversation.ask(question, timeout=ANSWER_TIMEOUT, limit=LONGEST_ANSWER)
        return reply.answer if reply.ended == "answered" else None

    try:
        yield ask
    finally:
        conversation.close()
