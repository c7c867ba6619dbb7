"""Which architectures of llama.cpp have layers that see a window, as the source of a release has it.

Read of the functions that take an architecture's keys (load_arch_hparams in src/models), by which architecture has
which of them (src/llama-model.cpp, src/models/models.h) and its name in files (src/llama-arch.cpp). Written into the
table of the package: `standard` windows end at the query, `chunked` ones begin at multiples of their length, and of
`symmetric` ones half is behind it; `every` where all layers that attend have one.
`tests/reference/measure.py llama.cpp VERSION` runs it, with the folder of the source.
"""

import pathlib
import re
import sys

from tests.reference.windows import write_release

_KIND = re.compile(r"hparams\.swa_type\s*=\s*LLAMA_SWA_TYPE_(STANDARD|CHUNKED|SYMMETRIC)\b")

#: Every layer slides, and no key says which.
_EVERY = re.compile(r"is_swa_impl\[il\] = !hparams\.is_recr_impl|set_swa_pattern\(0\)")
_PATTERN = "SLIDING_WINDOW_PATTERN"


def read_bodies(folder):
    """The text of the function that takes the keys, by class."""
    found = {}
    for path in sorted((folder / "models").glob("*.cpp")):
        text = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
        for part in re.split(r"^(?=\S.*\{)", text, flags=re.MULTILINE):
            if head := re.match(r"void (\w+)::load_arch_hparams\(", part):
                found[head[1]] = part
    return found


def main():
    """Read the source of a release, and write."""
    version, source = sys.argv[1], pathlib.Path(sys.argv[2]) / "src"
    names = dict(re.findall(r"\{\s*(LLM_ARCH_\w+),\s*\"([^\"]+)\"", (source / "llama-arch.cpp").read_text()))
    made = re.findall(r"((?:case LLM_ARCH_\w+:\s*)+)return new (\w+)\(", (source / "llama-model.cpp").read_text())
    bases = dict(re.findall(r"struct (\w+) : public (\w+)", (source / "models" / "models.h").read_text()))
    bodies, found = read_bodies(source), {}
    for cases, maker in made:
        while maker not in bodies and maker in bases:
            maker = bases[maker]
        body = bodies.get(maker, "")
        for case in re.findall(r"LLM_ARCH_\w+", cases) if _KIND.search(body) else ():
            (kind,) = {*_KIND.findall(body)}
            every = _EVERY.search(body) is not None and _PATTERN not in body
            found[names[case]] = {"kind": kind.lower(), **({"every": True} if every else {})}
    write_release("llama.cpp", version, {"architectures": dict(sorted(found.items()))})
    print(", ".join(found))


if __name__ == "__main__":
    main()
