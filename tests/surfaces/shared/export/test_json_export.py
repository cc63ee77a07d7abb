import json

from bridle.core.codec import decode_record
from bridle.surfaces.shared.export import to_json
from tests.surfaces.records import edit_session


def test_json_has_every_record_as_stored():
    stored = edit_session()

    document = json.loads(to_json(stored))

    assert document["version"] == 1
    assert document["session"]["title"] == "fix the greeting"
    assert [decode_record(json.dumps(record).encode()) for record in document["records"]] == stored
