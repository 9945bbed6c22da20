"""Noise over predictions: each bin where its predictions are."""

import numpy as np

from bayesfloor.display import NoiseProfileDisplay
from bayesfloor.floor.learned.regression.result import NoiseProfile
from display.layout import assert_readable

VALUES = {
    "low": np.array([0.0, 10.0, 30.0]),
    "high": np.array([10.0, 30.0, 90.0]),
    "sd_interval": np.array([[0.8, 1.3], [1.5, 2.4], [3.0, 7.5]]),
    "n_rows": np.array([40, 40, 41]),
    "confidence": 0.9,
}
SD = np.array([1.0, 2.0, 5.0])


def test_each_bin_is_drawn_where_its_predictions_are():
    display = NoiseProfileDisplay(SD, **VALUES, overall=3.2, target="price_$of$_it").plot()
    segments = np.array(display.noise_lines_.get_segments())
    np.testing.assert_array_equal(segments[:, :, 0], np.column_stack([VALUES["low"], VALUES["high"]]))
    np.testing.assert_array_equal(segments[:, 0, 1], SD)
    boxes = [band.get_bbox().extents for band in display.bands_]
    drawn = np.column_stack([VALUES["low"], VALUES["sd_interval"][:, 0], VALUES["high"], VALUES["sd_interval"][:, 1]])
    np.testing.assert_allclose(boxes, drawn)
    assert display.overall_line_.get_ydata()[0] == 3.2
    assert display.ax_.get_xlabel() == "predicted price_$of$_it"
    assert "90% interval" in display.ax_.get_legend().get_texts()[0].get_text()
    bottom, top = display.ax_.get_ylim()
    assert bottom == 0.0
    assert top >= 7.5
    assert_readable(display.figure_)


def test_the_frame_has_what_is_drawn():
    frame = NoiseProfileDisplay(SD, **VALUES).frame()
    assert frame["sd"].tolist() == SD.tolist()
    assert frame["sd_high"].tolist() == [1.3, 2.4, 7.5]
    assert frame["n_rows"].tolist() == [40, 40, 41]


def test_without_the_noise_of_all_rows():
    display = NoiseProfileDisplay(SD, **VALUES).plot()
    assert display.overall_line_ is None
    assert display.ax_.get_xlabel() == "predicted value"


def test_a_profile_draws_itself():
    profile = NoiseProfile(sd=SD, p_value=0.5, n_samples=121, **VALUES)
    display = profile.plot()
    np.testing.assert_array_equal(display.noise_marks_.get_ydata(), SD)
    mean_square = (40 * 1 + 40 * 4 + 41 * 25) / 121
    assert display.overall_line_.get_ydata()[0] == np.sqrt(mean_square)
