import json

import jsonschema_rs
import pytest

from bridle.core.codec import encode
from bridle.core.messages import user_message
from bridle.core.protocol import Cancel, Prompt
from tests.surfaces.command import Bridle


@pytest.mark.parametrize("what", ["events", "commands", "result"])
def test_every_schema_is_one(bridle: Bridle, what: str):
    done = bridle("schema", what)

    assert (done.code, done.err) == (0, "")
    jsonschema_rs.meta.validate(json.loads(done.out))


def test_commands_follow_their_schema(bridle: Bridle):
    schema = json.loads(bridle("schema", "commands").out)

    for command in (Prompt(user_message("x")), Cancel()):
        assert jsonschema_rs.is_valid(schema, json.loads(encode(command)))
    assert not jsonschema_rs.is_valid(schema, {"type": "make_coffee"})
