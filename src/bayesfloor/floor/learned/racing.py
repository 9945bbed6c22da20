"""Which learners go on to larger training sets.

All learners are trained on the smallest training sets. Who goes on is decided for the stack of each fold by itself,
from predictions that this stack may be fitted on: rows of other folds, by models that have not seen the fold. So nobody
is dropped, or kept, for what they say of the fold that they are judged on::

    one fold                all learners
          │                 those that have weight in the stack, and those that tell enough for themselves
    two folds               the survivors
          │                 those that have weight in the stack of four folds: its weights are fitted on predictions of
          │                 models of two or three folds, so that nothing is lost here
    four folds              the members of the stack

A learner may give probabilities that are too sure and still tell much, and more with more rows. So what it tells is
measured at the exponent, or the slope, that suits it best. Learners that see nothing in few rows where they see all in
more (`Learner.learns_slowly`), and those of a caller, are not dropped for what they tell of few.
"""

from collections.abc import Collection

import numpy as np

from bayesfloor.floor.learned.cross_fitting import CrossFit
from bayesfloor.floor.learned.efforts import Effort
from bayesfloor.floor.learned.splits import VIEWS
from bayesfloor.floor.learned.stacking import StackFits
from bayesfloor.runtime.arrays import Bools

#: Fewest training rows that learners are judged by; to judge costs more than it spares with fewer.
FEWEST_ROWS = 150


class LearnerRace:
    """Decide which learners are trained on the training sets of a size.

    Parameters
    ----------
    fits : StackFits
        The weights of learners in the stacks.
    effort : Effort
        How far behind the best one a learner may be and still go on: a share of what that one tells, at most twice its
        loss, and standard errors of the difference besides.
    judged : collection of str
        Families whose learners may be dropped for what they tell. All others go on until their weights are known.
    """

    def __init__(self, fits: StackFits, effort: Effort, judged: Collection[str]) -> None:
        self.fits, self.effort, self.judged = fits, effort, list(judged)

    def __call__(self, fitted: CrossFit, size: int) -> Bools:
        """Return the learners that are trained for the stack of each fold: an array of shape (n_folds, n_learners)."""
        if size >= len(VIEWS) and fitted.seen is None:  # of rows on disk, to show how the same stack began
            stacks = [self.fits.fit(fitted, larger) for larger in range(len(VIEWS))]
            return np.array([np.any([each[fold][0] > 0 for each in stacks], axis=0) for fold in range(fitted.n_folds)])
        smaller = 2 if size == 1 else 1  # those of all but two folds come after those of two
        folds = [fold for fold in range(fitted.n_folds) if len(fitted.outside(fold))]
        goes_on = np.zeros((fitted.n_folds, len(fitted.names)), bool)
        weighed = [fold for fold in folds if size == 0 and self.fits.source(fitted, 0, fold)[0] != 0]
        for fold in weighed:
            goes_on[fold] = self.fits.fit(fitted, 0)[fold][0] > 0
        judged = [fold for fold in folds if fold not in weighed]
        if judged and fitted.sizes[smaller] >= FEWEST_ROWS:
            self.fits.fit(fitted, smaller)  # by all threads, before each of them takes a fold
        survivors = self.fits.pool.run(
            lambda fold: self._survivors(fitted, smaller, fold), [(fold,) for fold in judged]
        )
        for fold, of_fold in zip(judged, survivors, strict=True):
            goes_on[fold] = of_fold
        return goes_on

    def _survivors(self, fitted: CrossFit, size: int, fold: int) -> Bools:
        """Tell which of the learners that were trained at a size go on."""
        if fitted.sizes[size] < FEWEST_ROWS:
            return np.isin(np.arange(len(fitted.names)), fitted.trained_for(fold, size))
        weights = self.fits.fit(fitted, size)[fold][0]
        source, views, rows = self.fits.source(fitted, size, fold)
        among = fitted.trained_for(fold, source)
        losses = self.fits.target.calibrated_losses(fitted.predicted[source], among, views, rows)
        mean = losses.mean(axis=1)
        nothing, best = mean[-1], int(mean[:-1].argmin())
        error = (losses[:-1] - losses[best]).std(axis=1) / np.sqrt(len(np.unique(rows[: losses.shape[1]])))
        goes_on = np.zeros(len(fitted.names), bool)
        behind = min(self.effort.behind * max(nothing - mean[best], 0.0), mean[best])
        allowed = behind + self.effort.forgiven * error
        goes_on[among] = mean[:-1] - mean[best] <= allowed
        return goes_on | (weights > 0) | ~np.isin(fitted.families, self.judged)
