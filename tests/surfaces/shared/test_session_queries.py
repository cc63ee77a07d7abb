"""A new question takes a struct and a handler: then every surface answers it."""

import json
import re
from textwrap import indent
from typing import Annotated, Any, Literal, get_type_hints

import pytest
from msgspec import NODEFAULT, Meta, Struct, defstruct

from bridle.core.errors import ProviderError, SessionBusy
from bridle.core.ids import SessionId
from bridle.core.queries import Published, Records, ShowDiff
from bridle.surfaces.mcp_server.arguments import SessionsArgs, argument_names
from bridle.surfaces.mcp_server.sessions import MORE_ANSWERS, SessionsAnswer
from bridle.surfaces.shared.error_codes import PROVIDER_ERROR, SESSION_BUSY
from bridle.surfaces.shared.session_queries import SESSION_QUERIES, SessionQuery, without_none
from tests.surfaces.changed_code import ROOT, Edits, copy_package, run_module

TOUR = ROOT / "docs" / "tour.md"
SHORT = Annotated[str, Meta(max_length=9)]
SMALL = Annotated[int, Meta(ge=1, le=9)]
STRUCT, HANDLER = "core/queries.py", "sessions/queries.py"

OWN = {
    STRUCT: '''
class RecordSize(Struct, frozen=True):
    unit: str
    amount: int
    is_exact: bool


class MeasureRecords(Query[RecordSize], frozen=True):
    """Measure the records of a session.

    Only those from `first_seq` on.
    """

    answered_by = "owner"
    published = Published("size", name="record_size")
    session: SessionId
    unit: Literal["records", "bytes"]
    first_seq: int | None = None
    is_exact: bool = False
''',
    HANDLER: """
async def _measure_records(self, query: MeasureRecords) -> RecordSize:
    records = await self.records(Records(query.session))
    found = [record for record in records if record.seq >= (query.first_seq or 0)]
    return RecordSize(query.unit, len(found), query.is_exact)
""",
}
"""A question of this test, with every kind of parameter."""


