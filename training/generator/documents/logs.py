"""Logs of servers, sensors, games and builds."""

import random

from training.generator.documents.page import Page, pick, spin
from training.generator.documents.words import CITIES, FIRST, coined, identifier

__all__ = ["LOGS"]

MESSAGES = """INFO server started on port {n}|INFO user {p} logged in|WARNING disk at {m} %
ERROR cannot open {f}|INFO backup finished in {m} s|ERROR connection to {h} lost
INFO {m} mails sent|WARNING slow query: {n} ms|ERROR timeout after {m} s|INFO cache cleared
DEBUG {m} rows read|ERROR payment {n} refused|INFO user {p} logged out
WARNING battery at {m} %|INFO job {w} done|ERROR job {w} failed|INFO config loaded from {f}
FATAL out of memory|WARNING retry {m} for {h}"""


def server_log(rng: random.Random) -> Page:
    """A log with levels."""
    page = Page(
        rng.choice(
            [
                "server.log",
                "app.log",
                "logs/app.log",
                "error.log",
                "logs/today.log",
                "backup.log",
                "output.log",
            ]
        ),
        "[the|our] [log|log file|server log]",
        "a log",
    )
    day, second = f"2026-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}", rng.randint(20000, 60000)
    form = rng.choice(["{d} {t} {l}", "[{t}] {l}", "{t} {l}", "{d}T{t} {l}"])
    levels: dict[str, list[str]] = {}
    for message in rng.sample(MESSAGES.replace("\n", "|").split("|"), rng.randint(5, 11)):
        second += rng.randint(1, 900)
        time = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"
        values = {
            "n": rng.randint(100, 9999),
            "m": rng.randint(2, 99),
            "p": rng.choice(FIRST).lower(),
            "f": f"{identifier(rng, 1)}.db",
            "h": f"{coined(rng).lower()}.example",
            "w": identifier(rng),
        }
        text = message
        for name, value in values.items():
            text = text.replace("{" + name + "}", str(value))
        level, _, said = text.partition(" ")
        line = page.add(form.replace("{d}", day).replace("{t}", time).replace("{l}", text))
        levels.setdefault(level, []).append(text)
        page.ask(
            "fact",
            f"when [was|did] this [happen|]: {said}|at what time {said}|time of {said}".replace(
                "when [was|did] this [happen|]", "when was this"
            ),
            f"That was at {time}.",
            [line],
        )
        page.ask(
            "quote",
            f"what happened at {time}|[entry|message|line] of {time}|what does the log say at {time}",
            f"At {time}: {text}",
            [line],
        )
        numbers = {
            "disk at": ("the disk", "how full [is|was] the disk", "%"),
            "battery at": ("the battery", "how full [is|was] the battery", "%"),
            "mails sent": ("mails", "how many mails were sent", ""),
            "rows read": ("rows", "how many rows were read", ""),
            "slow query": ("the query", "how long did the slow query take", "ms"),
            "started on port": (
                "the port",
                "on which port did the server start|which port does the server use",
                "",
            ),
        }
        for mark, (_, words, unit_name) in numbers.items():
            if mark in said:
                number = next(part for part in said.split() if part.isdigit())
                shown = f"{number} {unit_name}".strip()
                page.ask("fact", words, f"It was {shown}.", [line])
    for level, found in levels.items():
        word = level.lower()
        page.listed(
            "count",
            f"how many {word}s [are there|were there|does it show]|number of {word}s"
            f"|count the {level} lines|how many {level} [lines|entries]",
            found,
            f"That is {len(found)} {level}.",
        )
        page.listed(
            "list",
            f"which {word}s [are there|happened|came up]|show me the {word}s|only the {level} lines"
            f"|list [all|the] {word}s",
            found,
            f"That is {len(found)} {level}.",
        )
    if "ERROR" not in levels and "FATAL" not in levels:
        page.ask("check", "[are|were] there [any|] errors|did anything fail", "No, there is no ERROR line.")
    elif "ERROR" in levels:
        at = [number for number, line in enumerate(page.lines, 1) if "ERROR" in line]
        page.ask(
            "check",
            "[are|were] there [any|] errors|did anything [fail|go wrong]",
            "Yes, there is at least one error.",
            at[:3],
        )
        page.ask(
            "quote",
            "what was the [last|latest] error|last error|the newest error",
            f"The last error is: {levels['ERROR'][-1].removeprefix('ERROR ')}",
            [at[-1]],
        )
        page.ask(
            "quote",
            "what was the first error|first error",
            f"The first error is: {levels['ERROR'][0].removeprefix('ERROR ')}",
            [at[0]],
        )
    return page


