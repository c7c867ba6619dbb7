"""The answers of release 0.1.0 in JSON and CSV, frozen: what a later release may not change."""
