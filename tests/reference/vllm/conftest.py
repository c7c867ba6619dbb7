"""What needs vLLM's files and PyTorch is no module of tests."""

collect_ignore = ["chunks.py", "generate.py", "windows.py"]
