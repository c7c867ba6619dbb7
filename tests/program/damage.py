"""Damaged files: good originals of five formats, and seeded ways to damage them."""

from __future__ import annotations

import io
import json
import random
import re
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import ml_dtypes
import numpy as np
from safetensors.numpy import save

KINDS = ("npy", "npz", "safetensors", "csv", "json")
MODELS = Path(__file__).parents[1] / "models"

#: Share of the files whose header is damaged: it decides what everything behind it means.
_HEADER_SHARE = 0.8
_SPECIAL_BYTES = b"\x00\x01\x7f\x80\xff\"'\\,:;{}[]()#-+.0129eE \t\r\n\x1bPKn"
_ODD_NUMBERS = (
    *("-1", "0", "1", "2", "3", "007", "1.0", "1.5", "1e400", "-1e308", "1e-400", "0x10", "1_0", "٣", "1e5", "+4"),
    *(str(2**n + k) for n in (16, 31, 32, 53, 63, 64) for k in (-1, 0, 1)),
    *("9" * 40, "9" * 5000, "NaN", "Infinity", "-Infinity", "null", "true", '"8"', "[]", "{}", '"x\\ud800"', ""),
)
_ODD_INTEGERS = (0, 1, 2, 3, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1)
#: Entries of a configuration that say how positions are encoded.
_ENTRY = re.compile(
    rb'"[^"]*(?:rope|rotary|position|head|hidden|theta|type|arch|window|alibi|bias|weight_map|embed)[^"]*"\s*:[^\n]*'
)
_NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


@dataclass(frozen=True)
class Original:
    """A good file: its bytes, where its header lies, and its ending."""

    name: str
    data: bytes
    header: tuple[tuple[int, int], ...]
    suffix: str


# --------------------------------------------------------------------------- good files


def build_originals(kind: str) -> list[Original]:
    """Make several good files of a format."""
    built = {
        "npy": _build_npy,
        "npz": _build_npz,
        "safetensors": _build_safetensors,
        "csv": _build_csv,
        "json": _build_json,
    }[kind]()
    suffix = f".{kind}"
    return [
        Original(name, data, tuple(_find_header(kind, data)), ".index.json" if name.startswith("index") else suffix)
        for name, data in built
    ]


def _draw(shape: tuple[int, ...], dtype: object = np.float64) -> np.ndarray:
    numbers = np.random.default_rng(sum(shape)).standard_normal(shape) * 20
    return numbers.astype(np.dtype(dtype))


def _pack_npy(array: np.ndarray, version: tuple[int, int] = (1, 0)) -> bytes:
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a version that is newer than the array needs
        np.lib.format.write_array(stream, array, version=version, allow_pickle=False)
    return stream.getvalue()


def _build_npy() -> Iterator[tuple[str, bytes]]:
    for dtype in ("<f2", "<f4", ">f8", "<f8", "|i1", ">i2", "<i8", "|u1", "<u4", ">u8"):
        yield f"type {dtype}", _pack_npy(np.abs(_draw((12, 8))).astype(dtype))
    yield "in Fortran order", _pack_npy(np.asfortranarray(_draw((9, 16), "<f4")))
    yield "of version 2", _pack_npy(_draw((6, 4)), (2, 0))
    yield "of version 3", _pack_npy(_draw((6, 4), "<f4"), (3, 0))
    yield "with an axis for a batch", _pack_npy(_draw((1, 17, 6), "<f4"))


def _build_npz() -> Iterator[tuple[str, bytes]]:
    members = {"pos_embed": _draw((16, 8), "<f4"), "bias": _draw((8,)), "wte.weight": _draw((20, 8), "<f2")}
    for name, save_members in (("stored", np.savez), ("compressed", np.savez_compressed)):
        stream = io.BytesIO()
        save_members(stream, **members)
        yield name, stream.getvalue()
        stream = io.BytesIO()
        save_members(stream, table=np.asfortranarray(_draw((10, 6), ">f8")))
        yield f"one member {name}", stream.getvalue()
    yield "in 64 bits, with a comment", _zip({"a.npy": _pack_npy(_draw((5, 4)))}, zipfile.ZIP_STORED, wide=True)


def _zip(members: dict[str, bytes], method: int, *, wide: bool = False) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            with archive.open(zipfile.ZipInfo(name), "w", force_zip64=wide) as member:
                member.write(data)
    return stream.getvalue()


