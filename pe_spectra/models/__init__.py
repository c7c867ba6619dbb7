"""Models: what their files state about position, what implementations make of it, and their known problems.

Data flows one way: `stated` (what a file says) -> `stacks` (what an implementation turns by) -> `audit` and
`checks` (what a model really gives), or `comparison` (against another side, or what `dumps` show). `lengths`
is about context lengths alone.
"""

from typing import TYPE_CHECKING

from pe_spectra.names import import_lazily

if TYPE_CHECKING:
    from pe_spectra.models.model_audit import ModelAudit as ModelAudit

__getattr__ = import_lazily(__name__, {"ModelAudit": "models.model_audit"})
