"""Changes with and without code, by language."""

from __future__ import annotations

import subprocess
import sys

import pytest

from samuel.evidence.code_change import adds_only_names, has_code

JS = "// sums\nexport const sum = (a, b) => a + b; /* two */\nconst quote = /[\"'`]/; // a regex\n"
C = '#include <stdio.h>\n/* main */\nint main(void) {\n  puts("// no comment"); return 0; // end\n}\n'
PYTHON = 'import os\n\n\ndef f(a, b):\n    """Sum."""\n    return a + b  # plus\n'
RUST = "/// Doc.\nfn a<'x>(b: &'x str) -> char { /* a /* b */ c */ '\\'' }\n"
SHELL = "#!/bin/sh\n# sum\nset -e\necho done\n"

WITHOUT_CODE = [
    ("a.py", PYTHON, PYTHON.replace("# plus", "# 1.1")),
    ("a.py", PYTHON, PYTHON.replace("Sum.", "The sum.")),
    ("a.py", PYTHON, PYTHON.replace('    """Sum."""\n', "")),
    ("a.py", PYTHON, PYTHON.replace("f(a, b)", "f(\n    a,\n    b,\n)")),
    ("a.py", PYTHON, "# 1.1\n" + PYTHON + "\n\n"),
    ("a.py", "", "# nothing\n"),
    ("a.py", "", ""),
    ("a.js", JS, JS.replace("// sums", "// all sums")),
    ("a.js", JS, JS.replace("(a, b) => a + b", "(a, b) =>\n  a + b")),
    ("a.ts", JS, JS + "\n// 1.1\n"),
    ("a.c", C, C.replace("// end", "// the end").replace("  puts", "\tputs")),
    ("a.rs", RUST, RUST.replace("/* b */", "/* z */").replace("Doc.", "More.")),
    ("a.go", "package a\n", "// Package a.\npackage a\n"),
    ("A.java", 'String s = """\n  // x\n  """;\n', 'String s = """\n  // x\n  """; // y\n'),
    ("a.rb", "# a\nputs 1\n", "# b\n\nputs 1 # one\n"),
    ("a.sh", SHELL, SHELL.replace("# sum", "# all")),
    ("a.sql", "-- a\nselect 1;\n", "-- b\nselect 1;\n"),
    ("a.yml", "a: 1\n", "# note\na: 1\n"),
    ("a.html", "<p>a</p>\n", "<!-- x -->\n<p>a</p>\n"),
    ("a.css", "a { b: c }\n", "/* x */\na {\n  b: c\n}\n"),
    ("a.php", "<?php\necho 1;\n", "<?php\n# x\necho 1; // y\n"),
    ("Makefile", "test:\n\ttrue\n", "# x\ntest:\n\ttrue\n"),
    ("README.md", "a", "b"),
    ("docs/index.rst", "a", "b"),
    ("NOTES.txt", "", "done"),
    ("LICENSE", "", "done"),
    ("debug.log", "", "done"),
    ("shop/__pycache__/a.pyc", "", "x"),
]

WITH_CODE = [
    ("a.py", PYTHON, PYTHON.replace("a + b", "a - b")),
    ("a.py", PYTHON, PYTHON.replace("return a", "return  b or a")),
    ("a.py", PYTHON, PYTHON + "def f(: # broken"),
    ("a.py", '"""Usage: x"""\nparse(__doc__)\n', '"""Usage: y"""\nparse(__doc__)\n'),
    ("a.py", "", "x = 1\n"),
    ("a.py", "print 'x'\n", "print 'x'  # it does not parse\n"),
    ("a.js", JS, JS.replace("a + b", "a - b")),
    ("a.js", JS, JS.replace("[\"'`]", "[\"']")),
    ("a.js", 'f("http://a")\n', 'f("http://b")\n'),
    ("a.jsx", "<p>don't // do</p>\n", "<p>don't // dont</p>\n"),
    ("a.c", C, C.replace("// no comment", "// a comment")),
    ("a.cpp", 'auto s = R"x(// a)x";\n', 'auto s = R"x(// b)x";\n'),
    ("a.rs", RUST, RUST.replace("'\\''", "'a'")),
    ("a.go", "var s = `// a`\n", "var s = `// b`\n"),
    ("a.rb", "x = <<~A\n# a\nA\n", "x = <<~A\n# b\nA\n"),
    ("a.rb", 'puts "a # b"\n', 'puts "a # c"\n'),
    ("a.sh", SHELL, SHELL.replace("#!/bin/sh", "#!/bin/bash")),
    ("a.sh", "echo ${a #b}\n", "echo ${a #c}\n"),
    ("a.yml", "a: |\n  # x\n", "a: |\n  # y\n"),
    ("a.json", "{}", "{ }"),
    ("a.csv", "1,2", "1,3"),
    ("a.unknown", "1", "2"),
    ("requirements.txt", "a", "a\nb"),
    ("CMakeLists.txt", "a", "b"),
    ("src/prompts/system.md", "a", "b"),
    ("data/words.txt", "a", "b"),
    ("logo.png", "\0a", "\0b"),
    ("a.ts", "`", "`a"),
    ("a.c", "/*", "/* a"),
]


