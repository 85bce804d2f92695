import subprocess
import sys
from pathlib import Path

from samuel.base.nearest import LONGEST_NAME, MOST_HINTS, SpellingHints, did_you_mean, nearest_name, nearest_path

ROOT = Path(__file__).parents[2]


def test_nearest_name_is_the_one_most_alike() -> None:
    assert nearest_name("chekc", ["check", "checks", "chess"]) == "check"
    assert nearest_name("zebra", ["check", "chess"]) == ""
    assert nearest_name("chess", ["check"], cutoff=0.9) == ""


def test_hint_names_the_nearest_or_is_what_the_caller_gave() -> None:
    assert did_you_mean("chekc", iter(["check"])) == "did you mean `check`?"
    assert did_you_mean("zebra", ["check"], "one of check") == "one of check"
    assert did_you_mean("zebra", ["check"]) == ""


def test_hint_is_one_printable_line_whatever_the_names_contain() -> None:
    assert did_you_mean("check", ["che\nck\x1b"]) == "did you mean `che\\x0ack\\x1b`?"


def test_only_the_beginning_of_a_long_misspelt_name_is_compared() -> None:
    name = "a" * LONGEST_NAME
    assert nearest_name(name + "b" * 1_000_000, [name]) == name


def test_one_report_gets_only_the_first_hints() -> None:
    hints = SpellingHints()
    lines = [hints.did_you_mean("chekc", ["check"], "no hint") for _ in range(MOST_HINTS + 2)]
    assert lines == ["did you mean `check`?"] * MOST_HINTS + ["no hint"] * 2


def test_lint_refuses_get_close_matches_elsewhere_in_the_package() -> None:
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--stdin-filename", "src/samuel/new.py", "-"]
    text = 'import difflib\n\ndifflib.get_close_matches("a", ["b"])\n'
    done = subprocess.run(command, cwd=ROOT, input=text, capture_output=True, text=True)
    assert done.returncode == 1
    assert "TID251" in done.stdout


def test_nearest_path_is_the_shortest_that_a_name_is_part_of() -> None:
    names = ["acme/tools/check", "acme/tools", "check-all", "acme/tools:check"]
    assert nearest_path("TOOLS", names) == "acme/tools"
    assert nearest_path("check", names) == "acme/tools/check"
    assert nearest_path("tools:check", names) == "acme/tools/check"
    assert nearest_path("acme/tulz", names) == "acme/tools"
    assert nearest_path("zebra", names) == ""
