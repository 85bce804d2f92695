"""The reference of the formats that tasks can be written in, from the table that recognises them."""

from __future__ import annotations

from page import NOTE

from samuel.tasks.formats.table import FORMATS

DETAILS = {
    "markdown": (
        "[Write a PRD](../how-to/write-a-prd.md) describes it. A heading is a task if it is in a section "
        "for tasks or is a story (`US-001: ...`); unnumbered checklists below it are its acceptance "
        "criteria. Plain lists and tables count only where there are no headings and no boxes."
    ),
    "checklist": (
        "The same file with the other meaning: every box is a task, and no heading is. It is offered where "
        "both fit."
    ),
    "openspec": (
        "Recognised by the path `openspec/changes/*/tasks.md`, by a `proposal.md` beside it, or by sections "
        "`## N. Title` that hold boxes `N.M`. Sections are never tasks. Boxes without a number get that of "
        "their section. `proposal.md`, `design.md` and `specs/*/spec.md` are in the prompt."
    ),
    "spec-kit": (
        "Recognised by boxes like `T001` in `specs/*/tasks.md` or beside a `spec.md` or `plan.md`, or with "
        "`[P]`, `[US1]` or phases. Setup and foundation are critical, and no story begins before they are "
        "done; a story has the priority of its phase. Goal and independent test are in the description, the "
        "latter also as the test strategy. `spec.md`, `plan.md`, `research.md`, `data-model.md` and "
        "`quickstart.md` are in the prompt."
    ),
    "bmad": (
        "Recognised by `## Epic N` and `### Story N.M` headings, by the name `sprint-status.yaml`, or by a "
        "story with a `Status:` line. A story is a task. `backlog`, `drafted`, `ready-for-dev` and "
        "`in-progress` are pending, `review` and `done` are completed. The file of a story, beside the "
        "sprint, replaces its text in the epics."
    ),
    "prd.json": (
        "Recognised by `userStories`. `priority` 1 is first; `passes` is completed; `dependsOn`, `notes` "
        "and `acceptanceCriteria` are read; `verificationCommands` become quality checks beside those of "
        "samuel.toml, once you agreed to them; an entry that is not a command is named with its line."
    ),
    "task-master": (
        "Recognised by `.taskmaster/` or by tags of `tasks`; the old form without tags is read, too. "
        "`--tag` chooses a tag; without it, it is `currentTag` of state.json, else `master`. A subtask is a "
        "task with the id `1.2`; a plain number in its dependencies means a sibling. `pending` and "
        "`in-progress` are pending, `done` and `review` completed, `cancelled` skipped, `deferred` and "
        "`blocked` blocked. A dependency that is not in the tag is a warning."
    ),
    "beads": (
        "Recognised by `.beads/` or by `issue_type`. `blocks`, `conditional-blocks` and `waits-for` hold "
        "back; an issue waits for its open children (`parent-child`), and they for what it waits for. "
        "Tombstones, templates, pinned and ephemeral issues, messages, gates, molecules, events and "
        "memories are left out and counted. What is closed waits for nothing, so it is in no cycle. "
        "Priority 0 is critical, 4 comes after all others."
    ),
    "github": (
        "Recognised by `number` and `title`. Ids are `#12`, in the order of their numbers. Labels like `P1` "
        "or `priority: high` are priorities; `Depends on #11`, `Blocked by #11` and `blockedBy` are "
        "dependencies; an issue waits for its sub-issues. A blocker that is not in the list is a warning."
    ),
}


def formats_page() -> str:
    lines = [
        NOTE.rstrip(),
        "",
        "# Task formats",
        "",
        "What `samuel run init --from`, `run convert`, `run enqueue --from` and `run sync` read. [Bring your",
        "tasks](../how-to/bring-your-tasks.md) shows how to use them. `--format NAME` chooses one; without it,",
        "the one that fits best is used, and named. A hook or a plugin can read [other",
        "formats](../how-to/bring-your-tasks.md#a-format-of-your-own).",
        "",
        "| name | what it is | written back when a task is completed |",
        "|---|---|---|",
        *(
            f"| [`{format.name}`](#{_anchor(format.name)}) | {format.summary} | {format.marks or 'nothing'} |"
            for format in FORMATS
        ),
        "",
        "Everywhere: a parent waits for its children; in Markdown, a child that is written to wait for its parent",
        "comes after it. What is done in the source is completed in the list; text around the tasks is in every",
        "prompt.",
        "",
    ]
    for format in FORMATS:
        example = "\n".join(line.removeprefix("    ") for line in format.example.splitlines())
        language = (
            "text" if format.name == "markdown" else "json" if example.startswith(("{", "[")) else "markdown"
        )
        lines += [f"## `{format.name}` {{ #{_anchor(format.name)} }}", "", DETAILS[format.name], ""]
        if format.name != "markdown":
            lines += [f"```{language}", example, "```", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _anchor(name: str) -> str:
    return name.replace(".", "-")
