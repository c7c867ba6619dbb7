"""How numbers and lists are written in a sentence: once, for answers, notes, errors and figures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_CEILING, Decimal

#: What options of a command hold as they were typed, by their names in Python.
Typed = Mapping[str, str | Sequence[str] | bool | None]
#: From here on integers are not exact in float64 for sure, and nobody reads their digits.
_MANY = 1e15
#: Relative errors up to which a number has one, two, four digits that are off by one unit at most: half a unit of the
#: last is the smallest part of a number whose other digits are all 9.
_ONE_DIGIT, _TWO_DIGITS, _FOUR_DIGITS = 0.05, 0.005, 0.00005
#: Characters of words that no shell reads otherwise.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")
#: Units of times, the largest first, each with its seconds, and from how many on it is taken.
_TIMES = (
    *(("d", 86400.0, 86400.0), ("h", 3600.0, 3600.0), ("min", 60.0, 60.0), ("s", 1.0, 0.1)),
    *(("ms", 1e-3, 1e-4), ("us", 1e-6, 1e-7), ("ns", 1e-9, 0.0)),
)


def count(number: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun.

    >>> count(1, "pair"), count(12000, "pair"), count(2, "frequency", "frequencies")
    ('1 pair', '12,000 pairs', '2 frequencies')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(share: float) -> str:
    """Write a share in percent with one decimal.

    >>> percent(0.59375)
    '59.4 %'
    """
    return f"{100 * share:.1f} %"


def join(words: Sequence[str], most: int | None = None, word: str = "and") -> str:
    """Join words as a sentence does; of more than `most` the first ones, and how many others there are.

    >>> join(["a"]), join(["a", "b", "c"]), join(["a", "b", "c", "d"], 3), join(["a", "b"], word="or")
    ('a', 'a, b and c', 'a, b and 2 more', 'a or b')
    """
    listed = list(words)
    if most is not None and len(listed) > most:
        listed = [*listed[: most - 1], f"{len(listed) - most + 1} more"]
    return f" {word} ".join([", ".join(listed[:-1]), listed[-1]]) if len(listed) > 1 else "".join(listed)


def write_run(places: Sequence[int], words: Sequence[str] = ()) -> str:
    """Write places, or words of their own: three or more in a row by the first and the last, else four at most.

    >>> write_run([3, 4, 5]), write_run([3, 5, 6]), write_run([1, 2], ["a", "b"])
    ('3 to 5', '3, 5 and 6', 'a and b')
    """
    named = words or [str(place) for place in places]
    is_run = len(places) > 2 and places[-1] - places[0] == len(places) - 1
    return f"{named[0]} to {named[-1]}" if is_run else join(named, 4)


def capitalise(sentence: str) -> str:
    """Begin a sentence with a capital; names inside keep their letters.

    >>> capitalise("at bandwidth 4 through rope d=4")
    'At bandwidth 4 through rope d=4'
    """
    return sentence[:1].upper() + sentence[1:]


def shorten(text: str, longest: int = 60) -> str:
    """Leave out the middle of a text of more than `longest` characters, in whole words where they are short enough.

    >>> shorten("rope d=128 base=10000 scaling=llama3 factor=8", 36)
    'rope d=128 … scaling=llama3 factor=8'
    """
    if len(text) <= longest:
        return text
    head = (longest - 1) // 2
    cut = text[:head] + "…" + text[len(text) - (longest - 1 - head) :]
    return leave_out_words(text, lambda tried: len(tried) <= longest, cut)


def leave_out_words(text: str, fits: Callable[[str], bool], cut: str) -> str:
    """Leave out whole words near the middle, as few as will do; `cut` breaks words, and wins if twice as long.

    >>> leave_out_words("one two three four", lambda tried: len(tried) < 14, "one tw…four")
    'one … four'
    """
    words = text.split(" ")
    for kept in range(len(words) - 1, 1, -1):
        for head in sorted(range(1, kept), key=lambda head: (abs(2 * head - kept), head)):
            tried = " ".join([*words[:head], "…", *words[len(words) - (kept - head) :]])
            if fits(tried):
                return tried if 2 * len(tried) >= len(cut) else cut
    return cut


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


def write_at_most(value: float, digits: int = 3) -> str:
    """Write a bound to some digits, rounded up, so that what is below it is below what is written, too.

    >>> write_at_most(2.8512), write_at_most(48.0), write_at_most(0.0), write_at_most(1.0 + 2.0**-40)
    ('2.86', '48', '0', '1.01')
    """
    exact = Decimal(value)
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return write_rounded(float(exact.quantize(step, ROUND_CEILING)), digits)


def write_power(logarithm: float, error: float = 0.0) -> str:
    """Write exp(logarithm) with two significant digits, also where it is below the smallest double.

    The logarithm may be off by `error`, a tenth of itself at most, and no digit is written that this leaves open but
    for one unit of the last: there may be one, or at most six of the power of ten.

    >>> write_power(-959.2475), write_power(0.0), write_power(-math.inf)
    ('2.5e-417', '1', '0')
    >>> write_power(-1e12, 0.01), write_power(-1e16, 10.0)
    ('6e-434294481904', '10^-4.34294e+15')
    """
    if not math.isfinite(logarithm):
        return "0"
    power = logarithm / math.log(10)
    if error > _ONE_DIGIT:
        known = math.floor(math.log10(abs(logarithm) / error))
        return f"10^{power:.{min(known, 6)}g}"
    exponent = math.floor(power)
    mantissa = f"{math.exp(logarithm - exponent * math.log(10)):.{int(error <= _TWO_DIGITS)}f}"
    if float(mantissa) == 10:
        mantissa, exponent = mantissa.replace("10", "1"), exponent + 1
    is_plain = abs(exponent) <= 2 and error <= _FOUR_DIGITS
    return f"{math.exp(logarithm):.4g}" if is_plain else f"{mantissa}e{exponent:+03d}"


def write_time(seconds: float) -> str:
    """Write a time in the largest unit that keeps it at 1 or above.

    >>> write_time(86400.0), write_time(90.0), write_time(3599.9999999), write_time(0.25), write_time(33.3e-6)
    ('1 d', '1.5 min', '1 h', '0.25 s', '33.3 us')
    """
    # a period comes from a frequency, with its rounding
    unit, size, _ = next((one for one in _TIMES if seconds >= one[2] * (1 - 1e-9)), _TIMES[-1])
    return f"{seconds / size:.4g} {unit}"


def count_digits(value: float, error: float | None, most: int = 5) -> int:
    """Count the digits of a value that its error leaves: to the error's first, or its second where that is 1.

    >>> count_digits(0.95283, 0.0025), count_digits(0.95283, 0.0012), count_digits(0.95283, 3.0)
    (3, 4, 1)
    """
    if not error or not value or not math.isfinite(error):
        return most
    written = f"{error:.1e}"
    kept = math.floor(math.log10(abs(value))) - int(written.partition("e")[2]) + (2 if written[0] == "1" else 1)
    return max(1, min(most, kept))


def write_with_error(value: float, error: float | None) -> str:
    """Write a value to the digits that its error leaves, and the error; `None` where no bound is known.

    >>> write_with_error(2.671201607980057, 1.1862e-15), write_with_error(1.5, 0.0), write_with_error(1.5, None)
    ('2.6712 (+- 1.2e-15)', '1.5 (exact)', '1.5 (error not known)')
    """
    text = f"{value:.{count_digits(value, error)}g}"
    if error is None:
        return f"{text} (error not known)"
    return f"{text} (exact)" if error == 0 else f"{text} (+- {error:.2g})"


def tell_apart(one: float, other: float) -> tuple[str, str]:
    """Write two numbers that are no tie with so many digits that they differ.

    >>> tell_apart(1.5, 2.25), tell_apart(1.00001, 1.00002)
    (('1.5', '2.25'), ('1.00001', '1.00002'))
    """
    pairs = [(f"{one:.{digits}g}", f"{other:.{digits}g}") for digits in (4, 7, 11)]
    return next((pair for pair in pairs if pair[0] != pair[1]), pairs[-1])


def write_range(least: float, most: float, form: str = ".3g") -> str:
    """Write from where to where numbers go; those that are written alike as one number.

    >>> write_range(1.5, 2.25), write_range(3.2101, 3.2099), write_range(0.25, 0.254, ".0%")
    ('1.5 to 2.25', '3.21', '25%')
    """
    return " to ".join(dict.fromkeys((format(least, form), format(most, form))))


def quote_word(word: str) -> str:
    """Write a word as a shell reads it, in quotes where it needs them: `shlex`, which takes long to load, knows which.

    >>> quote_word("dft:d=8"), quote_word("my table.npy"), quote_word("")
    ('dft:d=8', "'my table.npy'", "''")
    """
    if word and _PLAIN.issuperset(word):
        return word
    import shlex

    return shlex.quote(word)


def compose_command(name: str, **typed: str | Sequence[str] | bool | None) -> str:
    """Write a command line that a shell reads as typed; empty where it could not be printed as it is.

    >>> compose_command("spectrum", encoding=["my table.npy", "dft"], d=None, window_free=True)
    "pe-spectra spectrum -e 'my table.npy' dft --window-free"
    """
    words = ["pe-spectra", name]
    for key, value in typed.items():
        option = "-e" if key == "encoding" else f"--{key.replace('_', '-')}"
        if isinstance(value, bool):
            words += [option] * value
            continue
        for place, one in enumerate([value] if isinstance(value, str) and value else value or ()):
            if one.startswith("-"):  # it would be read as an option
                words.append(f"{option}={quote_word(one)}")
            else:
                words += [*([option] if place == 0 else ()), quote_word(one)]
    line = " ".join(words)
    return line if line.isprintable() and "\\" not in line else ""


def conjugate(names: Sequence[str], one: str, many: str) -> str:
    """Return the form of a verb for the names before it: many for several, or for one in the plural.

    >>> [conjugate(names, "differs", "differ") for names in (["base"], ["rows"], ["base", "scaling"])]
    ['differs', 'differ', 'differ']
    """
    return many if len(names) > 1 or names[0].endswith("s") else one
