"""Whether a change of a file has code in it, or only comments, blank lines, docstrings and formatting.

A change without code is never proven, and a claim with nothing else is sent back. So doubt counts as code: a
language that is not here, a text that is not understood, data files.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from samuel.evidence.lexing import family_of, tokens

MAX_CHARACTERS = 1 << 20

_PROSE = frozenset(("md", "markdown", "rst", "adoc", "asciidoc", "textile", "org", "txt", "tex", "pod", "rdoc"))
_PROSE_NAMES = re.compile(
    r"(?:README|LICEN[CS]E|CHANGE(?:S|LOG)?|HISTORY|NEWS|AUTHOR(?:S)|CONTRIBUTORS|COPYING|NOTICE|TODO|NOTES|CREDITS"
    r"|THANKS|SECURITY|CONTRIBUTING|CODE_OF_CONDUCT)(?:[.-]\w+)*"
)
# Text that programs read all the same.
_READ_TEXT = re.compile(
    r"(?:requirements|constraints)[\w.-]*\.txt|CMakeLists\.txt|(?:robots|humans|ads|llms)\.txt"
)
_READ_BELOW = frozenset(
    (
        "src",
        "lib",
        "app",
        "data",
        "resources",
        "assets",
        "templates",
        "prompts",
        "static",
        "public",
        "skills",
        "content",
    )
)
# What is left by running things, and no work of anybody.
_LEFTOVERS = re.compile(
    r"(?:.*/)?(?:__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|node_modules|\.idea|\.vscode)/.*"
    r"|.*\.(?:pyc|pyo|log|orig|rej|bak|swp|swo|tmp|class|o|obj)|.*~|(?:.*/)?(?:\.DS_Store|Thumbs\.db)"
)
# Languages in which a line that begins with this is a comment, and a line end matters.
_LINE_COMMENTS = {
    extension: mark
    for mark, extensions in {
        "#": "rb rake sh bash zsh ksh fish pl pm r ex exs jl nim cr tcl ps1 awk sed graphql gql yml yaml toml ini "
        "cfg properties env conf tf hcl mk gitignore dockerignore editorconfig",
        "--": "sql lua hs elm adb ads vhd vhdl purs",
        ";": "clj cljs cljc el lisp scm rkt asm s",
        "%": "erl hrl m4 sty",
        '"': "vim",
        "!": "f90 f95 f03",
        "'": "vb bas",
    }.items()
    for extension in extensions.split()
}
_LINE_COMMENT_NAMES = {
    "Makefile": "#",
    "makefile": "#",
    "GNUmakefile": "#",
    "Dockerfile": "#",
    "Rakefile": "#",
    "Gemfile": "#",
}
# Texts of several lines, in which a line like a comment is none.
_LONG_TEXT = re.compile(
    r"<<[-~]?['\"]?\w|\"\"\"|'''|\[=*\["
    r"|[|>][-+]?\d?\s*$|\\\n|=begin|__END__|\{-|--\[\[|#\|",
    re.MULTILINE,
)
_NUMBER = re.compile(r"(?<!\w)\d+")  # not a digit of a name
_MARKUP = frozenset(("html", "htm", "xml", "svg", "vue", "svelte", "xhtml"))
_MARKUP_COMMENT = re.compile(r"<!--(?:[^-]++|-(?!->))*-->")


def has_code(path: str, old: str, new: str) -> bool:
    """Whether the change of this file from `old` to `new` changes more than comments and formatting.

    A missing file is "". A documentation file has no code, also one that is new.
    """
    if old == new or is_prose(path) or _LEFTOVERS.fullmatch(path):
        return False
    plain = _reader(path)
    if plain is None or max(len(old), len(new)) > MAX_CHARACTERS or "\0" in old or "\0" in new:
        return True
    before, after = plain(old), plain(new)
    if before is None or after is None:
        return True
    return before != after


def changes_only_numbers(old: str, new: str) -> bool:
    """Whether nothing but numbers changed, such as those of a version: no code is added with them."""
    return bool(old) and _NUMBER.sub("0", old) == _NUMBER.sub("0", new)


def adds_only_names(path: str, old: str, new: str) -> bool:
    """Whether the change adds at most names: an empty file, or functions and classes without a body.

    What fails without it fails because a name is missing, also where a test makes an assertion of that.
    """
    if max(len(old), len(new)) > MAX_CHARACTERS or not has_code(path, old, new):
        return not has_code(path, old, new)
    if path.endswith((".py", ".pyi", ".pyw")):
        before, after = (_python_code(text, with_names=False) for text in (old, new))
    elif (family := family_of(path)) is not None:
        before, after = (_without_empty_bodies(text, family) for text in (old, new))
    else:
        return False
    return before is not None and before == after


def is_prose(path: str) -> bool:
    """Whether a file is documentation, by its name: text that no program reads."""
    directory, _, name = path.rpartition("/")
    if _PROSE_NAMES.fullmatch(name):
        return True
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    return extension in _PROSE and not _READ_TEXT.fullmatch(name) and _READ_BELOW.isdisjoint(directory.split("/"))


def _reader(path: str) -> Callable[[str], object | None] | None:
    """What gives the code of a text of this kind, to be compared; None for a file whose every byte counts."""
    name = path.rpartition("/")[2]
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    if extension in ("py", "pyi", "pyw"):
        return _python_code
    if (family := family_of(path)) is not None:
        return lambda text: _tokens(text, family)
    if extension in _MARKUP:
        return lambda text: [line.strip() for line in _MARKUP_COMMENT.sub("", text).split("\n") if line.strip()]
    mark = _LINE_COMMENT_NAMES.get(name) or _LINE_COMMENTS.get(extension)
    return (lambda text: _lines(text, mark)) if mark else None


def _python_code(text: str, *, with_names: bool = True) -> object | None:
    """The syntax tree without docstrings; in a module that reads docstrings, with them.

    `with_names=False` leaves out functions and classes without a body.
    """
    try:
        module = ast.parse(text)
        if "__doc__" not in text:
            for node in ast.walk(module):
                if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                    _remove_docstring(node)
        if not with_names:
            _remove_empty_definitions(module)
        return ast.dump(module)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _remove_docstring(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    match node.body[:1]:
        case [ast.Expr(value=ast.Constant(value=str()))]:
            node.body = node.body[1:] or [ast.Pass()]


def _remove_empty_definitions(scope: ast.Module | ast.ClassDef) -> None:
    for node in scope.body:
        if isinstance(node, ast.ClassDef):
            _remove_empty_definitions(node)
    scope.body = [node for node in scope.body if not _is_empty_definition(node)]


def _is_empty_definition(node: ast.stmt) -> bool:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return not node.decorator_list and all(map(_is_idle, node.body))
        case (
            ast.Pass()
            | ast.Assign(value=ast.Constant(value=None))
            | ast.AnnAssign(value=ast.Constant(value=None) | None)
        ):
            return True
    return False


def _is_idle(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Return(value=None | ast.Constant(value=None)):
            return True
        case ast.Raise(exc=ast.Name(id="NotImplementedError") | ast.Call(func=ast.Name(id="NotImplementedError"))):
            return True
    return False


def _without_empty_bodies(text: str, family: str) -> object | None:
    """The tokens without functions and classes that have nothing between their braces, and without `package`."""
    scanned = tokens(text, family)
    if scanned is None:
        return None
    words: list[str] = []
    for word in (text[token.start : token.end] for token in scanned if token.kind != "comment"):
        words.append(word)
        if words[-2:] == ["{", "}"]:
            del words[-2:]
            while words and words[-1] not in ("{", "}", ";"):
                words.pop()
    return words if words[:1] != ["package"] or ";" not in words else words[words.index(";") + 1 :]


def _tokens(text: str, family: str) -> object | None:
    scanned = tokens(text, family)
    if scanned is None:
        return None
    return [text[token.start : token.end] for token in scanned if token.kind != "comment"]


def _lines(text: str, mark: str) -> object | None:
    """The lines that are no comments. None if there may be a text of several lines, with such a line in it."""
    if _LONG_TEXT.search(text):
        return None
    lines = (_without_comment(line, mark) for line in text.split("\n"))
    return [line for line in lines if line.strip()]


def _without_comment(line: str, mark: str) -> str:
    """A line without a comment at its end, unless it has quotes, in which the mark may be a character."""
    if line.lstrip().startswith(mark) and not line.startswith("#!"):
        return ""
    code, separator, _ = line.partition(f" {mark}")
    return (code if separator and not set("\"'`/%?\\$") & set(line) else line).rstrip()
