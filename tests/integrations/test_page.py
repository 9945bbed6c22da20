"""The examples of docs/integrations.md run as they stand, and say what they print."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from test_readme import BLOCK, assert_same_text

PAGE = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, flags=re.DOTALL | re.MULTILINE))


def run_blocks(section, namespace):
    for source, printed in BLOCK.findall(SECTIONS[section]):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(compile(source, section, "exec"), namespace)
        assert_same_text(output.getvalue().strip(), printed.strip())


@pytest.mark.parametrize("section", ["Pipelines", "JSON", "MLflow", "skore"])
def test_python_blocks_run(section, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    namespace = {"__name__": "__main__"}
    run_blocks("Data frames", namespace)
    if section in ("MLflow", "skore"):
        package = pytest.importorskip(section.lower(), reason=f"needs the extra {section.lower()!r}")
    if section == "MLflow":
        package.set_tracking_uri((tmp_path / "runs").as_uri())
    run_blocks(section, namespace)


def test_every_section_with_examples_is_run():
    assert [name for name, text in SECTIONS.items() if BLOCK.search(text)] == [
        "Data frames", "Pipelines", "JSON", "MLflow", "skore",
    ]  # fmt: skip
