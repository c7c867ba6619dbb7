"""Objects of JSON: what is read, and what is refused."""

import pytest

from pe_spectra.errors import FileError
from pe_spectra.files.json_toml import read_json
from tests.files.forms import write
from tests.pace import call_within


def test_json_gives_the_object(tmp_path):
    path = write(
        tmp_path / "c.json", '\ufeff{"a": 1, "b": [1.5, null, true, {"c": "\\u00e9"}], "big": ' + "9" * 40 + "}"
    )
    assert read_json(path, "audit") == {"a": 1, "b": [1.5, None, True, {"c": "é"}], "big": int("9" * 40)}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        ("  \n", "is empty"),
        ("[1]", "holds a list; a JSON object"),
        ("1", "holds a number; a JSON object"),
        ('"x"', "holds a text; a JSON object"),
        ("true", "holds a truth value; a JSON object"),
        ("null", "holds null; a JSON object"),
        ('{"hidden_size": NaN}', "has NaN"),
        ('{"a": -Infinity}', "has -Infinity"),
        ('{"rope_theta": 1e999}', "out of range (1e999)"),
        ('{"hidden_size": 1, "hidden_size": 2}', "gives hidden_size twice"),
        ('{"a": {"b": 1, "b": 2}}', "gives b twice"),
        ("{" + "".join(f'"{n}":1,' for n in range(90_000)) + '"89999":1}', "gives 89999 twice"),
        ('{"a": ' + "[" * 100_000, "nests too deep"),
        ('{"a": ' + "[" * 70 + "]" * 70 + "}", "nests too deep"),
        ('{"a": ' + "9" * 5000 + "}", "has a number of 5000 digits"),
        ('{"a": 1', "is not JSON (line 1, column 8)"),
        ('{"a": 1} x', "is not JSON (line 1"),
        (b'{"a":\n "\xe9"}', "is not UTF-8 (line 2)"),
        ("{" + " " * (1 << 20) + "}", "holds more than 1048576 bytes"),
    ],
)
def test_json_that_is_refused(tmp_path, text, reason):
    path = write(tmp_path / "c.json", text)

    def refuse_json():
        with pytest.raises(FileError) as caught:
            read_json(path, "audit")
        return str(caught.value)

    said = call_within(1, refuse_json)
    assert reason in said
    assert said.endswith("(audit)")
    assert len(said) < len(str(path)) + 150
