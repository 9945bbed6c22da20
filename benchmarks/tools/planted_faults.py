"""Faults that are planted by hand, each one line that changes as a slip would: a sign, a bound, an index, a column.

What is planted must be found by the tests of its own room: ``python -m benchmarks.tools.mutants faults`` plants them. A
fault whose line is no longer there makes `test_planted_faults.py` fail: the list is kept in step with the code.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "bayesfloor"


class Fault(NamedTuple):
    """One line of a file, what it is changed to, and the tests of the room."""

    file: str
    old: str
    new: str
    tests: str

    @property
    def room(self) -> str:
        """The folder of the package that the file is in."""
        return self.file.partition("/")[0]


FAULTS = [
    # --- runtime: checks, words, files, limits, hashes
    Fault("runtime/checks.py", "not low <= value <= high:", "not low <= value < high:", "rooms/runtime/test_checks.py"),
    Fault(
        "runtime/text.py",
        'return f"{value:.1f}" if 0.995 <= value',
        'return f"{value:.1f}" if 9.95 <= value',
        "rooms/runtime/test_text.py",
    ),
    Fault(
        "runtime/files.py",
        "                os.unlink(aside)\n",
        "                pass\n",
        "rooms/runtime/test_files.py",
    ),
    Fault(
        "runtime/limits.py",
        "max(1, n_cores + 1 + int(n_jobs))",
        "max(1, n_cores + int(n_jobs))",
        "rooms/runtime/test_limits.py",
    ),
    # --- data: what callers pass
    Fault("data/folds.py", "order = np.lexsort((keys, codes))", "order = np.argsort(keys)", "rooms/data/test_folds.py"),
    Fault("data/folds.py", "2 * np.cumsum(counts) - counts", "2 * np.cumsum(counts)", "rooms/data/test_folds.py"),
    Fault(
        "data/sampling.py",
        "quota[is_rare] = kept[is_rare]",
        "quota[is_rare] = counts[is_rare]",
        "kernels/data/test_sampling.py",
    ),
    Fault(
        "data/row_groups.py",
        "if len(moments) and moments.min() == moments.max():",
        "if not len(moments):",
        "kernels/data rooms/data",
    ),
    Fault(
        "data/row_groups.py",
        'np.searchsorted(cuts, codes), f"',
        'np.searchsorted(cuts, codes, "right"), f"',
        "rooms/data/test_row_groups.py",
    ),
    Fault(
        "data/sampling.py",
        "np.asarray(mix64(keys ^ mix64(np.array([seed], np.uint64))))",
        "np.asarray(mix64(keys))",
        "kernels/data/test_sampling.py",
    ),
    # --- tables: files and frames
    Fault("tables/treatments.py", "np.mod(days + 3, 7)", "np.mod(days + 4, 7)", "kernels/tables rooms/tables"),
    Fault(
        "tables/treatments.py",
        "return float(distinct[counts.argmax()])",
        "return float(distinct[0])",
        "kernels/tables rooms/tables",
    ),
    Fault(
        "tables/joining.py",
        "found >= {TextColumn, NumberColumn}",
        "found > {TextColumn, NumberColumn}",
        "kernels/tables rooms/tables",
    ),
    # --- tree: cuts of classes
    Fault("tree/cuts.py", "degrees.argmin()", "degrees.argmax()", "kernels/tree"),
    Fault("tree/cuts.py", "(abs(2 * size - n), size)", "(abs(2 * size - n), -size)", "kernels/tree"),
    Fault(
        "tree/class_tree.py",
        "node.index + len(node.left) if len(node.right) > 1",
        "node.index + len(node.right) if len(node.right) > 1",
        "doors/test_class_tree.py",
    ),
    Fault("tree/cuts.py", "linkage(-squareform", "linkage(squareform", "kernels/tree/test_min_cut.py"),
    # --- learn: every learner once
    Fault(
        "learn/ridge.py",
        "explained = ((2.0 - shares) * power",
        "explained = ((1.0 - shares) * power",
        "kernels/learn rooms/learn",
    ),
    Fault(
        "learn/nearest.py",
        "mass = 1.0 + weight.sum(axis=1)",
        "mass = 1.0 + weight.shape[1]",
        "kernels/learn rooms/learn",
    ),
    Fault(
        "learn/discriminants.py",
        "- np.log(np.diag(factor)).sum()",
        "+ np.log(np.diag(factor)).sum()",
        "kernels/learn rooms/learn",
    ),
    Fault(
        "learn/marginals.py",
        "return np.where(self.known[place] == others, place, len(self.known))",
        "return place",
        "kernels/learn rooms/learn",
    ),
    # --- forest: spanning forests
    Fault(
        "forest/order/kruskal_kernels.py",
        "merges[i, 3] = -parent[root]",
        "merges[i, 3] = 1 - parent[root]",
        "doors/test_linkage.py",
    ),
    Fault(
        "forest/results.py",
        "bool(np.all(self.n_components == 1))",
        "bool(np.any(self.n_components == 1))",
        "doors/test_forests.py kernels/forest/test_partitions.py",
    ),
    # --- floor: trees
    Fault(
        "floor/trees/henze_penrose.py",
        "return 0.5 - 0.25 * np.sqrt(u) - 0.25 * u",
        "return 0.5 - 0.5 * np.sqrt(u)",
        "kernels/floor/test_henze_penrose.py",
    ),
    Fault("floor/trees/uncertainty.py", "(B - 2.0 * A) * q3", "(B - A) * q3", "kernels/floor/test_uncertainty.py"),
    Fault(
        "floor/trees/cross_edges.py",
        "variance=cross_edge_variance(sums) * per_tree**2",
        "variance=cross_edge_variance(sums) * per_tree",
        "kernels/floor/test_edge_sums.py kernels/floor/test_uncertainty.py",
    ),
    Fault(
        "floor/trees/problem.py",
        "min(first + self._n_at_once, self.shape[1])",
        "first + self._n_at_once - 1",
        "kernels/floor/test_remote_points.py",
    ),
    # --- floor: learned
    Fault(
        "floor/learned/learning_curve.py",
        "covariance += max(variance - covariance[0, 0], 0.0)",
        "covariance += 0.0",
        "kernels/floor/test_extrapolation.py",
    ),
    Fault(
        "floor/learned/paired.py",
        "(low, high), p_value, *counts)",
        "(low, high), p_value, *counts[::-1])",
        "kernels/floor/test_paired.py",
    ),
    Fault(
        "floor/learned/suspicious.py",
        "np.divide(joint - both_ways, base",
        "np.divide(joint, base",
        "rooms/floor/test_suspicious.py",
    ),
    Fault(
        "floor/learned/time_periods.py",
        "past = by_time[(period[by_time] < number) & others]",
        "past = by_time[(period[by_time] <= number) & others]",
        "kernels/floor/test_learned_groups.py",
    ),
    Fault(
        "floor/learned/copies.py",
        "n_different >= DIFFERENT_GAPS * len(gaps)",
        "n_different >= 0",
        "kernels/floor/test_copies.py",
    ),
    # --- floor: votes
    Fault(
        "floor/votes/settings.py",
        "agreeing = (counts * (counts - 1)).sum(axis=1)",
        "agreeing = (counts * counts).sum(axis=1)",
        "rooms/floor/test_votes.py",
    ),
    # --- classify
    Fault("classify/routing.py", "(n_right + 1.0) / (n_right + 2.0)", "1.0", "kernels/classify/test_routing.py"),
    Fault(
        "classify/hierarchical.py",
        "rows[~(of_rows > 0)]",
        "rows[~(of_rows >= 0)]",
        "kernels/classify/test_hierarchical.py",
    ),
    Fault(
        "classify/linear/path_classifiers.py",
        "if not np.isfinite(scores).all():",
        "if False:",
        "kernels/classify/test_path_classifiers.py",
    ),
    # --- choose
    Fault(
        "choose/search.py",
        "- level.floor > larger_standard_error(",
        "- level.floor > 0 * larger_standard_error(",
        "rooms/choose/test_search.py",
    ),
    Fault(
        "choose/class_weight.py",
        "self.cost.sum(axis=1) / (len(self.classes) - 1)",
        "self.cost.sum(axis=0) / (len(self.classes) - 1)",
        "doors/test_class_weights.py",
    ),
    # --- display
    Fault(
        "display/pair_heatmap.py",
        '"second": self.classes[second], "value": self.values[first, second]',
        '"second": self.classes[second], "value": self.values[second, second]',
        "pages/test_pair_heatmap.py",
    ),
    # --- report
    Fault(
        "report/ordered_classes.py",
        "np.abs(order[above[0]] - order[above[1]])",
        "np.abs(order[above[0]] + order[above[1]])",
        "rooms/report/test_ordered_classes.py",
    ),
    # --- integrations
    Fault(
        "integrations/skore_checks.py",
        "if gap.is_sure and gap.sure_gap > 0.0 else None",
        "if gap.is_sure else None",
        "rooms/integrations",
    ),
    # --- cli
    Fault(
        "cli/exits.py",
        "isinstance(error, ImportError | ConnectionError)",
        "isinstance(error, ImportError)",
        "kernels/cli/test_exits.py",
    ),
    Fault(
        "cli/gap.py",
        "if STDIN in (given.model, given.predictions):",
        "if STDIN == given.model:",
        "doors/test_gap_command.py",
    ),
]


def planted(fault: Fault) -> str:
    """Return the text of the file with the fault in it."""
    return (PACKAGE / fault.file).read_text(encoding="utf-8").replace(fault.old, fault.new)


def stale(faults: Sequence[Fault], tests: Path = ROOT / "tests") -> list[str]:
    """Say which faults cannot be planted: their line is not there exactly once, or their tests are gone."""
    found = []
    for fault in faults:
        file = PACKAGE / fault.file
        n = file.read_text(encoding="utf-8").count(fault.old) if file.is_file() else 0
        if n != 1:
            found.append(f"{fault.file}: {fault.old!r} is there {n} times, and must be there once")
        found += [f"{fault.file}: no tests {name}" for name in fault.tests.split() if not (tests / name).exists()]
    return found
