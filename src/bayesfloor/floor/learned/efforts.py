"""How much is trained."""

from typing import NamedTuple


class Effort(NamedTuple):
    """What one of the words for effort stands for.

    Attributes
    ----------
    repeated : (int, int)
        Rows that are predicted in all repeats together, at the least and at the most: up to half of the latter are
        dealt out to folds again.
    behind, forgiven : float
        Who goes on in the race of the learners; see `LearnerRace`.
    light : float
        Share of all weights below which a learner is left out of a stack.
    most_rows : float
        Rows that are used at the most where the caller does not say.
    """

    repeated: tuple[int, int]
    behind: float
    forgiven: float
    light: float
    most_rows: float = float("inf")


#: Of 46 problems, log-loss is no higher without learners of a share below .05.
EFFORTS = {
    "fast": Effort((0, 0), behind=0.05, forgiven=0.0, light=0.1, most_rows=4000),
    "default": Effort((1000, 4000), behind=0.1, forgiven=2.0, light=0.05),
}
