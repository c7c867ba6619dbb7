"""What the scripts share that freeze how other software turns a query: draws, and the file of a release.

They run in environments of their own, so nothing but the standard library is imported.
"""

import datetime
import gzip
import json


def start_choosing(rng):
    """Give a function that draws one of its arguments by the next number of a generator, each as likely."""

    def choose(*values):
        return values[int(rng.integers(len(values)))]

    return choose


def write_date():
    """Give today's date as the files have it."""
    return datetime.datetime.now(tz=datetime.UTC).date().isoformat()


def freeze(folder, head, cases):
    """Write the cases of a release, which `head` names, and say how many there are."""
    document = head | {"date": write_date(), "cases": cases}
    name = f"{head['stack']}-{head['version']}.json.gz"
    (folder / name).write_bytes(gzip.compress(json.dumps(document).encode(), mtime=0))
    print(name, len(cases), "cases,", sum("refused" in json.dumps(one) for one in cases), "refused")


def thaw(folder, stack, version):
    """Read what was written of a release."""
    return json.loads(gzip.decompress((folder / f"{stack}-{version}.json.gz").read_bytes()))
