"""The files around the package: workflows name commands that exist, pages and lists agree with pyproject.toml."""

import re
import tomllib
from pathlib import Path

import yaml

from helpers.one_case import for_each

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
PINNED = re.compile(r"^[\w-]+/[\w/-]+@[0-9a-f]{40}$")


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def rules():
    return set(re.findall(r"^([\w-]+):", MAKEFILE, flags=re.MULTILINE))


@for_each("path", WORKFLOWS)
def test_workflows(path):
    """They may only read, end in time, run actions whose code is fixed, and call rules of the Makefile."""
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert set(workflow["concurrency"]) == {"group", "cancel-in-progress"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 120
        actions = [step["uses"] for step in job["steps"] if "uses" in step]
        assert [action for action in actions if not PINNED.match(action)] == []
        commands = "\n".join(step.get("run", "") for step in job["steps"])
        assert set(re.findall(r"\bmake ([\w-]+)", commands)) <= rules()


def test_every_test_that_is_named_is_there():
    """Files of tests move, and a command that names where they were runs none."""
    files = [ROOT / "Makefile", ROOT / "CONTRIBUTING.md", ROOT / "pyproject.toml", *WORKFLOWS, *ROOT.glob(".ci/*")]
    files += [ROOT / "README.md", *ROOT.glob("docs/*.md")]
    named = {
        (file.name, name)
        for file in files
        if file.is_file()
        for name in re.findall(r"(?<![\w/.])tests/[\w/]*\w(?:\.\w+)?", file.read_text(encoding="utf-8"))
    }
    assert len(named) > 10
    assert [name for name in sorted(named) if not (ROOT / name[1]).exists()] == []


def test_workflows_call_every_check():
    text = "\n".join(path.read_text(encoding="utf-8") for path in WORKFLOWS)
    called = set(re.findall(r"run: make ([\w-]+)", text))
    assert {"lint", "test-bounds", "test-lowest", "test-all", "docs", "dist"} <= called


def test_every_python_that_is_promised_is_tested():
    jobs = read(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]
    promised = [line.rpartition(" ")[2] for line in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert jobs["newest"]["strategy"]["matrix"]["python"] == promised
    # the lowest versions of dependencies are tried where they all have wheels, on the lowest Python
    assert PROJECT["requires-python"] == f">={promised[0]}"
    (lowest,) = (step["with"] for step in jobs["lowest"]["steps"] if "python-version" in step.get("with", {}))
    assert lowest["python-version"] == promised[0]


def test_every_rule_is_in_the_help():
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, flags=re.MULTILINE)
    told = set(re.findall(r"@echo 'make ([\w-]+) ", MAKEFILE))
    assert set(phony.split()) - told == {"help", "browser", "prepare", "suite"}
    assert told <= rules()


@for_each("path", [path for path in FORMS if path.name != "config.yml"])
def test_forms_of_issues(path):
    form = read(path)
    assert {"name", "description", "body"} <= set(form)
    fields = [field["id"] for field in form["body"] if field["type"] != "markdown"]
    assert len(fields) == len(set(fields)) > 0


def test_the_citation_is_of_this_version():
    citation = read(ROOT / "CITATION.cff")
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] in PROJECT["license"]["text"]
    assert [reference["title"] for reference in citation["references"]] == [
        "Fast Meta-Learning for Adaptive Hierarchical Classifier Design"
    ]


def test_the_image_copies_what_a_wheel_is_built_from():
    kept = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert {PROJECT["readme"], "LICENSE", "pyproject.toml", "src"} == set(kept)
    assert all((ROOT / name).exists() for name in kept)


def test_ruff_is_the_same_before_a_commit():
    (wanted,) = (name for name in PROJECT["optional-dependencies"]["test"] if name.startswith("ruff"))
    hooks = [hook for repository in read(ROOT / ".pre-commit-config.yaml")["repos"] for hook in repository["hooks"]]
    ruff = {hook["id"]: hook["additional_dependencies"] for hook in hooks if hook["id"].startswith("ruff")}
    assert ruff == {"ruff-check": [wanted], "ruff-format": [wanted]}


def test_the_readme_is_short():
    """It is for people who have half a minute; everything else is in docs."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 92
