"""Which words mean which intent: the rules of `knowledge_trigger`.

    config:
      intents:
        - when: ["before I commit", "pre-?commit"]   # regular expressions; large and small letters are the same
          intent: learn_which_checks_to_run_before_commit
          scope: execution.quality_gates
          topic: pre_commit_checks
          stage: understand

The first that fits decides.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

import msgspec

from samuel.config import kinds
from samuel.config.reader import ConfigTable
from samuel.events.event import Stage
from samuel.shipped.rule_values import entries, expressions

SEARCHED = 100_000  # characters of a text


class Trigger(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    when: tuple[str, ...]
    intent: str
    scope: str = ""
    topic: str = ""
    stage: Stage | Literal[""] = ""


class Intents(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    intents: tuple[Trigger, ...] = ()


def read(table: ConfigTable) -> Intents:
    found = []
    for entry in entries(table, "intents"):
        stage = entry.take("stage", kinds.one_of(*get_args(Stage)), "")
        found.append(
            Trigger(
                when=entry.require("when", expressions, ()),
                intent=entry.require("intent", kinds.name, ""),
                scope=entry.take("scope", kinds.name, ""),
                topic=entry.take("topic", kinds.name, ""),
                stage=stage,  # type: ignore[arg-type]  # one of the four
            )
        )
    return Intents(tuple(found))


def first_fitting(intents: Intents, text: str) -> Trigger | None:
    said = text[:SEARCHED]
    return next(
        (one for one in intents.intents if any(re.search(when, said, re.IGNORECASE) for when in one.when)), None
    )
