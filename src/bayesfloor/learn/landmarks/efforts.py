"""How much a landmark model spends on features, on choices, and on its fit."""

from dataclasses import dataclass

#: Minimum number of landmarks, given as many rows; with few rows, at least `FEW_ROWS_AREA` over the number of rows.
FEWEST_LANDMARKS, FEW_ROWS_AREA = 48, 8e4
#: Number of columns that multiplies the landmarks by √2.
FEW_COLUMNS = 16
#: Share of binary columns above which rules replace part of the landmarks.
MOSTLY_BINARY = 0.5
#: Bytes of features of all rows that are kept from one pass over them to the next.
KEPT_BYTES = 1500 * 2**20
#: Minimum number of rows per rule, with mostly binary columns and otherwise.
ROWS_TO_RULE_BINARY, ROWS_TO_RULE = 20, 40


@dataclass(frozen=True)
class Effort:
    """How much to spend.

    Attributes
    ----------
    capacity : float
        Landmarks per square root of rows times classes; more where columns are many.
    most_landmarks : int
        Maximum number of landmarks.
    binary_share : float
        Share of the landmarks that is kept where columns are mostly binary; rules then number as many as all landmarks.
    rule_share : float
        Rules per landmark otherwise.
    widths : tuple of float
        Widths of the kernel to choose from, in median distances between rows.
    n_tune, n_held : int
        Rows to choose features and penalty on, and rows to hold out for the penalty. With fewer rows, quarters are held
        out in turn, and penalties and steps are not those below; see `fitting.FEW_PATH`.
    path : tuple of float
        Penalties to try, from large to small, as multiples of that of ridge regression.
    path_steps, steps : int
        Maximum number of steps for each penalty, and on all rows.
    product_rows : float
        Rows per feature whose products precondition the steps.
    kept_bytes : int
        Features in memory at the most: those of more rows are computed in each pass, which takes up to twice the time.
    members : tuple of str
        What is stacked with the landmark model where held-out rows show that it helps: keys of `members.LEARNERS`.
    """

    capacity: float = 0.85
    most_landmarks: int = 512
    binary_share: float = 0.5
    rule_share: float = 0.3
    widths: tuple[float, ...] = (0.6, 1.0)
    n_tune: int = 1500
    n_held: int = 1000
    path: tuple[float, ...] = (10.0, 1.0, 0.1, 0.01, 1e-4)
    path_steps: int = 2
    steps: int = 8
    product_rows: float = 8.0
    kept_bytes: int = KEPT_BYTES
    members: tuple[str, ...] = ("boosting", "network")

    def n_features(self, n: int, n_classes: int, n_columns: int, share_binary: float) -> tuple[int, int]:
        """Return the default numbers of landmarks and rules."""
        by_size = self.capacity * (n * n_classes * (1 + n_columns / FEW_COLUMNS)) ** 0.5
        wanted = max(FEWEST_LANDMARKS, FEW_ROWS_AREA / n, by_size)
        n_landmarks = int(min(wanted, self.most_landmarks, n))
        if share_binary <= MOSTLY_BINARY:
            return n_landmarks, min(int(self.rule_share * n_landmarks), n // ROWS_TO_RULE)
        n_rules = min(n_landmarks, n // ROWS_TO_RULE_BINARY)
        return max(min(n_landmarks, FEWEST_LANDMARKS), int(self.binary_share * n_landmarks)), n_rules


EFFORTS = {
    "fast": Effort(capacity=0.5, most_landmarks=256, widths=(0.8,), n_tune=1000, path_steps=1, steps=5, members=()),
    "default": Effort(),
}
