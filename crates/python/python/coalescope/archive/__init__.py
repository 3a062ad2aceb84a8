"""Archives of captures on an engine: `python -m coalescope.archive PLAN.yaml --engine ray|spark|local --out DIR`.

| what | where |
|---|---|
| points and the files that are theirs | `plan` |
| where files lie: here, or in an object store | `places` |
| what cannot be right is told before work is done | `dry_run` |
| work that can be done anywhere | `work` |
| engines that do it | `engines` |
| how far it is | `progress` |
| from a plan to a verdict | `steps` |
"""

from .plan import Plan, PlanError
from .steps import Asked, run

__all__ = ["Asked", "Plan", "PlanError", "run"]
