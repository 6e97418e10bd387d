"""What every section of a scenario has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A frozen part of a scenario; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)
