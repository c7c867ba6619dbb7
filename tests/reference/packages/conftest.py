"""What needs PyTorch and transformers is no module of tests."""

collect_ignore = ["modules.py"]
