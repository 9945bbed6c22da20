"""Kernels of the linear SVM's path: Newton's method on the active set, for all folds at once.

A problem is a matrix Z of signed rows, z_i = y_i (x_i, 1), and weights s_i. With the penalty λ = 1/(2C) its objective
is

    f(w) = λ/2 |w|² + 1/2 Σ_i s_i max(0, 1 - m_i)²,   m = Z w,

a quadratic as long as the active set A = {i : m_i < 1} stays the same. Newton's step therefore goes to the minimiser of
that quadratic, (λ I + Σ_A s_i z_i z_i') w = Σ_A s_i z_i, and has found the optimum when A is the same there.

The matrices of similar active sets differ by few rows, so the matrix is updated (`move_sums`). It is summed again only
where rounding errors would dominate.
"""

import numpy as np

from bayesfloor.runtime.kernels import kernel

#: Fast-math flags that let the compiler reorder sums, for SIMD.
REORDER = {"reassoc", "nsz", "contract"}

#: Maximum number of Newton steps for one problem. A handful is enough; the limit ends cycles by rounding errors.
MOST_STEPS = 100

#: A solution counts as failed where its gradient, relative to the one at zero, is above this. Solutions spoilt by
#: rounding were above 1e-3, all others below 1e-6.
LOOSE_TOL = 1e-5


@kernel
def copy_numbers(source, target):
    """Copy an array. Numba takes seconds to compile the assignment of one array to another."""
    for i in range(len(source)):
        target[i] = source[i]


@kernel(fastmath=REORDER)
def add_rows(Z, weight, change, gram, total):
    """Add the rows with change +1 to the sums Σ s z z' (lower triangle) and Σ s z, take off those with change -1."""
    n, d = Z.shape
    rows = np.empty(4, np.int64)
    scales = np.empty(4)
    row = 0
    while row < n:
        filled = 0
        while row < n and filled < 4:
            if change[row] != 0:
                rows[filled] = row
                scales[filled] = change[row] * weight[row]
                filled += 1
            row += 1
        if filled == 0:
            break
        for k in range(filled, 4):  # padding of weight 0
            rows[k] = rows[0]
            scales[k] = 0.0
        i0, i1, i2, i3 = np.uint64(rows[0]), np.uint64(rows[1]), np.uint64(rows[2]), np.uint64(rows[3])
        s0, s1, s2, s3 = scales[0], scales[1], scales[2], scales[3]
        for a in range(np.uint64(d)):
            f0, f1, f2, f3 = s0 * Z[i0, a], s1 * Z[i1, a], s2 * Z[i2, a], s3 * Z[i3, a]
            total[a] += (f0 + f1) + (f2 + f3)
            for b in range(a + np.uint64(1)):
                gram[a, b] += (f0 * Z[i0, b] + f1 * Z[i1, b]) + (f2 * Z[i2, b] + f3 * Z[i3, b])


@kernel
def move_sums(Z, weight, change, active, gram, total, peak):
    """Bring active set and sums up to date with a change.

    peak holds the largest diagonal since the last full sum. Where the diagonal has fallen to a millionth of it, the
    rounding errors of removed rows may dominate, and everything is summed again.
    """
    active += change
    add_rows(Z, weight, change, gram, total)
    inaccurate = False
    for j in range(len(peak)):
        peak[j] = max(peak[j], gram[j, j])
        inaccurate |= gram[j, j] < 1e-6 * peak[j]
    if inaccurate:
        gram[:] = 0.0
        total[:] = 0.0
        add_rows(Z, weight, active, gram, total)
        for j in range(len(peak)):
            peak[j] = gram[j, j]


@kernel(fastmath=REORDER)
def solve_ridge(gram, total, penalty, factor, solution):
    """Minimise the quadratic of one active set, by Cholesky's method on the lower triangle.

    A pivot that drowns in the rounding of its own column is held at the size of that rounding, and none is below the
    penalty, as no eigenvalue is.
    """
    d = len(total)
    rounding = 4.0 * d * 2.220446049250313e-16
    jitter = 0.0
    while True:
        for i in range(np.uint64(d)):
            for j in range(i + np.uint64(1)):
                entry = gram[i, j]
                for k in range(j):
                    entry -= factor[i, k] * factor[j, k]
                if j < i:
                    factor[i, j] = entry * factor[j, j]
                else:
                    pivot = max(max(entry, 0.0) + penalty, rounding * gram[i, i]) + jitter * gram[i, i]
                    factor[i, i] = 1.0 / np.sqrt(pivot)  # kept as its inverse
        for i in range(np.uint64(d)):
            entry = total[i]
            for k in range(i):
                entry -= factor[i, k] * solution[k]
            solution[i] = entry * factor[i, i]
        for i in range(d - 1, -1, -1):
            entry = solution[i] * factor[i, i]
            solution[i] = entry
            for k in range(i):
                solution[k] -= factor[i, k] * entry
        # The solution x of (G + λ) x = t has λ |x|² <= t'x. Where rounding has grown from pivot to pivot, it has not.
        squared, projected = 0.0, 0.0
        for i in range(np.uint64(d)):
            squared += solution[i] * solution[i]
            projected += total[i] * solution[i]
        if penalty * squared <= 1.01 * projected or jitter > 1.0:
            break
        jitter = max(1e3 * jitter, rounding)


