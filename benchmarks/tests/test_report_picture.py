"""What pages show of a report is what its picture was printed with."""

import pytest

pytest.importorskip("PIL", reason="pictures need Pillow")

from benchmarks.tools.report_picture import KEPT_AS, PICTURE, SHOWN, Image, keep_with, with_shown

PAGE = "# A\n\n```console\n$ bayesfloor report digits\n…\nold\n…\n```\n\n```sh\n$ bayesfloor report digits\n```\n"


def test_a_block_is_replaced_by_a_part_of_what_was_printed():
    printed = "digits\nrows predicted wrongly.\nnew 1\nnew 2\nMeasured: all\n"
    found = with_shown(PAGE, printed, "wrongly.", "Measured: ")
    assert found == PAGE.replace("…\nold\n…", "…\nnew 1\nnew 2\n…")
    with pytest.raises(ValueError, match="no block"):
        with_shown("# A\n", printed, "wrongly.", "Measured: ")


def test_a_picture_keeps_what_was_printed(tmp_path):
    keep_with(PICTURE, "0–1.5%\n", tmp_path / "kept.png")
    with Image.open(tmp_path / "kept.png") as image, Image.open(PICTURE) as before:
        assert image.size == before.size
        assert image.tobytes() == before.tobytes()
        assert image.text[KEPT_AS] == "0–1.5%\n"


@pytest.mark.parametrize("page", SHOWN, ids=lambda page: page.name)
def test_pages_are_as_they_were_made(page):
    with Image.open(PICTURE) as image:
        image.load()  # text may stand behind the pixels
        text = page.read_text(encoding="utf-8")
        assert with_shown(text, image.text[KEPT_AS], *SHOWN[page]) == text
