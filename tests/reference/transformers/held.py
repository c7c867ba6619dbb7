"""Draw configurations of every rotary class by another seed and other numbers; freeze what transformers makes of them.

    ENV/bin/python tests/reference/transformers/held.py SEED

in the environment of probe.py; it writes held-VERSION.json.gz beside this file. What is read here was mended by what
draw.py, refusals.py and nulls.py have drawn, so it is judged by what they have not: of every class four configurations,
one by the rules of draw.py, one by two of these, one by those of refusals.py, and one by both, each with its
frequencies or the error that the class, its rotary modules or its whole model raise. Every second one of a class that
turns nothing without a switch has it, and for releases 4 two of three that have newer keys are written with older ones.
"""

import random
import sys

import draw
from probe import IS_OLD
from real_modules import Release
from refusals import WAYS, list_models, write_cases

draw.BASES, draw.SHARES = (1234.5, 10000, 8e4, 500000.0, 1e7), (0.125, 0.25, 0.3, 0.5, 0.9)


def draw_configurations(chosen, config):
    """The four configurations of one class."""
    yield chosen.choice(draw.WAYS)(chosen, config)
    one, two = chosen.sample(draw.WAYS, 2)
    length = draw.draw_length(chosen, config) if chosen.random() < 0.5 else {}
    yield one(chosen, config) | two(chosen, config) | length
    yield chosen.choice(WAYS)(chosen, config)
    yield chosen.choice(draw.WAYS)(chosen, config) | chosen.choice(WAYS)(chosen, config)


def spell_older(keys):
    """The same keys with a block as releases 4 know it, whose base is beside it."""
    block = keys.get("rope_parameters")
    if not isinstance(block, dict) or "rope_scaling" in keys:
        return keys
    theta = {key: block[key] for key in ("rope_theta",) if key in block}
    rest = {key: value for key, value in block.items() if key != "rope_theta"}
    return {key: value for key, value in keys.items() if key != "rope_parameters"} | theta | {"rope_scaling": rest}


def main():
    release, seed, cases = Release(), sys.argv[1], []
    for model, cls, config, name in list_models(release):
        chosen = random.Random(f"{seed} {model}")
        switch = release.switches.get(cls) or {}
        for index, found in enumerate(draw_configurations(chosen, config)):
            found = spell_older(found) if IS_OLD and chosen.random() < 2 / 3 else found
            keys = {"model_type": model} | (switch if index % 2 else {}) | ({name: found} if name else found)
            asked = draw.draw_asked(chosen, found)
            cases.append([keys, asked, draw.compute_whole(release, cls, keys, asked)])
        print(model, len(cases), file=sys.stderr, flush=True)
    write_cases(cases, "held", "tests/reference/transformers/held.py", seed)


if __name__ == "__main__":
    main()
