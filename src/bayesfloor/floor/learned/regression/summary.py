"""From the stack's residuals at three training sizes to the noise variance, its interval and findings.

All losses are shares of the variance of y, so that 1 - loss is R². Two estimates of where the squared error ends:

- the limit of the learning curve, as for classes (`bayesfloor.floor.learned.learning_curve`). That disjoint models are
  averaged, which divides their variance and leaves their bias, tells the two apart exactly for squared errors;
- the squared error less what residuals of neighbours have in common (`residual_edges`).

======  ====================================================================
BF047   a sample of the rows was used
BF048   nothing beats the mean of y
BF049   neighbours err alike: there is signal that no learner caught
BF050   the error still falls with more rows
BF051   learners have only begun to see what there is
BF052   the error falls as fast as before: no end is in sight
BF053   a few rows rule the variance
BF054   the noise is uneven
BF055   the target is a count, a share, bounded, or has few ordered values
BF056   the noise variance comes from replicated rows
======  ====================================================================
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import norm, t

from bayesfloor.floor.learned.clusters import clustered_error
from bayesfloor.floor.learned.learning_curve import RATES, SLOW_RATES, Posterior, curve_posterior, drift_posterior
from bayesfloor.floor.learned.learning_curve import covariance_of, split_posterior
from bayesfloor.floor.learned.regression.residual_edges import Draws
from bayesfloor.floor.learned.summary import (
    AS_FAST,
    ERR_ALIKE,
    FEWEST_DEGREES,
    GROWTH,
    N_DOUBLINGS,
    SURE,
    SURELY_FALLS,
    WIDER,
    fall_as_fast,
    growth_of_lead,
)
from bayesfloor.runtime.arrays import Floats, Ints, Range
