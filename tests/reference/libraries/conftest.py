"""What needs PyTorch and the libraries is no module of tests."""

collect_ignore = ["generate.py"]
