"""The hooks that come with Samuel: where each is, and who reads what its YAML tells it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import msgspec

from samuel.config.reader import ConfigTable
from samuel.events import names
from samuel.rules import builds, intents, numbers, policy


class Shipped(NamedTuple):
    event: str
    """What it is for, and nothing else."""
    where: str
    """`module:function`. It runs in a worker, like everybody's Python."""
    read: Callable[[ConfigTable], msgspec.Struct]
    """What it is told below `config`."""
    needs: str = ""
    """The key of `config` without which it has nothing to do."""
    suggests: bool = False
    """It suggests and never denies: where it cannot run, nothing is left unguarded."""


SHIPPED: Mapping[str, Shipped] = MappingProxyType(
    {
        "knowledge_trigger": Shipped(
            names.USER_PROMPT_SUBMIT, "samuel.shipped.knowledge_trigger:hook", intents.read, suggests=True
        ),
        "policy_guard": Shipped(names.PRE_ABILITY_CALL, "samuel.shipped.policy_guard:hook", policy.read),
        "post_tool_use_tracker": Shipped(
            names.POST_ABILITY_CALL, "samuel.shipped.post_tool_use_tracker:hook", numbers.read_tracking
        ),
        "session_stop_build_check": Shipped(
            names.SESSION_STOP, "samuel.shipped.session_stop_build_check:hook", builds.read, needs="builds"
        ),
        "skill_activation_prompt": Shipped(
            names.USER_PROMPT_SUBMIT,
            "samuel.shipped.skill_activation_prompt:hook",
            numbers.read_suggesting,
            suggests=True,
        ),
    }
)
