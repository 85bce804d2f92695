"""The suites of other projects: one function for each, from a clone to cases."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import yaml
from cases import SCRIPT_TEXT, Case, Expected, script_text
from clone import Clone
from judge import UNSAVED
from named_risks import named_risk

_DECISIONS: dict[str, Expected] = {"deny": "stop", "allow": "innocent"}


def destructive_command_guard(clone: Clone) -> Iterator[Case]:
    for name, text in clone.texts("tests/corpus", ".toml"):
        for row in tomllib.loads(text).get("case", []):
            if row.get("expected") in _DECISIONS:
                yield Case(row["command"], _DECISIONS[row["expected"]], name)
    for name, expected in (("destructive", "stop"), ("safe", "innocent")):
        file = f"tests/fixtures/{name}_commands.yaml"
        for line in clone.text(file).splitlines():  # the file as a whole is not valid YAML
            if command := _command(line):
                yield Case(command, expected, file)  # type: ignore[arg-type]
    for name, text in clone.texts("tests/fixtures/scenarios", ".yaml"):
        for row in (yaml.safe_load(text) or {}).get("steps", []):
            if row.get("expected_decision") in _DECISIONS:
                yield Case(row["command"], _DECISIONS[row["expected_decision"]], name)
    for name, expected in (("dangerous", "stop"), ("safe", "innocent")):
        file = f"tests/e2e/fixtures/commands/{name}.txt"
        lines = (line.strip() for line in clone.text(file).splitlines())
        yield from (Case(line, expected, file) for line in lines if line and not line.startswith("#"))  # type: ignore[arg-type]


def _command(line: str) -> str:
    try:
        return str(yaml.safe_load(line.strip().removeprefix("- "))["command"])
    except (yaml.YAMLError, TypeError, KeyError):
        return ""


_ASSERTION = re.compile(rf"assert(Blocked|Allowed)\(\s*({SCRIPT_TEXT.pattern})\s*(,[^;]*?)?\);", re.DOTALL)
_OTHER_SETTINGS = re.compile(r"withEnv|SAFETY_NET_|paranoid|strict", re.IGNORECASE)


def claude_code_safety_net(clone: Clone) -> Iterator[Case]:
    """Cases with an environment, settings or a directory of their own are left out: they are about those."""
    for name, text in clone.texts("tests/core", ".test.ts"):
        if "rules-custom" in name:
            continue
        for test in re.split(r"\n\s*(?:test|it)\(", text):
            for verdict, literal, more in [] if _OTHER_SETTINGS.search(test) else _ASSERTION.findall(test):
                if verdict == "Blocked" and len(SCRIPT_TEXT.sub("", more).split(",")) > 2:
                    continue
                if verdict == "Allowed" and more.strip(", \n"):
                    continue
                yield Case(script_text(literal), "stop" if verdict == "Blocked" else "innocent", name)


def gtfobins(clone: Clone) -> Iterator[Case]:
    """One-liners that start a shell or another command from a program that is there for something else."""
    for name, text in clone.texts("_gtfobins"):
        for function in ("shell", "command"):
            for row in _functions(text).get(function) or []:
                if isinstance(row, dict) and row.get("code"):
                    yield Case(row["code"], "stop", f"{function}: {name.rpartition('/')[2]}")


def _functions(text: str) -> dict[str, Any]:
    document = yaml.safe_load(text.strip().removesuffix("..."))
    return (document or {}).get("functions") or {}


def nl2bash(clone: Clone) -> Iterator[Case]:
    """Commands of people, innocent but for those with a risk that `named_risks` names."""
    for line in clone.text("data/bash/all.cm").splitlines():
        if line.strip():
            risk = named_risk(line, UNSAVED)
            yield Case(line, "stop" if risk else "innocent", risk)


_WORDS = re.compile(r"vec_str\(&\[(.*?)\]\)", re.DOTALL)
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)


def codex(clone: Clone) -> Iterator[Case]:
    """The commands in the tests of what codex calls dangerous, by what the test's name says of them."""
    yield from _codex(clone, "is_dangerous_command.rs", ("powershell", "nested"))


def codex_windows(clone: Clone) -> Iterator[Case]:
    """Likewise for programs of Windows."""
    yield from _codex(clone, "windows_dangerous_commands.rs", ())


def _codex(clone: Clone, file: str, left_out: tuple[str, ...]) -> Iterator[Case]:
    text = clone.text(f"codex-rs/shell-command/src/command_safety/{file}")
    for test in re.split(r"#\[test\]", text)[1:]:
        name = re.search(r"fn (\w+)", test)
        if name is None or any(word in name[1] for word in left_out):
            continue
        expected: Expected = "innocent" if "_not_" in name[1] else "stop"
        if scripts := re.search(r"for script in \[(.*?)\n        \]", test, re.DOTALL):
            texts = map(script_text, _TEXT.findall(scripts[1]))
            is_powershell = "powershell" in name[1]
            yield from (
                Case(shlex.join(("powershell", "-Command", text)) if is_powershell else text, expected, name[1])
                for text in texts
            )
            continue
        for words in _WORDS.findall(test):
            yield Case(shlex.join(map(script_text, _TEXT.findall(words))), expected, name[1])


