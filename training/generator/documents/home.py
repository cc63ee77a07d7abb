"""Texts of the household, of clubs and of school."""

import random

from training.generator.documents import home_data
from training.generator.documents.page import Page, joined, lower_first, pick, spin, unfolded, upper_first
from training.generator.documents.words import (
    CITIES,
    COLOURS,
    DAYS,
    FIRST,
    MONTHS,
    bank,
    clock,
    coined,
    date_of,
    money,
    person,
    phone,
)

__all__ = ["HOME"]


def entries(block: str) -> list[str]:
    """The entries of a block."""
    return [entry.strip() for entry in unfolded(block).replace("\n", "|").split("|")]


def recipe(rng: random.Random) -> Page:
    """A recipe: servings, times, amounts, steps."""
    dish = rng.choice(entries(home_data.DISHES))
    page = Page(
        spin(
            rng,
            f"{dish.replace(' ', '-')}.md|{dish.replace(' ', '_')}.txt|recipes/{dish.replace(' ', '_')}.md"
            f"|recipe.txt|kitchen/{dish.split()[-1]}.txt",
        ),
        f"[the|my|our] [{dish} recipe|recipe|recipe for {dish}]",
        f"a recipe for {dish}",
    )
    md = page.path.endswith("md")
    page.title = page.add(("# " if md else "") + upper_first(dish))
    page.add("")
    serves, minutes, oven = (
        rng.randint(2, 12),
        rng.choice([15, 20, 25, 35, 40, 55, 70, 90]),
        rng.choice([160, 175, 180, 190, 200, 220]),
    )
    facts = [
        (
            f"{rng.choice(['Serves', 'For', 'Portions:'])} {serves}",
            "the number of servings",
            str(serves),
            (
                "how many people is it for|how many [portions|servings] [does it make|is that]|[it"
                "|the recipe] serves how many"
            ),
            f"It serves {serves}.",
        ),
        (
            f"{rng.choice(['Time', 'Total', 'Duration'])}: {minutes} min",
            "the time",
            f"{minutes} min",
            "how long does it take|how much time do i need [for it|]|how many minutes does it take",
            f"It takes {minutes} min.",
        ),
        (
            f"Oven: {oven} °C",
            "the oven temperature",
            f"{oven} °C",
            (
                "how hot [must|should] the oven be|what [oven |]temperature [does it need|do i set]"
                "|at how many degrees do i bake it"
            ),
            f"The oven temperature is {oven} °C.",
        ),
        (
            f"Source: {rng.choice(FIRST)}",
            "the source",
            "",
            "who is the recipe from|where did we get the recipe",
            "",
        ),
    ]
    for line, noun, value, words, answer in rng.sample(facts, rng.randint(2, 4)):
        value = value or line.partition(": ")[2]
        page.fact(noun, value, page.add(line), words, answer or f"The recipe is from {value}.")
    page.add(
        "",
        rng.choice(["## Ingredients", "Ingredients:"])
        if md
        else rng.choice(["Ingredients", "You need:", "Ingredients:"]),
    )
    used = []
    for food in pick(rng, bank("food"), 4, 8):
        amount = rng.choice(
            [
                f"{rng.randint(1, 9) * 50} g",
                f"{rng.randint(1, 4)} tbsp",
                f"{rng.randint(1, 6)}",
                f"{rng.randint(1, 5)} dl",
                "1 pinch",
                "half a cup",
                f"{rng.randint(1, 3)} tsp",
                "a handful",
            ]
        )
        number = page.add(
            f"{'- ' if md or rng.random() < 0.2 else ''}{amount} {food}"
            if rng.random() < 0.8
            else f"- {food}: {amount}"
        )
        page.fact(
            f"the amount of {food}",
            amount,
            number,
            f"how much {food} [do i need|goes in|is in it]|{food}, how much|how many {food} do i need",
            f"You need {amount} {food}.",
        )
        used.append(food)
    page.listed(
        "count",
        "how many ingredients [are there|does it have|do i need]|number of ingredients|count the ingredients",
        used,
    )
    page.listed(
        "list",
        "what do i need to buy for it|[what are|list|give me] the ingredients|what goes into it"
        "|ingredients only",
        used,
    )
    page.add("", "## Steps" if md else "Steps")
    steps = pick(rng, entries(home_data.STEPS), 3, 5)
    for at, step in enumerate(steps):
        number = page.add(f"{at + 1}. {step}")
        page.ask(
            "quote",
            f"what is step {at + 1}|step {at + 1}|what do i do in step {at + 1}|read [me|] step {at + 1}",
            f"Step {at + 1}: {step}",
            [number],
        )
    page.ask(
        "quote",
        "what is the last step|how does it end|last step",
        f"The last step is: {steps[-1]}",
        [len(page.lines)],
    )
    page.listed("count", "how many steps [are there|is it|does it have]|number of steps", steps)
    yes, no = rng.choice(used), rng.choice([food for food in bank("food") if food not in used])
    page.ask(
        "check",
        f"[does it need|is there|do i need] {yes} [in it|]|is {yes} one of the ingredients",
        f"Yes, it has {yes}.",
        [next(i for i, line in enumerate(page.lines, 1) if yes in line)],
    )
    page.ask(
        "check",
        f"[does it need|is there|do i need] {no} [in it|]|is {no} one of the ingredients",
        f"No, {no} is not in the recipe.",
    )
    page.missing(
        f"how much {no} [do i need|goes in]|amount of {no}",
        f"There is no {no} in {{file}}. It has {joined(used)}.",
    )
    return page


