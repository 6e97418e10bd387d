"""What every section of a scenario has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A frozen part of a scenario; unknown keys are errors. The string below a field is the field's meaning, and
    what `cluster-abm scenarios --keys` prints."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True, use_attribute_docstrings=True)
