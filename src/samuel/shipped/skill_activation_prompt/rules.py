"""How many abilities `skill_activation_prompt` suggests.

config:
  limit: 3
"""

from __future__ import annotations

import msgspec

from samuel.config import kinds
from samuel.config.reader import ConfigTable


class SuggestionRules(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    limit: int = 3
    """The maximum number of abilities suggested for one message."""


def read(table: ConfigTable) -> SuggestionRules:
    return SuggestionRules(table.take("limit", kinds.positive, SuggestionRules().limit))
