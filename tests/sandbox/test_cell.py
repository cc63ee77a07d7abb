import os

import pytest

from tests.sandbox.conftest import Outcome, Run


@pytest.mark.parametrize("kind", ["bubblewrap", "landlock", "none"])
async def test_errors_have_a_descriptor_of_their_own_where_one_is_given(run: Run):
    errors_from, errors_to = os.pipe()
    input_from, input_to = os.pipe()
    extra_from, extra_to = os.pipe()
    os.write(input_to, b"in\n")
    os.close(input_to)

    apart = await run(
        "cat; echo out; echo err >&2; echo told >&3", errors=errors_to, input=input_from, extra=extra_to
    )
    together = await run("echo out; echo err >&2")
    for descriptor in (errors_to, input_from, extra_to):
        os.close(descriptor)
    errors, told = os.read(errors_from, 100), os.read(extra_from, 100)
    os.close(errors_from)
    os.close(extra_from)

    assert (apart, errors, told) == (Outcome(0, "in\nout\n"), b"err\n", b"told\n")
    assert together == Outcome(0, "out\nerr\n")
