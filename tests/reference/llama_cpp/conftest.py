"""What needs llama.cpp, its converter and PyTorch is no module of tests."""

collect_ignore = ["generate.py"]