def checklist(rng: random.Random) -> Page:
    """A list of things, ticked or not."""
    topic, things = rng.choice(entries(home_data.TODOS)).split(": ")
    page = Page(
        spin(
            rng,
            f"todo.md|TODO.md|todo.txt|{topic.replace(' ', '_')}.md|lists/{topic.split()[-1]}.md|tasks.md"
            "|checklist.md|notes/todo.md",
        ),
        "[the|my|our] [to-do list|todo list|todos|list|checklist|task list]",
        f"a list of things to do for the {topic}",
    )
    page.title = page.add(spin(rng, f"# To do: {topic}|# {upper_first(topic)}|## {upper_first(topic)}"))
    page.add("")
    style = rng.choice(
        [
            ("- [ ] ", "- [x] "),
            ("- [ ] ", "- [x] "),
            ("* [ ] ", "* [X] "),
            ("[ ] ", "[x] "),
            ("open: ", "done: "),
            ("TODO ", "DONE "),
        ]
    )
    items = pick(rng, things.split(", "), 4, 8)
    done = [rng.random() < 0.45 for _ in items]
    if len({*done}) == 1:
        done[0] = not done[0]
    for item, is_done in zip(items, done, strict=True):
        number = page.add(style[is_done] + item)
        state = "done" if is_done else "still open"
        verb = item
        page.ask(
            "check",
            f'is "{verb}" [done|finished|ticked]|did we {verb} already|have we done this: {verb}'
            f"|{verb}: done or [still |]open",
            f"{'Yes' if is_done else 'No'}, {verb} is {state}.",
            [number],
        )
    still = [item for item, is_done in zip(items, done, strict=True) if not is_done]
    ticked = [item for item, is_done in zip(items, done, strict=True) if is_done]
    page.listed(
        "list",
        "what is [still|] [open|left|to do|missing]|[which|what] [items|points|tasks] are [still|] [open"
        "|not done|unticked]|what do i still have to do|only the open [ones|points]"
        "|what remains [to be done|]|show the unfinished [tasks|ones]",
        still,
        f"That is {len(still)} still open.",
    )
    page.listed(
        "list",
        "what is [already|] done|which [items|points|tasks] are [done|finished|ticked|checked]"
        "|what have we [finished|done] [already|so far]|only the done ones",
        ticked,
        f"That is {len(ticked)} done.",
    )
    page.listed(
        "count",
        "how many [things|tasks|points] are [still|] open|number of open [tasks|items|points]"
        "|how much is left [to do|]|count the open [ones|points]",
        still,
        f"That is {len(still)} still open.",
    )
    page.listed(
        "count",
        "how many [things|tasks|points] are [already|] done|number of finished [tasks|items]"
        "|count the done ones",
        ticked,
        f"That is {len(ticked)} done.",
    )
    page.listed(
        "count",
        "how many [points|tasks|items] are [on the list|there] [altogether|in total]|number of [all|] tasks",
        items,
        f"That is {len(items)}.",
    )
    return page


def plain_list(rng: random.Random) -> Page:
    """A shopping list, packing list or the like: a thing on each line."""
    kind, called, block = rng.choice(
        [
            ("shopping", "shopping list|groceries|list for the shop", bank("food")),
            ("packing", "packing list|luggage list", bank("thing")),
            ("groceries", "grocery list|shopping list", bank("food")),
            ("guests", "guest list|list of guests", FIRST),
            ("inventory", "inventory|list of our things", bank("thing")),
            ("names", "name list|list of names|list of the kids", FIRST),
            ("cities", "list of cities|stops|places", CITIES),
            ("toolbox", "tool list|list of tools", bank("thing")),
        ]
    )
    page = Page(
        spin(
            rng,
            f"{kind}.txt|{kind}_list.txt|{kind}.md|lists/{kind}.txt|my_{kind}.txt"
            f"|{kind}-{rng.choice(MONTHS).lower()}.txt",
        ),
        f"[the|my|our] [{called}]",
        f"a {called.split('|')[0]}",
    )
    if rng.random() < 0.3:
        page.title = page.add(
            spin(rng, f"{upper_first(kind)}|{upper_first(kind)} ({rng.choice(DAYS)})|# {upper_first(kind)}")
        )
    start = len(page.lines)
    mark = rng.choice(["", "", "- ", "* ", "• "])
    items = pick(rng, block, 4, 13)
    amounts = rng.random() < 0.4 and block is not FIRST and block is not CITIES
    for item in items:
        amount = str(rng.randint(2, 12)) if amounts else ""
        number = page.add(
            f"{mark}{amount} {item}".replace("  ", " ").strip()
            if not mark or not amounts
            else f"{mark}{item} x{amount}"
        )
        if amounts:
            page.fact(
                f"the number of {item}",
                amount,
                number,
                f"how many {item} [are on the list|do we need|do i take]|{item}, how many",
                f"The number of {item} is {amount}.",
            )
    page.listed(
        "count",
        "how many [things|items|entries] are [there|on it|on the list]|number of [entries|items]"
        "|count the [items|entries|things]|how long is the list",
        items,
    )
    page.listed(
        "list",
        "what is on [it|the list]|[read|tell] me the list|list everything on it|what [does it say"
        "|stands there]",
        items,
    )
    for word, at in (("first", 0), ("last", -1), ("second", 1), ("third", 2), ("fourth", 3)):
        line = (start + at + 1) if at >= 0 else len(page.lines)
        page.ask(
            "fact",
            f"what is the {word} [thing|item|entry|one] [on the list|]|{word} [entry|item|thing]"
            f"|which [thing|item] comes {word}",
            f"The {word} one is {items[at]}.",
            [line],
        )
    yes, no = (
        rng.choice(items),
        rng.choice([each for each in block if not any(each in item or item in each for item in items)]),
    )
    number = start + items.index(yes) + 1
    page.ask(
        "check",
        f"is {yes} on [it|the list]|do we have {yes} [on it|there|]|did i [write down|put down] {yes}"
        f"|is {yes} [already|] there",
        f"Yes, {yes} is on the list.",
        [number],
    )
    page.ask(
        "check",
        f"is {no} on [it|the list]|do we have {no} [on it|there|]|did i [write down|put down] {no}"
        f"|is {no} [already|] there",
        f"No, {no} is not on the list.",
    )
    letter = rng.choice(items)[0].lower()
    hits = [item for item in items if item.lower().startswith(letter)]
    page.listed(
        "list",
        f"which [ones|items|entries] start with {letter.upper()}|everything [that begins"
        f"|starting] with {letter}",
        hits,
        f"That is {len(hits)} with {letter.upper()}.",
    )
    return page


