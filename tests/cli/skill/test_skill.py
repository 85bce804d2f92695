"""`samuel skill`: what is there, where from, and what it says."""

from __future__ import annotations

import pytest

GOOD = "---\nname: review\ndescription: Reviews a change.\nlicense: MIT\nallowed-tools: Read\n---\n# How\n"


@pytest.fixture
def skills(put, machine):
    put(".samuel/skills/review/SKILL.md", GOOD)
    put(".samuel/skills/bad/SKILL.md", "---\nname: bad\n---\n")
    user = machine / ".kodelet/skills/review/SKILL.md"
    user.parent.mkdir(parents=True)
    user.write_text(GOOD)


def test_skill_list_is_an_aligned_table_in_a_pipe(samuel, skills):
    assert samuel("skill", "list") == (
        0,
        "NAME    ORIGIN   STATUS    DESCRIPTION        REASON\n"
        "bad     project  broken    -                  PROJECT/.samuel/skills/bad/SKILL.md:1: "
        "`description` is missing (add `description: ...` to its front matter)\n"
        "review  project  active    Reviews a change.  -\n"
        "review  user     shadowed  Reviews a change.  "
        "`PROJECT/.samuel/skills/review/SKILL.md` has the same name and comes first\n",
        "",
    )


def test_skill_list_prints_json(samuel, skills):
    rows = samuel("skill", "list", "--json").json["data"]
    assert rows[1] == {
        "name": "review",
        "description": "Reviews a change.",
        "license": "MIT",
        "compatibility": "",
        "metadata": {},
        "allowed_tools": ["Read"],
        "origin": "project",
        "path": "PROJECT/.samuel/skills/review/SKILL.md",
        "status": "active",
        "reason": "",
    }


def test_a_name_that_does_not_fit_is_a_warning(samuel, project, put):
    put(".samuel/skills/other/SKILL.md", GOOD)
    ran = samuel("skill", "list")
    assert ran.code == 0
    assert ran.err == (
        "warning: `PROJECT/.samuel/skills/other/SKILL.md`: its `name` is `review`, but its directory is `other`\n"
    )


def test_skill_show_prints_a_skill_and_its_text(samuel, skills):
    assert samuel("skill", "show", "review") == (
        0,
        "review: Reviews a change.\n"
        "file: PROJECT/.samuel/skills/review/SKILL.md\n"
        "license: MIT\n"
        "tools: Read\n"
        "\n"
        "# How\n",
        "",
    )
    assert samuel("skill", "show", "review", "--json").json["data"]["text"] == "# How\n"


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("reveiw", 2, "there is no skill `reveiw`\ndid you mean `review`?"),
        ("../x", 2, "'../x' is not a valid skill name"),
        (
            "bad",
            1,
            "the skill `bad` cannot be used: PROJECT/.samuel/skills/bad/SKILL.md:1: `description` is missing",
        ),
    ],
)
def test_skill_show_refuses_unknown_and_broken_skills(samuel, skills, name, code, says):
    ran = samuel("skill", "show", name)
    assert (ran.code, ran.out) == (code, "")
    assert says in ran.err
