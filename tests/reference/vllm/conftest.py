"""What needs vLLM's files and PyTorch is no module of tests."""

collect_ignore = ["generate.py"]
