"""What releases of software were measured to do, a file for each: tests/reference/measure.py."""
