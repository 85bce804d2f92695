from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from samuel.base.errors import SamuelError, UsageError
from samuel.hooks.handler import HandlerStatus, Origin
from samuel.skills.skill import for_prompt
from samuel.skills.text_files import choose

GOOD = "---\nname: review\ndescription: Reviews a change.\n---\nHow.\n"


def listed(place: Any) -> list[tuple[str, Origin, HandlerStatus]]:
    return [(skill.name, skill.origin, skill.status) for skill in place.find()]


def everywhere(place: Any) -> None:
    """The same skill in every place there is, the lowest precedence first."""
    place.skill("skills/review", base=place.plugin("acme@tools", user=True))
    place.skill(".kodelet/skills/review", base=place.home)
    place.skill(".samuel/skills/review", base=place.home)
    place.skill("skills/review", base=place.plugin("acme@tools"))
    place.skill(".kodelet/skills/review")
    place.skill(".samuel/skills/review")


def test_the_project_comes_first_and_shadows_what_has_the_same_name(place: Any) -> None:
    everywhere(place)
    assert listed(place) == [
        ("review", Origin.PROJECT, HandlerStatus.ACTIVE),
        ("review", Origin.PROJECT, HandlerStatus.SHADOWED),
        ("acme/tools/review", Origin.PROJECT_PLUGIN, HandlerStatus.ACTIVE),
        ("review", Origin.USER, HandlerStatus.SHADOWED),
        ("review", Origin.USER, HandlerStatus.SHADOWED),
        ("acme/tools/review", Origin.USER_PLUGIN, HandlerStatus.SHADOWED),
    ]
    skills_found = place.find()
    first = place.root / ".samuel/skills/review/SKILL.md"
    assert skills_found[1].reason == f"`{first}` has the same name and comes first"
    assert choose(skills_found, "review", "skill").path == first


def test_a_broken_skill_shadows_nothing_and_is_listed_with_the_reason(place: Any) -> None:
    file = place.put(".samuel/skills/review/SKILL.md", "---\nname: review\n---\n")
    place.skill(".samuel/skills/review", base=place.home)
    broken, working = place.find()
    assert (broken.status, working.status) == (HandlerStatus.BROKEN, HandlerStatus.ACTIVE)
    assert broken.reason == f"{file}:1: `description` is missing (add `description: ...` to its front matter)"
    assert choose(place.find(), "review", "skill").origin is Origin.USER


def test_every_field_of_a_skill_is_read(place: Any) -> None:
    place.put(
        ".samuel/skills/pdf/SKILL.md",
        "---\nname: pdf\ndescription: |\n  Reads\n  PDFs.\nlicense: MIT\ncompatibility: needs poppler\n"
        "metadata: {author: me}\nallowed-tools: Bash(git diff:*) Read\nother: kept out\n---\n\nHow.\n",
    )
    (skill,) = place.find()
    assert (skill.name, skill.description, skill.license, skill.compatibility) == (
        "pdf",
        "Reads PDFs.",
        "MIT",
        "needs poppler",
    )
    assert (skill.metadata, skill.allowed_tools, skill.body, skill.warnings) == (
        {"author": "me"},
        ("Bash(git diff:*)", "Read"),
        "\nHow.\n",
        (),
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# Only a heading\n", "SKILL.md:1: it has no front matter and no text"),
        ("---\nname: x\n---\n", "SKILL.md:1: `description` is missing"),
        ("---\nname: x: y\n---\n", "SKILL.md:1: `description` is missing"),
        ("---\nname: 3\ndescription: d\n---\n", "SKILL.md:2: `name` must be text, not 3"),
        ("---\nname: x\ndescription: [d]\n---\n", "SKILL.md:3: `description` must be text"),
        ("---\nname: &a x\ndescription: *a\n---\n", "SKILL.md:2: anchors and aliases"),
        ("x" * 1_100_000, "larger than"),
    ],
)
def test_an_invalid_skill_is_broken_with_the_line_and_the_reason(place: Any, text: str, says: str) -> None:
    place.put(".samuel/skills/x/SKILL.md", text)
    (skill,) = place.find()
    assert skill.status is HandlerStatus.BROKEN
    assert says in skill.reason
    with pytest.raises(SamuelError, match="cannot be used"):
        choose([skill], "x", "skill")


NO_NAME = "is not a name by the format: lower-case letters, digits and single hyphens"


