"""What an error says: the words of what the system says, values shortened, several kinds of one base."""

from pe_spectra.files.reading import describe_failure, describe_kind, with_label


def test_words_for_what_the_system_says():
    assert describe_failure(OSError(28, "")) == "no space left on the device"
    assert describe_failure(OSError(9999, "secret")) == "the system refused it (error number 9999)"
    assert describe_failure(OSError("no number")) == "the system refused it (error number None)"
    assert describe_kind(0o060000) == "a block device"
    assert describe_kind(0) == "a special file"
    assert with_label("is a folder", "") == "is a folder"