def minutes(rng: random.Random) -> Page:
    """Minutes of a meeting."""
    topic = rng.choice(entries(home_data.MEETINGS))
    page = Page(
        spin(
            rng,
            f"minutes.md|meeting.md|notes/meeting.txt|protocol.txt|minutes_{rng.randint(1, 12):02}.md"
            f"|{topic.split()[0]}-meeting.md|docs/minutes.md",
        ),
        "[the|our] [minutes|meeting notes|notes of the meeting|protocol]",
        f"the minutes of a meeting about the {topic}",
    )
    page.title = page.add(
        spin(rng, f"# Meeting: {topic}|# Minutes, {topic}|Minutes: {topic}|# {upper_first(topic)}")
    )
    page.add("")
    people = pick(rng, FIRST, 3, 5)
    absent = [name for name in FIRST if name not in people]
    date, place, chair, keeper = date_of(rng), rng.choice(entries(home_data.PLACES)), people[0], people[1]
    rows = [
        (
            f"Date: {date}",
            "the date of the meeting",
            date,
            "when was the meeting|on which [day|date] did we meet|when did we meet",
            f"The meeting was on {date}.",
        ),
        (
            f"Place: {place}",
            "the place of the meeting",
            place,
            "where did we meet|where was the meeting|in what place was it",
            f"The place was: {place}.",
        ),
        (
            f"Chair: {chair}",
            "the chair",
            chair,
            "who [led|chaired] the meeting|who was in the chair|who was chair",
            f"The chair was {chair}.",
        ),
        (
            f"Minutes: {keeper}",
            "the minute taker",
            keeper,
            "who wrote the minutes|who took the notes",
            f"{keeper} took the minutes.",
        ),
        (
            f"Next meeting: {date_of(rng)}",
            "the date of the next meeting",
            "",
            "when is the next meeting|when do we meet again|next meeting",
            "",
        ),
        (
            f"Budget: {money(rng, 100, 900)}",
            "the budget",
            "",
            "how much money do we have|what is our budget|how big is the budget",
            "",
        ),
    ]
    for line, noun, value, words, answer in sorted(rng.sample(rows, rng.randint(3, 6)), key=rows.index):
        value = value or line.partition(": ")[2]
        page.fact(noun, value, page.add(line), words, answer)
    number = page.add(f"Present: {', '.join(people)}")
    page.ask(
        "fact",
        "who was [there|present]|which people were at the meeting|who took part",
        f"Present were {joined(people)}.",
        [number],
    )
    page.listed(
        "count",
        "how many [people|persons] were [there|present]|number of people [at the meeting|present]",
        people,
    )
    there, away = rng.choice(people), rng.choice(absent)
    page.ask(
        "check",
        f"was {there} [there|present|at the meeting]|did {there} come",
        f"Yes, {there} was present.",
        [number],
    )
    page.ask(
        "check",
        f"was {away} [there|present|at the meeting]|did {away} come",
        f"No, {away} is not among those present.",
        [number],
    )
    page.add("", rng.choice(["## Decisions", "## To do", "Tasks:", "## Actions"]))
    for item, who in zip(pick(rng, entries(home_data.ACTIONS), 3, 5), rng.sample(FIRST, 5), strict=False):
        until = rng.choice(DAYS)
        at = page.add(spin(rng, f"- {who}: {item} by {until}"))
        page.ask(
            "fact",
            f"who [is to|must|has to|should|will] {item}|whose job is it to {item}|who will {item}",
            f"{who} is to {item}.",
            [at],
        )
        page.ask(
            "fact",
            f"what [is {who} to do|must {who} do|does {who} have to do|did {who} promise]|task of {who}"
            f"|what is {who}'s job",
            f"{who} is to {item} by {until}.",
            [at],
        )
        page.ask(
            "fact",
            f"until when [must|should] {who} {item}|by when does {who} have to be ready",
            f"By {until}.",
            [at],
        )
    return page


