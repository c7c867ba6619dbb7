"""What a recorded series shows: its times and step, its trend, and its periods against noise."""
