"""The rotary modules of timm, frozen."""