@kernel(fastmath=REORDER)
def slope_along(margin, ahead, weight, first, last, step):
    """Return first and second derivative of the rows' part of f at margin + step (ahead - margin)."""
    slope = 0.0
    curvature = 0.0
    for i in range(first, last):
        change = ahead[i] - margin[i]
        residual = 1.0 - margin[i] - step * change
        scale = weight[i] if residual > 0.0 else 0.0
        slope -= scale * residual * change
        curvature += scale * change * change
    return slope, curvature


@kernel
def best_step(margin, ahead, weight, held_from, held_to, linear, quadratic, slope_at_start):
    """Minimise f on the line from margin to ahead.

    The slope is a rising, piecewise linear function of the step: Newton's method in one dimension, kept inside the
    interval in which the sign changes, ends after a few passes. `linear + step * quadratic` is the penalty's slope.
    """
    n = len(margin)
    low, high = 0.0, np.inf
    step = 1.0
    for _ in range(60):
        before = slope_along(margin, ahead, weight, 0, held_from, step)
        after = slope_along(margin, ahead, weight, held_to, n, step)
        slope = before[0] + after[0] + linear + step * quadratic
        curvature = before[1] + after[1] + quadratic
        if abs(slope) <= 1e-6 * abs(slope_at_start) or curvature <= 0.0:
            break
        if slope > 0.0:
            high = step
        else:
            low = step
        proposal = step - slope / curvature
        if not low < proposal < high:
            proposal = 0.5 * (low + high) if high < np.inf else 2.0 * step
        if abs(proposal - step) <= 1e-12 * step:
            break
        step = proposal
    return step


@kernel(fastmath=REORDER)
def distance_to(margin, ahead):
    """Return the sum of the absolute differences of two vectors."""
    distance = 0.0
    for i in range(len(margin)):
        distance += abs(ahead[i] - margin[i])
    return distance


@kernel
def move_towards(margin, ahead, step):
    """Move a vector by a step on the way to another, in place."""
    for i in range(len(margin)):
        margin[i] += step * (ahead[i] - margin[i])


@kernel
def mark_changes(margin, active, held_from, held_to, change):
    """Set change to +1 where a row enters the active set and -1 where one leaves it; return how many do."""
    n = len(margin)
    for i in range(n):
        change[i] = np.int8(margin[i] < 1.0) - active[i]
    for i in range(held_from, held_to):
        change[i] = -active[i]
    n_changes = 0
    for i in range(n):
        n_changes += change[i] & 1
    return n_changes


@kernel
def multiply(gram, w, product):
    """Multiply a symmetric matrix, given by its lower triangle, by a vector."""
    for i in range(len(w)):
        entry = 0.0
        for j in range(i):
            entry += gram[i, j] * w[j]
            product[j] += gram[i, j] * w[i]
        product[i] = entry + gram[i, i] * w[i]


@kernel
def gradient_vanishes(gram, total, penalty, w, product, limit):
    """Tell whether no component of the gradient exceeds a limit."""
    multiply(gram, w, product)
    vanishes = True
    for j in range(len(w)):
        vanishes &= abs(penalty * w[j] + product[j] - total[j]) <= limit  # False for NaN
    return vanishes