def diary(rng: random.Random) -> Page:
    """A diary with an entry for each day."""
    page = Page(
        spin(rng, "diary.txt|journal.md|diary/week.txt|log.md|travel-diary.txt|notes/diary.md"),
        "[the|my] [diary|journal]",
        "a diary with a few days",
    )
    days = sorted(rng.sample(range(7), rng.randint(3, 6)))
    for day, what in zip(days, rng.sample(entries(home_data.EVENTS), len(days)), strict=True):
        name = DAYS[day]
        second = rng.choice(entries(home_data.REMARKS))
        style = rng.random()
        if style < 0.5:
            line = page.add(f"{name}: {what}. {second}")
        else:
            page.add(f"{'## ' if page.path.endswith('md') else ''}{name}")
            line = page.add(f"{what}. {second}")
            page.add("")
        page.ask(
            "fact",
            f"what happened on {name}|what did i [do|write] on {name}|{name.lower()}|how was {name}",
            f"On {name}: {what}.",
            [line],
        )
        page.ask(
            "fact",
            f"on which day [was it|is this]: {lower_first(what)}|when was that with the {what.split()[-1]}",
            f"That was on {name}.",
            [line] if style < 0.5 else [line - 1, line],
        )
    page.listed(
        "list", "which days are in it|on what days did i write|list the days", [DAYS[day] for day in days]
    )
    page.listed("count", "how many [days|entries] are there|number of entries", [DAYS[day] for day in days])
    return page


def event(rng: random.Random) -> Page:
    """An announcement: date, place, what to bring."""
    topic = rng.choice(entries(home_data.OCCASIONS))
    page = Page(
        spin(
            rng,
            f"{topic.replace(' ', '_')}.md|events/{topic.replace(' ', '-')}.md|invitation.txt"
            f"|{topic.split()[-1]}.txt|flyer.txt|announcement.md",
        ),
        f"[the|our] [{topic} note|invitation|announcement|flyer|{topic} file]",
        f"an announcement of the {topic}",
    )
    page.title = page.add(("# " if page.path.endswith("md") else "") + upper_first(topic))
    page.add("")
    organiser, number = person(rng), phone(rng)
    bring = joined(rng.sample(bank("thing"), 2))
    rows = [
        (
            "Date|When|Day",
            f"{rng.choice(DAYS)}, {date_of(rng)}",
            f"the date of the {topic}",
            f"when is the {topic}|on which day is the {topic}|what date is the {topic}",
        ),
        (
            "Place|Where|Meeting point|Location",
            f"{rng.choice(entries(home_data.PLACES))}",
            f"the place of the {topic}",
            (
                f"where is the {topic}|where do we meet for [it|the {topic}]|what is the meeting point"
                "|where does it take place"
            ),
        ),
        (
            "Start|Time|Begins at",
            clock(rng),
            f"the start of the {topic}",
            f"what time [does it|is] start|when does the {topic} [start|begin]|at what time does it begin",
        ),
        (
            "Price|Entry|Costs",
            money(rng, 3, 40),
            "the price",
            "how much is it|what does it cost [to come|]|do i have to pay, and how much|entry fee",
        ),
        (
            "Bring",
            bring,
            "the list of things to bring",
            "what [should|must] i bring [along|with me|]|do i need to take anything",
        ),
        (
            "Contact|Organiser|Host",
            organiser,
            "the contact person",
            "who organises [it|the " + topic + "]|who do i ask about it|who is the [contact|organiser]",
        ),
        (
            "Phone|Call",
            number,
            "the phone number",
            "which number can i call|what is the phone number|phone number please",
        ),
        (
            "Sign up until|Reply by|Register by",
            date_of(rng),
            "the deadline",
            "until when [can|must] i sign up|what is the deadline|by when do they want an answer",
        ),
        (
            "Rain date|If it rains",
            date_of(rng),
            "the rain date",
            "what if it rains|when is the rain date|what is the other date for bad weather",
        ),
    ]
    for label, value, noun, words in sorted(rng.sample(rows, rng.randint(4, 8)), key=rows.index):
        page.fact(
            noun,
            value,
            page.add(f"{spin(rng, label)}: {value}"),
            words.replace("[does it|is] start", "does it start"),
        )
    used = {ask.noun for ask in page.asks}
    missing = [row for row in rows if row[2] not in used]
    if missing:
        noun = missing[0][2]
        page.missing(
            missing[0][3],
            f"{{file}} does not say {noun}. It has "
            f"{joined(sorted(each.removeprefix('the ') for each in used))}.",
        )
    return page


def chat(rng: random.Random) -> Page:
    """A chat or the subtitles of a film: who says what, and when."""
    people = rng.sample(FIRST, rng.randint(2, 3))
    sentences = rng.sample(entries(home_data.SAYINGS), rng.randint(4, 8))
    film = rng.random() < 0.45
    name = "subtitles" if film else "chat"
    page = Page(
        spin(
            rng,
            f"episode{rng.randint(1, 9)}.srt|film.srt|subs/part{rng.randint(1, 3)}.srt"
            f"|{coined(rng).lower()}.srt"
            if film
            else "chat.txt|chat_export.txt|messages.txt|group-chat.log|interview.txt",
        ),
        "[the|our|my] "
        f"[{'subtitles|subtitle file|srt' if film else 'chat|chat export|messages|conversation'}]",
        f"the {name} with {len(sentences)} lines",
    )
    second = rng.randint(3, 70)
    hour = rng.randint(7, 20)
    for at, sentence in enumerate(sentences):
        who = people[at % len(people)] if rng.random() < 0.8 else rng.choice(people)
        second += rng.randint(3, 9)
        if film:
            stamp = f"00:{second // 60:02}:{second % 60:02}"
            page.add(
                str(at + 1),
                f"{stamp},{rng.randint(0, 9)}00 --> "
                f"00:{(second + 2) // 60:02}:{(second + 2) % 60:02},{rng.randint(0, 9)}00",
            )
            line = page.add(sentence)
            page.add("")
            page.ask(
                "quote",
                f"what is said at {stamp}|which line comes at {second // 60} [min|minutes] {second % 60} [s"
                f"|seconds]|[text|line] at {stamp}|what do they say at {second // 60}:{second % 60:02}",
                f'At {stamp}: "{sentence}"',
                [line - 1, line],
            )
            page.ask(
                "quote",
                f"what is subtitle [number|no.|] {at + 1}|text of [subtitle|number] {at + 1}",
                f'Subtitle {at + 1}: "{sentence}"',
                [line],
            )
            page.ask(
                "fact",
                f'when do they say "{sentence}"|at what time comes "{sentence}"',
                f"At {stamp}.",
                [line - 1, line],
            )
            continue
        stamp = f"{hour + second // 60:02}:{second % 60:02}"
        line = page.add(spin(rng, f"({stamp}) {who}: {sentence}" if at < 0 else f"{stamp} {who}: {sentence}"))
        page.ask(
            "fact",
            f'who [said|wrote] "{sentence}"|who was it that said "{sentence}"',
            f"{who} said it.",
            [line],
        )
        hits = [one for one in page.asks if one.value == stamp]
        if not hits and sum(stamp in each for each in page.lines) == 1:
            page.ask(
                "quote",
                f"what [was written|did they write] at {stamp}|message at {stamp}"
                f"|who wrote at {stamp} and what",
                f'{who} wrote: "{sentence}"',
                [line],
            )
    page.listed(
        "count",
        f"how many [lines|{'subtitles' if film else 'messages'}] are there"
        f"|number of {'subtitles' if film else 'messages'}",
        sentences,
    )
    page.ask(
        "quote",
        "what is the last [thing|sentence] [they say|that is said]|how does it end",
        f'The last is: "{sentences[-1]}"',
        [len(page.lines) - (1 if film else 0)],
    )
    return page


