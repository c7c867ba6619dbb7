"""How numbers are written in sentences about models: as people write them, never 1e+06."""

from __future__ import annotations

#: From here on integers are not exact in float64 for sure, and nobody reads their digits.
_MANY = 1e15


def write_number(value: float) -> str:
    """Write a base, a factor or a length as a configuration has it: integers with all their digits.

    >>> write_number(1000000.0), write_number(0.25), write_number(262144 / 4096 / 3)
    ('1000000', '0.25', '21.3333')
    """
    return str(int(value)) if abs(value) < _MANY and float(value).is_integer() else f"{value:.6g}"


def write_rounded(value: float, digits: int = 3) -> str:
    """Write a number that was measured, to some digits, with commas where there are thousands.

    >>> write_rounded(19.2045), write_rounded(2051.3), write_rounded(12345.6, digits=4)
    ('19.2', '2,050', '12,350')
    """
    if not 1000 <= abs(value) < _MANY:
        return f"{value:.{digits}g}"
    return f"{float(f'{value:.{digits - 1}e}'):,.0f}"
