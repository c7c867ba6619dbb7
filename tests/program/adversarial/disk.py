"""What runs must have done to the disk: unchanged, or what the checks of a row say, each its own verb."""

import json
import stat
from pathlib import PurePath


def judge_files(case, codes, before, after, reference=None):
    """Judge what the runs of one workspace did to the disk; `reference` is an undisturbed run's disk."""
    checks, problems = case["expect"]["files"], []
    failed = all(code in (2, 130) for code in codes)
    if checks == "unchanged" or (failed and checks != "any"):
        problems += _compare(before, after)
    if isinstance(checks, list):
        for verb, *arguments in checks:
            judge = FILE_CHECKS[verb]
            problems += judge(_Disk(case, codes, before, after, reference), *arguments)
    return problems


def _compare(before, after):
    names = sorted(set(before) | set(after))
    verbs = [
        (name, "created" if name not in before else "removed" if name not in after else "changed") for name in names
    ]
    return [f"{name} was {verb}" for name, verb in verbs if before.get(name) != after.get(name)]


class _Disk:
    """What a check on files may look at."""

    def __init__(self, case, codes, before, after, reference):
        self.case, self.codes, self.before, self.after, self.reference = case, codes, before, after, reference


def _exists(disk, name):
    entry = disk.after.get(name)
    if entry is None:
        return [f"{name} is not there"]
    if stat.S_ISREG(entry.mode) and not is_whole(name, entry.content):
        return [f"{name} is not whole"]
    wanted = disk.reference.get(name) if disk.reference else None
    if wanted is not None and stat.S_ISREG(entry.mode) and wanted.content != entry.content:
        return [f"{name} is not what an undisturbed run writes"]
    return []


def _absent(disk, name):
    return [f"{name} is there"] if name in disk.after else []


def _same(disk, name):
    return [] if disk.after.get(name) == disk.before[name] else [f"{name} is not what it was"]


def _changed(disk, name):
    entry = disk.after.get(name)
    if entry is not None and entry.content == disk.before[name].content:
        return [f"{name} was not changed"]
    return _exists(disk, name)


def _link(disk, name):
    entry = disk.after.get(name)
    return (
        []
        if entry and stat.S_ISLNK(entry.mode) and entry == disk.before.get(name)
        else [f"{name} is not the link it was"]
    )


def _mode(disk, name, octal):
    entry = disk.after.get(name)
    mode = f"{stat.S_IMODE(entry.mode):o}" if entry else "none"
    return [] if mode == octal else [f"{name} has mode {mode} where {octal} belongs"]


def _old_or_new(disk, name):
    whole = {disk.before[name].content, disk.reference[name].content}
    entry = disk.after.get(name)
    return [] if entry and entry.content in whole else [f"{name} is neither the old nor the new file"]


def _no_temporary(disk):
    """Nothing besides what was named: by the checks, or as a place on the command line."""
    named = {check[1] for check in disk.case["expect"]["files"] if len(check) > 1} | set(disk.before)
    places = set(disk.case["argv"])
    strays = []
    for name in sorted(set(disk.after) - named):
        path = PurePath(name)
        below = any(str(parent) in places for parent in path.parents) and not path.name.startswith(".")
        if not (name in places or (below and path.suffix != ".tmp")):
            strays.append(f"{name} was left")
    return strays


def _if_0_exists(disk, name):
    return _exists(disk, name) if disk.codes == [0] else []


def _if_2_unchanged(disk):
    return _compare(disk.before, disk.after) if disk.codes == [2] else []


def _same_bytes(disk, name):
    """Compared between repeats by `judge_together`; here it has to be there."""
    return [] if name in disk.after else [f"{name} is not there"]


FILE_CHECKS = {
    "exists": _exists,
    "absent": _absent,
    "same": _same,
    "changed": _changed,
    "link": _link,
    "mode": _mode,
    "notemp": _no_temporary,
    "old-or-new": _old_or_new,
    "if-0-exists": _if_0_exists,
    "if-2-unchanged": _if_2_unchanged,
    "same-bytes": _same_bytes,
}


def is_whole(name, content):
    """Whether a file of a known kind ends as such a file does."""
    suffix = PurePath(name).suffix
    if suffix == ".json":
        try:
            json.loads(content)
        except ValueError:
            return False
        return True
    end = content.rstrip()
    return {
        ".svg": end.endswith(b"</svg>"),
        ".png": content.startswith(b"\x89PNG\r\n\x1a\n") and content.endswith(b"IEND\xaeB`\x82"),
        ".pdf": content.startswith(b"%PDF") and end.endswith(b"%%EOF"),
        ".csv": content.endswith(b"\n"),
    }.get(suffix, bool(content))


def judge_together(case, outcomes, disks):
    """Judge what runs of one row have to have in common."""
    problems = []
    if case["expect"].get("same_output") and len({outcome.stdout for outcome in outcomes}) > 1:
        problems.append("not every run has the same output")
    checks = case["expect"]["files"]
    for verb, *arguments in checks if isinstance(checks, list) else []:
        if verb == "same-bytes":
            versions = [_contents(disk, arguments[0]) for disk in disks]
            problems += [f"{name} differs between runs" for name in _differing(versions)]
    return problems


def _contents(disk, place):
    inside = {name: entry for name, entry in disk.items() if name == place or name.startswith(place + "/")}
    return {name: entry.content for name, entry in inside.items()}


def _differing(versions):
    names = sorted(set().union(*versions))
    return [name for name in names if len({version.get(name) for version in versions}) > 1]
