"""What Samuel decided otherwise than a suite, on purpose: such cases are counted apart, each with its reason."""

from __future__ import annotations

import re

from cases import Case

_STOPPED_THERE = (
    (r"(?:^|\W)rm\b[^;|]*?\s/(?:var/)?tmp/\w+", "a named path below /tmp is free to delete"),
    (
        r"(?:^|\W)rm\s+-rf\s+(?:\./)?(?:build|node_modules|src|7|123)\b",
        "in the project: build output, or committed",
    ),
    (r"find .*-name ['\"]\*\.(?:pyc|tmp)", "files that programs write by the way are free to delete"),
    (r"command -\w*[vV]", "`command -v` runs nothing"),
    (r"^A-B=2 ", "no assignment to a shell: it looks for a program of that name"),
    (r"git clean -nf", "a dry run deletes nothing"),
    (r"xargs -i(?:\{\})? rm -rf$", "without `{}`, nothing is passed on"),
    (r"^rm -rf `pwd`/escape$", "in the project: build output, or committed"),
    (r"rm -rf && ", "it names nothing to delete"),
    (r"(?i)^(?:powershell|cmd)\b.*\bstart(?:-process\b|\s)|^msedge", "opening an address in a browser is free"),
    (
        r"(?i)^(?:powershell|cmd)(?:\.exe)? (?:/c|-command) (?:dir|echo)$",
        "another shell is no risk as such",
    ),
    (r"^del(?:\.exe)? file\.txt$", "in the project: build output, or committed"),
    (r"rg --search-zip", "reading compressed files is free"),
    (r"\| xargs bash -c$", "xargs splits its input, and bash runs the first word alone"),
)
_FREE_THERE = (
    (
        r"^(?:aws secretsmanager get-secret|op (?:item|document) get|doppler secrets (?:get|download))",
        "it shows a secret",
    ),
    (
        r"(?i)^(?:powershell|pwsh|cmd) .*(?:remove-item|rd /s)",
        "PowerShell that deletes is asked about",
    ),
    (r"\bsudo\b", "sudo is always asked about"),
    (r"rm -\w+ (?:/tmp|/var/tmp|\$TMPDIR)(?:/\*)?$", "/tmp itself and wildcards over it are asked about"),
    (r"rm -[rRf] /some/path$", "outside the project"),
    (r"docker system prune|kubectl delete", "data that git cannot bring back"),
    (r"force-with-lease origin main", "the default branch is shared"),
    (r"find \. .*-exec rm|find \. -name '\*\.txt' -exec rm", "it deletes files that were never added"),
    (r"^srm ", "srm overwrites files"),
    (r"cmd=rm; \$cmd -rf", "a variable that hides the program is asked about"),
    (r"if then rm -rf", "text that is not valid and has `rm -rf` in it is asked about"),
)


def decided_otherwise(case: Case) -> str:
    """Why Samuel decides otherwise; empty if it means to agree with the suite."""
    if not case.group:
        return ""  # a command of people, of whom none said what a guard should do
    rows = _STOPPED_THERE if case.expected == "stop" else _FREE_THERE
    return next((reason for pattern, reason in rows if re.search(pattern, case.command)), "")
