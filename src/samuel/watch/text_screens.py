"""The screens above the board: a text to read, and a line to write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, Static

from samuel.base.wording import line

DIFF_STYLES = {"+": "green", "-": "red", "@": "cyan"}
BACK = "arrows, PageUp, PageDown, Home, End move   q or Esc back"


class TextLines(ScrollView, can_focus=True):
    """Lines of which only those on the screen are drawn."""

    def __init__(self, is_diff: bool = False) -> None:
        super().__init__()
        self._lines: Sequence[str] = ()
        self._is_diff = is_diff

    def put(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self.virtual_size = Size(max((len(text) for text in lines), default=0), len(lines))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        left, top = self.scroll_offset
        index = top + y
        words = self._lines[index] if index < len(self._lines) else ""
        style = DIFF_STYLES.get(words[:1], "") if self._is_diff else ""
        text = Text(words, style, no_wrap=True, end="")
        strip = Strip(text.render(self.app.console))
        return strip.crop_extend(left, left + self.size.width, None)


class TextScreen(Screen[None]):
    """A text that can be scrolled."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,escape", "dismiss", "back"),
        Binding("d", "app.show_diff", "diff"),
        Binding("l", "app.show_log", "log"),
        Binding("question_mark", "app.show_help", "help"),
    ]

    def __init__(self, title: str, lines: Sequence[str], *, is_diff: bool = False, at_end: bool = False) -> None:
        super().__init__()
        self._title = title
        self._text_lines = lines
        self._is_diff = is_diff
        self._at_end = at_end

    def compose(self) -> ComposeResult:
        yield Static(Text(line(self._title), "bold"), markup=False, classes="title")
        yield TextLines(self._is_diff)
        yield Static(Text(BACK, "dim"), markup=False, classes="keys")

    def on_mount(self) -> None:
        lines = self.query_one(TextLines)
        lines.put(self._text_lines)
        lines.focus()
        if self._at_end:
            lines.scroll_end(animate=False)

    def put(self, lines: Sequence[str]) -> None:
        """Show other lines; at the end, the end stays in sight."""
        area = self.query_one(TextLines)
        is_at_end = area.scroll_offset.y >= area.max_scroll_y
        area.put(lines)
        if is_at_end and self._at_end:
            area.scroll_end(animate=False)


class WrittenLine(NamedTuple):
    """What a person wrote, and for which of the targets."""

    text: str
    target: str


class LineScreen(Screen[WrittenLine | None]):
    """One line to write. Enter sends it, Esc does not; Tab changes what it is for."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "cancel", "back", priority=True),
        Binding("tab", "next_target", "next", priority=True),
    ]

    def __init__(self, targets: Sequence[str], describe: Callable[[str], Sequence[str]], target: str) -> None:
        """`targets` are the ids of what the line can be for, and `describe` says what one of them is."""
        super().__init__()
        self._targets = targets
        self._describe = describe
        self._target = target

    def compose(self) -> ComposeResult:
        yield Static(markup=False, classes="description")
        yield Input()
        more = "   Tab changes what it is for" if len(self._targets) > 1 else ""
        yield Static(Text(f"Enter sends   Esc back{more}", "dim"), markup=False, classes="keys")

    def on_mount(self) -> None:
        self._show_target()
        self.query_one(Input).focus()

    def _show_target(self) -> None:
        heading, *more = self._describe(self._target)
        text = Text().append(line(heading), "bold")
        for words in more:
            text.append(f"\n{words}")
        self.query_one(".description", Static).update(text)

    def action_next_target(self) -> None:
        place = self._targets.index(self._target) if self._target in self._targets else -1
        self._target = self._targets[(place + 1) % len(self._targets)]
        self._show_target()

    def action_cancel(self) -> None:
        self.dismiss(None)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.dismiss(WrittenLine(event.value, self._target) if event.value.strip() else None)
