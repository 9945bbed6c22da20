"""The README's examples run as they stand, and say what they print."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
# A block of Python and, where one follows, the block of what it prints.
BLOCKS = re.findall(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", README, flags=re.DOTALL)


@pytest.mark.parametrize(("source", "printed"), BLOCKS)
def test_python_blocks_run(source, printed):
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(source, "README.md", "exec"), {"__name__": "__main__"})
    assert output.getvalue().strip() == printed.strip()


def test_there_are_examples():
    assert BLOCKS


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(((?!https?:|#)[^)]+)\)", README))))
def test_links_lead_somewhere(target):
    assert (ROOT / target.split("#")[0]).exists()


@pytest.mark.parametrize("command", sorted(set(re.findall(r"^make (\S+)", README, flags=re.MULTILINE))))
def test_commands_exist(command):
    assert re.search(rf"^{command}:", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
