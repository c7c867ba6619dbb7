"""What must not change silently: frozen into a small file that people can read, and held against what is there now."""
