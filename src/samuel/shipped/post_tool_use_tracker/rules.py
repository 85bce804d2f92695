"""When `post_tool_use_tracker` reports an ability as used often.

config:
  frequent: 5
"""

from __future__ import annotations

import msgspec

from samuel.config import kinds
from samuel.config.reader import ConfigTable


class TrackingRules(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    frequent: int = 5
    """The number of successful calls from which on an ability counts as used often."""


def read(table: ConfigTable) -> TrackingRules:
    return TrackingRules(table.take("frequent", kinds.positive, TrackingRules().frequent))
