"""All pairs of equal values, one by one."""

from collections import defaultdict
from itertools import combinations


def list_equal(values):
    """All pairs of equal values, each by its number."""
    groups = defaultdict(list)
    for place, value in enumerate(values):
        groups[value].append(place)
    return sorted(pair for group in groups.values() for pair in combinations(group, 2))
