"""What may be wrong with the positional encoding of a model: findings, each with its numbers and what to do."""

from pe_spectra.models.checks.explanations import EXPLANATIONS
from pe_spectra.models.checks.judge import audit_configuration

__all__ = ["EXPLANATIONS", "audit_configuration"]
