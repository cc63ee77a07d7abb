import inspect

import pytest

from bridle.core import ports

SEAMS = [value for value in vars(ports).values() if getattr(value, "_is_protocol", False)]
SEAMS = [seam for seam in SEAMS if seam.__module__.startswith(ports.__name__)]


@pytest.mark.parametrize("seam", SEAMS, ids=lambda seam: seam.__name__)
def test_a_seam_is_at_most_five_methods_wide(seam: type):
    methods = [name for name in vars(seam) if inspect.isfunction(vars(seam)[name]) and name[0] != "_"]
    properties = [name for name in vars(seam) if isinstance(vars(seam)[name], property)]

    assert 0 < len(methods + properties) <= 5
