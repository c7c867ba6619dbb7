"""The rotary modules of diffusers, frozen."""
