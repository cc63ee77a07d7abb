"""Questions as data: each names its answer, its scope and its subject in the same way."""

import re
from typing import Any, get_args

import msgspec
import pytest
from msgspec.structs import fields

from bridle.core.ids import SessionId
from bridle.core.queries import (
    QUERIES,
    AnyQuery,
    ListSessions,
    PlanRewind,
    Query,
    Records,
    RewindPlan,
    answer_type,
)
from bridle.core.tenancy import SCOPES


def test_every_question_is_in_the_union():
    assert Query.__subclasses__() == list(QUERIES) == list(get_args(AnyQuery))


@pytest.mark.parametrize("query", [Records(SessionId("s"), 3), ListSessions(), PlanRewind(SessionId("s"), 1)])
def test_a_question_survives_the_wire(query: Query[Any]):
    assert msgspec.json.decode(msgspec.json.encode(query), type=AnyQuery) == query


def test_a_question_knows_the_type_of_its_answer():
    assert answer_type(PlanRewind) is RewindPlan


@pytest.mark.parametrize("kind", QUERIES)
def test_a_question_names_its_session_and_its_folder_so_that_a_tenant_can_be_held_to_its_own(
    kind: type[Query[Any]],
):
    named = {field.name: field.type for field in fields(kind)}

    assert kind.scope in SCOPES
    assert {name for name, found in named.items() if found is SessionId} <= {"session"}
    assert {name for name, found in named.items() if found is str} <= {"cwd"}
    assert kind.answered_by != "owner" or "session" in named


@pytest.mark.parametrize("kind", [kind for kind in QUERIES if kind.published])
def test_a_published_question_is_about_a_session_and_begins_with_a_sentence_for_clients(
    kind: type[Query[Any]],
):
    summary, *more = (kind.__doc__ or "").splitlines()

    assert fields(kind)[0].name == "session"
    assert re.fullmatch(r"[A-Z][^.;]+\.", summary)
    assert more[:1] in ([], [""])
