"""The figures of the paper's tables: what ours are set beside."""

from benchmarks.study.plan import PAPER_METHODS

#: Table 1: rows, features, classes, and rows of the smallest and of the largest class.
DATA_SETS: dict[str, tuple[int, int, int, int, int]] = {
    "abalone": (4177, 8, 20, 14, 689),
    "fars": (100959, 338, 7, 299, 42116),
    "flare": (1066, 19, 6, 43, 331),
    "kr-vs-k": (28056, 34, 18, 27, 4553),
    "letter": (20000, 16, 26, 734, 813),
    "nursery": (12960, 19, 4, 330, 4320),
    "optdigits": (5620, 64, 10, 554, 572),
    "pageblocks": (5473, 10, 5, 28, 4913),
    "pendigits": (10992, 16, 10, 1055, 1144),
    "satimage": (6435, 36, 6, 626, 1533),
    "segment": (2310, 19, 7, 330, 330),
    "shuttle": (58000, 9, 6, 23, 45586),
    "texture": (5500, 40, 11, 500, 500),
    "wine_red": (1599, 12, 5, 18, 681),
    "wine_white": (4898, 12, 6, 20, 2198),
    "yeast": (1479, 8, 9, 20, 463),
}

#: Table 2: total training time in seconds, for C&S, DAG, GenSVM, OvO, OvR and SmartSVM.
TOTAL_SECONDS: dict[str, tuple[float, ...]] = {
    "abalone": (13332.0, 146.5, 86787.0, 134.3, 214.4, 75.0),
    "fars": (158242.0, 3108.0, 205540.0, 2866.0, 5630.0, 3158.0),
    "flare": (467.5, 7.0, 501.7, 6.5, 8.2, 5.0),
    "kr-vs-k": (86000.0, 728.4, 56554.0, 680.4, 1388.0, 664.0),
    "letter": (31684.0, 407.3, 44960.0, 381.5, 1805.0, 652.1),
    "nursery": (2267.0, 74.7, 1363.0, 68.7, 94.9, 56.8),
    "optdigits": (88.0, 20.0, 31615.0, 18.5, 24.3, 10.9),
    "pageblocks": (523.4, 26.8, 2001.0, 25.2, 48.6, 27.6),
    "pendigits": (2499.0, 30.2, 6591.0, 28.5, 151.3, 53.7),
    "satimage": (5184.0, 74.7, 2563.0, 70.0, 188.4, 74.5),
    "segment": (377.1, 7.1, 1542.0, 7.0, 18.7, 5.4),
    "shuttle": (7658.0, 570.8, 14618.0, 561.9, 1996.0, 832.0),
    "texture": (588.1, 34.5, 14774.0, 32.8, 69.6, 19.3),
    "wine_red": (706.4, 12.3, 542.7, 11.1, 18.3, 8.8),
    "wine_white": (2570.0, 59.2, 2570.0, 55.1, 70.9, 36.7),
    "yeast": (1209.0, 16.7, 1138.0, 15.3, 24.2, 13.2),
}

#: Table 3: adjusted Rand index on the test sets, for the same methods.
ARI: dict[str, tuple[float, ...]] = {
    "abalone": (0.0788, 0.0898, 0.0895, 0.0898, 0.0791, 0.0595),
    "fars": (0.8127, 0.8143, 0.8085, 0.8146, 0.8134, 0.8115),
    "flare": (0.4274, 0.648, 0.6687, 0.6496, 0.4084, 0.6544),
    "kr-vs-k": (0.13, 0.1988, 0.1779, 0.2022, 0.1512, 0.1585),
    "letter": (0.6173, 0.6991, 0.5909, 0.7118, 0.5155, 0.4533),
    "nursery": (0.8279, 0.8175, 0.8303, 0.8157, 0.8095, 0.8138),
    "optdigits": (0.9721, 0.9854, 0.9732, 0.985, 0.9686, 0.964),
    "pageblocks": (0.7681, 0.7335, 0.6847, 0.7353, 0.6696, 0.7214),
    "pendigits": (0.9068, 0.9566, 0.8971, 0.9597, 0.8607, 0.8817),
    "satimage": (0.742, 0.7652, 0.7403, 0.7672, 0.7107, 0.7607),
    "segment": (0.9013, 0.9, 0.8812, 0.8982, 0.8354, 0.8986),
    "shuttle": (0.9275, 0.8543, 0.8887, 0.8543, 0.6925, 0.8038),
    "texture": (0.9936, 0.995, 0.9888, 0.9947, 0.9865, 0.8977),
    "wine_red": (1.0, 1.0, 0.9985, 1.0, 0.8369, 1.0),
    "wine_white": (1.0, 1.0, 0.9998, 1.0, 0.8131, 1.0),
    "yeast": (0.2595, 0.254, 0.2521, 0.2587, 0.2433, 0.2088),
}

#: Table 4: training time for each combination of parameters in seconds, for the same methods.
SECONDS_PER_CONFIGURATION: dict[str, tuple[float, ...]] = {
    "abalone": (702.0, 7.712, 254.0, 7.067, 11.282, 3.96),
    "fars": (8329.0, 164.0, 601.0, 151.0, 296.0, 184.0),
    "flare": (24.606, 0.369, 1.467, 0.344, 0.431, 0.263),
    "kr-vs-k": (4526.0, 38.337, 165.0, 35.813, 73.053, 35.627),
    "letter": (1668.0, 21.438, 131.0, 20.076, 94.977, 34.454),
    "nursery": (119.0, 3.932, 3.985, 3.617, 4.994, 3.133),
    "optdigits": (4.63, 1.053, 92.441, 0.971, 1.278, 0.59),
    "pageblocks": (27.55, 1.408, 5.852, 1.326, 2.559, 1.504),
    "pendigits": (132.0, 1.589, 19.273, 1.498, 7.965, 2.872),
    "satimage": (273.0, 3.931, 7.494, 3.685, 9.918, 3.942),
    "segment": (19.846, 0.376, 4.509, 0.37, 0.985, 0.285),
    "shuttle": (403.0, 30.042, 42.744, 29.571, 105.0, 43.928),
    "texture": (30.954, 1.816, 43.2, 1.727, 3.665, 1.028),
    "wine_red": (37.179, 0.646, 1.587, 0.586, 0.966, 0.465),
    "wine_white": (135.0, 3.115, 7.514, 2.903, 3.732, 1.954),
    "yeast": (63.655, 0.877, 3.327, 0.807, 1.272, 0.699),
}


def paper_figure(table: dict[str, tuple[float, ...]], dataset: str, method: str) -> float | None:
    """Return a figure of one of Tables 2 to 4; None where the paper has none."""
    if dataset not in table or method not in PAPER_METHODS:
        return None
    return table[dataset][PAPER_METHODS.index(method)]