def letter(rng: random.Random) -> Page:
    """A letter or a mail."""
    sender, to = person(rng), person(rng)
    topic, body = rng.choice(entries(home_data.LETTERS)).split(": ")
    amount, date, days = money(rng, 20, 400), date_of(rng), rng.randint(3, 30)
    body = body.replace("{amount}", amount).replace("{date}", date).replace("{days}", str(days))
    page = Page(
        spin(
            rng,
            f"letter.txt|letters/{sender.split()[-1].lower()}.txt|mail.txt"
            f"|letter_{to.split()[-1].lower()}.md|inbox/{topic.replace(' ', '-')}.eml|email.txt",
        ),
        "[the|this|my] [letter|mail|email]",
        f"a letter from {sender} to {to} about the {topic}",
    )
    rows = [
        (
            f"From: {sender}",
            "the sender",
            sender,
            "who [wrote|sent] [it|the letter|this]|who is it from|from whom is it",
            f"It is from {sender}.",
        ),
        (
            f"To: {to}",
            "the recipient",
            to,
            "who [is it for|got it]|to whom is it [written|addressed]|who is the letter to",
            f"It is to {to}.",
        ),
        (
            f"Subject: {topic}",
            "the subject",
            topic,
            "what is it about|what is the subject|subject line",
            f"It is about the {topic}.",
        ),
        (
            f"Date: {date_of(rng)}",
            "the date of the letter",
            "",
            "when was it [written|sent]|what date is on it",
            "",
        ),
    ]
    for line, noun, value, words, answer in rows[: rng.randint(3, 4)]:
        value = value or line.partition(": ")[2]
        page.fact(noun, value, page.add(line), words, answer)
    page.add("", spin(rng, f"Dear {to.split()[0]},|Hello {to.split()[0]},"), "")
    for sentence in body.split(". "):
        number = page.add(sentence.rstrip(".") + ".")
        if amount in sentence:
            page.fact(
                "the amount",
                amount,
                number,
                "how much [is it|do they want|is it about]|what amount [is named|does it name]"
                "|what sum is in the letter",
            )
        if date in sentence:
            page.fact(
                "the date that is named",
                date,
                number,
                "which date is [named|mentioned] [in the text|]|what date does it say|date in the text",
                f"It says {date}.",
            )
        if f"{days} days" in sentence:
            page.fact(
                "the number of days",
                f"{days} days",
                number,
                "how many days [does it say|is it|are named]|how long is the term",
                f"It says {days} days.",
            )
    page.add("", rng.choice(["Best wishes", "Kind regards", "Yours", "Cheers"]))
    page.fact(
        "the signature",
        sender,
        page.add(sender),
        "who signed [it|the letter]|which name is at the bottom",
        f"It is signed by {sender}.",
    )
    return page


def poem(rng: random.Random) -> Page:
    """A poem or the words of a song."""
    title = rng.choice(entries(home_data.POEM_TITLES))
    page = Page(
        spin(
            rng,
            f"poem.txt|poems/{title.lower().replace(' ', '-')}.txt|song.txt|lyrics.txt"
            f"|{title.lower().replace(' ', '_')}.txt",
        ),
        "[the|my|this] [poem|song|lyrics]",
        f'a poem with the title "{title}"',
    )
    page.title = page.add(title)
    author = person(rng)
    if rng.random() < 0.6:
        page.fact(
            "the author",
            author,
            page.add(f"by {author}"),
            "who wrote [it|the poem]|who is the poet|author of the poem",
            f"It is by {author}.",
        )
    page.add("")
    verses = []
    for at, line in enumerate(rng.sample(entries(home_data.VERSES), rng.randint(5, 9))):
        if at and at % 4 == 0:
            page.add("")
        number = page.add(line)
        verses.append((number, line))
        word = rng.choice([each for each in line.strip(".,").split() if len(each) > 4] or [""])
        if word and not any(word in each for _, each in verses[:-1]):
            page.ask(
                "quote",
                f'which line [has|is with] the word "{word}"|read the line with "{word}"'
                f'|what does the line about "{word}" say',
                f'"{line}"',
                [number],
            )
    page.ask(
        "quote",
        "how does it [begin|start]|what is the first line of the poem|first verse",
        f'It begins: "{verses[0][1]}"',
        [verses[0][0]],
    )
    page.ask(
        "quote",
        "how does it end|what is the last [line|verse]",
        f'It ends: "{verses[-1][1]}"',
        [verses[-1][0]],
    )
    return page


