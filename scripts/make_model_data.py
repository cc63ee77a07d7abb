"""Generate `src/bridle/providers/data/models.json`: windows, abilities and prices of current models.

```
genai-prices   prices, windows, names      installed into a temporary environment, because it must be imported
litellm        longest answer, abilities   one JSON file from its wheel; the package is never installed
```

Run `make models-data` when a vendor publishes new models; it needs a package index. Both sources are MIT, and
their licence texts are stored next to the data. A value that neither source has is left out, not set to zero.
"""

import json
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "src/bridle/providers/data"
ABILITIES_FILE = "litellm/model_prices_and_context_window_backup.json"
ABILITIES = {
    "images": "supports_vision",
    "reasoning": "supports_reasoning",
    "tools": "supports_function_calling",
}

# Bridle's vendor: its id in genai-prices, and the prefix of its models in litellm.
VENDORS = {
    "anthropic": ("anthropic", ""),
    "deepseek": ("deepseek", "deepseek/"),
    "gemini": ("google", "gemini/"),
    "groq": ("groq", "groq/"),
    "mistral": ("mistral", "mistral/"),
    "openai": ("openai", ""),
    "openrouter": ("openrouter", "openrouter/"),
    "xai": ("x-ai", "xai/"),
}

NOT_FOR_CHAT = re.compile(
    r"^ft:|\.ft-|audio|babbage|computer-use|davinci|deep-research|embed|guard|image|live|lyria|moderation|nano-banana"
    r"|ocr|omni|orpheus|realtime|robotics|safety|search|speech|transcri|translat|tts|voice|voxtral|whisper"
)
GONE = re.compile(
    r"(.*/)?(claude-(2|3|v1|instant)|gemini-1|gemini-(flash|pro)-1|gemini-pro$|gpt-3|gpt-4(-|$)|o1-(mini|preview))"
)
OPENROUTER_MAKERS = re.compile(
    r"(anthropic|deepseek|google|meta-llama|minimax|mistralai|moonshotai|nvidia|openai|qwen|x-ai|z-ai)/[^:]+"
)
DATED = re.compile(r"-(20\d{6}|20\d\d-\d\d-\d\d|latest)$")


def main() -> None:
    """Fetch both sources and write the data."""
    today = datetime.now(UTC).date()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        prices = fetch_prices(place)
        abilities = fetch_abilities(place)
    vendors = {
        vendor: dict(models_of(vendor, prices["providers"][source], abilities["models"], today))
        for vendor, (source, _) in VENDORS.items()
    }
    DATA.mkdir(parents=True, exist_ok=True)
    versions = {"genai-prices": prices["version"], "litellm": abilities["version"]}
    (DATA / "models.json").write_text(written(today, versions, vendors), encoding="utf-8")
    (DATA / "LICENSE.genai-prices.txt").write_text(prices["licence"], encoding="utf-8")
    (DATA / "LICENSE.litellm.txt").write_text(abilities["licence"], encoding="utf-8")
    for vendor, models in vendors.items():
        print(f"{vendor:<12} {len(models):>4} models", file=sys.stderr)


# ---------------------------------------------------------------------------- sources


def fetch_prices(place: Path) -> dict[str, Any]:
    """Install genai-prices into an empty environment and read its list there."""
    print("installing genai-prices into a temporary environment", file=sys.stderr)
    venv.create(place / "env", with_pip=True)
    python = str(place / "env/bin/python")
    pip(python, "install", "genai-prices")
    return json.loads(subprocess.check_output([python, __file__, "--read-genai-prices"]))


def fetch_abilities(place: Path) -> dict[str, Any]:
    """Read litellm's list from its wheel."""
    print("downloading the wheel of litellm", file=sys.stderr)
    pip(sys.executable, "download", "--no-deps", "--only-binary=:all:", f"--dest={place}", "litellm")
    wheel = next(place.glob("litellm-*.whl"))
    with zipfile.ZipFile(wheel) as packed:
        licence = next(name for name in packed.namelist() if name.endswith("licenses/LICENSE"))
        return {
            "version": wheel.name.split("-")[1],
            "models": json.loads(packed.read(ABILITIES_FILE)),
            "licence": packed.read(licence).decode(),
        }


def pip(python: str, *args: str) -> None:
    """Run pip; exit with a hint if it fails."""
    command = [python, "-m", "pip", args[0], "-qq", "--disable-pip-version-check", *args[1:]]
    if subprocess.run(command, check=False).returncode:
        sys.exit("error: pip could not fetch the sources, see above (hint: this needs a package index)")


def read_genai_prices() -> None:
    """Print the data of genai-prices about Bridle's vendors as JSON; runs in the temporary environment."""
    from importlib.metadata import distribution  # noqa: PLC0415  next to the following import

    from genai_prices.data import providers  # noqa: PLC0415  not installed where this file is linted

    package = distribution("genai-prices")
    licence = next(file for file in package.files or () if file.name == "LICENSE")
    wanted = {source for source, _ in VENDORS.values()}
    found = {
        provider.id: [_described(provider, model) for model in provider.models]
        for provider in providers
        if provider.id in wanted
    }
    print(json.dumps({"version": package.version, "licence": licence.read_text(), "providers": found}))


