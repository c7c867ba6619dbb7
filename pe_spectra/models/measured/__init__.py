"""What releases of software were measured to do, a file for each: tests/reference/transformers/probe.py."""
