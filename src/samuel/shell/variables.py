"""Assignments that decide what runs: those that the loader, shells, and programs with an editor or pager read."""

from __future__ import annotations

import re

_LOADERS = re.compile(
    r"(LD_PRELOAD|LD_AUDIT|BASH_ENV|ENV|PROMPT_COMMAND|PS0|PS4|BASH_FUNC_.*|ZDOTDIR"
    r"|BASH_CMDS|BASH_ALIASES|TAR_OPTIONS|LESSOPEN|LESSCLOSE|GIT_CONFIG_(COUNT|KEY_\d+|VALUE_\d+|PARAMETERS))(\[.*\])?\+?="
)
_PROGRAMS = re.compile(
    r"(PAGER|\w+_PAGER|MANPAGER|EDITOR|VISUAL|\w+_EDITOR|GIT_SSH\w*|GIT_EXTERNAL_DIFF|\w+_ASKPASS|BROWSER)=(.*)"
)
_OPTIONS = re.compile(
    r"(NODE_OPTIONS|PERL5OPT|RUBYOPT|MAKEFLAGS)=.*(-r|-M|-e|require|import|loader|eval)", re.DOTALL
)
_HARMLESS = re.compile(r"['\"]?(/usr)?(/bin/)?(cat|less|more|true|:|vi|vim|nano|)( -\w+)*['\"]?")


def reason_to_doubt(assignment: str) -> str:
    """Why an assignment `NAME=value` may make something else run; empty if it does not."""
    if _LOADERS.match(assignment) or _OPTIONS.match(assignment):
        return "a variable makes programs or shells run something else"
    match = _PROGRAMS.fullmatch(assignment)
    if match and not _HARMLESS.fullmatch(match[2]):
        return "a variable names a program that may be run"
    return ""
