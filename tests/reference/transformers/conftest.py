"""All of this folder is run by hand in an environment with transformers and torch, which tests never need."""

collect_ignore_glob = ["*.py"]