@pytest.mark.parametrize(
    ("text", "description", "warnings"),
    [
        ("---\nname: X\ndescription: d\n---\n", "d", [f"`X` {NO_NAME}", "its `name` is `X`, but its directory"]),
        ("---\nname: ../x\ndescription: d\n---\n", "d", [f"`../x` {NO_NAME}", "its `name` is `../x`"]),
        ("---\ndescription: d\n---\n", "d", ["`name` is missing; it is called `x` like its directory"]),
        ("---\nname: x\n---\n# X\n\nDoes\nit.\n\nMore.\n", "Does it.", ["`description` is missing; the first"]),
        ("# X\n\nDoes it.\n", "Does it.", ["`name` is missing", "`description` is missing; the first"]),
        (
            f"---\nname: x\ndescription: {'d' * 1025}\n---\n",
            "d" * 1025,
            ["`description` has 1025 characters, more than the 1024 of the format"],
        ),
        (
            "---\nname: x\ndescription: Use it: always\n  and twice\nversion: '1'\n---\n",
            "Use it: always and twice",
            ["its front matter was read line by line: not valid YAML: mapping values"],
        ),
    ],
)
def test_what_claude_code_takes_is_a_skill_with_warnings(
    place: Any, text: str, description: str, warnings: list[str]
) -> None:
    place.put(".samuel/skills/x/SKILL.md", text)
    (skill,) = place.find()
    assert (skill.name, skill.status, skill.description) == ("x", HandlerStatus.ACTIVE, description)
    assert len(skill.warnings) == len(warnings)
    assert all(part in warning for part, warning in zip(warnings, skill.warnings, strict=True))


def test_a_name_of_two_words_stays_a_name_of_its_skill(place: Any) -> None:
    text = "---\nname: Two Words\ndescription: d\n---\n"
    place.put(".samuel/skills/two-words/SKILL.md", text)
    place.put("skills/two-words/SKILL.md", text, place.plugin("acme"))
    skills_found = place.find()
    assert skills_found[0].names == ("two-words", "Two Words")
    assert choose(skills_found, "Two Words", "skill").path.is_relative_to(place.root / ".samuel/skills")
    assert choose(skills_found, "acme/Two Words", "skill").names[0] == "acme/two-words"


def test_skills_of_other_agents_are_found_after_those_of_samuel(place: Any) -> None:
    for home in (".claude", ".agents", ".kodelet", ".samuel"):
        place.skill(f"{home}/skills/review", home)
    place.skill(".claude/skills/own", base=place.home)
    assert [(skill.description, skill.status) for skill in place.find()] == [
        (".samuel", HandlerStatus.ACTIVE),
        (".kodelet", HandlerStatus.SHADOWED),
        (".agents", HandlerStatus.SHADOWED),
        (".claude", HandlerStatus.SHADOWED),
        ("Does it.", HandlerStatus.ACTIVE),
    ]


def test_a_skill_whose_name_differs_from_its_directory_gets_a_warning(place: Any) -> None:
    place.put(".samuel/skills/other/SKILL.md", GOOD)
    (skill,) = place.find()
    assert (skill.name, skill.status) == ("other", HandlerStatus.ACTIVE)
    assert skill.warnings == ("its `name` is `review`, but its directory is `other`",)


def test_wrong_values_of_optional_fields_are_warnings(place: Any) -> None:
    head = "license: 3\nmetadata: x\nallowed-tools: {a: b}\ncompatibility: " + "c" * 501
    place.put(".samuel/skills/review/SKILL.md", GOOD.replace("\n---\nHow", f"\n{head}\n---\nHow"))
    (skill,) = place.find()
    assert skill.status is HandlerStatus.ACTIVE
    assert skill.warnings == (
        "`license` is not text",
        "`compatibility` has more than 500 characters",
        "`metadata` is not a mapping",
        "`allowed-tools` is not a list of tools",
    )


def test_only_a_directory_with_the_file_is_a_skill(place: Any) -> None:
    place.put(".samuel/skills/SKILL.md", GOOD)
    place.put(".samuel/skills/a/b/SKILL.md", GOOD)
    place.put(".samuel/skills/c/README.md", GOOD)
    place.put(".samuel/skills/.hidden/SKILL.md", GOOD)
    assert place.find() == []


class TestNames:
    def test_a_plugins_skill_goes_by_its_manifest_and_by_its_origin(self, place: Any) -> None:
        place.skill("skills/review", base=place.plugin("acme@tools", manifest="reviewer"))
        skills_found = place.find()
        assert [skill.name for skill in skills_found] == ["reviewer/review"]
        for name in ("reviewer/review", "acme/tools/review", "acme@tools/review"):
            assert choose(skills_found, name, "skill").name == "reviewer/review"

    def test_a_plugins_skill_is_not_found_without_the_plugins_name(self, place: Any) -> None:
        place.skill("skills/review", base=place.plugin("acme@tools"))
        with pytest.raises(UsageError, match="did you mean `acme/tools/review`"):
            choose(place.find(), "tools/review", "skill")

    @pytest.mark.parametrize(
        "name", ["", "..", "../x", "a/../b", "/etc/passwd", "a//b", "a/", ".", "a\x1b[2J", "a\n"]
    )
    def test_an_invalid_skill_name_is_refused(self, place: Any, name: str) -> None:
        place.skill(".samuel/skills/review")
        with pytest.raises(UsageError, match="is not a valid skill name"):
            choose(place.find(), name, "skill")

    def test_an_unknown_skill_is_refused_with_the_nearest_name(self, place: Any) -> None:
        place.skill(".samuel/skills/review")
        with pytest.raises(UsageError, match=r"there is no skill `reveiw`\ndid you mean `review`\?"):
            choose(place.find(), "reveiw", "skill")
        with pytest.raises(UsageError, match="`samuel skill list` lists them"):
            choose([], "reveiw", "skill")

    def test_a_skill_directory_with_an_unprintable_name_is_broken(self, place: Any) -> None:
        for name in ("a\x1b[2J", os.fsdecode(b"a\xff")):
            place.put(f".samuel/skills/{name}/SKILL.md", GOOD)
        assert [skill.status for skill in place.find()] == [HandlerStatus.BROKEN, HandlerStatus.BROKEN]
        assert all("cannot be shown" in skill.reason for skill in place.find())


