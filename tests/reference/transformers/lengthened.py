"""What the real classes of an installed transformers make of the files that `context --write` writes.

In its environment, from the root of the repository, some minutes:
ENV/bin/python -m tests.reference.transformers.lengthened
Each public configuration of tests/models, and the defaults of some classes, is lengthened to twice and to eight times
its context, the new file is loaded by its class, and each rotation that the package reads of the parts that were
written is looked for among the rotary modules of the real model. What differs is printed. The file beside this script
has what the modules have: of each type of layers the number of pairs, three frequencies and the attention factor.
With model_types as arguments it compares their defaults and writes nothing.
"""

import hashlib
import json
import sys
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from pe_spectra.errors import PeSpectraError
from pe_spectra.models.lengths.plans import plan_lengthening
from pe_spectra.models.rotation import Rotation
from pe_spectra.models.stacks import find_stack
from pe_spectra.models.stated.configuration import read_configuration

FOLDER, MODELS = Path(__file__).parent, Path(__file__).parents[2] / "models"
#: Classes whose defaults are lengthened, beside the public configurations: several parts, types of layers, scalings.
CLASSES = ("t5gemma", "t5gemma2", "dia", "modernbert", "gpt_oss", "gemma3", "llava", "csm")
TIMES = (2, 8)
#: How close frequencies of float32 come to those that are promised.
CLOSE = 2e-6


def list_files():
    """Every configuration by name."""
    for path in sorted(MODELS.glob("*.json")):
        if path.name != "EXPECTED.json":
            yield path.stem, json.loads(path.read_text(encoding="utf-8"))
    yield from ((name, {"model_type": name}) for name in CLASSES)


def lengthen(config, times, release):
    """The new configuration for so many times the length that the file states, and the target; None for none."""
    stack = find_stack(f"transformers=={release}", "")
    try:
        stated = read_configuration(config, "config.json")
        if stated.scheme == "rotary" and stated.length is not None:
            target = times * stated.length
            return plan_lengthening(stated, config, target=target, stack=stack)[0].configuration, target
    except PeSpectraError:
        pass
    return None, 0


def sign(keys):
    """What tells one configuration from another."""
    return hashlib.sha256(json.dumps(dict(keys), sort_keys=True).encode()).hexdigest()[:12]


def list_promised(found, target, release):
    """What the package reads of the parts that were written: part, type of layer, frequencies, attention factor."""
    new, stack = read_configuration(found.keys, "config.json"), find_stack(f"transformers=={release}", "")
    alike = [one for one in new.parts if f"{one.where}.".startswith(tuple(f"{part}." for part in found.alike))]
    for part in (new, *alike):
        for layer in part.layers:
            turned = stack.read(part, layer, target)
            if layer.turns and isinstance(turned, Rotation):
                values = sorted((float(one) for one in turned.frequencies if one), reverse=True)
                yield part.part, layer.name, values, turned.attention_scaling


def list_real(release, keys, target):
    """Frequencies and attention factor of each rotary module of its class; None where there is no such class."""
    from real_modules import list_rotations

    cls = release.list_classes().get(keys.get("model_type"))
    if cls is None:
        return None
    modules = release.build(cls.from_dict(json.loads(json.dumps(dict(keys)))))
    found = [list_rotations({path: module}, target) for path, module in modules.items()]
    return [
        (sorted((float(one) for one in values if one), reverse=True), factor)
        for types in found
        for values, factor in types.values()
    ]


def is_near(one, other):
    """Whether two lists of numbers are the same but for rounding."""
    return len(one) == len(other) and all(abs(a - b) <= CLOSE * b for a, b in zip(one, other, strict=True))


def examine(release, name, config, times):
    """What the real class has for each rotation that is promised; None without a new file, or a class for it."""
    found, target = lengthen(config, times, version("transformers"))
    real = None if found is None else list_real(release, found.keys, target)
    if real is None:
        return None
    layers = []
    for part, layer, values, factor in list_promised(found, target, version("transformers")):
        near = [one for one in real if is_near([*one[0], one[1]], [*values, factor])]
        if not near:
            print(
                f"{name} x{times}: {part or 'the whole'}, {layer}: {values[:2]} .. {values[-1]}, {factor} is promised"
            )
            layers.append([part, layer, None])
            continue
        has, scaling = near[0]
        layers.append(
            [part, layer, len(has), [float(f"{has[i]:.7g}") for i in (1, len(has) // 2, -1)], round(scaling, 7)]
        )
    return {"name": name, "times": times, "file": sign(found.keys), "layers": layers}


def main():
    """Compare every configuration, or the defaults of the classes that are named, and write what was found."""
    from real_modules import Release

    wanted, release = sys.argv[1:], Release()
    files = [(name, {"model_type": name}) for name in wanted] or list_files()
    rows = [examine(release, name, config, times) for name, config in files for times in TIMES]
    rows = [row for row in rows if row is not None]
    print(len(rows), "files,", sum(any(None in one for one in row["layers"]) for row in rows), "differ")
    if not wanted:
        text = ",\n".join(json.dumps(row) for row in rows)
        (FOLDER / f"lengthened-{version('transformers')}.json").write_text(f"[{text}]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
