"""The lines of the board: a run as it is now, arranged for a screen of any size. Nothing is read here.

All text of agents, tasks and files goes through `line`, so that no control sequence of theirs reaches the
terminal, and is appended to a `Text`, which knows no markup. The work is bounded by the size of the screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from rich.text import Text

from samuel.base.wording import elapsed, line, plural, span, time_of_day
from samuel.display.now.journal_tail import HookEvent
from samuel.display.now.model import AttemptNow, RunNow, TaskNow
from samuel.display.status_lines import hold_words
from samuel.report.model import TONES, WaitingItem

WIDE = 120  # columns from which two columns are shown
LONGEST_COLUMN = 100  # characters of an id or a word that can be shown
KEYS = ("s say", "a answer", "x stop", "d diff", "l log", "Tab lane", "? help", "q quit")
STYLES = {"good": "green", "warn": "yellow", "bad": "red", "ask": "magenta", "wait": "cyan", "idle": ""}
HEADING = "bold"


class BoardState(NamedTuple):
    """What the person at the board has chosen."""

    lane: int = 0
    """Which of the attempts under way is shown in detail."""
    task: int = -1
    """The place of the selected task in the list; -1 follows the attempt that is shown."""
    note: str = ""
    """What the last key did."""
    is_error: bool = False


class Section(NamedTuple):
    """A part of the board: its heading, and its lines, of which those that fit are shown."""

    heading: Text
    lines: Sequence[Text]
    least: int
    """Lines that are shown also on a small screen."""
    most: int

    @property
    def height(self) -> int:
        return 1 + len(self.lines) if self.lines else 0


def board_lines(now: RunNow, state: BoardState, width: int, height: int) -> list[Text]:
    """Exactly `height` lines of `width` cells."""
    head = [_first_line(now, width), _counts_line(now), *_hold_lines(now), *_said_lines(now)]
    foot = [_note_line(state, now), _keys_line(now, width)]
    room = max(height - len(head) - len(foot), 0)
    if width >= WIDE:
        left, right = width // 2, width - width // 2 - 1
        columns = (
            _stacked([_needs(now, left)], now, state, left, room),
            _stacked([_attempts(now, state, right, room), _hooks(now, right)], None, state, right, room),
        )
        body = [_beside(*pair, left) for pair in zip_longest(*columns, fillvalue=Text())]
    else:
        sections = [_needs(now, width), _attempts(now, state, width, room), _hooks(now, width)]
        body = _stacked(sections, now, state, width, room)
    lines = [*head, *body[:room], *([Text()] * (room - len(body))), *foot]
    return [_fitted(text, width) for text in lines[-height:] if height > 0]


def selected_task(now: RunNow, state: BoardState) -> TaskNow | None:
    """The task that `d` and `l` are about; None if there is none."""
    index = selected_index(now, state)
    return now.tasks[index] if index >= 0 else None


def selected_index(now: RunNow, state: BoardState) -> int:
    """The place of the selected task: chosen, or that of the attempt shown, or of what needs a person."""
    if not now.tasks:
        return -1
    if state.task >= 0:
        return min(state.task, len(now.tasks) - 1)
    attempt = shown_attempt(now, state)
    task_id = attempt.task if attempt else now.questions[0].task if now.questions else ""
    return next((index for index, task in enumerate(now.tasks) if task.id == task_id), 0) if task_id else 0


def shown_attempt(now: RunNow, state: BoardState) -> AttemptNow | None:
    return now.attempts[state.lane % len(now.attempts)] if now.attempts else None


def _first_line(now: RunNow, width: int) -> Text:
    text = Text()
    text.append(line(now.project, 40), HEADING)
    text.append(f"  {line(now.headline, 200)}", _phase_style(now))
    if now.seconds is not None and now.run_id:
        text.append(f"  {elapsed(now.seconds) if now.is_live else span(now.seconds)}")
    if now.max_iterations:
        text.append(f"  iteration {now.iterations}/{now.max_iterations}")
    if now.run_id and width >= WIDE:
        text.append(f"  {line(now.run_id, 60)}", "dim")
    return text


def _phase_style(now: RunNow) -> str:
    if now.problem or now.phase == "cut off":
        return STYLES["bad"]
    if now.paused:
        return STYLES["warn"]
    return {"at work": STYLES["good"], "waiting": STYLES["wait"]}.get(now.phase, "")


def _counts_line(now: RunNow) -> Text:
    if now.problem:
        return Text(line(now.problem), STYLES["bad"])
    text = Text()
    for word, count in now.words.items():
        text.append(f"{', ' if text else ''}")
        text.append(f"{count} {line(word.replace('_', ' '), LONGEST_COLUMN)}", STYLES.get(TONES.get(word, ""), ""))
    if not text:
        text.append("no tasks")
    spent = [line(budget.words, 60) for budget in now.budgets]
    is_priced = now.cost.usd is not None
    if (is_priced and not spent) or (not is_priced and now.cost.tokens):
        spent.insert(0, now.cost.price)
    return text.append(f"   cost {', '.join(spent)}") if spent else text


def _hold_lines(now: RunNow) -> list[Text]:
    return [Text(f"waits for {hold_words(hold, now.at)}", STYLES["wait"]) for hold in now.holds[:2]]


def _said_lines(now: RunNow) -> list[Text]:
    """What people said that has not reached an attempt yet."""
    entries = now.guidance[:1] if now.is_live else ()
    more = f" (and {len(now.guidance) - 1} more)" if len(now.guidance) > 1 else ""
    return [
        Text(
            f"said by {line(entry.who, 30)} to "
            f"{f'task {line(entry.task, 40)}' if entry.task else 'the next attempt'}{more}: {line(entry.text)}",
            STYLES["wait"],
        )
        for entry in entries
    ]


def _needs(now: RunNow, width: int) -> Section:
    lines: list[Text] = []
    for question in now.questions[:20]:
        text = Text().append(" ? ", STYLES["ask"])
        text.append(f"{line(question.id, 20)} ", HEADING)
        text.append(f"task {line(question.task, 40)}: {line(question.text, width)}")
        lines.append(text)
    asked_tasks = {question.task for question in now.questions}
    lines += [
        _waiting_line(item, width) for item in now.waiting[:20] if item.subject.split(" ")[0] not in asked_tasks
    ]
    heading = Text(f"needs you ({len(lines)})", f"{HEADING} {STYLES['ask']}")
    return Section(heading, lines, least=2, most=7)


def _waiting_line(item: WaitingItem, width: int) -> Text:
    text = Text().append(" ! ", STYLES.get(item.tone, ""))
    text.append(f"{line(item.subject, 60)}: {line(item.word, 40)}", HEADING)
    return text.append(f", {line(item.why, width)}") if item.why else text


def _attempts(now: RunNow, state: BoardState, width: int, room: int) -> Section:
    """Each attempt on a line; below the one that is shown what its agent does."""
    lines: list[Text] = []
    chosen = shown_attempt(now, state)
    for attempt in now.attempts[:12]:
        is_chosen = attempt is chosen
        lines.append(_attempt_line(attempt, now, is_chosen and len(now.attempts) > 1))
        if is_chosen:
            lines += _attempt_details(attempt, now, width, max(room // 4, 2))
    if now.landing and now.is_live:
        lines.append(Text(f" {line(now.landing, width)}", STYLES["wait"]))
    noun = "attempt" if len(now.attempts) < 2 else f"{len(now.attempts)} attempts"
    return Section(
        Text(noun, HEADING), lines, least=min(3, len(lines)), most=max(room // 3, 4) + len(now.attempts)
    )


def _attempt_line(attempt: AttemptNow, now: RunNow, is_chosen: bool) -> Text:
    text = Text().append(">" if is_chosen else " ", HEADING)
    if attempt.name:
        text.append(f"[{line(attempt.name, 40)}] ", STYLES["wait"])
    subject = f"{line(attempt.task, 40)} {line(attempt.title, 80)}" if attempt.task else "looking for tasks"
    text.append(subject, HEADING)
    text.append(f", attempt {attempt.attempt}" if attempt.attempt > 1 else "")
    text.append(f", {line(attempt.agent, 30)}, {elapsed(max(now.at - attempt.started_at, 0))}")
    if attempt.cost.usd is not None or attempt.cost.tokens is not None:
        text.append(f", {attempt.cost.short}")
    return text.append(f", {attempt.state}") if attempt.state != "at work" else text


def _attempt_details(attempt: AttemptNow, now: RunNow, width: int, most_actions: int) -> list[Text]:
    lines = [Text(f"   now: {line(attempt.doing, width)}")] if attempt.doing else []
    if attempt.check is not None:
        style = STYLES["good"] if attempt.check.passed else STYLES["bad"]
        lines.append(Text(f"   check {line(attempt.check.words, width)}", style))
    actions = [action for action in attempt.actions if action.words != attempt.doing][-most_actions:]
    lines += [
        Text(f"   {time_of_day(action.at)} {line(action.words, width)}", "dim") for action in reversed(actions)
    ]
    return lines


def _hooks(now: RunNow, width: int) -> Section:
    """Denials first, then what hooks said of the last tool calls, then warnings."""
    lines = [_event_line(event, width) for event in reversed(now.denials[-5:])]
    lines += [Text(f" {line(message.words, width)}", STYLES["warn"]) for message in reversed(now.messages[-3:])]
    others = [event for event in now.tool_calls[-8:] if event.verdict not in ("denied", "asked")]
    lines += [_event_line(event, width) for event in reversed(others)]
    count = f", {plural(len(now.denials), 'denial')}" if now.denials else ""
    return Section(Text(f"hooks{count}", HEADING), lines, least=min(2, len(lines)), most=6)


def _event_line(event: HookEvent, width: int) -> Text:
    verdict = event.verdict or "asking"
    style = {"denied": STYLES["bad"], "asked": STYLES["ask"], "failed": STYLES["bad"]}.get(verdict, "")
    text = Text(f" {time_of_day(event.at)} ")
    text.append(verdict, style)
    text.append(f" {line(event.subject or event.event, width)}")
    handlers = [call.handler for call in event.calls if call.outcome == "denied"]
    by = f" by {line(handlers[0], 60)}" if handlers else ""
    return text.append(f"{by}: {line(event.why, width)}") if event.why else text.append(by)


def _stacked(
    sections: Sequence[Section], now: RunNow | None, state: BoardState, width: int, room: int
) -> list[Text]:
    """The sections below each other; with `now`, its tasks have the rest of the room, after the first section."""
    heights = _heights([section for section in sections if section.lines], room - (4 if now is not None else 0))
    blocks = [
        [_rule(section.heading, width), *section.lines[: height - 1]]
        for section, height in zip((section for section in sections if section.lines), heights, strict=True)
        if height > 1
    ]
    if now is not None:
        rest = room - sum(len(block) for block in blocks)
        has_needs = bool(sections and sections[0].lines and blocks)
        blocks.insert(1 if has_needs else 0, _task_lines(now, state, width, rest))
    return [text for block in blocks for text in block]


def _heights(sections: Sequence[Section], room: int) -> list[int]:
    """How many lines each section gets: first what it needs at least, then more, in their order."""
    heights = []
    for section in sections:
        height = min(1 + section.least, section.height, max(room, 0))
        heights.append(height)
        room -= height
    for index, section in enumerate(sections):
        more = max(min(section.height, 1 + section.most) - heights[index], 0)
        if heights[index]:
            heights[index] += min(more, max(room // 2, 0))
            room -= min(more, max(room // 2, 0))
    return heights


def _task_lines(now: RunNow, state: BoardState, width: int, room: int) -> list[Text]:
    """The tasks around the selected one."""
    if room < 2 or not now.tasks:
        return []
    selected, count = selected_index(now, state), len(now.tasks)
    visible = room - 1
    first = max(min(selected - visible // 2, count - visible), 0)
    rows = now.tasks[first : first + visible]
    ids = max(len(line(task.id, 20)) for task in rows)
    words = max(len(line(task.word, 24)) for task in rows)
    at_work = {attempt.task for attempt in now.attempts}
    place = f" {first + 1}-{first + len(rows)} of {count}" if count > len(rows) else f" ({count})"
    lines = [_rule(Text(f"tasks{place}", HEADING), width)]
    for index, task in enumerate(rows, start=first):
        text = Text().append(">" if index == selected else " ", HEADING)
        text.append("*" if task.id in at_work else " ", STYLES["good"])
        text.append(f"{line(task.id, 20):<{ids}} ", HEADING if index == selected else "")
        text.append(f"{line(task.word.replace('_', ' '), 24):<{words}}  ", STYLES.get(task.tone, ""))
        text.append(line(task.title, width), HEADING if index == selected else "")
        if task.attempts > 1:
            text.append(f" ({task.attempts} attempts)", "dim")
        if task.why and task.status != "completed":
            text.append(f"  {line(task.why, width)}", "dim")
        lines.append(text)
    return lines


def _note_line(state: BoardState, now: RunNow) -> Text:
    if state.note:
        return Text(line(state.note), STYLES["bad"] if state.is_error else STYLES["good"])
    return Text(line(now.exit_message)) if now.phase == "ended" and now.exit_message else Text()


def _keys_line(now: RunNow, width: int) -> Text:
    keys = ("p resume" if now.paused else "p pause", *KEYS)
    text = "  ".join(keys)
    return Text(text if len(text) <= width else " ".join(key for key in keys if key != "Tab lane"), "dim")


def _rule(heading: Text, width: int) -> Text:
    text = Text().append("── ", "dim").append_text(heading).append(" ")
    return text.append("─" * max(width - text.cell_len, 0), "dim")


def _beside(left: Text, right: Text, width: int) -> Text:
    return _fitted(left, width).append("│", "dim").append_text(right)


def _fitted(text: Text, width: int) -> Text:
    """The text in exactly so many cells."""
    copy = text.copy()
    copy.truncate(max(width, 1), overflow="ellipsis", pad=True)
    copy.no_wrap = True
    return copy
