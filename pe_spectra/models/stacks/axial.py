"""diffusers and timm: pictures and videos, whose axes turn parts of a head; `axial_models` reads their files."""

from __future__ import annotations

from pe_spectra.models.stacks.stack import LINEAR, Stack
from pe_spectra.models.stated.axial_models import DIFFUSERS, TIMM

DIFFUSERS_STACK = Stack(
    name="diffusers",
    title=f"diffusers {DIFFUSERS}",
    package="diffusers",
    version=DIFFUSERS,
    date="2026-11-28",
    how="measured",
    source=f"huggingface/diffusers {DIFFUSERS}, src/diffusers/models/transformers and the modules that they make",
    reader=f"diffusers {DIFFUSERS}",
    kinds=("default", "ntk"),
    readings={"ntk": LINEAR},
    formats=("diffusers",),
    dtype=None,
)
TIMM_STACK = Stack(
    name="timm",
    title=f"timm {TIMM}",
    package="timm",
    version=TIMM,
    date="2026-11-28",
    how="measured",
    source=f"huggingface/timm {TIMM}, timm/layers/pos_embed_sincos.py as its architectures make it",
    reader=f"timm {TIMM}",
    kinds=("default",),
    readings={},
    formats=("timm",),
    dtype=None,
)
