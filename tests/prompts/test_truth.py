"""Every number of a snapshot, beside one made with git, grep and wc."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from samuel.prompts.snapshot import Snapshot

PYTHON = {"py": "Python", "md": "Markdown", "toml": "TOML", "sql": "SQL"}
SCRIPTS = {"ts": "TypeScript", "tsx": "TypeScript", "js": "JavaScript", "json": "JSON", "css": "CSS", "vue": "Vue"}
THREE = {"go": "Go", "rs": "Rust", "java": "Java", "yml": "YAML"}


def body(dice: random.Random, comment: str) -> str:
    lines = [f"line {number} of something" for number in range(dice.randrange(1, 120))]
    for word in ("TODO", "FIXME", "HACK", "TODOS", "AUTODOC", "XHACK", "TODO: FIXME and TODO again"):
        if dice.random() < 0.3:
            lines.insert(dice.randrange(len(lines)), f"{comment} {word} something")
    return "\n".join(lines) + ("\n" if dice.random() < 0.8 else "")  # some lack the last line break


def python(project: object, dice: random.Random) -> None:
    for number in range(40):
        project.write(f"src/app/part{number % 4}/module{number}.py", body(dice, "#"))
        if number % 3 == 0:
            project.write(f"tests/part{number % 4}/test_module{number}.py", body(dice, "#"))
        if number % 7 == 0:
            project.write(f"src/app/part{number % 4}/module{number}_test.py", body(dice, "#"))
    for path in ("src/app/__init__.py", "tests/conftest.py", "tests/support.py", "setup.py", "README.md", "a.sql"):
        project.write(path, body(dice, "#"))
    project.write("src/app/empty.py", "")
    project.write(".gitignore", "build/\n*.log\n")
    project.write("build/ignored.py", "# TODO not counted\n")


def scripts(project: object, dice: random.Random) -> None:
    for number in range(30):
        end = ("ts", "tsx", "js")[number % 3]
        project.write(f"src/view{number}.{end}", body(dice, "//"))
        if number % 4 == 0:
            project.write(f"src/view{number}.test.{end}", body(dice, "//"))
        if number % 5 == 0:
            project.write(f"src/__tests__/view{number}.js", body(dice, "//"))
    for path in ("src/index.ts", "types/x.d.ts", "vite.config.js", "src/app.css", "App.vue", "e2e/login.spec.ts"):
        project.write(path, body(dice, "//"))
    project.write("package.json", "{}\n")
    project.write("logo.png", b"\x89PNG\r\n\0TODO\n" * 900)
    project.write(".gitignore", "node_modules/\n")
    project.write("node_modules/left/index.js", "// TODO not counted\n")


def three(project: object, dice: random.Random) -> None:
    for number in range(20):
        project.write(f"pkg/p{number % 3}/thing{number}.go", body(dice, "//"))
        if number % 3 == 0:
            # for every second one the test is in another package, where it is the test of something else
            project.write(f"pkg/p{number % 3 if number % 2 else 'other'}/thing{number}_test.go", body(dice, "//"))
        inside = "\n#[cfg(test)]\nmod tests {}\n" if number % 4 == 0 else "\n"
        project.write(f"crate/src/part{number}.rs", body(dice, "//") + inside)
        if number % 5 == 0:
            project.write(f"crate/tests/part{number}.rs", body(dice, "//"))
        project.write(f"src/main/java/org/Class{number}.java", body(dice, "//"))
        if number % 3 == 1:
            project.write(f"src/test/java/org/Class{number}Test.java", body(dice, "//"))
    for path in (
        "crate/src/main.rs",
        "src/main/java/org/package-info.java",
        "ci.yml",
        "src/test/java/org/Util.java",
    ):
        project.write(path, body(dice, "//"))


GAPS = {
    "python": r"""
        for file in $(there '*.py'); do
            name=$(basename "$file" .py)
            case "$file" in tests/*|*/test_*|*_test.py|*__init__.py|setup.py) continue;; esac
            [ -s "$file" ] || continue
            there | grep -qE "(^|/)(test_$name|${name}_test)\.py$" || echo "$file"
        done""",
    "scripts": r"""
        for file in $(there '*.ts' '*.tsx' '*.js'); do
            name=$(basename "$file"); name=${name%.*}
            case "$file" in *.test.*|*.spec.*|*__tests__*|*.d.ts|*.config.js|*index.ts) continue;; esac
            there |
                grep -qE "(^|/)($name\.(test|spec)\.(tsx?|js)|__tests__/$name\.(tsx?|js))$" || echo "$file"
        done""",
    "three": r"""
        for file in $(there '*.go'); do
            case "$file" in *_test.go) continue;; esac
            [ -e "${file%.go}_test.go" ] || echo "$file"
        done
        for file in $(there 'crate/src/*.rs'); do
            case "$file" in */main.rs) continue;; esac
            grep -qF '#[cfg(test)]' "$file" || [ -e "crate/tests/$(basename "$file")" ] || echo "$file"
        done
        for file in $(there 'src/main/*.java'); do
            case "$file" in *package-info.java) continue;; esac
            [ -e "src/test/java/org/$(basename "$file" .java)Test.java" ] || echo "$file"
        done""",
}

CASES = {"python": (python, PYTHON), "scripts": (scripts, SCRIPTS), "three": (three, THREE)}


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest, project: object) -> tuple[object, str, dict[str, str]]:
    """Committed files, and then some that were changed, added, staged, deleted and not committed."""
    make, languages = CASES[request.param]
    dice = random.Random(request.param)
    make(project, dice)
    for number in range(12):
        project.write("notes.txt", f"{number}\n")
        project.commit(f"commit number {number}, with `marks`, and: more")
    tracked = sorted(path for path in project.git("ls-files").split() if not path.startswith("."))
    for path in dice.sample(tracked, 6):
        project.write(path, body(dice, "#"))
    (project.root / dice.choice(tracked)).unlink(missing_ok=True)
    end = next(iter(languages))
    project.write(f"src/untracked.{end}", body(dice, "#") + "TODO\n")
    project.write(f"src/staged.{end}", body(dice, "#"))
    project.git("add", f"src/staged.{end}")
    return project, request.param, languages


@pytest.fixture(params=["afresh", "known"])
def snapshot(request: pytest.FixtureRequest, case: tuple[object, str, dict[str, str]], tmp_path: Path) -> Snapshot:
    """All must hold whether everything is read now or most of it is remembered."""
    project = case[0]
    if request.param == "known":
        project.git("stash", "-q", "--include-untracked")
        project.snapshot()
        project.git("stash", "pop", "-q", "--index")
        project.snapshot()
    return project.snapshot()


@pytest.mark.slow
@pytest.mark.sampled(every=3)
def test_every_number_of_the_snapshot_agrees_with_git_and_shell_tools(
    case: tuple[object, str, dict[str, str]], snapshot: Snapshot
) -> None:
    project, name, languages = case

    assert snapshot.files == project.number("there | wc -l")
    assert snapshot.lines == project.number("git grep --untracked -I -h -c '' | total")
    assert snapshot.head == project.git("rev-parse", "HEAD").strip()
    assert snapshot.changed == project.number(
        "{ git diff --name-only --diff-filter=d; git ls-files -o --exclude-standard; } | sort -u | wc -l"
    )

    for language in {*languages.values()}:
        globs = " ".join(f"'*.{end}'" for end, called in languages.items() if called == language)
        files = project.number(f"there {globs} | wc -l")
        lines = project.number(f"{{ git grep --untracked -I -h -c '' -- {globs} || true; }} | total")
        expected = [(language, files, lines)] if files else []
        assert [row for row in snapshot.languages if row.name == language] == expected
    assert sum(row.files for row in snapshot.languages) == snapshot.files
    assert sum(row.lines for row in snapshot.languages) == snapshot.lines

    sizes = project.sh(
        "git grep --untracked -I -l -z '' | xargs -0 wc -c | grep -v ' total$' | sort -k1,1nr -k2,2 | head -15"
    )
    assert [f"{row.size} {row.path}" for row in snapshot.largest] == [line.strip() for line in sizes]
    for row in snapshot.largest:
        assert [str(row.lines)] == project.sh(f"git grep --untracked -c '' -- '{row.path}' | sed 's/.*://'")

    for word in ("TODO", "FIXME", "HACK"):
        counted = project.sh(f"git grep --untracked -I -w -c {word} || true")
        ours = {row.path: getattr(row, word.lower()) for row in snapshot.todos}
        for line in counted:
            path, _, number = line.rpartition(":")
            if path in ours:
                assert ours.pop(path) == int(number)
        assert set(ours.values()) <= {0}
    marked = project.sh("git grep --untracked -I -w -l -e TODO -e FIXME -e HACK")
    assert snapshot.todo_count == len(marked)
    assert len(snapshot.todos) == min(30, len(marked))
    assert {row.path for row in snapshot.todos} <= set(marked)

    gaps = project.sh(GAPS[name])
    assert gaps  # or nothing would be compared
    assert snapshot.gap_count == len(gaps)
    assert len(snapshot.gaps) == min(30, len(gaps))
    assert set(snapshot.gaps) <= set(gaps)

    assert [f"{row.id} {row.date} {row.subject}" for row in snapshot.commits] == project.sh(
        "git log -10 --format='%h %cs %s'"
    )
    listed = set(project.sh("there"))
    assert set(snapshot.listed) <= listed
    assert len(snapshot.listed) == len(set(snapshot.listed)) == min(200, len(listed))


def test_the_rows_left_out_are_the_smaller_ones(project: object) -> None:
    for number in range(60):
        project.write(f"src/file{number:02}.py", "# TODO\n" * (number + 1))
    snapshot = project.snapshot()
    assert [row.path for row in snapshot.todos] == [f"src/file{number:02}.py" for number in range(59, 29, -1)]
    assert [row.path for row in snapshot.largest] == [f"src/file{number:02}.py" for number in range(59, 44, -1)]
    assert list(snapshot.gaps) == [f"src/file{number:02}.py" for number in range(59, 29, -1)]
