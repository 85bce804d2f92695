"""The rules of `knowledge_trigger`: which phrases stand for which intent.

    config:
      intents:
        - when: ["before I commit", "pre-?commit"]   # regular expressions, without regard to case
          intent: learn_which_checks_to_run_before_commit
          scope: execution.quality_gates
          topic: pre_commit_checks
          stage: understand

The first that matches decides.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

import msgspec

from samuel.config import kinds
from samuel.config.reader import ConfigTable
from samuel.events.event import Stage
from samuel.shipped.rule_values import entries, expressions

MAX_SEARCHED = 100_000  # characters of a text, from its beginning


class Trigger(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    when: tuple[str, ...]
    intent: str
    scope: str = ""
    topic: str = ""
    stage: Stage | Literal[""] = ""


class Intents(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    intents: tuple[Trigger, ...] = ()


def read(table: ConfigTable) -> Intents:
    triggers = []
    for entry in entries(table, "intents"):
        stage = entry.take("stage", kinds.one_of(*get_args(Stage)), "")
        triggers.append(
            Trigger(
                when=entry.require("when", expressions, ()),
                intent=entry.require("intent", kinds.name, ""),
                scope=entry.take("scope", kinds.name, ""),
                topic=entry.take("topic", kinds.name, ""),
                stage=stage,  # type: ignore[arg-type]  # one of the four
            )
        )
    return Intents(tuple(triggers))


def first_match(intents: Intents, text: str) -> Trigger | None:
    searched = text[:MAX_SEARCHED]
    for trigger in intents.intents:
        if any(re.search(pattern, searched, re.IGNORECASE) for pattern in trigger.when):
            return trigger
    return None