class TestLinks:
    """What a link of a clone leads to, a key perhaps, would be told to the agent."""

    @pytest.mark.parametrize("link", [".samuel/skills", ".samuel/skills/x", ".samuel/skills/x/SKILL.md"])
    def test_a_link_out_of_the_project_is_refused(self, place: Any, tmp_path: Path, link: str) -> None:
        self.outside(place, tmp_path)
        self.link(place.root / link, tmp_path / self.target(link))
        assert [skill for skill in place.find() if skill.status is HandlerStatus.ACTIVE] == []
        assert "secret" not in str(place.find())

    @pytest.mark.parametrize("link", ["skills", "skills/x", "skills/x/SKILL.md"])
    def test_a_link_out_of_a_plugin_is_refused(self, place: Any, tmp_path: Path, link: str) -> None:
        self.outside(place, tmp_path)
        self.link(place.plugin("acme@tools") / link, tmp_path / self.target(link))
        assert [skill for skill in place.find() if skill.status is HandlerStatus.ACTIVE] == []

    def test_a_link_within_the_project_is_followed(self, place: Any) -> None:
        place.skill("tools/x")
        self.link(place.root / ".samuel/skills/x", place.root / "tools/x")
        assert listed(place) == [("x", Origin.PROJECT, HandlerStatus.ACTIVE)]

    def test_links_of_the_users_own_skills_may_lead_anywhere(self, place: Any, tmp_path: Path) -> None:
        self.outside(place, tmp_path)
        self.link(place.home / ".samuel/skills", tmp_path / "outside")
        assert listed(place) == [("x", Origin.USER, HandlerStatus.ACTIVE)]

    def test_a_loop_of_links_in_the_skills_ends(self, place: Any) -> None:
        self.link(place.home / ".samuel/skills/x", place.home / ".samuel/skills")
        self.link(place.root / ".samuel/skills/x/SKILL.md", place.root / ".samuel/skills/x/SKILL.md")
        assert all(skill.status is HandlerStatus.BROKEN for skill in place.find())

    def test_a_named_pipe_as_skill_file_does_not_hang(self, place: Any) -> None:
        (place.root / ".samuel/skills/x").mkdir(parents=True)
        os.mkfifo(place.root / ".samuel/skills/x/SKILL.md")
        assert [skill.status for skill in place.find()] == [HandlerStatus.BROKEN]

    def outside(self, place: Any, base: Path) -> None:
        place.put("outside/x/SKILL.md", GOOD.replace("Reviews", "secret"), base)

    def target(self, link: str) -> str:
        return "outside" + link.partition("skills")[2]

    def link(self, path: Path, target: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)


def test_a_project_that_is_the_home_directory_has_no_second_set(place: Any) -> None:
    place.home = place.root
    place.skill(".samuel/skills/review")
    assert listed(place) == [("review", Origin.PROJECT, HandlerStatus.ACTIVE)]


def test_all_skills_of_a_directory_are_found(place: Any) -> None:
    for number in range(1200):
        place.skill(f".samuel/skills/s{number:04}")
    assert [skill.status for skill in place.find()] == [HandlerStatus.ACTIVE] * 1200


class TestForThePrompt:
    def test_the_prompt_gets_name_description_and_file_of_active_skills(self, place: Any) -> None:
        place.skill(".samuel/skills/review", "Reviews.")
        place.put(".samuel/skills/broken/SKILL.md", "")
        home = place.skill(".samuel/skills/pdf", "Reads.", base=place.home)
        listing = for_prompt(place.find(), place.root, 1000)
        assert listing.listed == [
            {"Name": "review", "Description": "Reviews.", "Path": ".samuel/skills/review/SKILL.md"},
            {"Name": "pdf", "Description": "Reads.", "Path": str(home)},
        ]
        assert listing.left_out == ()

    def test_skills_that_exceed_the_limit_of_the_prompt_are_named(self, place: Any) -> None:
        for name in "abc":
            place.skill(f".samuel/skills/{name}", "x" * 900)
        listing = for_prompt(place.find(), place.root, 2000)
        assert [skill["Name"] for skill in listing.listed] == ["a", "b"]
        assert listing.left_out == ("c",)
