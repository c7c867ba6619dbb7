"""What is said of what must be refused: our own error, in one line."""

import pytest

from pe_spectra.errors import PeSpectraError


def catch(call, *arguments, kind=PeSpectraError, after="", most=2200, **options):
    """The words of a call that must be refused: one line of fewer characters than `most`, ending with `after`."""
    with pytest.raises(kind) as caught:
        call(*arguments, **options)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < most
    assert text.endswith(after)
    return text
