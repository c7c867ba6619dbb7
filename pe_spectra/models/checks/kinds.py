"""Every kind of finding about a model, of all modules that declare some: who explains one asks here."""

from __future__ import annotations

from pe_spectra.findings import collect_kinds
from pe_spectra.models.checks import about_allocations, about_keys, about_lengths, about_scaling
from pe_spectra.models.stated import (
    architectures,
    axial_models,
    class_sinusoids,
    dual_chunk,
    gguf_metadata,
    keys,
    loading,
    meta_release,
    passed_keys,
    position_axes,
    position_schemes,
    query_scales,
    rotary_blocks,
    unusable,
)

#: By its code.
KINDS = collect_kinds(
    *(keys, loading, passed_keys, axial_models, position_axes, position_schemes, query_scales, dual_chunk),
    *(rotary_blocks, gguf_metadata, architectures, meta_release, about_keys, about_scaling, about_lengths),
    *(about_allocations, class_sinusoids, unusable),
)
