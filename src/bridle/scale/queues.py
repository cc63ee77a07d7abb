"""Chooses the queue of a job, by the label its worker needs, by the session's machine and by the model.

```
bridle                 any worker
bridle.gpu             one with the label gpu
bridle@build-3         one on that machine, where the session's folder is
bridle.gpu:…           the same for a model that has its own limits
```
"""

import re
from collections.abc import Iterator

from bridle.config.scale_keys import ScaleSettings
from bridle.scale.durable import QueueSpec

_ODD = re.compile(r"[^A-Za-z0-9._-]+")


def choose_label(scale: ScaleSettings, *, agent: str, folder: str, tenant: str) -> str:
    """Return the label that a session's worker must have; empty for none."""
    for place in scale.placement:
        is_inside = not place.folder or f"{folder}/".startswith(f"{place.folder.rstrip('/')}/")
        if place.agent in ("", agent) and place.tenant in ("", tenant) and is_inside:
            return place.label
    return ""


def choose_queue(scale: ScaleSettings, *, label: str, node: str, model: str) -> QueueSpec:
    """Return the queue of a session: that of its machine if it is bound to one, else that of its label."""
    name = f"bridle@{node}" if node else "bridle" + (f".{label}" if label else "")
    return _lane(scale, name, model)


def list_queues(scale: ScaleSettings, node: str) -> Iterator[QueueSpec]:
    """Yield the queues that a worker serves."""
    names = [f"bridle.{label}" for label in scale.labels]
    if not scale.only_labels:
        names.append("bridle")
    if scale.workspaces == "local":
        names.append(f"bridle@{node}")
    for name in names:
        yield _lane(scale, name, "")
        yield from (_lane(scale, name, model) for model in scale.models)


def _lane(scale: ScaleSettings, name: str, model: str) -> QueueSpec:
    tenants, limits = scale.tenants, scale.models.get(model)
    return QueueSpec(
        name=name if limits is None else f"{name}:{_ODD.sub('-', model)}",
        runs=None if limits is None else limits.runs,
        starts=None if limits is None or limits.starts is None else (limits.starts, float(limits.period)),
        tenant_runs=tenants.runs,
        tenant_starts=None if tenants.starts is None else (tenants.starts, float(tenants.period)),
    )
