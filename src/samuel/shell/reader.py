"""Reads shell text: walks the syntax tree and collects the commands, and those that they start in turn."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from samuel.shell import Opaque, OpaqueKind, Redirect, ShellCommand
from samuel.shell.evaluation import (
    STORING,
    SUBSTITUTION,
    conceals_code,
    evaluates_values,
    evaluates_words,
    reason_to_doubt,
)
from samuel.shell.interpreters import runs_a_script
from samuel.shell.pieces import is_translation_mark, pieces_of
from samuel.shell.programs import STARTING_THEIR_WORDS, starter
from samuel.shell.redirects import (
    NO_INPUT,
    NOTHING_TRAILING,
    InputText,
    StatementRedirects,
    Trailing,
    output_text,
    redirects_of,
)
from samuel.shell.started import Started, StartedCommand, StartedInput, StartedScript
from samuel.shell.syntax import parse
from samuel.shell.word import Word, words_of

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_DEPTH = 10
"""Scripts and commands within one another: `sudo env bash -c "bash -c ..."`."""
MAX_LEVELS = 150
"""Levels of the syntax tree; each is a call of a function."""
MAX_COMMANDS = 5_000
MAX_OPAQUE = 50
LONGEST_PART = 200

_REDIRECTS = frozenset({"file_redirect", "heredoc_redirect", "herestring_redirect"})
_SIMPLE = frozenset({"command", "declaration_command", "unset_command"})
_FIND_OPTION = re.compile(r"(?:^|[\s=])-(?:exec|ok)(?:dir)?(?:\s|$)")
_XARGS_QUOTES = re.compile(r"[\"'\\\0]")
_PRINTER = r"\s*(?:echo|which|command -v|type -p)\s+([\w./ ~-]*[\w./][\w./ ~-]*)"
_ECHOED = re.compile(rf"\$\({_PRINTER}\)|`{_PRINTER}`")
_BACKTICK_ESCAPE = re.compile(r"\\([\\$`])")


class Reader:
    """The commands and the opaque parts of a text, and of the texts in it."""

    def __init__(self) -> None:
        self.commands: list[ShellCommand] = []
        self.opaque: list[Opaque] = []
        self.assignments: list[str] = []
        self._starter = ""  # the program whose words or text are read now
        self._open_ended = 0  # above 0 in the text of an alias
        self._syntax = parse("")
        self._depth = 0
        self._level = 0
        self._concealing = ""  # a value that may have commands in it
        self._evaluating = False  # whether a value is evaluated anywhere

    def read_script(self, text: str, input_text: InputText = NO_INPUT) -> None:
        """Read a whole text. What it would read from standard input is `input_text`."""
        if self._depth >= MAX_DEPTH or len(self.commands) >= MAX_COMMANDS:
            self._note("it is nested too deeply, or too long", text, "limit")
            return
        outer, self._syntax = self._syntax, parse(text)
        self._depth += 1
        kind: OpaqueKind = "limit" if self._syntax.root is None else "syntax"
        for reason, start, end in self._syntax.doubts:
            self._note(reason, self._syntax.source[start:end].decode("utf-8", "replace") or text, kind)
        if self._syntax.root is not None:
            self._statement(self._syntax.root, input_text)
        self._depth -= 1
        self._syntax = outer
        if self._depth == 0 and self._evaluating and self._concealing:
            self._note("a value may have commands in it, and values are evaluated", self._concealing, "value")

    def _note(
        self, reason: str, text: str, kind: OpaqueKind = "syntax", program: str = "", code: str = ""
    ) -> None:
        part = text.strip()
        cut = part if len(part) <= LONGEST_PART else f"{part[: LONGEST_PART - 1]}…"
        entry = Opaque(reason, cut, kind, program, code)
        if len(self.opaque) < MAX_OPAQUE and entry not in self.opaque:
            self.opaque.append(entry)

    def _statement(self, node: Node, input_text: InputText, trailing: Trailing = NOTHING_TRAILING) -> InputText:
        """Read a statement, or look for statements in a part of one; return what it prints, if that is known."""
        if self._level >= MAX_LEVELS:
            self._note("it is nested too deeply", self._syntax.text(node), "limit")
            return NO_INPUT
        self._level += 1
        try:
            return self._read(node, input_text, trailing)
        finally:
            self._level -= 1

    def _read(self, node: Node, input_text: InputText, trailing: Trailing) -> InputText:
        self._evaluating = self._evaluating or evaluates_values(node, self._syntax)
        if node.type in _SIMPLE:
            return self._simple_command(node, input_text, trailing)
        if node.type == "redirected_statement":
            return self._redirected(node, input_text, trailing)
        if node.type in ("pipeline", "list", "negated_command"):
            return self._sequence(node, input_text, trailing)
        if node.type == "command_substitution" and self._is_escaped_backticks(node):
            self._backticks(node)
            return NO_INPUT
        if node.type == "variable_assignment":
            self._assignment(node)
        if node.type == "command_substitution" and (files := redirects_of(node.children, self._syntax).files):
            self.commands.append(ShellCommand((), files))  # `$(<file)`
        if trailing.files:
            self.commands.append(ShellCommand((), trailing.files))
        if trailing.words:
            self._note("words after a redirect are not understood", self._syntax.text(node))
        for child in node.named_children:
            self._statement(child, input_text)
        return NO_INPUT

    def _sequence(self, node: Node, input_text: InputText, trailing: Trailing) -> InputText:
        """Statements one after another. In a pipeline, each gets what the one before prints."""
        statements = [statement for statement in _flat_list(node) if statement.type != "comment"]
        if not statements:
            return NO_INPUT
        for statement in statements[:-1]:
            output = self._statement(statement, input_text)
            input_text = output if node.type == "pipeline" else input_text
        return self._statement(statements[-1], input_text, trailing)

    def _redirected(self, node: Node, input_text: InputText, trailing: Trailing) -> InputText:
        redirects = redirects_of(node.children, self._syntax)
        new_trailing = Trailing((*redirects.files, *trailing.files), (*redirects.words, *trailing.words))
        body = node.child_by_field_name("body")
        output = NO_INPUT
        if body is not None:
            output = self._statement(body, redirects.input_text or input_text, new_trailing)
        elif new_trailing.files:
            self.commands.append(ShellCommand((), new_trailing.files))
        self._redirect_parts(redirects, output)
        return output

    def _redirect_parts(self, redirects: StatementRedirects, output: InputText) -> None:
        """Statements that the parser puts below a redirect: substitutions, and what follows a here-document."""
        for part in redirects.parts:
            self._statement(part, output if part.type == "pipeline" else NO_INPUT)

    def _simple_command(self, node: Node, input_text: InputText, trailing: Trailing) -> InputText:
        own_redirects = redirects_of(node.children, self._syntax)
        parts = [*self._word_nodes(node), *own_redirects.words, *trailing.words]
        words = [word for group in _adjacent(parts) for word in self._words(group)]
        is_declaration = node.type == "declaration_command"
        for child in node.children:
            if child.type == "variable_assignment" and not is_declaration:
                self._statement(child, NO_INPUT)
        new_input = own_redirects.input_text or input_text
        self._look_for_values(words, new_input)
        files = (*own_redirects.files, *trailing.files)
        if words:
            self._run(words, files, new_input, open_ended=self._open_ended > 0)
        elif files:
            self.commands.append(ShellCommand((), files))
        for part in parts:
            if part.is_named:
                self._statement(part, NO_INPUT)
        output = output_text(words, new_input)
        self._redirect_parts(own_redirects, output)
        return output

    def _look_for_values(self, words: Sequence[Word], input_text: InputText) -> None:
        """Take note of values that a builtin may store in a variable, and of builtins that evaluate one."""
        if not words:
            return
        self._evaluating = self._evaluating or evaluates_words(words)
        if words[0].text in STORING:
            texts = (*(word.text for word in words[1:] if word.literal), input_text.text)
            self._concealing = next(filter(conceals_code, texts), self._concealing)

    def _word_nodes(self, node: Node) -> Iterator[Node]:
        declares = node.type == "declaration_command"
        for child in node.children:
            if child.type == "subshell":
                self._note("parentheses are not understood", self._syntax.text(node))
            if child.type not in _REDIRECTS and (declares or child.type != "variable_assignment"):
                yield child

    def _words(self, nodes: Sequence[Node]) -> list[Word]:
        pieces = [
            piece
            for node in nodes
            if not is_translation_mark(node, self._syntax)
            for piece in pieces_of(node, self._syntax)
        ]
        return words_of(pieces)

    def _run(
        self, words: Sequence[Word], redirects: tuple[Redirect, ...], input_text: InputText, open_ended: bool
    ) -> None:
        """Record a command, and read what it starts in turn."""
        if self._depth > MAX_DEPTH or len(self.commands) >= MAX_COMMANDS:
            self._note("it is nested too deeply, or too long", " ".join(word.text for word in words), "limit")
            return
        if not words[0].literal and (printed := _ECHOED.fullmatch(words[0].text)):
            texts_printed = (printed[1] or printed[2]).split()
            self._run((*map(Word, texts_printed), *words[1:]), redirects, input_text, open_ended)
            return
        unknown = frozenset(index for index, word in enumerate(words) if not word.literal)
        patterns = frozenset(index for index, word in enumerate(words) if word.pattern)
        texts = tuple(word.text for word in words)
        command = ShellCommand(texts, redirects, unknown, patterns, open_ended, self._starter)
        self.commands.append(command)
        typed = " ".join(command.words)
        head = words[0]
        if not head.literal:
            self._note("the program is not known until the command runs", typed, "program")
        elif head.pattern and head.text != "[":
            self._note("the program is a pattern of file names", typed, "program")
        elif head.text.startswith("="):
            self._note("in zsh, `=` before a program stands for its path", typed, "program")
        starts = starter(command.program)
        if starts is None or not head.literal:
            return
        self._depth += 1
        count = len(self.commands)
        outer, self._starter = self._starter, command.program
        for started in starts(words):
            self._follow(started, typed, redirects, input_text, open_ended)
        self._starter = outer
        self._depth -= 1
        is_next_started = command.program in STARTING_THEIR_WORDS and len(self.commands) == count
        is_next_started = is_next_started and not runs_a_script(words)
        if open_ended and (is_next_started or len(words) == 1 or words[-1].text.startswith("-")):
            kind: OpaqueKind = "input" if is_next_started and not self._open_ended else "arguments"
            self._note("arguments that are not in the text may be run", typed, kind, command.program)

    def _follow(
        self,
        started: Started,
        typed: str,
        redirects: tuple[Redirect, ...],
        input_text: InputText,
        open_ended: bool,
    ) -> None:
        if isinstance(started, StartedCommand):
            added = _plain_words(input_text) if started.takes_input and not open_ended else None
            if started.words and added is not None:
                self._run((*started.words, *added), redirects, NO_INPUT, open_ended=False)
            elif started.words:
                self._run(started.words, redirects, input_text, open_ended or started.open_ended)
        elif isinstance(started, StartedScript):
            if not started.exact:
                self._note("the shell fills in a part of a text that is run", typed, "text", self._starter)
            self._open_ended += started.open_ended
            self.read_script(started.text, input_text)
            self._open_ended -= started.open_ended
        elif isinstance(started, StartedInput):
            self._follow_input(started, typed, input_text)
        else:
            self._note(started.reason, typed, started.kind, self._starter, started.code)

    def _follow_input(self, started: StartedInput, typed: str, input_text: InputText) -> None:
        if input_text is NO_INPUT or not started.is_shell:
            code = "" if started.is_shell else input_text.text
            # an alias is only defined: what it will read is not known
            kind: OpaqueKind = "code" if code else "arguments" if self._open_ended else "input"
            self._note("it runs what comes through standard input", typed, kind, self._starter, code)
            return
        if not input_text.exact:
            self._note("the shell fills in a part of a text that is run", typed, "text", self._starter)
        self.read_script(input_text.text)

    def _assignment(self, node: Node) -> None:
        """An assignment may decide what runs: at once (`BASH_ENV`), or when its value is evaluated later."""
        text = self._syntax.text(node)
        words = [word for group in _adjacent(node.children) for word in self._words(group)]
        self.assignments.append("".join(word.text for word in words))
        if reason := reason_to_doubt(text):
            self._note(reason, text, "option")
        elif any(word.literal and SUBSTITUTION.search(word.text) for word in words):
            self._note("a value has commands in it that may run later", text, "value")
        elif any(word.literal and _FIND_OPTION.search(word.text) for word in words):
            self._note("a value has an option that runs commands", text, "option")
        elif any(word.literal and conceals_code(word.text) for word in words):
            self._concealing = text

    def _is_escaped_backticks(self, node: Node) -> bool:
        text = self._syntax.text(node)
        return text.startswith("`") and "\\" in text

    def _backticks(self, node: Node) -> None:
        """Within backticks, one level of backslashes is removed before the text is read."""
        text = _BACKTICK_ESCAPE.sub(r"\1", self._syntax.text(node)[1:-1])
        in_quotes = node.parent is not None and node.parent.type == "string"
        self.read_script(text.replace('\\"', '"') if in_quotes else text)


def _plain_words(input_text: InputText) -> list[Word] | None:
    """The words that `xargs` makes of its input; None where that is not known, or where quotes are in it."""
    if input_text is NO_INPUT or not input_text.exact or _XARGS_QUOTES.search(input_text.text):
        return None
    return [Word(text) for text in input_text.text.split()]


def _flat_list(node: Node) -> list[Node]:
    """The statements of `a && b || c`, which the parser nests to the left."""
    statements: list[Node] = []
    while node.type == "list" and node.named_child_count:
        left, *right = node.named_children
        statements += reversed(right)
        node = left
    first = node.named_children if node.type in ("pipeline", "negated_command") and not statements else [node]
    return [*first, *reversed(statements)]


def _adjacent(nodes: Iterable[Node]) -> Iterator[list[Node]]:
    """Groups of nodes with nothing between them: one word each."""
    group: list[Node] = []
    for node in nodes:
        if group and group[-1].end_byte != node.start_byte:
            yield group
            group = []
        group.append(node)
    if group:
        yield group
