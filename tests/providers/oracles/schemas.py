"""A type that the SDKs convert to a schema themselves."""

from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict


class Line(BaseModel):
    """One line of an invoice."""

    model_config = ConfigDict(extra="forbid")
    what: str
    amount: float
    unit: Literal["piece", "hour"]


class Invoice(BaseModel):
    """Everything that the vendors' own modes can say."""

    model_config = ConfigDict(extra="forbid")
    number: int
    day: date
    lines: list[Line]
    note: str | None
    paid: bool
    first: Line
