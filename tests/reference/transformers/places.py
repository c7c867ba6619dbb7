"""Measure in which places of a file every rotary class reads the base, the share and the length before scaling.

Adds to the table of a release that `probe.py` has written what differs from most classes, by the names of `KnownModel`.
In the environment of probe.py, on one core, some minutes:
ENV/bin/python tests/reference/transformers/places.py pe_spectra/models/measured/transformers-5.24.0.json

A class is given the key by itself, beside rope_scaling and beside rope_parameters, and blocks without it. Releases 4
have one place for each, so of their classes it is measured what null means, and whether a share in a block is read.
"""

import random
import sys

import release_table
from draw import compute_whole
from probe import BLOCK, HEADS, IS_OLD, LENGTH, LLAMA3, ORIGINAL, SHARES, YARN, Probe
from real_modules import Release, ask
from refusals import KINDS, make_block

PLAIN, SHARE = {"rope_type": "default"}, SHARES[0]
LINEAR = {"rope_type": "linear", "factor": 4.0}
#: What is added; a class that has none of these is as most are.
FIELDS = ("share_beside", "share_fixed", "reads_older", "block_shares", "flat_share", "base_types", "needs_original")
FIELDS += ("joint_shares", "older_share", "type_keys", "proportional", "whole_blocks", "reads_original")
FIELDS += ("null_share", "null_head", "turns_null", "turns_by_base", "built_with_length", "inner_base", "both")
FIELDS += ("null_scaling", "unset_rotary", "least_width")


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
        found |= {"joint_shares": True} if is_joint(probe, theta) else {}
    flat = [probe.look({BLOCK: theta | {SHARE: share}}) for share in (1.0, 0.5)]
    if known.get("takes_flat") and flat[0] is not None and flat[0] == flat[1]:
        found["flat_share"] = False
    return found


def measure_inside(probe, known):
    """Whether a share is read, and whether one in a block is, as releases 4 have it beside the block."""
    may_read = known.get("reads_share") or known.get("share_key") or not known.get("reads_blocks", True)
    if not may_read and reads_share(probe, {}) is False:
        return {"share_fixed": True}
    bare, inside = (probe.look({BLOCK: one}) for one in (LINEAR, LINEAR | {SHARE: 0.5}))
    is_read = known.get("reads_share") or known.get("share_key")
    return {"flat_share": False} if is_read and bare and bare == inside else {}


def is_joint(probe, plain):
    """Whether a plain block among scaled ones is turned as wide as these are, where it is not by itself."""
    blocks = dict.fromkeys(probe.names, plain | LINEAR)
    mixed = [probe.look({BLOCK: blocks | {name: plain}}) for name in blocks]
    scaled, alone = probe.look({BLOCK: blocks}), probe.look({BLOCK: dict.fromkeys(blocks, plain)})
    if None in (*mixed, scaled, alone):
        return False
    widths = [[len(one[name][0]) for one in (found, scaled, alone)] for name, found in zip(blocks, mixed, strict=True)]
    return all(among == wide != own for among, wide, own in widths)


def measure_older(probe, known):
    """The share of rope_scaling that has none, where rope_parameters without one are turned otherwise."""
    theta = LINEAR | {"rope_theta": 25000.0}
    older, newer, whole = map(probe.look, ({"rope_scaling": theta}, probe.put(theta), probe.put(theta | {SHARE: 1.0})))
    if probe.is_nested or not (older and newer and whole and known.get("reads_blocks", True)):
        return {}
    counts = [len(next(iter(one.values()))[0]) for one in (older, newer, whole)]
    if counts[0] == counts[1]:
        return {}
    top = {"share_key": SHARE, "share_beside": ["rope_scaling"]} if reads_share(probe, {"rope_scaling": theta}) else {}
    return top | {"older_share": find_share(counts[0], counts[2], ())}


