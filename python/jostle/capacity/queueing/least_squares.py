"""Nonlinear least squares with every parameter between 0 and 1.

Levenberg's and Marquardt's method; a parameter at a bound that the descent would push beyond it stays there.
Sources: Marquardt, SIAM Journal on Applied Mathematics 11 (1963); Bertsekas, SIAM Journal on Control and
Optimization 20 (1982), for the parameters that stay.
"""

from collections.abc import Callable

import numpy as np

from jostle.analysis.stats.sample import Floats

__all__ = ["bounded"]

MAX_STEPS = 500

PRECISION = 1e-13
"""The fit has ended when no parameter moves by more than this share of its scale."""

MAX_DAMPING = 1e12


def bounded(residuals: Callable[[Floats], Floats], start: Floats, scale: Floats) -> Floats:
    """The parameters near `start` with the least sum of squared residuals.

    `scale`: how much is a large change of each parameter.
    """
    at, damping = start.copy(), 1e-3
    missing = residuals(at)
    for _ in range(MAX_STEPS):
        slopes = _slopes(residuals, at, missing, scale)
        downhill = -slopes.T @ missing
        free = ~(((at <= 0) & (downhill < 0)) | ((at >= 1) & (downhill > 0)))
        curvature = slopes[:, free].T @ slopes[:, free]
        while damping < MAX_DAMPING:
            moved = np.zeros_like(at)
            damped = curvature + damping * np.diag(np.maximum(np.diag(curvature), 1e-300))
            moved[free] = np.linalg.solve(damped, downhill[free])
            tried = np.clip(at + moved * scale, 0, 1)
            left = residuals(tried)
            if left @ left <= missing @ missing:
                break
            damping *= 4
        else:
            return at
        step = np.abs((tried - at) / scale).max()
        at, missing, damping = tried, left, damping / 8
        if step < PRECISION:
            return at
    return at


def _slopes(residuals: Callable[[Floats], Floats], at: Floats, missing: Floats, scale: Floats) -> Floats:
    """The change of the residuals for a change of each parameter by its scale; a column for each."""
    columns = []
    for i, size in enumerate(scale):
        step = np.zeros_like(at)
        step[i] = 1e-6 * size * (1 if at[i] < 0.5 else -1)
        columns.append((residuals(at + step) - missing) / step[i] * size)
    return np.stack(columns, axis=1)
