"""Random command lines, drawn from the program itself: its commands, options, examples, limits and catalogue.

What the program accepts is read from Typer's description of it, so that a new command, option or
encoding is drawn without a word here. Only what a value looks like is known by its metavar; one that
nobody knows takes any value of the others.
"""

import functools
import re
import shlex
from dataclasses import dataclass, field

from hypothesis import strategies as st

from pe_spectra import limits
from pe_spectra.cli.declared import build_command
from pe_spectra.encodings import ENCODINGS
from pe_spectra.encodings.nested import OtherEncodings
from pe_spectra.encodings.parameters import FileOfNumbers, format_value
from pe_spectra.metrics import METRICS
from pe_spectra.numbers import Choice, IntegerRange, ListOf, RealRange
from tests.program.command_line_files import ABSENT, DAMAGED, MODELS, OTHERS, SERIES, SETTINGS, TABLES

# ------------------------------------------------------------------------------------------ the program


@dataclass(frozen=True)
class Slot:
    """An option or an argument, as the program describes it."""

    name: str
    spellings: tuple[str, ...]
    metavar: str
    is_flag: bool
    takes_several: bool
    members: tuple[str, ...]
    bounds: tuple[float, float]
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Command:
    """A command: its options by their long names, its arguments, and the lines its help shows."""

    name: str
    options: dict[str, Slot]
    arguments: tuple[Slot, ...]
    examples: tuple[tuple["Part", ...], ...] = ()


@dataclass(frozen=True)
class Part:
    """One option with its values, or the arguments (without an option)."""

    option: str
    values: tuple[str, ...] = ()
    spelling: str = ""
    attached: bool = False

    @property
    def tokens(self):
        name = self.spelling or self.option
        if not name or not self.values:
            return [name] if name else list(self.values)
        if self.attached:
            return [f"{name}={self.values[0]}", *self.values[1:]]
        return [name, *self.values]


@dataclass(frozen=True)
class Line:
    """A command line in parts; `others` are the places of its parts in another order."""

    command: str
    parts: tuple[Part, ...]
    others: tuple[int, ...] = field(default=(), compare=False)

    @property
    def argv(self):
        return [self.command, *(token for part in self.parts for token in part.tokens)]

    @property
    def reordered(self):
        """The same line with its options in another order; None where the order may have a meaning."""
        parts = tuple(self.parts[place] for place in self.others)
        return Line(self.command, parts) if parts and parts != self.parts else None

    def values(self, option):
        return [value for part in self.parts if part.option == option for value in part.values]

    def has(self, *options):
        return any(part.option in options for part in self.parts)

    def __str__(self):
        return ascii(shlex.join(self.argv))[:1500]


_BOUNDS = re.compile(r"([0-9][0-9.e+-]*) to ([0-9][0-9.e+-]*)")


def read_program(program):
    """Describe every command of a program that Typer runs."""
    return {name: _read_command(name, command) for name, command in program.commands.items()}


def _read_command(name, command):
    context = command.context_class(command, info_name=name)
    slots = [(p.param_type_name, _read_slot(p, context)) for p in command.params]
    options = {slot.name: slot for kind, slot in slots if kind == "option"}
    arguments = tuple(slot for kind, slot in slots if kind == "argument")
    lines = [shlex.split(line)[2:] for line in (command.epilog or "").splitlines() if f" {name}" in line]
    bare = Command(name, options, arguments)
    examples = [tuple(_split(tokens, bare)) for tokens in lines]
    shown = {option: _list_shown(option, examples) for option in options}
    options = {option: Slot(**{**vars(slot), "shown": shown[option]}) for option, slot in options.items()}
    return Command(name, options, arguments, tuple(examples) or ((),))


def _read_slot(parameter, context):
    found = _BOUNDS.search(getattr(parameter, "help", None) or "")
    choices = tuple(getattr(parameter.type, "choices", ()))
    completions = tuple(item.value for item in parameter.shell_complete(context, ""))
    words = (parameter.metavar or "").rstrip(".").split("|")
    listed = tuple(words) if len(words) > 1 and all(re.fullmatch(r"[a-z0-9_-]+", word) for word in words) else ()
    return Slot(
        name=max(parameter.opts, key=len),
        spellings=tuple(parameter.opts),
        metavar=(parameter.metavar or "").replace("[", "").replace("]", "").rstrip("."),
        is_flag=bool(getattr(parameter, "is_flag", False)),
        takes_several=bool(getattr(parameter, "multiple", False)) or parameter.nargs < 0,
        members=choices or listed or completions,
        bounds=tuple(float(text) for text in found.groups()) if found else (1, 1 << 20),
    )