def measure_types(probe, known):
    """Of each type of layer the key that has its width, where that of others stays as it is."""
    found, whole = {}, ask(probe.config, "head_dim")
    if len(probe.labels) < 2 or "full_head_dim" in known or not isinstance(whole, int):
        return {}
    for key in (*HEADS, *(f"swa_{one}" for one in HEADS)):
        for value in (whole // 8, whole // 4 + 8):  # the part that is not turned makes up a head
            rest = {key.replace("rope", "nope"): whole - value} if key.startswith("swa_") and "rope" in key else {}
            seen = probe.look({key: value} | rest) or {}
            moved = [name for name in seen if seen[name] != probe.default[name]]
            if moved and len(moved) < len(seen) and all(2 * len(seen[name][0]) == value for name in moved):
                found |= dict.fromkeys(moved, key)
    return {"type_keys": found} if found else {}


def measure_proportional(probe):
    """Of each type of layer the key, if any, and the width of a head of which proportional turns a share.

    What is as for other scalings is not named; an odd head has one pair less, for others round it up.
    """
    theta = {"rope_theta": 25000.0, SHARE: 1.0}
    block = theta | {"rope_type": "proportional"}
    whole, usual = probe.look(probe.put(block)), probe.look(probe.put(theta | LINEAR))
    if not (whole and usual):
        return {}
    widths = {name: 2 * len(whole[name][0]) for name in whole if abs(len(whole[name][0]) - len(usual[name][0])) > 1}
    found = {}
    for name, width in widths.items():
        seen = {key: probe.look({key: width // 2} | probe.put(block)) for key in HEADS}
        keys = [key for key, one in seen.items() if one and 4 * len(one[name][0]) == width]
        found[name] = [*keys[:1], width]
    return {"proportional": found} if found else {}


def measure_whole(probe):
    """The types of layers, where a block for one of them is not read unless each has one."""
    if len(probe.names) < 2 or not probe.is_nested:
        return {}
    block = {"rope_type": "default", "rope_theta": 25000.0}
    alone = [probe.look({BLOCK: {name: block}}) for name in probe.names]
    every = probe.look(probe.put(block))
    is_unread = every != probe.default and all(one == probe.default for one in alone)
    return {"whole_blocks": list(probe.names)} if is_unread else {}


def measure_both(probe):
    """Which of rope_scaling and blocks by type of layer is read where both are, or that both are refused."""
    if not probe.is_nested:
        return {}
    newer, older = probe.put({"rope_type": "linear", "factor": 8.0, "rope_theta": 25000.0}), {"rope_scaling": LINEAR}
    alone, others, both = (probe.look(one) for one in (older, newer, newer | older))
    if both is None:
        return {"both": "refused"} if alone and others else {}
    return {"both": "older" if both == alone else "newer"} if alone != others and both in (alone, others) else {}


def measure_beside(probe):
    """Whether the length before scaling is read beside a flat block."""
    block = drop(YARN) | {"rope_theta": 25000.0}
    for place in ("rope_scaling", "rope_parameters"):
        bare, beside, inside = (
            probe.look(one) for one in ({place: block}, {place: block, ORIGINAL: 512}, {place: block | {ORIGINAL: 512}})
        )
        if bare and inside and bare != inside:
            return {"reads_original": False} if bare == beside else {}
    return {}


def measure_bases(probe, known):
    """Whether rope_scaling is read, whether a block needs its base, and the types of layers that one on top is of."""
    found = {}
    scaled = LINEAR | {"rope_theta": 25000.0} if known.get("base_only") else LINEAR
    if known.get("reads_blocks", True) and probe.look({"rope_scaling": scaled}) == probe.default:
        found["reads_older"] = False
    is_bare = any(probe.look(probe.put(one)) for one in (PLAIN, LINEAR))
    if not probe.is_nested and not is_bare and probe.look(probe.put(PLAIN | {"rope_theta": 5000.0})):
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


def measure_nulls(probe, known):
    """What null means of a share, and of a width, where it is not what the class has without that key.

    And whether a type of layer whose block is null is turned, whether any is where a block has no base, and whether the
    block of the class is left out where rope_scaling is null.
    """
    found, share_key = {}, known.get("share_key", SHARE)
    null, whole = (probe.look({share_key: one}) for one in (None, 1.0)) if share_key else (None, None)
    if known.get("reads_share") and null and whole and null != probe.default:
        found["null_share"] = find_share(*(len(next(iter(one.values()))[0]) for one in (null, whole)), ())
    beside = {} if probe.look({"head_dim": None}) else probe.put(PLAIN)  # a scaling may need it
    bare, usual = probe.look({"head_dim": None} | beside), probe.look(beside)
    derived = known.get("hidden", 0) // known.get("heads", 1)
    pairs = len(next(iter((bare or {"": ((),)}).values()))[0])
    if "head_dim" in known and bare != usual and derived and pairs == (derived + 1) // 2:  # of odd heads too
        found["null_head"] = True
    unset = probe.look({known["width_key"]: 0}) if "width_key" in known else None
    if unset and 2 * len(next(iter(unset.values()))[0]) == known["hidden"]:
        found["unset_rotary"] = True
    if probe.is_nested and any(name in (probe.look({BLOCK: {name: None}}) or {}) for name in probe.names):
        found["turns_null"] = True
    if probe.default and probe.release.turns_by_base(probe.cls):
        found["turns_by_base"] = True
    if known.get("scaling") and probe.look({"rope_scaling": None}) not in (None, probe.default):
        found["null_scaling"] = True
    return found


def measure_least(probe, known):
    """The width that heads are turned by that are narrower, of those that are the hidden width over the heads."""
    if not {"hidden", "heads"} <= {*known} or not {"head_dim", "width_key"}.isdisjoint(known):
        return {}
    keys = [known.get("hidden_key", "hidden_size"), known.get("heads_key", "num_attention_heads")]
    heads = 8 * known["heads"]
    narrow, wider = (2 * probe.count(dict(zip(keys, (heads * each, heads), strict=True))) for each in (8, 16))
    return {"least_width": narrow} if narrow and narrow == wider else {}


def measure_length(probe, known):
    """The scalings that are refused unless the file states its length, as a class without one may refuse them.

    And those that are refused although it does where a base stands on top of rope_scaling, into which it goes at once.
    """
    if "yarn" not in known.get("refused", ()) or ask(probe.config, LENGTH) is not None:
        return {}
    blocks = {kind: make_block(random.Random(0), probe.config, kind) for kind in KINDS}
    places = {kind: (probe.put(block), {"rope_scaling": block}) for kind, block in blocks.items()}
    built = [
        kind
        for kind, both in places.items()
        if all(refuses(probe, one) and not refuses(probe, one | {LENGTH: 4096}) for one in both)
    ]
    beside = {kind: {"rope_scaling": drop_base(block), "rope_theta": 25000.0} for kind, block in blocks.items()}
    # it looks for the length as for an attribute that is not there yet
    early = [kind for kind, keys in beside.items() if "AttributeError" in tell_error(probe, keys | {LENGTH: 4096})]
    found = {"inner_base": early} if early else {}
    return found | ({"built_with_length": built} if built else {})


def measure_places(probe, known):
    """Where the base, the share and the length before scaling are read, and what stands for one that is not there."""
    found = measure_share(probe, known) | measure_blocks(probe, known) | measure_bases(probe, known)
    found |= measure_older(probe, known) | measure_types(probe, known) | measure_proportional(probe)
    if known.get("reads_blocks", True):
        found |= measure_original(probe) | measure_whole(probe) | measure_both(probe) | measure_beside(probe)
    return found


def refuses(probe, keys):
    """Whether the class, its rotary modules or its model as a whole raise."""
    return bool(tell_error(probe, keys))


def tell_error(probe, keys):
    """What the class, its rotary modules or its model as a whole raise; empty where none does."""
    return compute_whole(probe.release, probe.cls, probe.switch | keys, None).get("error", "")


def drop_base(block):
    return {key: value for key, value in block.items() if key != "rope_theta"}


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
            found = measure_nulls(probe, known) | measure_length(probe, known) | measure_least(probe, known)
            found |= measure_inside(probe, known) if IS_OLD else measure_places(probe, known)
            classes[name] = known | found
            if found:
                print(name, found, flush=True)
    release_table.save(table)


if __name__ == "__main__":
    main()
