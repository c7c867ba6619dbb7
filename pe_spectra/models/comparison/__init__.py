"""Two sides against each other: rotations part by part, tables row by row."""
