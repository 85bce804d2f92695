"""prd.json: user stories with `passes`, as ralph and its relatives write them."""

from __future__ import annotations

from samuel.base.errors import Problem
from samuel.tasks.formats.base import BY_GRAMMAR, ImportedTasks, LeftOutItem, Mark, Recognition, valid_tasks
from samuel.tasks.formats.json_records import JsonRecord
from samuel.tasks.formats.source import TaskSource
from samuel.tasks.task import Task

STORIES, COMMANDS = "userStories", "verificationCommands"


class PrdJson:
    name = "prd.json"
    summary = "prd.json of ralph: user stories with `passes`"
    example = '    {"userStories": [{"id": "US-001", "title": "Store prices", "priority": 1, "passes": false}]}'
    marks = "`passes` of the story becomes true"
    stable_ids = True

    def recognise(self, source: TaskSource) -> Recognition | None:
        if source.looks_like_json and f'"{STORIES}"' in source.text:
            return Recognition(BY_GRAMMAR, f"it is JSON with `{STORIES}`")
        return None

    def read(self, source: TaskSource, tag: str = "") -> ImportedTasks:
        problems: list[Problem] = []
        top = JsonRecord(source.json, source.name, 1, "file", problems)
        places = source.json_root.at((STORIES,))
        lines = [source.line_of(member.start) for member in places.members] if places else []
        stories = top.items(STORIES)
        tasks = [
            _task(JsonRecord(story, source.name, line, "story", problems), number)
            for number, (story, line) in enumerate(zip(stories, lines, strict=False), start=1)
        ]
        prose = "\n\n".join(text for text in (_heading(top.text("project")), top.text("description")) if text)
        checks, left_out = _checks(top.values.get(COMMANDS), source)
        notes = [f"it has no story: `{STORIES}` is empty"] if not tasks else []
        if branch := top.text("branchName"):
            notes.append(f"it names the branch `{branch}`, which Samuel does not check out")
        return valid_tasks(source, tasks, lines, problems)._replace(
            counts={"stories": len(stories)}, prose=prose, checks=checks, left_out=left_out, notes=tuple(notes)
        )

    def mark_done(self, source: TaskSource, imported: ImportedTasks, index: int) -> Mark | None:
        place = source.json_root.at((STORIES, index, "passes"))
        return Mark(source.path, place.start, place.end, "true") if place and source.path else None


def _task(story: JsonRecord, number: int) -> Task:
    notes = story.text("notes").strip()
    description = "\n\n".join(
        part for part in (story.text("description").strip(), notes and f"Notes: {notes}") if part
    )
    return Task(
        id=(story.text("id") or f"US-{number:03}").strip(),
        title=story.title(),
        description=description,
        status="completed" if story.flag("passes") else "pending",
        acceptance=story.texts("acceptanceCriteria"),
        depends_on=story.ids("dependsOn"),
        **story.priority(),
    )


def _heading(project: str) -> str:
    return f"# {project.strip()}" if project.strip() else ""


def _checks(commands: object, source: TaskSource) -> tuple[tuple[str, ...], tuple[LeftOutItem, ...]]:
    """The commands that check all stories, and what stands among them and is no command."""
    place = source.json_root.at((COMMANDS,))
    if place is None or commands is None:
        return (), ()
    if not isinstance(commands, dict | list):
        what = f"`{COMMANDS}` is neither an object nor a list of commands"
        return (), (LeftOutItem(source.line_of(place.start), what),)
    by_key = commands.items() if isinstance(commands, dict) else enumerate(commands)
    checks, left_out = [], []
    for key, value in by_key:
        if isinstance(value, str) and value.strip():
            checks.append(value.strip())
        else:
            what = f"`{key}` of `{COMMANDS}` is not a command, and is not checked"
            left_out.append(LeftOutItem(source.line_of((place.at((key,)) or place).start), what))
    return tuple(dict.fromkeys(checks)), tuple(left_out)
