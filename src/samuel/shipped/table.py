"""The hooks that come with Samuel: the events of each, its function, and what reads its `config:`.

Functions are named by text: reading YAML needs only the rules, and a hook's code is imported only by the worker
that runs it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from types import MappingProxyType

import msgspec

from samuel.config.reader import ConfigTable
from samuel.events import names
from samuel.shipped import rule_values
from samuel.shipped.knowledge_trigger import rules as knowledge_trigger
from samuel.shipped.notify import rules as notify
from samuel.shipped.policy_guard import rules as policy_guard
from samuel.shipped.session_stop_build_check import rules as session_stop_build_check
from samuel.shipped.shell_guard import rules as shell_guard
from samuel.sources.yaml_hook import ShippedHook, ShippedHooks


def _hook(
    name: str,
    *events: str,
    read: Callable[[ConfigTable], msgspec.Struct],
    only_suggests: bool = False,
    required_key: str = "",
) -> tuple[str, ShippedHook]:
    return name, ShippedHook(events, f"samuel.shipped.{name}.hook:hook", read, required_key, only_suggests)


SHIPPED_HOOKS: ShippedHooks = MappingProxyType(
    dict(
        (
            _hook("knowledge_trigger", names.USER_PROMPT_SUBMIT, read=knowledge_trigger.read, only_suggests=True),
            _hook("notify", names.AFTER_ITERATION, names.AFTER_LOOP, read=notify.read),
            _hook("policy_guard", names.PRE_ABILITY_CALL, read=policy_guard.read),
            _hook("post_tool_use_tracker", names.POST_ABILITY_CALL, read=rule_values.read_tracking_rules),
            _hook(
                "session_stop_build_check",
                names.SESSION_STOP,
                read=session_stop_build_check.read,
                required_key="builds",
            ),
            _hook("shell_guard", names.PRE_ABILITY_CALL, read=shell_guard.read),
            _hook(
                "skill_activation_prompt",
                names.USER_PROMPT_SUBMIT,
                read=rule_values.read_suggestion_rules,
                only_suggests=True,
            ),
        )
    )
)


def definition(name: str) -> bytes:
    """The YAML of one of `SHIPPED_HOOKS`, as `samuel hooks enable` writes it: with `enabled: false`."""
    return files("samuel.shipped").joinpath(name, "definition.yaml").read_bytes()
