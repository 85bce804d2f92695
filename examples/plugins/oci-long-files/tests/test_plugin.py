"""The script alone, and the plugin in a fresh project and in its container. `samuel_project` comes with Samuel."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parent.parent
ENGINE = shutil.which("podman") or shutil.which("docker")


def test_the_script_finds_long_files(tmp_path):
    (tmp_path / "long.py").write_text("\n" * 9)
    (tmp_path / "short.py").write_text("\n")
    event = {"plugin": {"config": {"max_lines": 5, "names": ["*.py"]}}}
    check = ["sh", PLUGIN / "long-files", "check"]
    output = subprocess.check_output(check, input=json.dumps(event), cwd=tmp_path, text=True)
    (failure,) = json.loads(output)["failures"]
    assert failure["message"] == "long.py has 9 lines, and 5 are the most; split it"


@pytest.mark.skipif(not ENGINE, reason="needs podman or docker")
def test_the_container_fails_the_quality_check(samuel_project):
    samuel_project.config(
        """
        [plugins.long-files]
        max_lines = 5
        """
    )
    (samuel_project.root / "long.py").write_text("\n" * 9)
    add = [sys.executable, "-m", "samuel", "plugin", "add", str(PLUGIN), "--yes"]  # builds the image
    subprocess.run(add, cwd=samuel_project.root, check=True)

    fired = samuel_project.fire("quality.check", commands=[])

    assert not fired.ok
    assert fired.result["failures"][0]["message"] == "long.py has 9 lines, and 5 are the most; split it"
