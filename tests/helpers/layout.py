"""Where the texts of a picture lie: on the figure, and none over another."""

from unittest.mock import patch

import numpy as np
from matplotlib.text import Text


def drawn_texts(figure):
    """Return every text that is drawn, with its box in pixels: left, bottom, right, top."""
    texts = []
    draw = Text.draw

    def recording(self, renderer, *arguments, **options):
        if self.get_visible() and self.get_text().strip():
            texts.append(self)
        return draw(self, renderer, *arguments, **options)

    with patch.object(Text, "draw", recording):
        figure.draw_without_rendering()
    boxes = [(text.get_bbox_patch() or text).get_window_extent().extents for text in texts]
    return texts, np.array(boxes)


def cut_off(figure, texts, boxes):
    """Return the texts that reach over the edge of the figure."""
    width, height = figure.bbox.extents[2:]
    outside = (boxes[:, :2] < -1).any(axis=1) | (boxes[:, 2] > width + 1) | (boxes[:, 3] > height + 1)
    return [texts[place].get_text() for place in np.flatnonzero(outside)]


def overlapping(texts, boxes):
    """Return the pairs of texts that lie over each other by more than a pixel."""
    left, bottom, right, top = boxes.T
    across = np.minimum.outer(right, right) - np.maximum.outer(left, left) > 1
    along = np.minimum.outer(top, top) - np.maximum.outer(bottom, bottom) > 1
    pairs = np.argwhere(np.triu(across & along, 1))
    return [(texts[a].get_text(), texts[b].get_text()) for a, b in pairs]


def assert_readable(figure, smallest=5):
    """Nothing is cut off, nothing overlaps, and no letter is smaller than this."""
    texts, boxes = drawn_texts(figure)
    assert cut_off(figure, texts, boxes) == []
    assert overlapping(texts, boxes) == []
    assert min(text.get_fontsize() for text in texts) >= smallest
