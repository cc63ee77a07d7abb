"""Types of values that several tables of the settings share."""

from typing import Annotated

from msgspec import Meta

AGENT_NAME_PATTERN = r"\A[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}\Z"

_MAX = 10**12  # far beyond any use, and safe to calculate with

Count = Annotated[int, Meta(ge=1, le=_MAX, description="a whole number, 1 or more")]
CountOrZero = Annotated[int, Meta(ge=0, le=_MAX, description="a whole number, 0 or more")]
Dollars = Annotated[float, Meta(ge=0, le=_MAX, description="a number of dollars, 0 or more")]
Name = Annotated[
    str, Meta(pattern=r"\A[A-Za-z0-9_-]{1,64}\Z", description="a name of letters, digits, - and _")
]
AgentName = Annotated[
    str,
    Meta(
        pattern=AGENT_NAME_PATTERN,
        description="the name of an agent: letters, digits, -, _ and inner dots",
    ),
]
ModelRef = Annotated[
    str,
    Meta(
        pattern=r"\A[A-Za-z0-9_-]{1,64}/[^\x00-\x1f\x7f\ud800-\udfff]{1,500}\Z",
        description="a model, written provider/name",
    ),
]
BaseUrl = Annotated[
    str,
    Meta(
        # No user:password@ in it: addresses are shown, secrets are not.
        pattern=r"\Ahttps?://[^\s/@?#]+(/[^\s@?#]*)?\Z",
        description="an http:// or https:// address without a password",
    ),
]
VariableName = Annotated[
    str,
    Meta(
        pattern=r"\A[A-Za-z_][A-Za-z0-9_]*\Z",
        description="the name of an environment variable, not the key itself",
    ),
]
HeaderName = Annotated[
    str, Meta(pattern=r"\A[A-Za-z0-9!#$%&'*+.^_`|~-]+\Z", description="the name of an HTTP header")
]
HeaderText = Annotated[str, Meta(pattern=r"\A[^\x00-\x1f\x7f]*\Z", description="text on one line")]
PathText = Annotated[str, Meta(pattern=r"\A[^\x00-\x1f\x7f]+\Z", description="the path of a file or folder")]
HostName = Annotated[
    str, Meta(pattern=r"\A[A-Za-z0-9.:_-]{1,253}\Z", description="the name or address of a host")
]
Origin = Annotated[
    str,
    Meta(pattern=r"\Ahttps?://[^\s/@?#]+\Z", description="an origin such as http://localhost:3000"),
]
Port = Annotated[int, Meta(ge=0, le=65535, description="a whole number from 0 to 65535")]
Share = Annotated[float, Meta(gt=0, le=1, description="a number above 0, up to 1")]
Address = Annotated[
    str,
    Meta(
        pattern=r"\A(\[[0-9A-Fa-f:]{2,45}\]|[A-Za-z0-9._-]{0,253}):[0-9]{1,5}\Z",
        description="an address, written HOST:PORT",
    ),
]
