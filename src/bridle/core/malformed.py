"""The exceptions that decoding raises for malformed bytes, including too deep nesting and invalid UTF-8."""

import msgspec

MALFORMED = (msgspec.MsgspecError, UnicodeError, RecursionError)