def _described(provider: Any, model: Any) -> dict[str, Any]:
    names = {name for name in _names(model.match) if provider.find_model(name) is model}
    plain = not isinstance(model.prices, list)
    prices = [(None, model.prices)] if plain else [(item.constraint, item.prices) for item in model.prices]
    return {
        "id": model.id,
        "names": sorted(names - {model.id}),
        "window": model.context_window,
        "deprecated": bool(model.deprecated),
        "prices": [{**_when(constraint), "rates": _rates(price)} for constraint, price in prices],
    }


def _names(clause: Any) -> Iterator[str]:
    """Yield the names that a matching rule contains."""
    for inner in getattr(clause, "or_", ()):
        yield from _names(inner)
    for field in ("equals", "starts_with"):
        if name := getattr(clause, field, ""):
            yield name.removesuffix("-")


def _when(constraint: Any) -> dict[str, Any]:
    start = getattr(constraint, "start_date", None)
    return {"from": start.isoformat()} if start else {"hours": bool(constraint)}


def _rates(price: Any) -> dict[str, Any]:
    """Return each rate as a list of (tokens above which it applies, dollars per million)."""
    rates = {}
    for ours in ("input", "output", "cache_read", "cache_write"):
        rate = getattr(price, f"{ours}_mtok", None)
        if rate is not None:
            tiers = [(tier.start, float(tier.price)) for tier in getattr(rate, "tiers", ())]
            rates[ours] = [(0, float(getattr(rate, "base", rate))), *tiers]
    return rates


# ---------------------------------------------------------------------------- choosing


def models_of(
    vendor: str, listed: list[dict[str, Any]], abilities: dict[str, Any], today: date
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the vendor's models that an agent can use today, sorted by name."""
    prefix = VENDORS[vendor][1]
    for model in sorted(listed, key=lambda model: model["id"]):
        names = [model["id"], *model["names"]]
        facts = next((abilities[prefix + name] for name in names if prefix + name in abilities), {})
        window = model["window"] or facts.get("max_input_tokens")
        if window and is_usable(vendor, model, facts, today):
            yield model["id"], _entry(model, facts, int(window), today)


def is_usable(vendor: str, model: dict[str, Any], facts: dict[str, Any], today: date) -> bool:
    """Return whether a model can chat and is still available."""
    name = model["id"]
    if model["deprecated"] or facts.get("deprecation_date", "9999") < today.isoformat():
        return False
    if facts.get("mode", "chat") not in ("chat", "responses"):
        return False
    if NOT_FOR_CHAT.search(name) or GONE.match(name):
        return False
    match vendor:
        case "openrouter":
            return bool(OPENROUTER_MAKERS.fullmatch(name))
        case "gemini":
            return name.startswith(("gemini-", "gemma-"))  # Google's cloud also sells models of other vendors
        case _:
            return True


def _entry(model: dict[str, Any], facts: dict[str, Any], window: int, today: date) -> dict[str, Any]:
    entry: dict[str, Any] = {"window": window}
    longest = facts.get("max_output_tokens")
    if longest and longest < window:  # some lists repeat the window where they have no number
        entry["output"] = int(longest)
    for ours, theirs in ABILITIES.items():
        if theirs in facts:
            entry[ours] = bool(facts[theirs])
    now, later = _prices(model["prices"], today)
    if now:
        entry["price"] = now
    if later:
        entry["later"] = later
    aliases = [name for name in model["names"] if name[-1].isalnum() and DATED.sub("", name) != model["id"]]
    if aliases:
        entry["aliases"] = aliases
    return entry


def _prices(listed: list[dict[str, Any]], today: date) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return today's price and the announced prices, by their first day.

    Where the price depends on the hour the dearest counts, so that a budget is never overrun.
    """
    now: dict[str, Any] | None = None
    later = {}
    for item in listed:
        price = _price(item["rates"])
        if item.get("from", "") > today.isoformat():
            later[item["from"]] = price
        elif not item.get("hours") or (price and now and price["input"] > now["input"]):
            now = price
    return now, {day: price for day, price in later.items() if price}


def _price(rates: dict[str, Any]) -> dict[str, Any] | None:
    if "input" not in rates or "output" not in rates:
        return None
    starts = sorted({start for rate in rates.values() for start, _ in rate}, reverse=True)
    price: dict[str, Any] = {}
    for start in starts:
        held = {
            ours: [dollars for above, dollars in rate if above <= start][-1] for ours, rate in rates.items()
        }
        # Cached tokens without a separate price cost as much as input.
        one = {key: held.get(key, held["input"]) for key in ("input", "output", "cache_read", "cache_write")}
        price = {
            **one,
            **({"above_tokens": price.pop("start"), "above": price} if price else {}),
            "start": start,
        }
    price.pop("start")
    return price


def written(today: date, versions: dict[str, str], vendors: dict[str, dict[str, Any]]) -> str:
    """Return JSON with one model per line, so that diffs are readable."""
    blocks = []
    for vendor, models in vendors.items():
        lines = [f"    {json.dumps(name)}: {json.dumps(entry)}" for name, entry in models.items()]
        blocks.append(f"   {json.dumps(vendor)}: {{\n" + ",\n".join(lines) + "\n   }")
    head = f' "made": "{today.isoformat()}",\n "sources": {json.dumps(versions)},\n'
    return "{\n" + head + ' "vendors": {\n' + ",\n".join(blocks) + "\n }\n}\n"


if __name__ == "__main__":
    if "--read-genai-prices" in sys.argv:
        read_genai_prices()
    else:
        main()
