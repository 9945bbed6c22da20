"""Renew the picture of a report in the README: ``python -m benchmarks.tools.report_picture``.

Needs Chromium. The page is that of scikit-learn's digits, as ``bayesfloor report digits`` writes it.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from bayesfloor import difficulty_report, load_dataset

#: Where the picture is.
PICTURE = Path(__file__).parents[2] / "docs" / "images" / "report.png"
#: Width and height in pixels: the first screen of a small desk.
SIZE = (1200, 800)


def main() -> None:
    """Make the report and take its picture."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("needs chromium, which is not installed")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        difficulty_report(
            load_dataset("digits", scale="standard"), command="bayesfloor report digits", progress=True
        ).to_html(page)
        flags = ["--headless=new", "--no-sandbox", "--hide-scrollbars", f"--user-data-dir={folder}/profile"]
        size = f"--window-size={SIZE[0]},{SIZE[1]}"
        subprocess.run([browser, *flags, size, f"--screenshot={PICTURE}", page.as_uri()], check=True)


if __name__ == "__main__":
    main()