def _build_safetensors() -> Iterator[tuple[str, bytes]]:
    for name, dtype in (("F32", "f4"), ("F64", "f8"), ("F16", "f2"), ("BF16", ml_dtypes.bfloat16), ("I16", "i2")):
        yield f"one {name}", save({"pos_embed": _draw((10, 6), dtype)})
    several = {"h.wpe.weight": _draw((16, 4), "f4"), "h.wte.weight": _draw((30, 4), "f4"), "ln.bias": _draw((4,), "f4")}
    yield "several", save(several)
    yield "several with metadata", save({**several, "flags": np.zeros(3, bool)}, {"format": "pt", "note": "x : y"})
    yield "without a known name", save({"weight": _draw((1, 9, 4), ml_dtypes.bfloat16)})


def _build_csv() -> Iterator[tuple[str, bytes]]:
    rows = [[f"{cell!r}" for cell in row] for row in _draw((12, 5)).tolist()]
    plain = "".join(",".join(row) + "\n" for row in rows)
    yield "plain", plain.encode()
    yield "with a header", f"position,e0,e1,e2,e3\n{plain}".encode()
    yield "with a mark and CRLF", f"\N{BYTE ORDER MARK}a,b,c,d,e\n{plain}".replace("\n", "\r\n").encode()
    yield "quoted", ('"a, b","c ""d""",e,f,g\n' + "".join(f'"{row[0]}",{",".join(row[1:])}\n' for row in rows)).encode()
    yield "in other spellings", b"# 1\n+1.5e-3,2,.5\n-0,1E+2,3.\n 4 ,5,6"


def _build_json() -> Iterator[tuple[str, bytes]]:
    names = ("llama-3.1-8b", "gemma-3-4b-it", "deepseek-v3", "phi-4-mini-instruct", "gpt2", "qwen2-vl-7b-instruct")
    names += ("t5-small", "bloom-560m", "modernbert-base", "whisper-tiny", "olmo-3.1-32b-instruct", "gpt-oss-20b")
    for name in names:
        yield name, (MODELS / f"{name}.json").read_bytes()
    places = {"h.wpe.weight": "first.safetensors", "wte.weight": "second.safetensors", "ln": "second.safetensors"}
    yield "index", json.dumps({"metadata": {"total_size": 1000}, "weight_map": places}, indent=1).encode()
    yield "index of one", json.dumps({"weight_map": {"h.wpe.weight": "first.safetensors"}}).encode()


def write_shards(folder: Path) -> None:
    """Write the shards that the indices of checkpoints lead to."""
    (folder / "first.safetensors").write_bytes(save({"h.wpe.weight": _draw((16, 4), "f4")}))
    (folder / "second.safetensors").write_bytes(save({"wte.weight": _draw((9, 4), "f4"), "ln": _draw((4,), "f4")}))


def _find_header(kind: str, data: bytes) -> Iterator[tuple[int, int]]:
    """Give the places of a file that say what the rest of it means."""
    if kind == "npy":
        yield 0, data.index(b"\n") + 1
    elif kind == "safetensors":
        yield 0, 8 + struct.unpack("<Q", data[:8])[0]
    elif kind == "csv":
        yield 0, data.index(b"\n", data.index(b"\n") + 1)
    elif kind == "json":
        yield from (match.span() for match in _ENTRY.finditer(data))
    else:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist():
                # the member's own header too, where it is not compressed
                end = data.find(b"\n", info.header_offset) if info.compress_type == zipfile.ZIP_STORED else -1
                yield info.header_offset, max(end, info.header_offset + 30 + len(info.filename) + 20)
            yield archive.start_dir, len(data)


# --------------------------------------------------------------------------- damage to bytes


def _flip_bits(data: bytearray, place: int, draw: random.Random) -> None:
    for _ in range(draw.randint(1, 4)):
        data[min(len(data) - 1, place + draw.randrange(4))] ^= 1 << draw.randrange(8)


def _set_bytes(data: bytearray, place: int, draw: random.Random) -> None:
    data[place] = draw.choice(_SPECIAL_BYTES)


def _cut(data: bytearray, place: int, draw: random.Random) -> None:
    del data[place:]


def _insert(data: bytearray, place: int, draw: random.Random) -> None:
    piece = draw.randbytes(draw.randint(1, 9)) if draw.random() < 0.5 else bytes(draw.choices(_SPECIAL_BYTES, k=3))
    data[place:place] = piece


def _delete(data: bytearray, place: int, draw: random.Random) -> None:
    del data[place : place + draw.randint(1, 24)]


def _double(data: bytearray, place: int, draw: random.Random) -> None:
    data[place:place] = data[place : place + draw.randint(1, 200)] * draw.choice((1, 1, 2, 300))


def _set_integer(data: bytearray, place: int, draw: random.Random) -> None:
    width, value = draw.choice((2, 4, 8)), draw.choice(_ODD_INTEGERS)
    data[place : place + width] = (value % 256**width).to_bytes(width, draw.choice(("little", "big")))


