"""What decoding raises for bytes that are not what they should be: too deep and not UTF-8 count as well."""

import msgspec

MALFORMED = (msgspec.MsgspecError, UnicodeError, RecursionError)
