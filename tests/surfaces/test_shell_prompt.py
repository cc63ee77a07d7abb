"""Commands that a person types."""

import pytest

from bridle.core.protocol import RunOptions
from bridle.surfaces.tui.prompt_sender import command_in, shell_options


@pytest.mark.parametrize(
    ("text", "command"),
    [("!ls -l", "ls -l"), ("! make test\n", "make test"), ("ls", ""), ("!", ""), ("!  ", ""), (" !ls", "")],
)
def test_a_line_is_a_command_if_it_begins_with_the_sign(text: str, command: str):
    assert command_in(text) == command


def test_a_command_that_was_typed_is_allowed_and_what_is_denied_stays_so():
    options = RunOptions(model="big", mode="plan", allow=("edit_file",), deny=("bash(rm:*)",))

    assert shell_options(options) == RunOptions(
        model="direct/bash", mode="plan", allow=("edit_file", "bash"), deny=("bash(rm:*)",)
    )
