"""What a port really computes, found from its arrays: frequencies, or cosines and sines."""