def _set_number(data: bytearray, place: int, draw: random.Random) -> None:
    """Replace the next number in digits by an odd one."""
    match = _NUMBER.search(data, place) or _NUMBER.search(data)
    if match:
        data[slice(*match.span())] = draw.choice(_ODD_NUMBERS).encode()


def _nest(data: bytearray, place: int, draw: random.Random) -> None:
    depth = draw.choice((1, 5, 70, 3000, 100_000))
    opening, closing = draw.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")"), (b'"', b'"')))
    data[place:place] = opening * depth + (b"1" + closing * depth if draw.random() < 0.5 else b"")


ByteDamage = Callable[[bytearray, int, random.Random], None]
_BYTE_DAMAGES: dict[str, ByteDamage] = {
    "bits flipped": _flip_bits,
    "bytes set": _set_bytes,
    "cut off": _cut,
    "bytes inserted": _insert,
    "bytes deleted": _delete,
    "a piece twice": _double,
    "an integer set": _set_integer,
    "an odd number": _set_number,
    "nested": _nest,
}
#: Those that leave the length of the file.
_IN_PLACE = ("bits flipped", "bytes set", "an integer set")


# --------------------------------------------------------------------------- damage that keeps the form


def _twist_text(text: bytes, draw: random.Random) -> bytes:
    """Change a header in words: an odd number, an entry given twice, a word of another."""
    way = draw.randrange(4)
    changed = bytearray(text)
    if way == 0:
        _set_number(changed, draw.randrange(max(1, len(text))), draw)
    elif way == 1:
        entries = list(re.finditer(rb"""(["'])[^"']*\1\s*:\s*(?:\{[^{}]*\}|\([^()]*\)|\[[^][]*\]|[^,{}]+)""", text))
        if entries:
            chosen = draw.choice(entries)
            changed[chosen.start() : chosen.start()] = chosen[0] + b", "
    elif way == 2:
        words = (b"<f4", b">f8", b"|O", b"<f2", b"|b1", b"<c16", b"<U4", b"F32", b"F64", b"BF16", b"I8", b"F8_E4M3")
        match = re.search(rb"[<>|][a-zA-Z][0-9]|[FIU][0-9]+|BF16", text)
        if match:
            changed[slice(*match.span())] = draw.choice(words)
    else:
        lists = list(re.finditer(rb"[([][0-9, ]*[)\]]", text))
        if lists:
            sizes = [str(draw.choice((0, 1, 2, 4, 8, 16, 96, 2**20, 2**32, 2**62))) for _ in range(draw.randint(0, 5))]
            chosen = draw.choice(lists)
            changed[chosen.start() + 1 : chosen.end() - 1] = ", ".join(sizes).encode()
    return bytes(changed)


def _refit_npy(data: bytes, draw: random.Random) -> bytes:
    """Change the header of a .npy file, its length corrected; sometimes the data fit the new shape."""
    wide = data[6] > 1
    start = 12 if wide else 10
    header = _twist_text(data[start : data.index(b"\n")], draw) + b"\n"
    body = data[data.index(b"\n") + 1 :]
    length = len(header).to_bytes(4, "little") if wide else (len(header) % 65536).to_bytes(2, "little")
    file = data[:8] + length + header
    sizes = re.search(rb"'shape': \(([0-9, ]{,80})\)", header)
    if sizes is not None and draw.random() < 0.6:
        count = 8
        for size in sizes[1].split(b","):
            count *= int(size) if size.strip() else 1
        body = (body * 20)[: min(count, 20_000)]
    return file + body


