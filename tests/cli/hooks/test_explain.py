"""`samuel hooks explain`: who answers, why there, and what would move it."""

from __future__ import annotations

import tomllib

CHAIN = """\
quality.check (all-ok + concatenate)
   HANDLER  ORDER  ORIGIN    RUNTIME  STRICT  TIMEOUT  STATUS  WHY
1  default  100    built in  inline   yes     5m       active  the built-in has order 100
2  guard    200    project   exec     yes     5m       active  it has the default order 200

To move one, in samuel.toml:

  # `default` last
  [hooks."quality.check".order]
  "default" = 210

  # `guard` first
  [hooks."quality.check".order]
  "guard" = 90
"""


def order(samuel) -> list[str]:
    return [
        step["handler"] for step in samuel("hooks", "explain", "quality.check", "--json").json["data"]["chain"]
    ]


def test_hooks_explain_shows_a_chain_in_its_order_with_reasons(samuel, guard):
    samuel("trust", "--yes")
    assert samuel("hooks", "explain", "quality.check") == (0, CHAIN, "")


def test_its_lines_do_what_they_say(samuel, put, guard):
    samuel("trust", "--yes")
    steps = samuel("hooks", "explain", "quality_check", "--json").json["data"]["chain"]
    assert [step["move"]["to"] for step in steps] == ["last", "first"]
    for step in steps:
        put("samuel.toml", step["move"]["toml"])
        assert order(samuel) == ["guard", "default"]


def test_its_lines_where_handlers_decide(samuel, put, guard):
    samuel("trust", "--yes")
    handlers = 'handlers = [{ use = "default", timeout = "10s" }, "..."]'
    put("samuel.toml", f'[methodology.ralph.hooks."quality.check"]\n{handlers}\n')
    steps = samuel("hooks", "explain", "quality.check", "--json").json["data"]["chain"]
    assert [(step["handler"], step["order"], step["why"]) for step in steps] == [
        ("default", None, "`handlers` names `default`"),
        ("guard", None, '`"..."` in `handlers` stands for it'),
    ]
    for step in steps:
        lines = tomllib.loads(step["move"]["toml"])["methodology"]["ralph"]["hooks"]["quality.check"]
        assert lines == {"handlers": ["guard", {"use": "default", "timeout": "10s"}]}
        put("samuel.toml", step["move"]["toml"])
        assert order(samuel) == ["guard", "default"]
        put("samuel.toml", f'[methodology.ralph.hooks."quality.check"]\n{handlers}\n')


def test_hooks_explain_says_when_no_handler_runs(samuel):
    assert samuel("hooks", "explain", "SessionEnd") == (0, "SessionEnd (merge)\n  no handler runs\n", "")


def test_those_left_out_and_those_not_asked(samuel, put, guard):
    put("samuel.toml", '[hooks."quality.check"]\nhandlers = []\n')
    assert samuel("hooks", "explain", "quality.check") == (
        0,
        "quality.check (all-ok + concatenate)\n"
        "  no handler runs\n"
        "left out: `default`: `handlers` in samuel.toml does not name it\n"
        "untrusted: `guard`: not trusted: `.samuel/hooks/guard` has not been agreed to yet; "
        "run `samuel trust` to look at it and agree\n",
        "",
    )


def test_hooks_explain_prints_the_warnings_of_a_chain(samuel, put):
    text = 'import samuel\n\n@samuel.hook("quality.check", order=100)\ndef mine(event):\n    return None\n'
    put(".samuel/hooks/mine.py", text)
    samuel("trust", "--yes")
    ran = samuel("hooks", "explain", "quality.check")
    assert ran.err == (
        "warning: `mine` replaces `default` on `quality.check`: both were given order 100. "
        'To keep both, give one another number under [hooks."quality.check".order] in samuel.toml\n'
    )


GATE = """\
#!/bin/sh
[ "$1" = hook ] && echo iteration.gate || echo '{"continue": true}'
"""
REPLACED = """\
iteration.gate (replace)
   HANDLER  ORDER  ORIGIN   RUNTIME  STRICT  TIMEOUT  STATUS  WHY
1  gate     200    project  exec     yes     30s      active  it has the default order 200
left out: `default`: only the last handler of `iteration.gate` runs, and that is `gate`

To let another one run, in samuel.toml:

  # `default` instead
  [hooks."iteration.gate"]
  handlers = ["default"]
"""


def test_where_only_one_runs_it_says_how_to_get_another_one_back(samuel, put):
    put(".samuel/hooks/gate", GATE, 0o755)
    samuel("trust", "--yes")
    ran = samuel("hooks", "explain", "iteration.gate")
    warning = "warning: only the last handler of `iteration.gate` runs: `gate` replaces `default`\n"
    assert ran == (0, REPLACED, warning)


def test_the_lines_that_bring_another_one_back_do(samuel, put):
    put(".samuel/hooks/gate", GATE, 0o755)
    samuel("trust", "--yes")
    for name in ("default", "gate"):
        data = samuel("hooks", "explain", "iteration.gate", "--json").json["data"]
        assert [left["handler"] for left in data["left_out"]] == [name]
        put("samuel.toml", data["left_out"][0]["instead"])
        chain = samuel("hooks", "explain", "iteration.gate", "--json").json["data"]["chain"]
        assert [step["handler"] for step in chain] == [name]


def test_one_before_the_built_in_where_only_one_runs_is_an_error_that_explains(samuel, put):
    put(".samuel/hooks/gate", GATE, 0o755)
    samuel("trust", "--yes")
    put("samuel.toml", '[hooks."iteration.gate"]\nhandlers = ["gate", "default"]\n')
    ran = samuel("hooks", "explain", "iteration.gate")
    assert ran.code == 2
    assert ran.err == (
        "error: PROJECT/samuel.toml:2: only the last handler of `iteration.gate` runs: with `default` at the end, "
        '`gate` would not (name the one that should run: handlers = ["gate"] or handlers = ["default"])\n'
    )


def test_one_handler_alone_cannot_be_moved(samuel):
    assert "To move one" not in samuel("hooks", "explain", "quality.check").out


def test_hooks_explain_refuses_an_unknown_event(samuel):
    assert samuel("hooks", "explain").code == 2
    assert samuel("hooks", "explain", "quality.chek").err.endswith("did you mean `quality.check`?\n")
