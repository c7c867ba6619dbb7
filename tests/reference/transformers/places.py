"""Measure in which places of a file every rotary class reads the base, the share and the length before scaling.

Adds to the table of a release that `probe.py` has written what differs from most classes, by the names of `KnownModel`.
In the environment of probe.py, on one core, some minutes:
ENV/bin/python tests/reference/transformers/places.py pe_spectra/models/measured/transformers-5.24.0.json

A class is given the key by itself, beside rope_scaling and beside rope_parameters, and blocks without it.
"""

import sys

import release_table
from probe import BLOCK, LLAMA3, ORIGINAL, SHARES, YARN, Probe
from real_modules import Release

PLAIN, SHARE = {"rope_type": "default"}, SHARES[0]
LINEAR = {"rope_type": "linear", "factor": 4.0}
#: What is added; a class that has none of these is as most are.
FIELDS = ("share_beside", "share_fixed", "reads_older", "block_shares", "flat_share", "base_types", "needs_original")


def reads_share(probe, beside):
    """Whether partial_rotary_factor on top of a file, beside these keys, narrows what is turned; None: refused."""
    whole = probe.look(beside)
    found = [probe.look(beside | {SHARE: share}) for share in (0.5, 0.25)]
    return None if whole is None or None in found else found != [whole, whole]


def measure_share(probe, known):
    """Beside which blocks the share on top is read, and whether one is read at all."""
    newer = probe.put(LINEAR | {"rope_theta": 25000.0})
    places = {"": {}, "rope_scaling": {"rope_scaling": LINEAR}, "rope_parameters": newer}
    read = [name for name, keys in places.items() if reads_share(probe, keys)]
    inside = probe.look(probe.put(LINEAR | {"rope_theta": 25000.0, SHARE: 0.5}))
    reads = known.get("reads_share")
    if not (read or reads) and known.get("reads_blocks", True) and inside is not None and inside == probe.look(newer):
        return {"share_fixed": True}
    if not reads or known.get("share_key", SHARE) != SHARE:
        return {}
    return {"share_key": ""} if not read else {} if "" in read else {"share_beside": read}


def find_share(pairs, whole, own):
    """The share that leaves so many pairs of all: one that the class has itself where one does."""
    return next((one for one in own if one and int(2 * whole * one) == 2 * pairs), round(pairs / whole, 3))


def find_shares(probe, known, block):
    """The share that is turned in each type of layer where its block has none."""
    bare, whole = (probe.look(probe.put(one)) for one in (block, block | {SHARE: 1.0}))
    own = [one.get(SHARE) for one in (known.get("scaling") or {}).values() if isinstance(one, dict)]
    return {name: find_share(len(bare[name][0]), len(whole[name][0]), own) for name in bare} if bare and whole else {}


def measure_blocks(probe, known):
    """The share of blocks by layer type that have none, and whether one in a flat block is read."""
    if not (probe.is_nested and known.get("reads_share")):
        return {}
    theta, found = PLAIN | {"rope_theta": 5000.0}, {}
    plain, scaled = (find_shares(probe, known, block) for block in (theta, theta | LINEAR))
    if {*plain.values(), *scaled.values()} - {known.get("share", 1.0)}:
        found["block_shares"] = {name: [plain[name], scaled[name]] for name in plain}
    flat = [probe.look({BLOCK: theta | {SHARE: share}}) for share in (1.0, 0.5)]
    if known.get("takes_flat") and flat[0] is not None and flat[0] == flat[1]:
        found["flat_share"] = False
    return found


def measure_bases(probe, known):
    """Whether rope_scaling is read, whether a block needs its base, and the types of layers that one on top is of."""
    found = {}
    if known.get("reads_blocks", True) and probe.look({"rope_scaling": LINEAR}) == probe.default:
        found["reads_older"] = False
    bare = probe.put(PLAIN)
    if not probe.is_nested and not probe.look(bare) and probe.look(probe.put(PLAIN | {"rope_theta": 5000.0})):
        found["needs"] = [*{**dict.fromkeys(known.get("needs", ())), "rope_theta": None}]
    if probe.is_nested and "scaling" in known:
        top = probe.look({"rope_theta": 12345.0}) or {}
        found["base_types"] = [name for name in top if top[name] != probe.default.get(name)]
    return {key: value for key, value in found.items() if value != []}


def measure_original(probe):
    """The blocks that are refused without the length before scaling, and taken with it."""
    pairs = probe.count()
    lists = {"short_factor": [1.0] * pairs, "long_factor": [2.0] * pairs}
    scalings = [drop(YARN), drop(LLAMA3), {"rope_type": "longrope", "factor": 4.0} | lists]
    found = []
    for place in ("rope_parameters", "rope_scaling"):
        for block in (one | {"rope_theta": 25000.0} for one in scalings):
            lacking, whole = (
                {place: probe.nest(one) if place == BLOCK else one} for one in (block, block | {ORIGINAL: 2048})
            )
            if not probe.look(lacking) and probe.look(whole):
                found.append(place)
                break
    return {"needs_original": found} if found else {}


def drop(block):
    return {key: value for key, value in block.items() if key != ORIGINAL}


def main():
    """Write what was measured into the table, and say a line of each class."""
    table = release_table.load(sys.argv[1])
    release, classes = Release(), table["classes"]
    for name, cls in sorted(release.list_classes().items()):
        if name not in classes or (sys.argv[2:] and name not in sys.argv[2:]):
            continue
        known = {key: value for key, value in classes[name].items() if key not in FIELDS}
        probe = Probe(release, name, cls)
        if probe.default:
            found = measure_share(probe, known) | measure_blocks(probe, known) | measure_bases(probe, known)
            found |= measure_original(probe) if known.get("reads_blocks", True) else {}
            classes[name] = known | found
            if found:
                print(name, found, flush=True)
    release_table.save(table)


if __name__ == "__main__":
    main()