_PREFIX_RULE = re.compile(r"prefix_rule\((.*?)\n\)", re.DOTALL)
_CHECKED = re.compile(
    r"\.check\(\s*&tokens\(&\[(.*?)\]\)(?:(?!tokens\(&\[).)*?decision: Decision::(\w+)", re.DOTALL
)
_RULE_DECISIONS: dict[str, Expected] = {"forbidden": "stop", "allow": "innocent", "prompt": "unlisted"}


def codex_execpolicy(clone: Clone) -> Iterator[Case]:
    """The examples of codex's rules; what its tests allow. What they forbid is made up: `git commit`."""
    for rule in _PREFIX_RULE.findall(clone.text("codex-rs/execpolicy/examples/example.codexpolicy")):
        decision = re.search(r'decision = "(\w+)"', rule)
        expected = _RULE_DECISIONS[decision[1] if decision else "allow"]
        examples = re.search(r"(?<!_)match = \[(.*?)\n    \]", rule, re.DOTALL)
        for line in examples[1].splitlines() if examples else ():
            if words := [script_text(text) for text in _TEXT.findall(line)]:
                yield Case(" ".join(words), expected, "example.codexpolicy")
    for words, decision_name in _CHECKED.findall(clone.text("codex-rs/execpolicy/tests/basic.rs")):
        command = shlex.join(map(script_text, _TEXT.findall(words)))
        yield Case(command, "innocent" if decision_name == "Allow" else "unlisted", "basic.rs")


_EVALUATION = re.compile(
    rf"evaluateTerminalCommandSecurity\(\s*({SCRIPT_TEXT.pattern})\s*,\s*({SCRIPT_TEXT.pattern})\s*,?\s*\);"
    r"\s*expect\(\w+\)\.toBe\(\"(\w+)\"\)",
    re.DOTALL,
)
_POLICIES: dict[str, Expected] = {
    "disabled": "stop",
    "allowedWithoutPermission": "innocent",
    "allowedWithPermission": "unlisted",
}


def terminal_security(clone: Clone) -> Iterator[Case]:
    """What Continue disables whatever a user allows; a case whose policy was strict already says nothing."""
    text = clone.text("packages/terminal-security/test/terminalCommandSecurity.test.ts")
    for policy, command, result in _EVALUATION.findall(text):
        if script_text(policy) == "allowedWithoutPermission":
            yield Case(script_text(command), _POLICIES[result], result)


_CHECK = re.compile(
    rf"command:\s*({SCRIPT_TEXT.pattern})(?:(?!command:).)*?toBe\(PolicyDecision\.(\w+)\)", re.DOTALL
)


def gemini_cli(clone: Clone) -> Iterator[Case]:
    """Commands that a list of allowed prefixes must not let through, and those that it does."""
    for name in ("shell-safety", "shell-safety-regression", "shell-substitution"):
        for command, decision in _CHECK.findall(clone.text(f"packages/core/src/policy/{name}.test.ts")):
            yield Case(script_text(command), "innocent" if decision == "ALLOW" else "unlisted", name)


_SAFETY = re.compile(
    r"is(Dangerous|KnownSafe)Command\(\s*\[(.*?)\]\s*,?\s*\),?\s*\)\s*\.toBe\(\s*(true|false)", re.DOTALL
)
_SAFETY_EXPECTED: dict[tuple[str, str], Expected] = {
    ("Dangerous", "true"): "stop",
    ("Dangerous", "false"): "innocent",
    ("KnownSafe", "true"): "innocent",
    ("KnownSafe", "false"): "unlisted",
}


def gemini_safety(clone: Clone) -> Iterator[Case]:
    """What gemini-cli's sandbox calls dangerous, or known to be safe."""
    for directory in ("utils", "windows"):
        text = clone.text(f"packages/core/src/sandbox/{directory}/commandSafety.test.ts")
        for kind, words, result in _SAFETY.findall(text):
            command = shlex.join(map(script_text, SCRIPT_TEXT.findall(words)))
            yield Case(command, _SAFETY_EXPECTED[kind, result], f"commandSafety, {directory}")


def safe_chains(clone: Clone) -> Iterator[Case]:
    """Examples of a list of commands that need no question, and of those that are not on it."""
    for name, text in clone.texts("commands", ".toml"):
        for example, expected in _examples(tomllib.loads(text)):
            yield Case(example, expected, name)


def _examples(value: Any) -> Iterator[tuple[str, Expected]]:
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if key in ("examples_safe", "examples_denied"):
            yield from ((example, "innocent" if key == "examples_safe" else "unlisted") for example in item)
        elif isinstance(item, (dict, list)):
            yield from _examples(item)


SUITES: dict[str, Callable[[Clone], Iterator[Case]]] = {
    "destructive_command_guard": destructive_command_guard,
    "claude-code-safety-net": claude_code_safety_net,
    "codex": codex,
    "codex, Windows": codex_windows,
    "codex, execpolicy": codex_execpolicy,
    "GTFOBins.github.io": gtfobins,
    "continue": terminal_security,
    "gemini-cli": gemini_cli,
    "gemini-cli, commandSafety": gemini_safety,
    "safe-chains": safe_chains,
    "nl2bash": nl2bash,
}
"""By the name of the clone's directory; what stands after a comma tells suites of one clone apart."""
