"""Faults that are planted into copies of the package, one at a time, and the tests that must fail for each."""