def quiz(rng: random.Random) -> Page:
    """Questions with their answers, as a quiz or an FAQ."""
    page = Page(
        spin(rng, "quiz.txt|faq.md|quiz.md|docs/faq.md|exam.txt|cards.txt|help/faq.md"),
        "[the|our|my] [quiz|faq|questions|cards]",
        "questions with their answers",
    )
    page.is_common = True
    page.title = page.add(spin(rng, "# Questions|Quiz|# FAQ|Questions and answers"))
    chosen = rng.sample(entries(home_data.QUESTIONS), rng.randint(4, 7))
    asked = []
    for at, entry in enumerate(chosen):
        question, answer = entry.split(" = ")
        answer = spin(rng, answer.replace(",", "|").replace("{n}", str(rng.randint(3, 60))))
        page.add("")
        page.add(f"{at + 1}. {question}?" if rng.random() < 0.5 else f"Q{at + 1}: {question}?")
        line = page.add(f"{rng.choice(['A', 'Answer', '->'])}: {answer}".replace("->: ", "-> "))
        asked.append(question + "?")
        page.ask(
            "fact",
            f"what is the answer to question {at + 1}|answer {at + 1}|solution of [question|number] {at + 1}",
            f"The answer to question {at + 1} is: {answer}.",
            [line],
        )
        page.ask("fact", f"{lower_first(question)}", f"The answer is: {answer}.", [line - 1, line])
        page.ask(
            "quote",
            f"what is question {at + 1}|read question {at + 1}|question {at + 1}, how does it go",
            f"Question {at + 1}: {question}?",
            [line - 1],
        )
    page.listed("count", "how many questions are there|number of questions", asked)
    page.listed(
        "list", "[which|what] questions are [there|in it]|list the questions|only the questions", asked
    )
    return page


def glossary(rng: random.Random) -> Page:
    """Terms and what they mean."""
    page = Page(
        spin(rng, "glossary.md|terms.txt|glossary.txt|docs/glossary.md|definitions.md|abbreviations.txt"),
        "[the|our] [glossary|list of terms|definitions]",
        "a glossary",
    )
    page.is_common = True
    if rng.random() < 0.6:
        page.title = page.add("# Glossary" if page.path.endswith("md") else "Glossary")
    terms = []
    style = rng.choice(["{t}: {m}", "**{t}** - {m}", "{t} = {m}", "- {t}: {m}"])
    for entry in rng.sample(entries(home_data.TERMS), rng.randint(4, 8)):
        term, meaning = entry.split(" = ")
        line = page.add(style.replace("{t}", term).replace("{m}", meaning))
        terms.append(term)
        page.ask(
            "fact",
            f"what is {term}|what does {term} [mean|stand for]|meaning of {term}|{term}|explain {term}"
            f"|definition of {term}",
            f"{upper_first(term)} means: {meaning}.",
            [line],
        )
        page.ask(
            "fact",
            f'which [term|word] means "{meaning}"|what is the word for "{meaning}"',
            f"The word is {term}.",
            [line],
        )
    page.listed(
        "list", "which terms are [explained|in it]|list the terms|what words are [there|in it]", terms
    )
    page.listed("count", "how many terms are [there|explained]|number of terms", terms)
    page.missing(
        "what does zorb mean|meaning of zorb|definition of zorb",
        f"There is no zorb in {{file}}. It has {joined(terms)}.",
    )
    return page


def family(rng: random.Random) -> Page:
    """A family tree in sentences."""
    surname = coined(rng)
    page = Page(
        spin(rng, f"family.txt|family-tree.md|genealogy.txt|ancestors.md|{surname.lower()}_family.txt"),
        "[the|our|my] [family tree|genealogy|family notes|family file]",
        f"the family tree of the {surname} family",
    )
    page.title = page.add(spin(rng, f"# The {surname} family|Family {surname}|{surname}"))
    page.add("")
    names = rng.sample(FIRST, 9)
    year = rng.randint(1880, 1940)
    for parent, child, spouse in zip(names[0:3], names[3:6], names[6:9], strict=True):
        born, died, place, job = (
            year,
            year + rng.randint(50, 95),
            rng.choice(CITIES),
            rng.choice(entries(home_data.JOBS)),
        )
        line = page.add(
            f"{parent} {surname}, born {born} in {place}, died {died}, {job}, married {spouse}, child: "
            f"{child}"
        )
        year += rng.randint(3, 30)
        page.fact(
            f"the year of birth of {parent}",
            str(born),
            line,
            f"when was {parent} born|{parent} was born when|year of birth of {parent}",
            f"{parent} was born in {born}.",
        )
        page.fact(
            f"the year of death of {parent}",
            str(died),
            line,
            f"when did {parent} die|{parent} died in which year",
            f"{parent} died in {died}.",
        )
        page.fact(
            f"the birthplace of {parent}",
            place,
            line,
            f"where was {parent} born|birthplace of {parent}",
            f"{parent} was born in {place}.",
        )
        page.fact(
            f"the job of {parent}",
            job,
            line,
            f"what was {parent}'s job|what did {parent} work as",
            f"The job of {parent} was {job}.",
        )
        page.ask(
            "fact",
            f"who [married|was married to] {parent}|who was {parent}'s [wife or husband|partner]",
            f"{parent} married {spouse}.",
            [line],
        )
        page.ask(
            "fact",
            f"whose child is {child}|who is the [parent|father or mother] of {child}",
            f"{child} is the child of {parent} and {spouse}.",
            [line],
        )
        page.ask(
            "sum",
            f"how old did {parent} get|how old was {parent} at death",
            f"{died} - {born} = {died - born}, so about {died - born} years.",
            [line],
        )
    return page