def sensor_log(rng: random.Random) -> Page:
    """Readings over time."""
    thing, unit = rng.choice(
        [
            ("temperature", "C"),
            ("water level", "cm"),
            ("pressure", "hPa"),
            ("humidity", "%"),
            ("wind", "km/h"),
            ("noise", "dB"),
            ("power", "W"),
            ("pulse", "bpm"),
        ]
    )
    page = Page(
        spin(
            rng,
            f"sensor.log|readings.txt|{thing.replace(' ', '_')}.log|logs/{thing.replace(' ', '-')}.txt"
            f"|data/{thing.split()[0]}.dat",
        ),
        f"[the|our] [sensor log|readings|{thing} log|measurements]",
        f"readings of the {thing}",
    )
    if rng.random() < 0.4:
        page.title = page.add(f"# {thing} in {unit}, station {rng.choice(CITIES)}")
    count = rng.randint(4, 10)
    hour = rng.randint(0, 12)
    values = rng.sample(range(3, 99), count)
    times = [f"{hour + at:02}:{rng.choice(['00', '00', '30'])}" for at in range(count)]
    lines = []
    shown = [f"{value}.{rng.randint(0, 9)}" for value in values]
    for time, value in zip(times, shown, strict=True):
        lines.append(
            page.add(spin(rng, f"{time} {value} {unit}" if page.path.endswith("log") else f"{time}  {value}"))
        )
    for at in pick(rng, [str(each) for each in range(count)], 2, 4):
        time, value = times[int(at)], shown[int(at)]
        page.fact(
            f"the {thing} at {time}",
            value,
            lines[int(at)],
            f"{thing} at {time}|what was the {thing} at {time}|what did it read at {time}|reading of {time}",
            f"At {time} the {thing} was {value} {unit}.",
        )
        page.ask(
            "fact",
            f"when was it {value}|at what time was the {thing} {value}",
            f"It was {value} at {time}.",
            [lines[int(at)]],
        )
    for word, best in (("highest", max(values)), ("lowest", min(values))):
        at_best = values.index(best)
        page.ask(
            "most",
            f"what [was|is] the {word} {thing}|{word} [value|reading]|when was the {thing} {word}"
            f"|{'maximum' if word == 'highest' else 'minimum'} [value|]",
            f"The {word} {thing} is {shown[at_best]} {unit}, at {times[at_best]}.",
            [lines[at_best]],
        )
    page.ask(
        "fact",
        "what is the [last|latest] [reading|value]|latest reading|last measurement",
        f"The last reading is {shown[-1]} {unit} at {times[-1]}.",
        [lines[-1]],
    )
    page.ask(
        "fact",
        "what is the first [reading|value]|first reading|first measurement",
        f"The first reading is {shown[0]} {unit} at {times[0]}.",
        [lines[0]],
    )
    page.listed(
        "count",
        "how many [readings|values|measurements] are there|number of readings",
        [f"{time} {value}" for time, value in zip(times, shown, strict=True)],
    )
    return page


def game_log(rng: random.Random) -> Page:
    """What happened in a game or a match."""
    page = Page(
        rng.choice(["match.log", "game.log", "match.txt", "logs/round1.log", "report.log"]),
        "[the|our] [match log|game log|match report]",
        "the log of a match",
    )
    one, two = coined(rng), coined(rng)
    if one == two:
        return game_log(rng)
    page.title = page.add(f"{one} vs {two}")
    minute, goals = 0, {one: 0, two: 0}
    scorers: list[str] = []
    for name in rng.sample(FIRST, rng.randint(4, 7)):
        minute += rng.randint(2, 12)
        team = rng.choice([one, two])
        kind = rng.choice(["goal", "goal", "yellow card", "substitution", "corner", "injury"])
        line = page.add(f"{minute}' {kind}: {name} ({team})")
        if kind == "goal":
            goals[team] += 1
            scorers.append(name)
            page.ask(
                "fact",
                f"who scored in minute {minute}|whose goal was it in the {minute}th minute",
                f"{name} scored.",
                [line],
            )
            page.ask(
                "fact",
                f"when did {name} score|in which minute did {name} score",
                f"{name} scored in minute {minute}.",
                [line],
            )
        page.ask(
            "fact",
            f"what happened in minute {minute}|minute {minute}",
            f"In minute {minute}: {kind}, {name} ({team}).",
            [line],
        )
        page.ask(
            "fact",
            f"for which team does {name} play|team of {name}|who does {name} play for",
            f"{name} plays for {team}.",
            [line],
        )
    if scorers:
        page.listed("list", "who scored|list the scorers|which players scored", scorers)
        page.listed("count", "how many goals [were there|fell]|number of goals", scorers)
        final = page.add(f"final score {goals[one]}:{goals[two]}")
        page.fact(
            "the final score",
            f"{goals[one]}:{goals[two]}",
            final,
            "how did it end|what was the result|final score|result of the match",
        )
        if goals[one] != goals[two]:
            winner = one if goals[one] > goals[two] else two
            page.ask(
                "most",
                "who won|which team won|winner",
                f"{winner} won {max(goals.values())}:{min(goals.values())}.",
                [1, final],
            )
    return page


LOGS = (server_log, server_log, sensor_log, sensor_log, game_log)
