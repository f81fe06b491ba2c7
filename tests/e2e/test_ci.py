"""The workflows of examples/ci run as plain shell steps in a fresh clone: pass, fail and undecided."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from conftest import REPOSITORY
from e2e.program import own_environment

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
CI = REPOSITORY / "examples" / "ci"
CASES = {
    "svd": ("item_knn", 0, "Passed"),
    "popularity": ("svd", 1, "Failed"),
    "svd_17": ("svd", 3, "Undecided"),
}


@pytest.fixture
def clone(tmp_path):
    """A clone of the repository, with a `gh` and a `curl` that keep what they are told to post."""
    folder = tmp_path / "clone"
    if (REPOSITORY / ".git").exists():
        subprocess.run(["git", "clone", "--quiet", "--depth", "1", REPOSITORY.as_uri(), folder], check=True)
    (folder / "examples" / "ci").mkdir(parents=True, exist_ok=True)
    for file in CI.iterdir():  # as it is here, committed or not
        if file.is_file():
            (folder / "examples" / "ci" / file.name).write_bytes(file.read_bytes())
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("gh", "curl", "pip"):
        program = programs / name
        program.write_text(f'#!/bin/sh\necho "$@" >> "{tmp_path}/{name}.txt"\n')
        program.chmod(0o755)
    return folder


def environment(clone, **variables):
    places = [str(clone.parent / "bin"), str(Path(sys.executable).parent), os.environ["PATH"]]
    return own_environment() | {"PATH": os.pathsep.join(places)} | variables


def shell(script, clone, variables):
    """Run a step as both services do: bash, which stops at the first command that fails."""
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=clone,
        env=environment(clone, **variables),
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("candidate", CASES)
def test_the_github_workflow(clone, candidate):
    production, expected, word = CASES[candidate]
    workflow = yaml.safe_load((clone / "examples/ci/github.yml").read_text())
    summary = clone.parent / "summary.md"
    variables = workflow["env"] | {
        "CANDIDATE": candidate,
        "PRODUCTION": production,
        "GITHUB_STEP_SUMMARY": str(summary),
        "PULL_REQUEST": "7",
    }
    failed = 0
    for step in workflow["jobs"]["check"]["steps"]:
        if "run" in step and (not failed or step.get("if") == "always()"):
            done = shell(step["run"], clone, variables)
            assert done.returncode in (0, expected), done.stdout + done.stderr
            failed = failed or done.returncode
            assert bool(done.returncode) is (step["name"] == "Check" and expected != 0)
    assert failed == expected
    told = (clone / "check.md").read_text()
    assert told.startswith(f"- {word}: ")
    assert summary.read_text() == told
    assert (clone.parent / "gh.txt").read_text().startswith("pr comment 7 --body-file check.md")
    assert "<testsuite" in (clone / "check.xml").read_text()
    assert (clone / "outputs" / "looks.jsonl").is_file()


def test_the_gitlab_job(clone):
    job = yaml.safe_load((clone / "examples/ci/gitlab.yml").read_text())["recommender check"]
    production, expected, word = CASES["svd_17"]
    variables = job["variables"] | {"CANDIDATE": "svd_17", "PRODUCTION": production}
    done = shell("\n".join(job["script"]), clone, variables)
    assert done.returncode == expected, done.stdout + done.stderr
    assert job["allow_failure"]["exit_codes"] == [expected]
    place = {"CI_API_V4_URL": "https://x/api/v4", "CI_PROJECT_ID": "1", "CI_MERGE_REQUEST_IID": "2"}
    shell("\n".join(job["after_script"]), clone, variables | place | {"GITLAB_TOKEN": "t"})
    posted = (clone.parent / "curl.txt").read_text()
    assert "https://x/api/v4/projects/1/merge_requests/2/notes" in posted
    assert "body@check.md" in posted
    assert (clone / "check.md").read_text().startswith(f"- {word}: ")