def hours(rng: random.Random) -> Page:
    """Opening hours, a weekly plan or a timetable of school: a day on each line."""
    kind = rng.choice(["opening", "week", "lessons"])
    stems = {
        "opening": "opening_hours.txt|hours.txt|shop/hours.md|opening-times.txt",
        "week": "week.txt|weekplan.md|meal_plan.txt|plan.txt",
        "lessons": "timetable.txt|school/timetable.md|schedule.txt",
    }
    called = {
        "opening": "opening hours|opening times|hours",
        "week": "meal plan|weekly plan|plan for the week",
        "lessons": "timetable|schedule|lesson plan",
    }
    page = Page(
        spin(rng, stems[kind]),
        f"[the|our|my] [{called[kind]}]",
        f"a plan of the week ({called[kind].split('|')[0]})",
    )
    if rng.random() < 0.6:
        page.title = page.add(
            spin(
                rng, f"# {upper_first(called[kind].split('|')[0])}|{upper_first(called[kind].split('|')[0])}"
            )
        )
    days = DAYS[: rng.randint(4, 7)]
    closed = []
    for day in days:
        if kind == "opening" and rng.random() < 0.2:
            closed.append(day)
            line = page.add(f"{day}: closed")
            page.ask(
                "check",
                f"[are we|is it|is the shop] open on {day}|do they open on {day}",
                f"No, on {day} it is closed.",
                [line],
            )
            page.fact(
                f"the hours on {day}",
                "closed",
                line,
                f"when [are we|is it] open on {day}",
                f"On {day} it is closed.",
            )
            continue
        first, second = clock(rng, 7, 11), clock(rng, 15, 21)
        value = {
            "opening": f"{first} - {second}",
            "week": rng.choice(entries(home_data.DISHES)),
            "lessons": joined(rng.sample(entries(home_data.SUBJECTS), 3)),
        }[kind]
        line = page.add(f"{day}: {value}")
        if kind == "opening":
            page.fact(
                f"the opening time on {day}",
                first,
                line,
                f"when [do we|does it|does the shop] open on {day}|from what time is it open on {day}",
                f"On {day} it opens at {first}.",
            )
            page.fact(
                f"the closing time on {day}",
                second,
                line,
                f"when [do we|does it|does the shop] close on {day}|until what time is it open on {day}"
                f"|how long is it open on {day}",
                f"On {day} it closes at {second}.",
            )
            page.ask(
                "check",
                f"[are we|is it|is the shop] open on {day}|do they open on {day}",
                f"Yes, on {day} it is open: {value}.",
                [line],
            )
        elif kind == "week":
            page.fact(
                f"the meal on {day}",
                value,
                line,
                f"what [do we eat|is for dinner|is there] on {day}|what's cooking on {day}|{day.lower()}",
                f"On {day} there is {value}.",
            )
            if sum(value in each for each in page.lines) == 1:
                page.ask(
                    "fact", f"on which day [do we eat|is there] {value}|when is {value}", f"On {day}.", [line]
                )
        else:
            page.fact(
                f"the lessons on {day}",
                value,
                line,
                f"what [lessons|subjects] [do i have|are there] on {day}|what do we have on {day}"
                f"|{day.lower()} lessons",
                f"On {day}: {value}.",
            )
    if kind == "opening" and closed:
        page.listed("list", "on which days [is it|are we] closed|when is it closed|closed days", closed)
    return page


