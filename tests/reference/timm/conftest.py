"""What needs PyTorch and timm is no module of tests."""

collect_ignore = ["generate.py"]
