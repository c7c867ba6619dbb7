"""What the processes of tests do less often than Python would: look for rings of objects, and give memory back."""

import gc
import platform

import numpy as np
import pytest


def test_it_looks_while_tests_run_but_less_often():
    assert gc.isenabled()
    assert gc.get_threshold()[0] >= 50_000


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other libraries keep memory in their own ways")
def test_the_memory_of_arrays_is_that_of_the_next_ones():
    import resource

    def fill():
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        held = [np.ones(1 << 17) for _ in range(24)]
        assert len(held) == 24
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    assert min(fill() for _ in range(6)) < 100
