"""The shipped prompts name the skills that are there, and say nothing where there are none."""

from __future__ import annotations

import pytest

from samuel.prompts.render import render, shipped
from samuel.testing import SamuelProject

SKILLS = [{"Name": "acme/tools/review", "Description": "Reviews {{ it }}.", "Path": ".samuel/x/SKILL.md"}]


@pytest.mark.parametrize("template", ["prompt.md.j2", "discovery-prompt.md.j2"])
def test_the_prompt_lists_skills_by_name_and_description(samuel_project: SamuelProject, template: str) -> None:
    with samuel_project.open() as app:
        context = app.context()
    without = {key: value for key, value in context["State"].items() if key != "Skills"}
    bare = [
        render(shipped(template), {**context, "State": {**without, **skills}}) for skills in ({}, {"Skills": []})
    ]
    named = render(shipped(template), {**context, "State": {**without, "Skills": SKILLS}})
    assert bare[0] == bare[1]
    assert "## Skills" not in bare[0]
    assert "## Skills\n" in named
    assert "- acme/tools/review (`.samuel/x/SKILL.md`): Reviews {{ it }}.\n" in named
