"""Ratios of performance, beside their targets: pytest tests/benchmarks --benchmark."""
