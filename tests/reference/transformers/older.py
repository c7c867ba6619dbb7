"""Measure what the classes of an older release take and read otherwise than the newest; write the package's table.

    python -m venv ENV
    ENV/bin/pip install transformers==4.57.6 torch
    ENV/bin/python tests/reference/transformers/older.py

It writes pe_spectra/models/measured/transformers-VERSION.json, which has of each model_type only what differs from the
table of the newest release: the bases that a configuration has by default, and, of classes whose configurations do
not have the keys rope_theta and rope_scaling by default, whether the frequencies of the real rotary modules move with
them (probe.py, which measures all of a release, has the same tests). One core, some minutes.
"""

import datetime
import json
import sys
from importlib.metadata import version

import probe
from real_modules import Release, ask

BASE, LOCAL, SCALING, INSIDE = "rope_theta", "rope_local_base_freq", "rope_scaling", "attn_config"


def find_newest():
    """The table of the newest release that was measured."""
    paths = [path for path in probe.FOLDER.glob("transformers-5.*.json") if not path.stem.endswith("-tables")]
    (path,) = paths
    return json.loads(path.read_text(encoding="utf-8"))


def measure(release, model, cls, newest):
    """What differs, by the names of `KnownModel`; nothing where the class has no configuration by default."""
    try:
        config = cls.from_dict({})
    except Exception:
        return {}
    found, known = {}, {"default_base": 1e4, "base_key": BASE} | newest
    base, local = ask(config, BASE), ask(config, LOCAL)
    if isinstance(base, int | float) and float(base) != known["default_base"]:
        found["default_base"] = float(base)
    if isinstance(local, int | float) and float(local) != known.get("local_base", known["default_base"]):
        found["local_base"] = float(local)
    unsure = [key for key in (BASE, SCALING) if not hasattr(config, key)]
    one = probe.Probe(release, model, cls) if unsure else None
    if one is None or not one.default:
        return found
    if BASE in unsure and known["base_key"] == BASE and not one.moves({BASE: 12345.0}):
        found["base_key"] = f"{INSIDE}.{BASE}" if one.moves({INSIDE: {BASE: 12345.0}}) else ""
    linear = {"rope_type": "linear", "factor": 2.0}
    if SCALING in unsure and newest.get("reads_blocks", True) and not one.moves({SCALING: linear}):
        found["reads_blocks"] = False
    return found


def main():
    release, newest, classes = Release(), find_newest(), {}
    for model, cls in sorted(release.list_classes().items()):
        if model in newest["classes"]:
            found = measure(release, model, cls, newest["classes"][model])
            print(model, json.dumps(found), file=sys.stderr, flush=True)
            classes |= {model: found} if found else {}
    head = {"stack": "transformers", "version": version("transformers"), "torch": version("torch").partition("+")[0]}
    head |= {"date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(), "beside": newest["version"]}
    head |= {"written by": "tests/reference/transformers/older.py"}
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in sorted(classes.items()))
    path = probe.FOLDER / f"transformers-{head['version']}.json"
    path.write_text(f'{json.dumps(head)[:-1]},\n"classes": {{\n{lines}\n}}}}\n', encoding="utf-8")
    print(f"{path.name}: {len(classes)} classes, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
