"""The numbers and texts that a record may hold, with limits on their size."""

from typing import Annotated

from pydantic import Field

__all__ = ["Count", "Finite", "Ns", "Number", "Text"]

Count = Annotated[int, Field(ge=0, le=2**53)]
Ns = Annotated[int, Field(ge=0, lt=2**63)]
Number = Annotated[int, Field(ge=0, lt=2**31)]
Text = Annotated[str, Field(max_length=1_000_000)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
