"""Warnings about filters on names of tools that never occur."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samuel.app.project import App


def tool_name_warnings(app: App) -> list[str]:
    """One for each handler and name; a project may have an ability of that name."""
    from samuel.clients.dialect.tool_names import FILTER, warnings  # with every client's dialect

    filtered = [(handler.name, handler.match) for handler in app.handlers if FILTER in handler.match]
    if not filtered:
        return []
    from samuel.routing.abilities import registry  # reads the project's abilities

    abilities = registry.load(app.paths.root, app.user.cache).abilities
    return warnings(filtered, [ability.id for ability in abilities])
