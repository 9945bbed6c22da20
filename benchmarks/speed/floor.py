"""Speed of all floors together, beside dataeval's single number.

Ours: every pair of classes, every class against the rest and the whole problem, with intervals,
p-values and findings, from three exact edge-disjoint trees (`BayesErrorEstimator`). Theirs:
`dataeval.core.ber_mst`, two bounds for the whole problem from one tree of a 15-neighbour graph, which
need not be the minimum spanning tree. Both in one process, one after the other on each set, on all
cores.

    python -m venv .venv-floor
    .venv-floor/bin/pip install -e . -r benchmarks/requirements/floor.txt
    .venv-floor/bin/python -m benchmarks.speed.floor [SET ...]

Reads the data sets from $BAYESFLOOR_DATA, or from shared/data beside the repository, and writes
benchmarks/results/floor.md.
"""

import numpy as np

from bayesfloor import BayesErrorEstimator
from benchmarks.problems.stored_sets import stored_set
from benchmarks.tools.command_line import parser_of
from benchmarks.tools.measuring import median_seconds
from benchmarks.tools.pages import table_head, table_row, this_machine, write_page

# name: (set, rows or None for all, whether to standardise)
SETS = {
    "pendigits": ("paper/pendigits", None, True),
    "letter": ("paper/letter", None, True),
    "satimage": ("paper/satimage", None, True),
    "optdigits": ("paper/optdigits", None, True),
    "kr-vs-k": ("paper/kr-vs-k", None, True),
    "mnist 10k": ("extra/mnist", 10_000, False),
    "covertype 50k": ("extra/covertype", 50_000, True),
}


def main() -> None:
    import dataeval
    from dataeval.core import ber_mst

    parser = parser_of(__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    sets = parser.parse_args().sets
    small = np.random.default_rng(0).standard_normal((300, 5))
    for d in (5, 40):  # compile both ways to compute distances before the clock starts
        points = np.random.default_rng(0).standard_normal((300, d))
        BayesErrorEstimator().fit(points, np.arange(300) % 3)
    ber_mst(small, np.arange(300) % 3)

    heads = ("set", "rows", "features", "classes", "ours, s", "ber_mst, s", "ratio", "our bounds", "its bounds")
    lines = table_head(*heads)
    print("\n".join(lines))
    for name in sets or SETS:
        X, y = stored_set(*SETS[name])
        ours = median_seconds(lambda X=X, y=y: BayesErrorEstimator().fit(X, y), 5, enough=30.0)
        theirs = median_seconds(lambda X=X, y=y: ber_mst(X, y), 5, enough=30.0)
        floor, peer = BayesErrorEstimator().fit(X, y).bayes_error_, ber_mst(X, y)
        bounds = [f"{floor.lower:.4f} to {floor.upper:.4f}", f"{peer['lower_bound']:.4f} to {peer['upper_bound']:.4f}"]
        times = [f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.1f}"]
        lines.append(table_row([name, *X.shape, floor.n_classes, *times, *bounds]))
        print(lines[-1], flush=True)
    if not sets:
        write_page(
            "floor",
            "# All floors beside one number",
            f"`python -m benchmarks.speed.floor` on {this_machine()}, dataeval {dataeval.__version__}. Median of up to "
            'five calls. "Ours" is one `BayesErrorEstimator().fit(X, y)`: every pair, every class, the whole problem, '
            'three exact trees, intervals and findings. "ber_mst" is one pair of bounds from one approximate tree; '
            "ratio is its time over ours.",
            "\n".join(lines),
        )


if __name__ == "__main__":
    main()
