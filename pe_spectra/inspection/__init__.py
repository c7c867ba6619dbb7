"""What a table of codes shows: special rows, seams, periods, traces of interpolation."""
