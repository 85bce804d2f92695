"""Containers, clusters, clouds, queues and databases: what deletes data that is not in the project."""

from __future__ import annotations

from samuel.shipped.shell_guard.areas import clouds, containers, databases
from samuel.shipped.shell_guard.guard_rule import GuardArea

RULES = GuardArea("infrastructure", (*containers.RULES, *clouds.RULES, *databases.RULES))
