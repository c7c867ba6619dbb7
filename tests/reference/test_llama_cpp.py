"""What llama.cpp turns a query by, frozen by tests/reference/llama_cpp/generate.py, against its stack."""

from pathlib import Path

from pe_spectra.models.stacks import RELEASES, Refusal
from pe_spectra.models.stacks.llama_cpp import PROBED, load_readings
from tests.reference.freezing import thaw
from tests.reference.frozen_stacks import are_same, read_drawn, scales_alike

FOLDER = Path(__file__).parent / "llama_cpp"
(STACK,) = (stack for stack in RELEASES if stack.name == "llama.cpp")


def load():
    return thaw(FOLDER, "llama.cpp", STACK.version)


def test_the_release_is_frozen():
    assert [path.name for path in FOLDER.glob("*.gz")] == [f"llama.cpp-{STACK.version}.json.gz"]
    found = load()
    assert (STACK.how, STACK.date) == ("measured", found["date"])
    assert found["commit"] in STACK.title


def test_every_drawn_configuration_is_read_as_converter_and_library_do():
    cases = load()["cases"]
    assert sum("refused" not in case for case in cases) >= 190
    differing = []
    for number, case in enumerate(cases):
        found = read_drawn(STACK, case["config"])
        if isinstance(found, Refusal) or "refused" in case:
            same = isinstance(found, Refusal) and "refused" in case
        else:
            same = are_same(found, case, 1e-5) and scales_alike(found, case) and found.layout == case["layout"]
        if not same:
            differing.append((number, case["config"], found))
    assert differing == []


def test_the_draws_have_every_model_and_scaling():
    configs = [case["config"] for case in load()["cases"]]
    assert {config["model_type"] for config in configs} == set(load_readings())
    blocks = [config.get("rope_parameters") or config.get("rope_scaling") or {} for config in configs]
    assert {block.get("rope_type", "default") for block in blocks} == {"default", *PROBED}


def test_what_was_measured_of_models():
    """What few expect: bases, shares and scalings that never reach the library."""
    found = load_readings()
    assert {model for model in found if "base" in found[model]} >= {"stablelm", "gemma", "phi", "gpt_neox"}
    assert found["qwen2"]["reads"] == {"linear": "linear", "yarn": "yarn"}
    assert found["nemotron"]["reads"]["yarn"] == "linear"
    assert found["hunyuan_v1_dense"]["alpha"] == 50
    assert "llama3" in found["smollm3"]["refuses"]
    assert not any(one.get("reads_betas") for one in found.values())
