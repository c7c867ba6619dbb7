"""Give every rotary class null for each key that may decide a rotation, and freeze what transformers computes of it.

    ENV/bin/python tests/reference/transformers/nulls.py

in the environment of probe.py, whose table says how a class calls its share and which have blocks by type of layer; it
writes nulls-VERSION.json.gz beside this file. Null is another thing than a key that is not set: a class may refuse it,
take it for the number that other code has, or take its own. Each key is null by itself, but for those that fields.py
asks every class about; a share also beside a block of either generation and in one, and the block of one type of layer.
Asked are classes with a share, a block, blocks by type of layer, a switch for windows or a head of null of their own.
"""

import sys
from importlib.metadata import version

import release_table
from draw import compute, compute_whole, turns_nothing
from probe import BLOCK
from real_modules import Release
from refusals import write_cases

KEYS = (
    "n_positions", "max_seq_len", "qk_nope_head_dim", "rope_parameters", "rope_interleave", "compress_rope_theta",
    "no_rope_layers", "use_sliding_window",
)  # fmt: skip
#: What a class may read though it has no such attribute.
ALWAYS = ("partial_rotary_factor", "head_dim", "original_max_position_embeddings")
#: Classes of which the table has one of these are asked.
ASKED = {"reads_share", "share", "by_type", "switched", "scaling", "null_head"}
PLAIN = {"rope_type": "default", "rope_theta": 25000.0}
LINEAR = {"rope_type": "linear", "factor": 4.0}


def list_nulls(own, known):
    """The configurations of one class, of its keys and what is known of it."""
    share = known.get("share_key") or "rotary_pct"
    yield from ({key: None} for key in dict.fromkeys((*(key for key in (*KEYS, BLOCK) if key in own), *ALWAYS, share)))
    nested = [name for name, value in (own.get(BLOCK) or {}).items() if isinstance(value, dict)]
    if known.get("reads_share"):
        share = known.get("share_key") or "partial_rotary_factor"
        blocks = (PLAIN | {"partial_rotary_factor": None}, PLAIN)
        inside, plain = ({BLOCK: dict.fromkeys(nested, one) if nested else one} for one in blocks)
        yield from (inside, {share: None} | plain, {share: None, "rope_scaling": LINEAR})
    if "share" in known or "by_type" in known:
        yield {BLOCK: {(nested or ["full_attention"])[0]: None}}


def main():
    release, cases = Release(), []
    known = release_table.load(release_table.name_file(version("transformers")))["classes"]
    for model, cls in sorted(release.list_classes().items()):
        is_asked = ASKED & known.get(model, {}).keys()
        base = compute(release, cls, {"model_type": model}, None) if is_asked else {}
        if not base or "error" in base or turns_nothing(base):
            continue
        for found in list_nulls(cls.from_dict({}).to_dict(), known[model]):
            keys = {"model_type": model} | found
            cases.append([keys, compute_whole(release, cls, keys, None)])
        print(model, len(cases), file=sys.stderr, flush=True)
    write_cases(cases, "nulls", "tests/reference/transformers/nulls.py")


if __name__ == "__main__":
    main()
