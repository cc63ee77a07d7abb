"""All targets by name; each module has the targets for one kind of input."""

from tests.fuzz.target import Target
from tests.fuzz.targets import heads, stored, told, wires, written

TARGETS: dict[str, Target] = {
    target.name: target for module in (wires, heads, stored, written, told) for target in module.TARGETS
}
