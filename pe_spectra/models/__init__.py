"""Configurations of models: what positional encoding they ask for. Dictionaries in, descriptions out."""
