"""Words of a command line as a shell reads them."""

import shlex

import pytest

from pe_spectra.wording import quote_word


@pytest.mark.parametrize("word", ["", "a b", "dft:d=8", "x;y", "é", "a'b", "--x=1,2", "~", "a\n"])
def test_words_are_quoted_as_the_standard_library_does(word):
    assert quote_word(word) == shlex.quote(word)


def test_every_character_is_quoted_where_it_must_be():
    assert all(quote_word(chr(code)) == shlex.quote(chr(code)) for code in range(0x500))