def bill(rng: random.Random) -> Page:
    """An invoice with its lines and totals."""
    number = f"{rng.choice(['R', 'INV', '2025', 'A'])}-{rng.randint(100, 9999)}"
    sender, to = coined(rng) + rng.choice([" Ltd", " GmbH", " & Sons", " Studio", " Inc"]), person(rng)
    page = Page(
        spin(
            rng,
            f"invoice.txt|invoices/{number.lower()}.txt|bill.md|invoice-{number.lower()}.txt|rechnung.txt"
            "|receipt.txt",
        ),
        "[the|this|our] [invoice|bill|receipt]",
        f"an invoice of {sender} to {to}",
    )
    due = date_of(rng)
    rows = [
        (
            f"Invoice {number}",
            "the invoice number",
            number,
            "what is the [invoice number|number of the invoice]|which number has it|invoice no",
        ),
        (
            f"From: {sender}",
            "the sender",
            sender,
            "who sent [it|the invoice]|who do we have to pay|who is it from",
        ),
        (f"To: {to}", "the customer", to, "who is it for|who has to pay|which customer is it"),
        (
            f"Date: {date_of(rng)}",
            "the date of the invoice",
            "",
            "when was it written|what date is on it|date of the invoice",
        ),
        (
            f"Due: {due}",
            "the due date",
            due,
            "when [is it due|must it be paid]|until when do we have to pay|payable by when",
        ),
        (
            (
                f"IBAN: XX{rng.randint(10, 99)} {rng.randint(1000, 9999)} {rng.randint(1000, 9999)} "
                f"{rng.randint(10, 99)}"
            ),
            "the IBAN",
            "",
            "to which account do i pay|what is the iban|iban",
        ),
    ]
    for line, noun, value, words in sorted(rng.sample(rows, rng.randint(3, 6)), key=rows.index):
        at = page.add(line)
        if line == rows[0][0]:
            page.title = at
        page.fact(noun, value or line.partition(": ")[2], at, words)
    page.add("")
    total = 0
    goods = pick(rng, bank("thing"), 2, 5)
    for thing in goods:
        count, price = rng.randint(1, 9), rng.randint(100, 6000)
        total += count * price
        at = page.add(f"{count} x {thing} @ {price / 100:.2f} = {count * price / 100:.2f}")
        page.fact(
            f"the unit price of the {thing}",
            f"{price / 100:.2f}",
            at,
            f"what does one {thing} cost|unit price of the {thing}|price of a single {thing}",
            f"One {thing} costs {price / 100:.2f}.",
        )
        page.fact(
            f"the number of the {thing}",
            str(count),
            at,
            f"how many of the {thing} [did we|] [order|buy|get]|how many {thing}s are on it",
            f"There are {count} of the {thing}.",
        )
        page.fact(
            f"the sum for the {thing}",
            f"{count * price / 100:.2f}",
            at,
            f"what do the {thing}s cost together|line total of the {thing}",
            f"The {thing} line comes to {count * price / 100:.2f}.",
        )
    page.listed(
        "list",
        "what [did we buy|is on it|was ordered]|which [items|articles] are on it|list the items",
        goods,
    )
    page.listed(
        "count", "how many [different|] [items|positions|articles] are on it|number of positions", goods
    )
    tax = round(total * rng.choice([0.07, 0.19, 0.2, 0.25]))
    page.fact(
        "the net amount",
        f"{total / 100:.2f}",
        page.add(f"Net: {total / 100:.2f}"),
        "what is it without tax|net amount|how much is the net [sum|total]",
    )
    page.fact(
        "the tax",
        f"{tax / 100:.2f}",
        page.add(f"Tax: {tax / 100:.2f}"),
        "how much tax is [on it|in it]|tax on it|what is the vat",
    )
    page.fact(
        "the total",
        f"{(total + tax) / 100:.2f}",
        page.add(f"Total: {(total + tax) / 100:.2f}"),
        "how much [is it|do we have to pay] [in total|altogether]|what is the [total|grand total"
        "|final amount]|total|what do we owe",
    )
    return page


def note(rng: random.Random) -> Page:
    """Loose notes: short lines of all sorts, each with something to ask."""
    page = Page(
        spin(rng, "notes.txt|notes.md|memo.txt|scratch.txt|remember.txt|misc/notes.txt|notizen.txt|jot.md"),
        "[the|my] [notes|note file|memo]",
        "loose notes",
    )
    for entry in rng.sample(unfolded(home_data.NOTES).split("\n"), rng.randint(4, 8)):
        text, words, answer = entry.split(" ; ")
        values = {
            "n": str(rng.randint(2, 99)),
            "t": clock(rng),
            "d": date_of(rng),
            "p": rng.choice(FIRST),
            "m": money(rng),
            "c": place_name(rng),
            "x": coined(rng),
            "w": rng.choice(bank("thing")),
            "f": phone(rng),
            "k": rng.choice(COLOURS.replace("\n", "|").split("|")),
        }
        for name, value in values.items():
            text, words, answer = (each.replace("{" + name + "}", value) for each in (text, words, answer))
        line = page.add(spin(rng, f"{text}"))
        page.ask("fact", words.replace("/", "|"), answer, [line])
    return page


def place_name(rng: random.Random) -> str:
    """A city."""
    return rng.choice(CITIES)


def book(rng: random.Random) -> Page:
    """A short factual text with numbers."""
    name = coined(rng)
    values = {
        "x": name,
        "y": str(rng.randint(1500, 1990)),
        "n": str(rng.randint(12, 900)),
        "m": str(rng.randint(2, 60)),
        "c": rng.choice(CITIES),
        "p": person(rng),
    }
    kind, *sentences = rng.choice(unfolded(home_data.ARTICLES).split("\n\n")).split("\n")
    page = Page(
        spin(
            rng,
            f"{name.lower()}.txt|about.md|article.txt|texts/{name.lower()}.md|{kind.replace(' ', '_')}.txt"
            "|report.txt",
        ),
        f"[the|this|my] [text|article|text about {name}|{kind} text]",
        f"a text about {name}, a {kind}",
    )
    page.title = page.add(("# " if page.path.endswith("md") else "") + name)
    page.add("")
    kept = sorted(rng.sample(sentences, rng.randint(3, len(sentences))), key=sentences.index)
    for each in kept:
        text, words, answer = each.split(" ; ")
        for key, value in values.items():
            text, words, answer = (part.replace("{" + key + "}", value) for part in (text, words, answer))
        page.ask("fact", words.replace("/", "|"), answer, [page.add(text)])
    gone = [each for each in sentences if each not in kept]
    if gone:
        words = gone[0].split(" ; ")[1].replace("/", "|").replace("{x}", name)
        page.missing(words, f"{{file}} does not say that. It is a text about {name}, a {kind}.")
    return page


HOME = (
    recipe,
    recipe,
    checklist,
    checklist,
    plain_list,
    plain_list,
    minutes,
    diary,
    event,
    event,
    chat,
    chat,
    letter,
    poem,
    quiz,
    glossary,
    family,
    hours,
    hours,
    bill,
    note,
    note,
    book,
)
