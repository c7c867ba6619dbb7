"""What needs PyTorch and diffusers is no module of tests."""

collect_ignore = ["generate.py", "laws.py", "rotations.py"]
