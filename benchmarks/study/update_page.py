"""Make tables, ranks and pictures anew from the records in benchmarks/results/study, and put them into docs/study.md.

python -m benchmarks.study.update_page
"""

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.study.plan import PAPER_METHODS, SEVENTH_METHOD
from benchmarks.tools.pages import RESULTS, ROOT

STUDY = RESULTS / "study"
DOCS = ROOT / "docs"
BEGIN, END = "<!-- made by benchmarks/study/update_page.py -->\n", "<!-- end -->\n"

#: The page is about the paper's methods; LandmarkClassifier beside them is in results/landmarks.md.
METHODS = (*PAPER_METHODS, SEVENTH_METHOD)
PICTURES = {"study_ari_beside_paper.png": "ari_beside_paper.png", "study_seconds.png": "seconds_beside_smartsvm.png"}


def widest_ranking(measure: str) -> Path:
    """Return the picture of the ranking over the most data sets: that of the fewest methods."""
    return min(STUDY.glob(f"figures/ranks_{measure}_?_methods.png"), key=lambda file: file.stem.split("_")[-2])


if __name__ == "__main__":
    for old in [*STUDY.glob("tables/*"), *STUDY.glob("figures/*")]:
        old.unlink()
    start = [sys.executable, "-m", "benchmarks.study"]
    for command in ("table", "rank", "figures"):
        subprocess.run([*start, command, STUDY, "--quiet", "--methods", *METHODS], check=True, cwd=ROOT)
    parts = [STUDY / "tables" / name for name in ("comparison.md", "table3_ari.md", "table2_total_time.md")]
    parts += [STUDY / "tables" / "table4_time_per_configuration.md"]
    made = "\n".join(part.read_text(encoding="utf-8") for part in parts)
    page = DOCS / "study.md"
    before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    page.write_text(f"{before}{BEGIN}\n{made}\n{END}{after}", encoding="utf-8")
    for name, picture in PICTURES.items():
        shutil.copyfile(STUDY / "figures" / picture, DOCS / "images" / name)
    for measure in ("ari", "seconds"):
        shutil.copyfile(widest_ranking(measure), DOCS / "images" / f"study_ranks_{measure}.png")