def _refit_npz(data: bytes, draw: random.Random) -> bytes:
    """Damage one member of an archive and write the archive anew, every length and checksum right."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    name = draw.choice(list(members))
    way = draw.randrange(5)
    if way < 3:
        members[name] = _refit_npy(members[name], draw)
    elif way == 3:
        members[name] = damage_bytes(members[name], [(0, 128)], draw)[0]
    else:
        odd = draw.choice(("../x.npy", "/x.npy", "a\\..\\b.npy", "x.txt", ".npy", "a\nb.npy", "é" * 90 + ".npy", name))
        members = {**members, odd: members[name]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name that is given twice
        return _zip(members, draw.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)), wide=draw.random() < 0.3)


def _refit_safetensors(data: bytes, draw: random.Random) -> bytes:
    """Change the header of a .safetensors file, its length corrected."""
    length = struct.unpack("<Q", data[:8])[0]
    header = _twist_text(data[8 : 8 + length], draw)
    body = data[8 + length :]
    if draw.random() < 0.2:
        body = (body * 3)[: draw.choice((0, len(body) // 2, len(body) * 2))]
    return struct.pack("<Q", len(header)) + header + body


def _refit_csv(data: bytes, draw: random.Random) -> bytes:
    """Change every line in the same way: a cell fewer, one more, another separator, an odd number."""
    ending = b"\r\n" if b"\r\n" in data else b"\n"
    lines = data.split(ending)
    way = draw.randrange(5)
    if way == 0:
        lines = [line.rpartition(b",")[0] for line in lines]
    elif way == 1:
        lines = [line + b"," + draw.choice(_ODD_NUMBERS).encode() for line in lines if line]
    elif way == 2:
        lines = [line.replace(b",", draw.choice((b";", b"\t", b" ", b"|"))) for line in lines]
    elif way == 3:
        lines = lines * draw.choice((2, 40))
    else:
        lines[0] = b",".join(draw.choice((b"a", b"lag", b"1", b"=1", b"nan", b'"q"', b"")) for _ in range(5))
    return ending.join(lines)


def _refit_json(data: bytes, draw: random.Random) -> bytes:
    """Replace, take away or add one value somewhere in the object, and write it anew."""
    found = json.loads(data)
    place, key = found, None
    while key is None or (isinstance(place[key], dict) and place[key] and draw.random() < 0.7):
        place = found if key is None else place[key]
        key = draw.choice(list(place))
    odd = (-1, 0, 1, 2.5, 1e308, 2**63, 10**300, True, None, "", "x" * 9000, "é\n\x1b[0m", [], {}, [1, None], {"a": []})
    kept = place[key]
    way = draw.randrange(4)
    if way == 0:
        del place[key]
    elif way == 1:
        place[draw.choice(("rope_scaling", "head_dim", "rope_theta", "layer_types", "rope_parameters"))] = kept
    elif isinstance(kept, list) and kept and way == 2:
        kept[draw.randrange(len(kept))] = draw.choice(odd)
    else:
        place[key] = draw.choice(odd)
    text = json.dumps(found, ensure_ascii=False)
    if draw.random() < 0.15 and "," in text:
        text = "{" + text[1:].partition(",")[0] + ", " + text[1:]
    return text.encode()


_REFITS = {
    "npy": _refit_npy,
    "npz": _refit_npz,
    "safetensors": _refit_safetensors,
    "csv": _refit_csv,
    "json": _refit_json,
}


def damage_bytes(
    data: bytes, places: Sequence[tuple[int, int]], draw: random.Random, ways: Sequence[str] = tuple(_BYTE_DAMAGES)
) -> tuple[bytes, str]:
    """Do one to three things to bytes within `places`, each a first and a last one."""
    changed, names = bytearray(data), []
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        if not changed:
            break
        start, end = draw.choice(places)
        name = draw.choice(ways)
        _BYTE_DAMAGES[name](changed, min(draw.randrange(start, max(start + 1, end)), len(changed) - 1), draw)
        names.append(name)
    return bytes(changed), " + ".join(names)


def damage(kind: str, number: int, originals: list[Original]) -> tuple[Original, bytes, str]:
    """Make damaged file `number` of a format: the original, the bytes, and what was done to it."""
    draw = random.Random(f"{kind} {number}")
    original = draw.choice(originals)
    in_header = draw.random() < _HEADER_SHARE
    while True:
        data, way = _damage_once(kind, original, originals, draw, in_header)
        if hits_header(original, data) if in_header else data != original.data:
            return original, data, f"{'header' if in_header else 'data'}: {way}"


def _damage_once(
    kind: str, original: Original, originals: list[Original], draw: random.Random, in_header: bool
) -> tuple[bytes, str]:
    places = original.header if in_header else _find_gaps(original)
    chance = draw.random()
    if in_header and chance < 0.4:
        return _REFITS[kind](original.data, draw), "form kept"
    if chance < 0.5:
        start, end = draw.choice(places)
        other = draw.choice(originals).data
        return original.data[: draw.randrange(start, end)] + other[draw.randrange(len(other)) :], "two spliced"
    in_place = not in_header and draw.random() < 0.5  # else no table of binary numbers is ever read
    return damage_bytes(original.data, places, draw, _IN_PLACE if in_place else tuple(_BYTE_DAMAGES))


def _find_gaps(original: Original) -> Sequence[tuple[int, int]]:
    """Give the places of a file outside its header; all of it where there are none."""
    ends = [0, *(end for _, end in original.header)]
    starts = [*(start for start, _ in original.header), len(original.data)]
    return [(a, b) for a, b in zip(ends, starts, strict=True) if a < b] or [(0, len(original.data))]


def hits_header(original: Original, data: bytes) -> bool:
    """Whether any byte of the header differs, or stands elsewhere."""
    return any(original.data[a:b] != data[a:b] for a, b in original.header)
