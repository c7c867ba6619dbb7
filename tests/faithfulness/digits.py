"""Ladders and distances in the current precision of mpmath."""

import mpmath


def ladder(d, rho):
    """Frequencies of Eq. 3 in the current precision."""
    return [mpmath.mpf(rho) ** (-mpmath.mpf(index) / d) for index in range(0, d, 2)]


def distance_at(w, lag):
    """D(lag) of complete pairs in the current precision."""
    return mpmath.sqrt(mpmath.fsum(4 * mpmath.sin(wl * lag / 2) ** 2 for wl in w))