def recipe() -> dict[str, str]:
    """Return the code that the tour adds for a question, by file."""
    text = TOUR.read_text().split("### Add a question")[1]
    code = text.split("```python no-run\n")[1].split("```")[0]
    [_, *parts] = re.split(r"^# in ([\w/.]+).*$", code, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def edits(code: dict[str, str], imports: str, handler: str) -> dict[str, Edits]:
    """Return the edits that add a question: its code, its imports, its entry among the handlers."""
    named = f"from bridle.core.queries import {imports}\n"
    answer = "    async def answer("
    return {
        STRUCT: [("\nQUERIES: ", f"{code[STRUCT]}\n\nQUERIES: ")],
        HANDLER: [
            ("\nA = TypeVar(", f"{named}\nA = TypeVar("),
            (
                "            Records: self.records,\n",
                f"            {handler},\n            Records: self.records,\n",
            ),
            (answer, f"{indent(code[HANDLER].strip(), '    ')}\n\n{answer}"),
        ],
    }


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Add the question of the tour and that of this test to a copy of the code; ask them everywhere."""
    tour = edits(recipe(), "CountRecords", "CountRecords: self._count_records")
    own = edits(OWN, "MeasureRecords, RecordSize", "MeasureRecords: self._measure_records")
    folder = tmp_path_factory.mktemp("copy")
    code = copy_package(folder / "code", {path: [*tour[path], *own[path]] for path in tour})
    home = tmp_path_factory.mktemp("asked")
    answered: dict[str, Any] = json.loads(run_module("tests.surfaces.ask_everywhere", code, str(home)))
    return answered


SURFACES = ["rest", "rpc", "acp", "mcp", "remote", "python", "tenants"]


@pytest.mark.parametrize("surface", SURFACES)
def test_a_new_question_is_answered(found: dict[str, Any], surface: str):
    assert found[surface]["answers"] == [
        1,
        0,
        {"unit": "records", "amount": 1, "is_exact": False},
        {"unit": "records", "amount": 0, "is_exact": True},
    ]


@pytest.mark.parametrize(
    ("surface", "before"),
    [
        ("rest", ["400 query: "] * 5),
        ("rpc", ["-32602 Invalid params: "] * 5),
        ("acp", ["-32602 _bridle/count_records: ", *["-32602 _bridle/record_size: "] * 4]),
        ("mcp", ["", "record_size: ", "", "", ""]),
    ],
)
def test_nonsense_is_refused_with_the_name_of_the_parameter(
    found: dict[str, Any], surface: str, before: list[str]
):
    first_seq = "firstSeq" if surface == "acp" else "first_seq"
    most = 2**53 if surface == "rpc" else 2**53 - 1

    assert found[surface]["refusals"] == [
        f"{before[0]}after: expected `int` >= 0",
        f"{before[1]}unit{'' if surface == 'mcp' else ':'} is missing",
        f"{before[2]}unit: invalid enum value 'miles'",
        f"{before[3]}{first_seq}: expected `int` <= {most}",
        f"{before[4]}name: unknown field",
    ]


def test_the_daemon_refuses_nonsense(found: dict[str, Any]):
    assert found["remote"]["refusals"] == [
        "not understood: Invalid enum value 'miles' - at `$.ask.query.unit`"
    ]


def test_another_tenant_and_a_token_that_may_not_read_are_refused(found: dict[str, Any]):
    assert found["tenants"]["refusals"] == ["SessionNotFound", "NotAllowed"]


def test_a_new_question_is_documented(found: dict[str, Any]):
    assert found["rest"]["described"] == [
        "Measure the records of a session",
        ["unit", "first_seq", "is_exact"],
    ]
    assert found["rpc"]["described"] == ["session/count_records", "session/record_size"]
    assert found["mcp"]["described"] == [
        True,
        {
            "description": "For record_size.",
            "anyOf": [{"enum": ["bytes", "records"]}, {"type": "null"}],
            "default": None,
        },
        {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
    ]


def test_the_recipe_of_the_tour_changes_two_files():
    assert set(recipe()) == {STRUCT, HANDLER}


# ---------------------------------------------------------------------------- what a class says


def test_a_question_has_the_names_that_its_class_gives_or_else_its_tag():
    given = SessionQuery(ShowDiff, Published("a", name="b", action="c"))
    derived = SessionQuery(ShowDiff, Published("a"))

    assert (given.path, given.name, given.action) == ("a", "b", "c")
    assert (derived.path, derived.name, derived.action) == ("a", "diff", "diff")
    assert derived.doc == "Return what a session changed on disk"


def test_a_question_has_the_problems_of_its_errors():
    row = SessionQuery(ShowDiff, Published("a", raises=(SessionBusy, ProviderError)))

    assert row.problems == (SESSION_BUSY, PROVIDER_ERROR)


def row_with(parameter: Any) -> SessionQuery:
    """Return a row whose query has one parameter of this type."""
    kind = defstruct("Asked", [("session", str), ("value", parameter)])
    return SessionQuery(kind, Published("path"))


@pytest.mark.parametrize(
    "parameter",
    [
        str,
        list[int],
        str | None,
        int | str,
        Annotated[str, Meta(min_length=1)],
        Annotated[int, Meta(ge=1)],
        Annotated[list[int], Meta(max_length=3)],
        Struct,
    ],
    ids=str,
)
def test_a_parameter_without_bounds_is_refused(parameter: Any):
    with pytest.raises(TypeError, match="is not a number, a flag, a choice or a bounded type"):
        row_with(parameter).parameters(int)


@pytest.mark.parametrize(
    ("parameter", "taken"),
    [
        (int, "number"),
        (bool, bool),
        (Literal["a", "b"], Literal["a", "b"]),
        (SHORT, SHORT),
        (SMALL, SMALL),
        (SHORT | None, SHORT | None),
    ],
    ids=str,
)
def test_a_bounded_parameter_is_taken_as_declared(parameter: Any, taken: Any):
    assert row_with(parameter).parameters("number") == [("value", taken, NODEFAULT)]


def test_a_query_has_the_defaults_that_the_request_leaves_out():
    row = SessionQuery(Records, Published("records"))

    assert row.parameters(int) == [("after", int, 0), ("limit", int | None, None)]
    assert row.query(SessionId("s"), {"after": 3, "session_id": "x"}) == Records(SessionId("s"), 3)


def test_published_questions_have_names_of_their_own():
    for names in zip(*((row.name, row.path, row.action) for row in SESSION_QUERIES), strict=True):
        assert len(set(names)) == len(names)
    assert MORE_ANSWERS.keys().isdisjoint(SessionsAnswer.__struct_fields__)


@pytest.mark.parametrize("row", SESSION_QUERIES, ids=lambda row: row.name)
def test_an_argument_that_actions_share_has_one_type(row: SessionQuery):
    shared, asked = get_type_hints(SessionsArgs), get_type_hints(row.kind)
    names = argument_names(row)

    assert len(set(names.values())) == len(names)
    for name, argument in names.items():
        if argument in shared:
            assert without_none(shared[argument]) == without_none(asked[name])
