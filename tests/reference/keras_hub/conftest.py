"""What needs keras-hub is no module of tests."""

collect_ignore = ["generate.py", "windows.py"]
