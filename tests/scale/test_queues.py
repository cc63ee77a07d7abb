"""The queue that a session goes to, and the queues that a worker serves."""

from hypothesis import given
from hypothesis import strategies as st

from bridle.config.duration import Duration
from bridle.config.scale_keys import ModelLimits, Placement, ScaleSettings, TenantLimits
from bridle.scale.durable import QueueSpec
from bridle.scale.queues import choose_label, choose_queue, list_queues

PLACES = (
    Placement("gpu", agent="trainer"),
    Placement("big", folder="/repos/big"),
    Placement("acme", tenant="acme", folder="/repos"),
)


def label(agent: str = "default", folder: str = "/x", tenant: str = "") -> str:
    return choose_label(ScaleSettings(placement=PLACES), agent=agent, folder=folder, tenant=tenant)


def test_the_first_placement_that_fits_counts():
    found = [
        label(agent="trainer", folder="/repos/big"),
        label(folder="/repos/big"),
        label(folder="/repos/big/src"),
        label(folder="/repos/bigger"),
        label(folder="/repos/bigger", tenant="acme"),
        label(tenant="acme"),
    ]

    assert found == ["gpu", "big", "big", "", "acme", ""]


def test_a_lane_is_named_by_label_machine_and_a_model_that_has_limits():
    scale = ScaleSettings(models={"openai/gpt 5": ModelLimits(runs=3, starts=10, period=Duration(30))})

    found = [
        choose_queue(scale, label="", node="", model="other/one"),
        choose_queue(scale, label="gpu", node="", model=""),
        choose_queue(scale, label="gpu", node="build-3", model=""),
        choose_queue(scale, label="gpu", node="", model="openai/gpt 5"),
    ]

    assert found == [
        QueueSpec("bridle"),
        QueueSpec("bridle.gpu"),
        QueueSpec("bridle@build-3"),
        QueueSpec("bridle.gpu:openai-gpt-5", runs=3, starts=(10, 30.0)),
    ]


def test_limits_of_tenants_hold_in_every_lane():
    scale = ScaleSettings(tenants=TenantLimits(runs=2, starts=5, period=Duration(60)))

    lane = choose_queue(scale, label="", node="", model="")

    assert lane == QueueSpec("bridle", tenant_runs=2, tenant_starts=(5, 60.0))
    assert lane.is_shared
    assert not QueueSpec("bridle").is_shared


@given(
    labels=st.lists(st.sampled_from(["gpu", "big", "acme"]), unique=True).map(tuple),
    only=st.booleans(),
    local=st.booleans(),
    limited=st.booleans(),
)
def test_a_worker_serves_the_lane_of_every_session_that_it_may_run(
    labels: tuple[str, ...], only: bool, local: bool, limited: bool
):
    models = {"p/m": ModelLimits(runs=1)} if limited else {}
    scale = ScaleSettings(
        labels=labels, only_labels=only, workspaces="local" if local else "shared", models=models
    )

    served = {lane.name for lane in list_queues(scale, "here")}

    wanted = {*labels, *(() if only else ("",))}
    for one in ("", "gpu", "big", "acme"):
        for model in ("", "p/m", "q/n"):
            assert (choose_queue(scale, label=one, node="", model=model).name in served) == (one in wanted)
            assert (choose_queue(scale, label=one, node="here", model=model).name in served) == local
            assert choose_queue(scale, label=one, node="there", model=model).name not in served
