"""What was collected is no work for the garbage collector while tests run."""

import gc


def test_what_was_collected_is_out_of_sight(request):
    assert gc.isenabled()
    assert gc.get_freeze_count() > len(request.session.items)
    assert not any(one is request.node for one in gc.get_objects())


def test_it_looks_less_often():
    assert gc.get_threshold()[0] >= 50_000