@kernel
def newton(Z, weight, penalty, limit, stopped, problems, held_from, held_to, w, margin, active, gram, total, peak):
    """Bring the listed problems to their optimum, in step with one another; return the Newton steps taken.

    All take part in one matrix product per step. `w`, `margin`, `active`, `gram`, `total` and `peak` hold the state of
    each problem, which must be consistent (active = margin < 1 outside the held rows, sums over the active rows) and is
    consistent again at the end.
    """
    n, d = Z.shape
    pending = problems.copy()
    n_pending = len(pending)
    target = np.empty((n_pending, d))
    ahead = np.empty((n_pending, n))
    change = np.empty(n, np.int8)
    factor = np.empty((d, d))
    product = np.empty(d)
    n_steps = 0
    for _ in range(MOST_STEPS):
        if stopped[0]:
            break
        for k in range(n_pending):
            q = pending[k]
            solve_ridge(gram[q], total[q], penalty, factor, target[k])
        np.dot(target[:n_pending], Z.T, ahead[:n_pending])
        n_steps += n_pending
        kept = 0
        for k in range(n_pending):
            q = pending[k]
            if mark_changes(ahead[k], active[q], held_from[q], held_to[q], change) == 0:
                copy_numbers(target[k], w[q])
                copy_numbers(ahead[k], margin[q])
                continue
            toward = target[k] - w[q]
            quadratic = penalty * np.dot(toward, toward)
            linear = penalty * np.dot(toward, w[q])
            multiply(gram[q], toward, product)
            slope = np.dot(toward, product) + quadratic
            step = best_step(margin[q], ahead[k], weight, held_from[q], held_to[q], linear, quadratic, slope)
            if not np.isfinite(step * (quadratic + distance_to(margin[q], ahead[k]))):
                continue  # overflow: no step is possible
            w[q] += step * toward
            move_towards(margin[q], ahead[k], step)
            if mark_changes(margin[q], active[q], held_from[q], held_to[q], change) > 0:
                move_sums(Z, weight, change, active[q], gram[q], total[q], peak[q])
            if not gradient_vanishes(gram[q], total[q], penalty, w[q], product, limit[q]):
                pending[kept] = q
                kept += 1
        n_pending = kept
        if n_pending == 0:
            break
    return n_steps


@kernel
def walk_path(Z, weight, fold_start, penalties, tol, stopped):
    """Solve a problem, and the same problem without each fold, at each penalty.

    Parameters: Z (n, d) signed rows with the rows of each fold together, fold q being rows fold_start[q] to
    fold_start[q + 1]; penalties falling; tol for the whole problem and for the folds, relative to the gradient at zero.

    Returns coefficients (1 + n_folds, n_penalties, d), the whole problem first; the Newton steps taken; and how many of
    the solutions failed, because rounding errors exceed the gradient.

    A fold starts from its solution at the last penalty, moved as the whole problem's solution has moved since. Its sums
    are made from its own last ones or from the whole problem's, whichever differ by fewer rows.
    """
    n, d = Z.shape
    n_folds = len(fold_start) - 1
    n_problems = 1 + n_folds
    held_from = np.zeros(n_problems, np.int64)
    held_to = np.zeros(n_problems, np.int64)
    for fold in range(n_folds):
        held_from[fold + 1], held_to[fold + 1] = fold_start[fold], fold_start[fold + 1]
    w = np.zeros((n_problems, d))
    margin = np.zeros((n_problems, n))
    active = np.zeros((n_problems, n), np.int8)
    gram = np.zeros((n_problems, d, d))
    total = np.zeros((n_problems, d))
    peak = np.zeros((n_problems, d))
    coefficients = np.empty((n_problems, len(penalties), d))
    change = np.empty(n, np.int8)
    other = np.empty(n, np.int8)
    product = np.empty(d)

    mark_changes(margin[0], active[0], 0, 0, change)
    move_sums(Z, weight, change, active[0], gram[0], total[0], peak[0])
    scale = np.max(np.abs(total[0]))
    limit = np.full(n_problems, tol[1] * scale)
    limit[0] = tol[0] * scale
    whole = np.zeros(1, np.int64)
    folds = np.arange(1, n_problems)

    n_steps = 0
    n_failed = 0
    for level, penalty in enumerate(penalties):
        last_w = w[0].copy()
        last_margin = margin[0].copy()
        n_steps += newton(
            Z, weight, penalty, limit, stopped, whole, held_from, held_to, w, margin, active, gram, total, peak
        )
        for q in range(1, n_problems):
            w[q] += w[0] - last_w
            margin[q] += margin[0] - last_margin
            from_own = mark_changes(margin[q], active[q], held_from[q], held_to[q], change)
            from_whole = mark_changes(margin[q], active[0], held_from[q], held_to[q], other)
            if from_whole < from_own:
                copy_numbers(active[0], active[q])
                copy_numbers(total[0], total[q])
                copy_numbers(peak[0], peak[q])
                for j in range(d):
                    copy_numbers(gram[0, j], gram[q, j])
                move_sums(Z, weight, other, active[q], gram[q], total[q], peak[q])
            elif from_own > 0:
                move_sums(Z, weight, change, active[q], gram[q], total[q], peak[q])
        if n_folds > 0:
            n_steps += newton(
                Z, weight, penalty, limit, stopped, folds, held_from, held_to, w, margin, active, gram, total, peak
            )
        coefficients[:, level] = w
        for q in range(n_problems):
            n_failed += not gradient_vanishes(gram[q], total[q], penalty, w[q], product, LOOSE_TOL * scale)
    return coefficients, n_steps, n_failed
