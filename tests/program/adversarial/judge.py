"""What a run must have said: the rules for every row, and what its row expects besides.

Every function gives a list of problems in words; an empty list is a pass.
"""

import csv
import io
import re

from jsonpaths import check_json, parse_strictly

#: Rows whose texts hold for every exit code, 0 included.
EVERY_CODE = {"B13", "J06"}
DEFAULT_LIMITS = {"seconds": 10, "rss_mib": 1024}
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
TRACES = (b"Traceback (most recent call last)", b"Exception ignored")


def allowed_codes(case):
    """Give the exit codes that a row allows, as a list."""
    codes = case["expect"]["exit"]
    return codes if isinstance(codes, list) else [codes]


def judge_outcome(case, outcome):
    """Judge one process by its exit code, its streams and its cost."""
    problems = [*_judge_end(case, outcome), *_judge_limits(case, outcome), *_judge_noise(case, outcome)]
    if outcome.code in (2, 130):
        problems += _judge_failure(case, outcome)
    problems += _judge_texts(case, outcome)
    if outcome.code in (0, 1):
        problems += _judge_answer(case, outcome)
    if problems:
        problems.append(f"exit {outcome.code}, stderr: {outcome.stderr[:600]!r}, stdout: {outcome.stdout[:200]!r}")
    return problems


def _judge_end(case, outcome):
    problems = []
    if outcome.timed_out:
        problems.append("was still running when its time was over")
    if outcome.orphaned:
        problems.append("left a process behind")
    if outcome.code not in allowed_codes(case):
        problems.append(f"exit {outcome.code} where {allowed_codes(case)} is allowed")
    return problems


def _judge_limits(case, outcome):
    limits = DEFAULT_LIMITS | case.get("limits", {})
    measured = {
        "seconds": outcome.processor,
        "rss_mib": outcome.rss_mib,
        "stdout_bytes": len(outcome.stdout),
        "stderr_bytes": len(outcome.stderr),
    }
    return [
        f"{name} {measured[name]:.6g} above the limit of {limit}"
        for name, limit in limits.items()
        if measured[name] > limit
    ]


def _judge_noise(case, outcome):
    """No traceback, no control characters, in whichever encoding the streams have."""
    expect, problems = case["expect"], []
    encoding = (case.get("env") or {}).get("PYTHONIOENCODING") or "utf-8"
    for name, data in (("stdout", outcome.stdout), ("stderr", outcome.stderr)):
        shown = expect.get("stderr") == "traceback allowed" and name == "stderr"
        problems += [f"{trace.decode()!r} on {name}" for trace in TRACES if trace in data and not shown]
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            problems.append(f"{name} is not {encoding}")
            text = data.decode(encoding, errors="replace")
        found = CONTROL.search(text)
        if found:
            problems.append(f"control character {found[0]!r} on {name}")
        if expect.get("ascii") and not text.isascii():
            problems.append(f"{name} is not ASCII")
        if expect.get("digits_whole") and re.search(r"\u2026|[0-9]\.\.\.", text):
            problems.append(f"{name} cuts digits")
    return problems


def _judge_failure(case, outcome):
    """On 2 and 130 stdout is empty; stderr has one line, `error: ...`, or on 130 none."""
    expect, problems = case["expect"], []
    several = allowed_codes(case) == [2] and expect["stdout"] == "any"  # many files in one call
    if outcome.stdout and expect["stdout"] != "unread" and not several:
        problems.append("failed, and stdout is not empty")
    if expect.get("stderr") == "unread":
        return problems
    lines = outcome.stderr.decode(errors="replace").splitlines()
    errors = [line for line in lines if line.startswith("error: ") and len(line) > len("error: ")]
    if outcome.code == 130:
        return problems + (["more than one line on stderr"] if len(lines) > 1 else [])
    if not errors:
        problems.append("no line on stderr that begins with 'error: '")
    if len(lines) != 1 and expect.get("stderr") != "traceback allowed" and not several:
        problems.append(f"{len(lines)} lines on stderr where one belongs")
    return problems


def _judge_texts(case, outcome):
    expect, problems = case["expect"], []
    stdout = outcome.stdout.decode(errors="replace").lower()
    stderr = outcome.stderr.decode(errors="replace").lower()
    if expect.get("stderr") == "empty" and stderr:
        problems.append("stderr is not empty")
    problems += [
        f"{text!r} is not on stdout" for text in expect.get("stdout_contains", []) if text.lower() not in stdout
    ]
    problems += [f"{text!r} is on stdout" for text in expect.get("stdout_lacks", []) if text.lower() in stdout]
    if outcome.code == 0 and len(allowed_codes(case)) > 1 and case["id"] not in EVERY_CODE:
        return problems
    problems += [
        f"{text!r} is not on stderr" for text in expect.get("stderr_contains", []) if text.lower() not in stderr
    ]
    problems += [f"{text!r} is on stderr" for text in expect.get("stderr_lacks", []) if text.lower() in stderr]
    either = [text for text in expect.get("either_contains", []) if text.lower() not in stdout + "\n" + stderr]
    problems += [f"{text!r} is on neither stream" for text in either]
    wanted = expect.get("stderr_any", [])
    if wanted and not any(text.lower() in stderr for text in wanted):
        problems.append(f"none of {wanted} is on stderr")
    return problems


def _judge_answer(case, outcome):
    """Judge stdout where there is an answer."""
    expect, kind = case["expect"], case["expect"]["stdout"]
    if kind == "empty" and outcome.stdout:
        return ["stdout is not empty"]
    if kind == "some" and not outcome.stdout.strip():
        return ["stdout is empty"]
    problems = _judge_cells(outcome.stdout) if expect.get("csv_safe") else []
    needs_json = kind == "json" or (outcome.code == 0 and "json" in expect)
    if not needs_json:
        return problems
    try:
        document = parse_strictly(outcome.stdout)
    except (ValueError, RecursionError) as error:
        return [*problems, f"stdout is not one strict JSON document: {error}"]
    return problems + (check_json(expect, document) if outcome.code == 0 else [])


def _judge_cells(data):
    rows = csv.reader(io.StringIO(data.decode(errors="replace"), newline=""))
    cells = [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    return [f"a spreadsheet would run the cell {cell[:60]!r}" for cell in cells if not _is_number(cell)]


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True
