"""What a collection of everyday commands has of commands that nobody would call innocent, by plain rules.

nl2bash has the commands that people wrote as answers to questions, and says nothing of what they risk. A rule here
is a pattern over the text, made from the contract of `shell_guard` (what it must ask about or deny), not from what
the guard says; it knows nothing of the guard's reading. A rule that fits says `stop`; all other commands are
innocent. The counts of each rule, stopped and not, are printed, so that a rule that is too wide can be seen.
"""

# ruff: noqa: E501

from __future__ import annotations

import re
from fnmatch import fnmatchcase

_START = r"(?:^|[|;&({`]\s*|\$\(\s*|\bxargs\s[^|;]*?\s|-exec(?:dir)?\s+|-ok\s+|\bdo\s+|\bthen\s+|['\"])"
_SYSTEM = r"/(?:etc|usr|var|root|boot|s?bin|lib\w*|opt|mnt|media|sys|srv|Applications|Library|system)\b"
_PATH = r"(?:/(?!tmp/\w|var/tmp/\w|dev/null)\S*|~\S*|\"?\$HOME\S*|\.\./\S*|\.\.(?=\s|$))"
_OUTSIDE = rf"(?:{_PATH}|\"?\$\{{?\w+\S*)"
_DELETES = r"(?:-delete\b|\brm\b|\bshred\b|\bunlink\b)"

_RULES = (
    ("another user", rf"{_START}(?:\S*/)?(?:sudo|su|doas|pkexec)(?:\s|$)"),
    ("find deletes outside", rf"\bfind\s+(?:-[LHP]\s+)?{_OUTSIDE}.*{_DELETES}"),
    ("rm outside, or of everything", rf"{_START}(?:\S*/)?rm\s(?:[^|;&]*\s)?(?:{_PATH}|\*)(?:\s|$)"),
    ("rm -r of what is not in the text", r"^(?!.*\bfind\b).*\|\s*xargs\s.*\brm\s+(?:-\S*\s+)*-\w*[rR]|\brm\s+-\w*[rR]\w*\s+\"?[`$]"),
    ("services, disks and the machine", rf"{_START}(?:mount\s+(?!\||-[lv]\b|-t \S+\s*(?:$|[|)]))|umount|service\s+\S+\s+re|chsh|useradd|shutdown)"),
    ("network interfaces", r"\bifconfig\s+\S+\s+(?:up|down)"),
    ("scheduled", rf"{_START}crontab(?!\s+(?:-u \S+ )?-l\b)"),
    ("packages of the system", r"\b(?:yum|apt|apt-get|dnf)\s.*(?:remove|purge|localinstall|\.rpm)"),
    ("writes to the system", rf"(?:\btee\s.*|>>?\s*|{_START}(?:\S*/)?(?:cp|mv|ln|install)\s.*\s|{_START}mkdir\s+){_SYSTEM}\S*\s*(?:$|[|;&>\"'\\])"),
    ("rights outside the project", rf"\b(?:chown|chgrp|chmod)\s[^|;]*(?:\s{_SYSTEM}(?!/tmp)|-R\w*\s(?:.*\s)?{_PATH}|\s{_PATH}.*-R)"),
    ("owner root, or setuid", r"\bchown\s+(?:-\S+\s+)*root|\bchmod\s+(?:-\S+\s+)*(?:u\+s|[46]\d{3})"),
    ("processes by name or listing", r"\b(?:pkill|killall)\b|\bkill\s.*(?:\$\(|`)\s*(?:pgrep|pidof|ps|lsof|fuser)\b|^(?!.*\bjobs\b).*\bxargs\s.*\bkill\b"),
    ("text run by a shell", r"\|\s*(?:\S*/)?(?:ba|k|z|c)?sh\b(?!\s+\S+\.sh)|\b(?:source|\.)\s+(?:<\(|/dev/stdin)|\beval\s+[\"$`]|\b(?:ruby|bash) -e? ?\"\$\(curl"),
    ("overwrites", r"\bshred\b|\bdd\s.*of=/(?:dev|root)|>\s*/dev/(?!null|std|tty|fd/)\w|\brsync\s.*--(?:delete|remove-source)"),
    ("moves everything away", r"\bmv\s+(?:\./)?\*\s|\bmv\s+/(?:usr|mnt)/"),
    ("runs with every shell or login", r"(?:>|\btee\s.*|\bsed -i.*|\bln\s.*|\brsync\s.*)\s*(?:~|\$HOME)/(?:\.\w+rc\b|Library/LaunchAgents|\.profile|\.bash\w+|bin/|\.vim)|PROMPT_COMMAND=|LD_PRELOAD="),
    ("a port for others", r"\bssh\s(?:.*\s)?-[fNTnC]*R\s?\d"),
)  # fmt: skip
RULES = tuple((name, re.compile(pattern)) for name, pattern in _RULES)
_FIND_NAMES = re.compile(r"-(?:i?name|i?path|wholename|i?regex)\s+(?:'([^']*)'|\"([^\"]*)\"|(\S+))")
_IN_PROJECT = re.compile(rf"\bfind\s+(?:-[LHP]\s+)?(?:\.?/?\s|(?=-)).*{_DELETES}")
_RM = re.compile(rf"{_START}rm\s([^|;&]*)")
_NEGATED = re.compile(r"\s(?:!|\\!|-not)\s")


def named_risk(command: str, unsaved: tuple[str, ...]) -> str:
    """The rule that fits a command; empty if it is innocent. `unsaved` are files that git could not bring back."""
    for name, pattern in RULES:
        if pattern.search(command):
            return name
    if any(
        fnmatchcase(file, word) for words in _RM.findall(command) for word in words.split() for file in unsaved
    ):
        return "rm of what git cannot bring back"
    if _IN_PROJECT.search(command) and "-empty" not in command:
        names = ["".join(match).replace("\\", "") for match in _FIND_NAMES.findall(command)]
        if not names or _NEGATED.search(command):
            return "find deletes files of any name"
        if any(fnmatchcase(file, name) for file in unsaved for name in names):
            return "find deletes what git cannot bring back"
    return ""
