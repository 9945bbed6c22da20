"""Renew the picture of a report, and what pages show of the same run: ``python -m benchmarks.tools.report_picture``.

Needs Chromium. ``bayesfloor report digits`` runs once. The picture is that of its page, and keeps what it printed, as
tests/pages/test_guide.py compares with the README and the guide. Figures in their prose are to be looked at then.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, PngImagePlugin

ROOT = Path(__file__).parents[2]
#: Where the picture is.
PICTURE = ROOT / "docs" / "images" / "report.png"
#: Width and height in pixels: the first screen of a small desk.
SIZE = (1200, 840)
#: The command whose page it shows, and under which name the picture keeps what it printed.
CALL, KEPT_AS = ("report", "digits"), "printed"
#: What pages show of that: from the line after the one that ends with the first words, to the one before the second.
SHOWN = {
    ROOT / "README.md": ("predicted wrongly.", "The upper end of the range "),
    ROOT / "docs" / "reading_a_report.md": ("predicted wrongly.", "The fastest good model: "),
}


def main() -> None:
    """Make the report, take its picture, and show what it printed."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("needs chromium, which is not installed")
    with tempfile.TemporaryDirectory() as folder:
        page, shot = Path(folder, "digits-report.html"), Path(folder, "shot.png")
        call = [sys.executable, "-m", "bayesfloor", *CALL, "--out", str(page)]
        printed = subprocess.run(call, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
        flags = ["--headless=new", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={folder}/profile"]
        size = f"--window-size={SIZE[0]},{SIZE[1]}"
        subprocess.run([browser, *flags, size, f"--screenshot={shot}", page.as_uri()], check=True)
        keep_with(shot, printed, PICTURE)
    for file, ends in SHOWN.items():
        file.write_text(with_shown(file.read_text(encoding="utf-8"), printed, *ends), encoding="utf-8")
    print(printed)


def keep_with(picture: Path, printed: str, out: Path) -> None:
    """Write a picture with what was printed along with it."""
    told = PngImagePlugin.PngInfo()
    told.add_itxt(KEPT_AS, printed)
    with Image.open(picture) as image:
        image.save(out, pnginfo=told, optimize=True)


def with_shown(text: str, printed: str, after: str, before: str) -> str:
    """Return a page on which the block of the command shows a part of what it printed."""
    lines = printed.splitlines(keepends=True)
    first = next(place for place, line in enumerate(lines) if line.rstrip().endswith(after)) + 1
    last = next(place for place, line in enumerate(lines) if line.startswith(before))
    block = f"$ bayesfloor {' '.join(CALL)}\n…\n{''.join(lines[first:last])}…\n```"
    pattern = rf"^\$ bayesfloor {' '.join(CALL)}\n.*?```"
    found, n_blocks = re.subn(pattern, lambda _: block, text, count=1, flags=re.DOTALL | re.MULTILINE)
    if n_blocks == 0:
        raise ValueError("the page has no block of this command")
    return found


if __name__ == "__main__":
    main()
