"""What the files of models state about the positional encoding, before any implementation reads it."""
