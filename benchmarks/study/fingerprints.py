"""What is known of each data set: its size, the rows of its classes, and a checksum of its values.

Taken from the sets whose figures equal those of the paper's Table 1, and from MNIST and covertype as published.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Fingerprint:
    """What a data set must agree with.

    Attributes
    ----------
    n_rows, n_features : int
        Its size.
    class_counts : tuple of int
        Rows of each class.
    checksum : str
        SHA-256 of its values, whatever the order of its rows: see `study.paper_sets.content_checksum`.
    """

    n_rows: int
    n_features: int
    class_counts: tuple[int, ...]
    checksum: str


FINGERPRINTS = {
    "abalone": Fingerprint(
        4177,
        8,
        (17, 57, 115, 259, 391, 568, 689, 634, 487, 267, 203, 126, 103, 67, 58, 42, 32, 26, 14, 22),
        "379b2b629237ab10337987da606f127935b24410ffb19c8784b1efb6b0a5ba61",
    ),
    "fars": Fingerprint(
        100959,
        338,
        (42116, 15072, 299, 20007, 13890, 8674, 901),
        "b5c76fd59d77884fef6ec9a18e51cecbbf27d5bd5261994a18c04277b5c23bda",
    ),
    "flare": Fingerprint(
        1066,
        19,
        (147, 211, 239, 95, 43, 331),
        "d48be8237f0592a98975081dc30fce2ec4c4ee14a3897f9e78aa4f8a1ec2aa34",
    ),
    "kr-vs-k": Fingerprint(
        28056,
        34,
        (2796, 27, 78, 246, 81, 198, 471, 592, 683, 1433, 1712, 1985, 2854, 3597, 4194, 4553, 2166, 390),
        "7e660b35bfaad3725e0ec802c134758e07ced45dd546aaab66123557c0235f90",
    ),
    "letter": Fingerprint(
        20000,
        16,
        (
            *(789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792),
            *(783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734),
        ),
        "b6c929ea46fda97302f9276c6e42135b9bf7185d8132b9e380d322632125309c",
    ),
    "nursery": Fingerprint(
        12960,
        19,
        (4320, 4266, 330, 4044),
        "7b5860ba690943736cdbfb7677f98eedcbab93ec2597b5800f9b95c9cb463eb9",
    ),
    "optdigits": Fingerprint(
        5620,
        64,
        (554, 571, 557, 572, 568, 558, 558, 566, 554, 562),
        "2a6524b50ac38fe456d4a7752295bc9940dbc25c52e7151a2a0c68f3771b3464",
    ),
    "pageblocks": Fingerprint(
        5473,
        10,
        (4913, 329, 28, 88, 115),
        "21f71928e32cb029735af98cbb371c51d07b2d8194d00ee0ace7fc550ea744a0",
    ),
    "pendigits": Fingerprint(
        10992,
        16,
        (1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055),
        "0f06831edff55b0040df70df3824c1feb8750d0be264f6df865bff5df308eb06",
    ),
    "satimage": Fingerprint(
        6435,
        36,
        (1533, 703, 1358, 626, 707, 1508),
        "a2834651ac8cd4ebfc7d915b51407fa33c999497f8aff3ff02f8590977552892",
    ),
    "segment": Fingerprint(
        2310,
        19,
        (330, 330, 330, 330, 330, 330, 330),
        "1e72a22b78771e4013ba4356f8a43d78a4fd75dec0f86ba70d17ea696f8918c3",
    ),
    "shuttle": Fingerprint(
        58000,
        9,
        (45586, 50, 171, 8903, 3267, 23),
        "f5c2e9fda2434dacdc8b285aeeed7bafc6c3f4bf18d4b58fa9b93badc9b3dbb0",
    ),
    "texture": Fingerprint(
        5500,
        40,
        (500, 500, 500, 500, 500, 500, 500, 500, 500, 500, 500),
        "4dc8181b8f5cddb2e8cbd66a25766a9abe29428ce729808b4e684216cbb39ef8",
    ),
    "wine_red": Fingerprint(
        1599,
        12,
        (63, 681, 638, 199, 18),
        "d4af966e088022111a8ca2fe66d7cbb3b9a08f8b01de6c1a8fa7a6cd9cfcbdf6",
    ),
    "wine_white": Fingerprint(
        4898,
        12,
        (20, 163, 1457, 2198, 880, 180),
        "202e0281b01ddb2391966a38dd072be24b0cafc270deaaf364e694bb403b58ab",
    ),
    "yeast": Fingerprint(
        1479,
        8,
        (463, 35, 44, 51, 163, 244, 429, 20, 30),
        "6b9f383d5fb09c3974ee4604e2dc7f077825fce663c9b9725eb9e46289237b26",
    ),
    "wine_red_noleak": Fingerprint(
        1599,
        11,
        (63, 681, 638, 199, 18),
        "e8c0b6a02b3476168b7ceb97ef66d675e4a65a82ecedf940024a6973ef07ee56",
    ),
    "wine_white_noleak": Fingerprint(
        4898,
        11,
        (20, 163, 1457, 2198, 880, 180),
        "aec33814a686045acb4e1a8fdb1124acaf743a9e490403d4fa9592e0300d3d86",
    ),
    "mnist": Fingerprint(
        70000,
        784,
        (6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958),
        "3237fb392f7f78fed75126e7cfc6ce03d38faafb6923161a25b464b17bd6dad2",
    ),
    "covertype": Fingerprint(
        581012,
        54,
        (211840, 283301, 35754, 2747, 9493, 17367, 20510),
        "1157d684c66282584f28af1a39365e3867252e1ddcf0644c72951542dba1109c",
    ),
}
