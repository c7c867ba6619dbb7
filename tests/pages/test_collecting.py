"""The garbage collector looks through what was collected no more often than it must."""

import gc


def test_it_looks_while_tests_run_but_less_often():
    assert gc.isenabled()
    assert gc.get_threshold()[0] >= 50_000
