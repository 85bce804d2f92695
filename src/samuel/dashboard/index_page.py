"""The page of all projects that have a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from samuel.dashboard.live_view import Fragments
from samuel.dashboard.project_page import ProjectPage
from samuel.dashboard.templates_of_pages import PHASE_TONES, render
from samuel.display.now.model import RunNow


class IndexPage:
    def __init__(self, pages: Callable[[], Sequence[ProjectPage]]) -> None:
        """`pages` has the projects as they are at each look."""
        self._pages = pages

    def fragments(self) -> Fragments:
        rows = [(page.project, now, _tone(now)) for page in self._pages() for now in [page.look()]]
        rows.sort(key=lambda row: (_rank(row[1]), -row[1].started_at))
        needs = sum(needs_a_person(now) for _, now, _ in rows)
        at_work = sum(now.is_live for _, now, _ in rows)
        return {"projects": render("projects.html.j2", rows=rows, needs=needs, at_work=at_work)}


def needs_a_person(now: RunNow) -> bool:
    return bool(now.questions or now.problem or now.phase == "cut off" or now.counts.get("blocked"))


def _rank(now: RunNow) -> int:
    """What needs a person comes first, then what is at work."""
    return 0 if needs_a_person(now) else 1 if now.is_live else 2


def _tone(now: RunNow) -> str:
    return "ask" if now.questions else PHASE_TONES[now.phase]
