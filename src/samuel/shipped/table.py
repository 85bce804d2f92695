"""The hooks that come with Samuel: the events of each, its function, and what reads its `config:`.

Functions are named by text: reading YAML needs only the rules, and a hook's code is imported only by the worker
that runs it.
"""

from __future__ import annotations

from types import MappingProxyType

from samuel.events import names
from samuel.shipped.knowledge_trigger import rules as knowledge_trigger
from samuel.shipped.notify import rules as notify
from samuel.shipped.policy_guard import rules as policy_guard
from samuel.shipped.post_tool_use_tracker import rules as post_tool_use_tracker
from samuel.shipped.session_stop_build_check import rules as session_stop_build_check
from samuel.shipped.skill_activation_prompt import rules as skill_activation_prompt
from samuel.sources.shipped_hook import ShippedHook, ShippedHooks

SHIPPED_HOOKS: ShippedHooks = MappingProxyType(
    {
        "knowledge_trigger": ShippedHook(
            events=(names.USER_PROMPT_SUBMIT,),
            function="samuel.shipped.knowledge_trigger.hook:hook",
            read_config=knowledge_trigger.read,
            only_suggests=True,
        ),
        "notify": ShippedHook(
            events=(names.AFTER_ITERATION, names.AFTER_LOOP),
            function="samuel.shipped.notify.hook:hook",
            read_config=notify.read,
        ),
        "policy_guard": ShippedHook(
            events=(names.PRE_ABILITY_CALL,),
            function="samuel.shipped.policy_guard.hook:hook",
            read_config=policy_guard.read,
        ),
        "post_tool_use_tracker": ShippedHook(
            events=(names.POST_ABILITY_CALL,),
            function="samuel.shipped.post_tool_use_tracker.hook:hook",
            read_config=post_tool_use_tracker.read,
        ),
        "session_stop_build_check": ShippedHook(
            events=(names.SESSION_STOP,),
            function="samuel.shipped.session_stop_build_check.hook:hook",
            read_config=session_stop_build_check.read,
            required_key="builds",
        ),
        "skill_activation_prompt": ShippedHook(
            events=(names.USER_PROMPT_SUBMIT,),
            function="samuel.shipped.skill_activation_prompt.hook:hook",
            read_config=skill_activation_prompt.read,
            only_suggests=True,
        ),
    }
)