@pytest.mark.parametrize(("path", "old", "new"), WITHOUT_CODE)
def test_comments_docstrings_and_formatting_are_no_code(path: str, old: str, new: str) -> None:
    assert not has_code(path, old, new)
    assert not has_code(path, new, old)


@pytest.mark.parametrize(("path", "old", "new"), WITH_CODE)
def test_everything_else_is_code(path: str, old: str, new: str) -> None:
    assert has_code(path, old, new)
    assert has_code(path, new, old)


HOSTILE = [
    "(" * 50_000,
    "-" * 50_000 + "1",
    "[" * 300,
    '"' * 99_999,
    "/*" * 99_999,
    "`${" * 30_000,
    "'" * 50_001,
    "\\" * 99_999,
]


@pytest.mark.parametrize(
    "path", ["a.py", "a.js", "a.rs", "a.c", "a.d", "a.rb", "a.html", "a.php", "A.java", "a.cs"]
)
def test_hostile_texts_end_in_a_process_of_their_own(path: str) -> None:
    """In a process, since a parser could end it."""
    program = "import sys\nfrom samuel.evidence.code_change import has_code\n"
    program += f"print([has_code({path!r}, text, text + 'x') for text in {HOSTILE!r}])"
    run = subprocess.run(
        [sys.executable, "-"], input=program, capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr[-500:]


@pytest.mark.parametrize(
    ("path", "old", "new", "is_only_names"),
    [
        ("a.py", "", "", True),
        ("a.py", "", '"""To be done."""\n', True),
        ("a.py", PYTHON, PYTHON + "\n\ndef g():\n    pass\n", True),
        ("a.py", PYTHON, PYTHON + "\n\ndef g():\n    raise NotImplementedError\n", True),
        ("a.py", PYTHON, PYTHON + "\n\nclass G:\n    def h(self): ...\n\n\nLATER = None\n", True),
        ("a.py", PYTHON, PYTHON + "\n\ndef g():\n    return 42\n", False),
        ("a.py", PYTHON, PYTHON.replace("a + b", "b + a"), False),
        ("a.py", "def g():\n    pass\n", "def g():\n    return 1\n", False),
        ("a.py", "", "@app.route('/')\ndef g():\n    pass\n", False),
        ("a.js", JS, JS + "export function later() {\n  // to be done\n}\n", True),
        ("a.js", JS, JS + "export function now() { return 1; }\n", False),
        ("a.rs", RUST, RUST + "pub fn later() {}\n", True),
        ("a.rs", RUST, RUST + "pub fn now() -> i32 { 1 }\n", False),
        ("a.c", C, C + "void later(void) {\n}\n", True),
        ("A.java", "", "package shop;\n\npublic class A {\n    void later() {}\n}\n", True),
        ("A.java", "", "package shop;\n\npublic class A {\n    int now() { return 1; }\n}\n", False),
        ("a.unknown", "", "", True),
        ("a.unknown", "", "later", False),
    ],
)
def test_change_that_adds_names_without_anything_behind_them_is_known(
    path: str, old: str, new: str, is_only_names: bool
) -> None:
    assert adds_only_names(path, old, new) is is_only_names
