"""What is run by hand in an environment with transformers and torch, which tests never need."""

collect_ignore = [
    "composites.py",
    "draw.py",
    "fields.py",
    "layouts.py",
    "places.py",
    "position_axes.py",
    "probe.py",
    "query_scales.py",
    "resampling.py",
    "real_modules.py",
    "refusals.py",
    "release_table.py",
    "schemes.py",
    "shared_widths.py",
    "tables.py",
]
