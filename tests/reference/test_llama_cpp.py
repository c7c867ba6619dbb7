"""What llama.cpp turns a query by, frozen by tests/reference/llama_cpp/generate.py, against its stack."""

from pathlib import Path

from pe_spectra.models.stacks import Refusal, list_releases
from pe_spectra.models.stacks.llama_cpp import PROBED
from pe_spectra.models.stated.converted_models import load_readings
from tests.reference.freezing import thaw
from tests.reference.frozen_stacks import are_same, read_drawn, scales_alike

FOLDER = Path(__file__).parent / "llama_cpp"
(STACK,) = (stack for stack in list_releases() if stack.name == "llama.cpp")


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
        found = read_drawn(STACK, case["config"], case["layer"])
        if "unturned" in case:
            same = found.rotary_dim == 0
        elif isinstance(found, Refusal) or "refused" in case:
            same = isinstance(found, Refusal) and "refused" in case
        else:
            same = are_same(found, case, 1e-5) and scales_alike(found, case) and found.layout == case["layout"]
        if not same:
            differing.append((number, case, found))
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
    assert [model for model in found if found[model].get("reads_betas")] == ["ministral3"]
    assert (
        found["olmo3"]["layers"]["sliding_attention"]["reads"]
        == found["gemma3_text"]["layers"]["sliding_attention"]["reads"]
        == {}
    )
    assert {model for model in found if "unturned" in found[model].get("layers", {}).get("full_attention", {})} == {
        "cohere2",
        "cohere2_moe",
        "llama4_text",
    }


def test_models_of_one_architecture_agree_on_what_a_gguf_file_does_not_say():
    by_architecture = {}
    for one in load_readings().values():
        by_architecture.setdefault(one["architecture"], set()).add(
            (one["layout"], one.get("mscale"), one.get("reads_betas", False))
        )
    assert {name: found for name, found in by_architecture.items() if len(found) > 1} == {}
