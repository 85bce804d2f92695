"""What a Makefile runs for a target: its recipe and those of what it depends on, with plain variables expanded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

NAMES = ("GNUmakefile", "makefile", "Makefile")  # in the order in which make looks for them
LONGEST = 4096  # characters of an expanded line
_VARIABLE = re.compile(r"(?:export\s+|override\s+)*([\w.]+)\s*(?:[:?+]{0,3})=\s*(.*)")
_RULE = re.compile(r"([^\s:=#][^:=#]*?)\s*::?(?!=)([^=]*(?:;.*)?|.*;.*)$")
_USE = re.compile(r"\$(?:\(([\w.]+)\)|\{([\w.]+)\})")


@dataclass
class Makefile:
    """The rules and variables of a Makefile, and the files that it includes."""

    recipes: dict[str, list[str]] = field(default_factory=dict)
    prerequisites: dict[str, list[str]] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)
    includes: list[str] = field(default_factory=list)

    def read(self, text: str) -> None:
        """Add the rules of this text. Make's functions and conditions are not evaluated: both branches count."""
        targets: list[str] = []
        for line in text.replace("\\\n", " ").split("\n"):
            if line.startswith("\t"):
                for target in targets:
                    self.recipes[target].append(line.strip())
            elif include := re.match(r"[-s]?include\s+(.+)", line):
                self.includes += self.expanded(include[1]).split()
            elif variable := _VARIABLE.match(line.strip()):
                targets = []
                self.variables[variable[1]] = variable[2][:LONGEST]
            elif len(line) <= LONGEST and (rule := _RULE.match(line)):
                targets = self.expanded(rule[1]).split()
                needed, _, recipe = rule[2].partition(";")
                for target in targets:
                    self.recipes.setdefault(target, []).extend([recipe.strip()] if recipe.strip() else [])
                    self.prerequisites.setdefault(target, []).append(needed.replace("|", " "))

    @property
    def first(self) -> str:
        """The target that `make` without a target makes; "" if there is none."""
        return next((target for target in self.recipes if not target.startswith(".")), "")

    def targets(self, target: str) -> Iterator[str]:
        """The target and all that it depends on, as far as there are rules for them."""
        waiting, done = [target], set()
        while waiting:
            name = waiting.pop(0)
            if name in done or name not in self.recipes:
                continue
            done.add(name)
            yield name
            waiting += self.expanded(" ".join(self.prerequisites[name])).split()

    def commands(self, target: str) -> list[str]:
        """The lines of a target's own recipe, without make's prefixes."""
        return [self.expanded(line).lstrip("@-+ ") for line in self.recipes.get(target, ())]

    def expanded(self, text: str) -> str:
        """The text with the variables that this Makefile sets; `$(MAKE)` is make itself."""
        for _ in range(5):
            new = _USE.sub(lambda use: self.variables.get(use[1] or use[2], _own(use)), text)
            if new == text or len(new) > LONGEST:
                return text
            text = new
        return text


def _own(use: re.Match[str]) -> str:
    return "make" if (use[1] or use[2]) == "MAKE" else use[0]