def _split(tokens, command):
    """The parts of a line that the help shows."""
    tokens, given = list(tokens), []
    by_spelling = {spelling: slot for slot in command.options.values() for spelling in slot.spellings}
    while tokens:
        token = tokens.pop(0)
        name, equals, value = token.partition("=")
        slot = by_spelling.get(name)
        if slot is None:
            given.append(token)
            continue
        tokens[:0] = [value] if equals else []
        count = 0 if slot.is_flag else 1
        while slot.takes_several and count < len(tokens) and _belongs(tokens[count], slot, command):
            count += 1
        yield Part(slot.name, tuple(tokens[:count]))
        del tokens[:count]
    if given:
        yield Part("", tuple(given))


def _belongs(token, slot, command):
    return not token.startswith("-") and (not command.arguments or token in slot.members)


def _list_shown(option, examples):
    return tuple(value for parts in examples for part in parts if part.option == option for value in part.values)


@functools.cache
def read_our_program():
    """Describe the program as it is."""
    return read_program(build_command())


def split_line(text):
    """Take a line that a person wrote apart."""
    name, *tokens = shlex.split(text)
    return Line(name, tuple(_split(tokens, read_our_program()[name])))


# --------------------------------------------------------------------------------------------- values

# a strategy is made once for each pool: making it costs more than drawing from it
_choose = functools.cache(st.sampled_from)
#: What no number is, or no accepted one.
SPELLINGS = (
    *("2_56", "256.0", "nan", "NaN", "inf", "-inf", "Infinity", "1e400", "-1e400", "1e-400", "0x10", "\uff13\uff12"),
    *("\u0663\u0664", "\u221e", "1/2", "4.5", "1,2", "5e", "-5", "-0", "0", "-1", "1e3", "True", "1e9", "5e-324"),
    *("", " ", "7 ", "\t7", "\n", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x9b2J", "\u202etxt", "\u2028", "\u200b"),
    *("a\udcff", "[/red]", ":boom:", "%s%n", "{0}", "$(id)", "'", "=1+1", "@x", "--", "-", "\U0001f4a5"),
    *("9" * 400, "9" * 5000, "-" + "9" * 400, "1" + "0" * 30, "x" * 20000, "\u202e" * 3000),
)
_LIMITS = [value for name, value in vars(limits).items() if name.startswith("MAX_") and isinstance(value, int)]
#: One beyond each limit that no option of the program passes cheaply.
BEYOND = tuple(sorted({str(value + 1) for value in _LIMITS if value >= limits.MAX_WIDTH}))
_SMALL = (1, 2, 3, 4, 5, 8, 9, 16, 33)
_REALS = (0.5, 1, 2.5, 100, 10000)
_MOMENTS = ("2016-07-01", "2016-02-29T23:55", "0001-01-01")
_NO_MOMENTS = ("2016-13-01", "2015-02-29", "9999-12-31", "yesterday", "20160701", "2016-07-01T00:00Z")
_TIMES, _NO_TIMES = ("5min", "1h", "1d"), ("0min", "-5min", "5", "min", "5 min", "1e9d", "99999999999999999999d")
_FILES = (*DAMAGED, *OTHERS, *ABSENT)
#: What values look like, by metavar: right ones, and wrong ones beside the spellings.
_KINDS = {
    "A:B": (("0:4", "1:", ":3", "2:9"), ("4:0", "0:0", ":", "a:b", "3", "0:99", "-1:2")),
    "ISO": (_MOMENTS, _NO_MOMENTS),
    "TIME": (_TIMES, _NO_TIMES),
    "NAME,..": (("day", "day,week", "12h"), ("month,,day", "nonsense", ",")),
    "FILE|A:B:C": (("0:8", "0:4:0.5", "inv_freq.npy"), ("8:0", "0:9:0", "0:1e12", "1.5", "0:1:1e-9", *_FILES)),
    "TEXT": (("injective", "separation>=0.1", "rank>=3"), ("separation>=nan", "rank", "injective>=1", "x>1", "rank>=")),
    "METRIC": (tuple(METRICS), ("Separation", "metric")),
    "N|HxW": (("12", "3x3", "4x6"), ("0", "4x", "0x4", "4.5x4", "1x2x3", "9999999999x1")),
    "CONFIG": (tuple(MODELS), _FILES),
    "file": (tuple(SERIES), _FILES),
    "A B": (tuple(MODELS), _FILES),
    "PATH": (
        ("fig.svg", "fig.png", "fig.pdf", "old.svg", "link.svg", "\u00fc \u4e2d.svg", "nowhere.npy.svg"),
        ("fig", "fig.xyz", "-", "", "no/fig.svg", "folder.npy/", "fig.svg/", "x" * 300 + ".svg", "table.npy/fig.svg"),
    ),
    "DIR": (("out", "figures", "."), ("old.svg", "loop.npy", "table.npy/out", "", "-", "x" * 300)),
    "--output": (
        ("out.json", "out.csv", "out.txt", "out.npy", "out.tsv", "out.safetensors", "-", "old.csv", "/dev/null"),
        ("out", "out.xyz", "", "folder.npy", "no/out.csv", "/dev/full", "loop.npy", "out.csv/", "x" * 300 + ".csv"),
    ),
    "--settings": (tuple(SETTINGS), (*(name for name in DAMAGED if name.endswith(".toml")), "table.npy", *ABSENT)),
}
STRAY = ("--nope", "-x", "---", "--D", "-", "--", "stray", "--=5", "\u2014d", "--d\x1b[31m", "5", "", "--help", "-qq")


def list_right(slot):
    """Values that the option takes, cheap ones; what it takes together with others is another question."""
    if slot.metavar in ("N", "T", "X"):
        low, high = slot.bounds
        pool = _REALS if slot.metavar == "X" else _SMALL
        edge = f"{low:g}" if slot.metavar == "X" else str(int(low))
        return (*(str(value) for value in pool if low <= value <= high), edge, *slot.shown)
    if slot.metavar == "X,Y":
        return tuple(f"{a},{b}" for a in slot.members for b in slot.members if a != b)
    known = _KINDS.get(slot.name) or _KINDS.get(slot.metavar)
    if known or slot.members:
        return (*slot.members, *slot.shown) or known[0]
    return (*slot.shown, *(value for values, _ in _KINDS.values() for value in values))


def list_near(slot):
    """Values that the option refuses, and that are nearly right: beyond its limits, or another word."""
    if slot.metavar in ("N", "T", "X"):
        low, high = (int(bound) for bound in slot.bounds)
        return (str(low - 1), str(low - 1), str(high + 1), str(high + 1), f"{high * 10}", *BEYOND)
    known = _KINDS.get(slot.name) or _KINDS.get(slot.metavar)
    near = tuple(word for member in slot.members[:3] for word in (member.upper(), member[:-1], f"{member},{member}"))
    return (*near, *(known[1] if known else ()))


# ---------------------------------------------------------------------------------------------- SPECs

_KINDS_OF_PARAMETERS = {"Grid": ("3x3", "none"), "Moment": _MOMENTS, "Duration": _TIMES}
#: A default that is larger is replaced by a small value, so that lines stay quick.
_LARGE = 33


def _list_parameter(accepts):
    """Values that a parameter of an encoding takes."""
    if isinstance(accepts, IntegerRange):
        return [str(n) for n in (accepts.minimum, *_SMALL, 12) if accepts.minimum <= n <= accepts.maximum]
    if isinstance(accepts, RealRange):
        inside = [n for n in _REALS if accepts.minimum <= n <= accepts.maximum]
        return [repr(float(n)) for n in (accepts.minimum, accepts.maximum, *inside)]
    if isinstance(accepts, Choice):
        return list(accepts.members)
    if isinstance(accepts, ListOf):
        values = _list_parameter(accepts.of)
        return [*values[:4], "+".join(values[:2]), "+".join(values[:3])]
    if isinstance(accepts, FileOfNumbers):
        return [name for name in TABLES if "=" not in name]
    if isinstance(accepts, OtherEncodings):
        return ["'sinusoidal:d=8'+'dft:d=8'", "ramp", "'rope:d=8'"]
    return list(_KINDS_OF_PARAMETERS.get(type(accepts).__name__, ()))


def _is_large(parameter):
    return isinstance(parameter.accepts, IntegerRange) and (parameter.default or 0) > _LARGE


@st.composite
def named_specs(draw):
    """An encoding of the catalogue, small, with up to two more parameters and what goes with them."""
    cls = draw(_choose(ENCODINGS))
    chosen = draw(st.lists(st.sampled_from(cls.accepts), max_size=2, unique_by=lambda p: p.name))
    texts = {}
    for parameter in (*(p for p in cls.accepts if _is_large(p)), *chosen):
        values = [text for text in _list_parameter(parameter.accepts) if parameter not in chosen or len(text) < 40]
        if _is_large(parameter) and parameter not in chosen:
            values = ["12"] if parameter.accepts.minimum <= 12 else values[:1]
        if values:
            texts[parameter.name] = draw(_choose(tuple(values)))
        names = {p.keyword: p.name for p in cls.accepts}
        for other, allowed in parameter.only_with.items() if parameter in chosen else ():
            value = draw(_choose(tuple(allowed)))
            texts.pop(names[other], None)  # None is what it is without it
            if value is not None:
                texts[names[other]] = format_value(value)
    return cls.name + (":" if texts else "") + ",".join(f"{key}={value}" for key, value in texts.items())


@st.composite
def wrong_specs(draw):
    """A SPEC with one thing wrong, or a file that is no table."""
    text = draw(named_specs())
    name = text.partition(":")[0]
    key = draw(st.sampled_from(next(cls for cls in ENCODINGS if cls.name == name).accepts)).name
    value = draw(_choose((*SPELLINGS, *BEYOND, *DAMAGED)))
    broken = (name.upper(), name[:-1], f"{name}:", f"{name}:{key}", f"{name}:{key}=", f"{name}:nokey=1", f"{text}'")
    broken += (f"{name}:{key}=1,{key}=1", f"{text}::pe", f"{text}?grid=2x2", f"hybrid:of='{text}", "table.npy::pe")
    broken += ("one.npz::", "::pe", "one.npz::no", "table.npy?grid=2x2", "table.npy?rows=0:99", f"table.npy?{key}=1")
    return draw(st.one_of(st.just(f"{name}:{key}={value}"), _choose(broken), _choose(_FILES)))


@functools.cache
def _right_values(slot):
    """A strategy of values that a slot takes."""
    if "SPEC" in slot.metavar:
        files = st.sampled_from((*TABLES, "one.npz::pe", "one.safetensors::pe", "table.npy?rows=0:4", "config.json"))
        return st.one_of(named_specs(), named_specs(), files)
    return _choose(tuple(list_right(slot)))


@functools.cache
def _wrong_values(slot):
    """A strategy of values that a slot may refuse."""
    if "SPEC" in slot.metavar:
        return st.one_of(wrong_specs(), wrong_specs(), _choose(SPELLINGS))
    near = list_near(slot)
    return st.one_of(_choose(near), _choose(SPELLINGS)) if near else _choose(SPELLINGS)


# ---------------------------------------------------------------------------------------------- lines


@st.composite
def command_lines(draw, names=None, program=None, thrifty=True):
    """A line of one of the commands `names`: half of them without a fault, the others with one or two.

    A thrifty line has small numbers and encodings in place of those that the help shows.
    """
    program = program or read_our_program()
    command = program[draw(_choose(tuple(sorted(names or program))))]
    shown = draw(_choose(command.examples))
    parts = [draw(_varied(part, command, thrifty)) for part in (_shrink(shown, command) if thrifty else shown)]
    if thrifty and "--encoding" in command.options and not {"--encoding", "--d"} & {part.option for part in parts}:
        parts.append(draw(_filled(command.options[draw(_choose(("--encoding", "--d")))])))
    if command.arguments and not any(part.option == "" for part in parts) and draw(st.booleans()):
        parts.append(draw(_arguments(command)))
    taken = {part.option for part in parts}
    free = sorted(set(command.options) - taken - {"--no-figure"})
    added = draw(st.lists(st.sampled_from(free), max_size=3, unique=True)) if free else []
    parts += [draw(_filled(command.options[name])) for name in added]
    drawn = "--figure" in added or "--no-figure" not in command.options
    if not drawn and draw(st.integers(0, 11)):
        parts.append(Part("--no-figure"))  # a figure takes longer than all the rest
    name, plain = command.name, True
    for _ in range(draw(_choose((0, 0, 0, 1, 1, 2)))):
        name, parts, kept = draw(_spoilt(name, parts, command, program))
        plain = plain and kept
    parts = [draw(_spelled(part, command)) for part in parts]
    places = draw(st.permutations(range(len(parts)))) if plain and _may_be_reordered(parts) else []
    return Line(name, tuple(parts), _keep_order(places, parts))


def _shrink(parts, command):
    """The parts with the large whole numbers among them replaced, the larger still the larger."""
    slots = {name: slot for name, slot in command.options.items() if slot.metavar in ("N", "T")}
    whole = [int(text) for part in parts if part.option in slots for text in part.values if text.isdigit()]
    large = sorted({number for number in whole if number > _LARGE})
    small = {str(number): str(32 + 8 * place) for place, number in enumerate(large)}
    return [
        Part(part.option, tuple(small.get(text, text) for text in part.values)) if part.option in slots else part
        for part in parts
    ]


@st.composite
def _varied(draw, part, command, thrifty):
    """A part of an example: as it is, or with other values."""
    slot = command.options.get(part.option) or next(iter(command.arguments))
    if not (thrifty and "SPEC" in slot.metavar) and draw(st.booleans()):
        return part
    return draw(_arguments(command) if part.option == "" else _filled(command.options[part.option]))


@st.composite
def _arguments(draw, command):
    values = []
    for slot in command.arguments:
        # A [B]: as many as it names
        least = 2 if " " in slot.metavar else 1
        count = draw(st.integers(least, 2)) if slot.takes_several else 1
        values += [draw(_right_values(slot)) for _ in range(count)]
    return Part("", tuple(values))


@st.composite
def _filled(draw, slot):
    """An option with values that it takes."""
    if slot.is_flag:
        return Part(slot.name)
    count = draw(st.integers(1, 2)) if slot.takes_several else 1
    return Part(slot.name, tuple(draw(_right_values(slot)) for _ in range(count)))


@st.composite
def _spelled(draw, part, command):
    """A part with one of the names of its option, its first value apart or attached."""
    slot = command.options.get(part.option)
    if slot is None or part.spelling:
        return part
    attached = bool(part.values) and draw(st.booleans())
    return Part(part.option, part.values, draw(_choose(slot.spellings)), attached)


#: A wrong value is the most frequent fault.
_FAULTS = ("value", "value", "value", "value", "repeat", "drop", "token", "foreign", "bare", "name")


@st.composite
def _spoilt(draw, name, parts, command, program):
    """The line with one fault, and whether the order of its options still has no meaning."""
    kind = draw(_choose(_FAULTS))
    place = draw(st.integers(0, max(len(parts) - 1, 0)))
    if kind == "name":
        wrong = (name.upper(), name[:-1], "", "[/red]", "--d", "\u0441pectrum", "x" * 5000, "\x1b[31m")
        return draw(_choose(wrong)), parts, False
    if kind == "foreign":
        other = program[draw(_choose(tuple(sorted(program))))]
        part = draw(_filled(other.options[draw(_choose(tuple(sorted(other.options))))]))
        return name, [*parts, part], part.option in command.options
    if kind == "token" or not parts:
        token = draw(_choose(STRAY))
        return name, [*parts[:place], Part("", (token,)), *parts[place:]], False
    part = parts[place]
    if kind == "drop":
        return name, [*parts[:place], *parts[place + 1 :]], True
    if kind == "repeat" and part.option in command.options:
        return name, [*parts, draw(_filled(command.options[part.option]))], True
    if kind == "bare" and part.values and part.option:
        return name, [*parts[:place], Part(part.option), *parts[place + 1 :]], False
    return name, [*parts[:place], draw(_with_wrong_value(part, command)), *parts[place + 1 :]], True


@st.composite
def _with_wrong_value(draw, part, command):
    slot = command.options.get(part.option) or next(iter(command.arguments), None)
    if slot is None:
        return Part(part.option, draw(_choose(STRAY)))
    if slot.is_flag:
        return Part(part.option, ("1",), part.option, attached=True)
    values = list(part.values) or [""]
    values[draw(st.integers(0, len(values) - 1))] = draw(_wrong_values(slot))
    return Part(part.option, tuple(values))


def _may_be_reordered(parts):
    """Whether the order of the options has no meaning: nothing ends them, no argument could be taken for a value."""
    odd = [value for part in parts if not part.option for value in part.values if not re.match(r"[a-z./\[]", value)]
    return len(parts) > 1 and not odd and not any(token in ("--", "-h", "--help") for p in parts for token in p.tokens)


def _keep_order(places, parts):
    """A permutation that leaves the parts of one option, and the arguments, in their order."""
    queues = {}
    for place in range(len(parts)):
        queues.setdefault(parts[place].option, []).append(place)
    return tuple(queues[parts[place].option].pop(0) for place in places)
