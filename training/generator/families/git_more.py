"""Git as people ask for it: what is open and how much of it, the history, the commits of a person."""

import re
import shlex

from training.generator.families.git import Repository, status_words
from training.generator.frames import one_frame
from training.generator.knowledge.git_data import NEW_LINES
from training.generator.phrases import lines, one_of, vary
from training.generator.play import Family, Play, Unfit

OPEN = """
is there (anything|something) (I|that I) (didn't|did not|forgot to) commit (yet|)?
is there (anything|something) I (haven't|have not) committed (yet|)?
did I forget to commit (anything|something)?
(anything|something) (left to commit|uncommitted|not committed yet)?
(am I|are we) up to date with my commits?
can I go home or is (something|anything) (still|) uncommitted?
have I saved everything (in|to) git?
what (is|did I leave) uncommitted?
what would (be|I lose if I don't) commit?
which (of my |)changes are not in git yet?
what have I (done|touched|changed) since the last commit?
before I (switch|leave|close the laptop): is (everything|all) committed?
my (teacher|boss|colleague) wants everything committed, is it?
(any|are there) (loose ends|pending changes) (in the repo|)?
hab ich alles committet?
gibt es noch etwas, das ich nicht committet habe?
est-ce que j'ai tout commité ?
¿me falta algo por commitear?
ho committato tutto?
""".strip()
HOW_MANY = {
    "all": """
        how many files (are not committed|are uncommitted|still need a commit|have open changes) (yet|)?
        number of (uncommitted|open) files?
        how many (changes|files) does git status show?
        how much is (still|) uncommitted, in files?
    """,
    "new": """
        how many (new|untracked) files (are there|does git not know|do I have)?
        (which|what) files are (new|untracked)? (count them|and how many|)
        how many files did I forget to (add|git add)?
        which files (does git not know|are not in git) (yet|) and how many is that?
    """,
    "changed": """
        how many files (did I|have I) (change|changed|modify|modified)? (not the new ones|only known ones|)
        which (known|tracked) files (are|did I) (modified|change|changed)?
        only the (changed|modified) files, not the new ones(, how many|)
        which files have changes, (without|leave out) the (new|untracked) ones?
    """,
}
HISTORY = {
    "last": """
        show (me |)the last {n} commits
        the last {n} commits (please|)
        what were the last {n} (commits|changes)?
        what happened (lately|recently)? the last {n} commits are enough
        (who did what|what was done) in the last {n} commits?
    """,
    "first": """
        what was the (very |)first commit?
        how did this (repo|project) (start|begin)? the first commit
        (oldest|first) commit?
        who made the first commit (and what was it|)?
        with which commit did (it|this) all start?
    """,
    "who": """
        what (did|has) {w} (commit|committed|do|done) (here|)?
        (show|list) (me |)(the commits of|commits by|everything from) {w}
        which commits are (from|by) {w}?
        (did|has) {w} (committed|commit|done) (anything|something)?
        only the commits of {w}
    """,
    "file": """
        which commit (changed|touched) {f} last?
        who (changed|touched|edited) {f} last?
        last commit (of|for|on) {f}?
        when was {f} last changed, I mean in which commit?
        what was the last commit to {f}?
    """,
    "people": """
        who (has worked|worked|works) on this (repo|project|)?
        which people (committed|made commits) (here|)?
        who has the most commits?
        how many commits does (everybody|each person|everyone) have?
        list the (authors|contributors)
    """,
    "grep": """
        is there a commit about "{m}"?
        (find|which is) the commit (with|called|about) "{m}"
        did (we|anybody) ever commit "{m}"?
        what's the hash of the commit "{m}"?
        which commit was "{m}"?
    """,
    "known": """
        which files (does git know|are tracked|are in git)?
        list (all |)(tracked files|files in the repository|what is under version control)
        what is (tracked|under version control) here?
        how many files (does git track|are in the repository)?
    """,
}
DIFFS = """
what (did I change|have I changed|is different) in {f} (since the last commit|)?
show (me |)(what changed|my change|the difference) in {f}
(diff|git diff) {f}
how does {f} differ from (the last commit|what is committed)?
what's (new|different) in {f}?
which line of {f} did I (change|touch)?
what would I commit of {f}?
was habe ich in {f} geändert?
qu'est-ce qui a changé dans {f} ?
""".strip()
COMMIT_IT = """
(good|ok|fine|then), commit (it|that|everything|all) as "{m}"
commit (it|them|all|everything) with the message "{m}"
then commit (all of it|everything): {m}
please commit with "{m}"
commit that, message: {m}
save it as "{m}" (in git|)
""".strip()
NOW = """
is everything committed now?
(and |so |)is (it|the tree|everything) clean now?
anything left?
are we done?
is there (still|) something open?
""".strip()


def _dirty(play: Play, *, clean: float = 0.2) -> tuple[Repository, list[str], list[str]]:
    """A repository with open changes, or none."""
    rng = play.rng
    repository = Repository(play, commits=rng.randint(1, 3))
    is_clean = rng.random() < clean
    changed, new = repository.dirty(
        changed=0 if is_clean else rng.randint(0, 3), new=0 if is_clean else rng.randint(0, 3)
    )
    return repository, changed, new


def _order(play: Play, block: str, **slots: str) -> None:
    frame = play.rng.choice(lines(block))
    said = one_frame(play.rng, frame, **slots)
    is_foreign = re.match(r"hab|gibt|est-ce|¿|ho com|was habe|qu'est", said)
    play.user(said if is_foreign else vary(play.rng, said))


def is_it_all(play: Play) -> None:
    """Whether something is not committed yet, then at times a commit of it."""
    rng = play.rng
    repository, changed, new = _dirty(play)
    repository.done()
    _order(play, OPEN)
    output = play.bash("git status --short")
    if not changed and not new:
        play.say("Everything is committed.")
        return
    play.say(f"{status_words(output)}\nSo not everything is committed.")
    if rng.random() < 0.3:
        message = rng.choice(
            ("wip", "more work", "Update the texts", "Save my changes", "new files", "Monday")
        )
        _order(play, COMMIT_IT, m=message)
        play.bash(f'git add -A && git commit -m "{message}"')
        count = len(changed) + len(new)
        play.say(f'Committed {count} file{"s" if count > 1 else ""} as "{message}".')
        if rng.random() < 0.6:
            _order(play, NOW)
            if play.bash("git status --short") != "(no output)":
                raise Unfit("not clean")
            play.say("Everything is committed.")


def count_open(play: Play) -> None:
    """How many files are open, new or changed: listed, then counted."""
    repository, _, _ = _dirty(play, clean=0.1)
    repository.done()
    kind = play.rng.choice(("all", "new", "changed"))
    _order(play, HOW_MANY[kind])
    output = play.bash("git status --short")
    rows = [] if output == "(no output)" else output.rstrip().split("\n")
    wanted = {"all": ("??", " M"), "new": ("??",), "changed": (" M",)}[kind]
    names = [row[3:] for row in rows if row[:2] in wanted]
    if kind == "all" and len(names) != len(rows):
        raise Unfit("another state")
    if not names:
        none = {"all": "Everything is committed.", "new": "There are none: git knows all files."}
        play.say(none.get(kind, "There are none: no file that git knows has changed."))
        return
    listed = "\n".join(f"{at}. {name}" for at, name in enumerate(names, 1))
    play.say(f"{listed}\nThat is {len(names)}.")


def history(play: Play) -> None:
    """The first or the last commits, those of a person or of a file."""
    rng = play.rng
    repository = Repository(play, commits=rng.randint(3, 6))
    repository.done()
    kind = rng.choice(("last", "first", "who", "file", "people", "grep", "known"))
    number, who = rng.randint(2, 3), rng.choice(repository.authors).split()[0]
    path, message = rng.choice(repository.files), rng.choice(repository.messages)
    _order(play, HISTORY[kind], n=str(number), w=who, f=path, m=message)
    form = "--format='%h %an: %s'"
    commands = {
        "last": f"git log -{number} {form}",
        "first": f"git log --reverse {form} | head -1",
        "who": f"git log --author={who} {form}",
        "file": f"git log -1 {form} -- {path}",
        "people": "git shortlog -sn HEAD",
        "grep": f"git log -F --grep={shlex.quote(message)} {form}",
        "known": "git ls-files",
    }
    output = play.bash(commands[kind]).strip("\n")
    play.say(_told(play, kind, output, who, path, message))


def _told(play: Play, kind: str, output: str, who: str, path: str, message: str) -> str:
    """What a command about the history says, in words."""
    rows = [row.strip() for row in output.split("\n")]
    author, _, said = rows[0].partition(" ")[2].partition(": ")
    if kind == "known":
        return "\n".join(f"{at}. {row}" for at, row in enumerate(rows, 1)) + f"\nThat is {len(rows)}."
    if kind == "people":
        split = [row.split(None, 1) for row in rows]
        if len(split) > 1 and split[0][0] == split[1][0]:
            raise Unfit("two have most")
        return "\n".join(rows) + f"\n{split[0][1]} has the most commits: {split[0][0]}."
    if kind == "grep" and len(rows) != 1:
        raise Unfit("several commits")
    closing = {
        "last": f"These are the last {len(rows)} commits, the newest first.",
        "first": f'The first commit is "{said}", by {author}.',
        "who": f"{'That is 1 commit' if len(rows) == 1 else f'Those are {len(rows)} commits'} by {who}.",
        "file": f'{path} was last changed by {author} in "{said}".',
        "grep": f"It is the commit {rows[0].split()[0]}, by {author}.",
    }[kind]
    return f"{output}\n{closing}"


def one_line_changed(play: Play) -> None:
    """A line of a file was changed or taken out since the last commit."""
    rng = play.rng
    repository = Repository(play, commits=rng.randint(1, 2))
    path = rng.choice(repository.files)
    before = play.text(path).rstrip("\n").split("\n")
    old = before[0]
    new = one_of(rng, NEW_LINES)
    repository.commands.append(
        f"sed -i '1d' {path}"
        if rng.random() < 0.3 and len(before) > 1
        else f"sed -i {shlex.quote(f'1c {new}')} {path}"
    )
    is_gone = repository.commands[-1].startswith("sed -i '1d'")
    repository.done()
    _order(play, DIFFS, f=path)
    output = play.bash(f"git diff {path}")
    if f"\n-{old}\n" not in output or (not is_gone and f"\n+{new}" not in output):
        raise Unfit("the line is not shown")
    if is_gone:
        play.say(f"In {path} one line was removed:\n-{old}")
    else:
        play.say(f"In {path} one line was changed:\n-{old}\n+{new}")


FAMILIES = (
    Family(is_it_all, 2.2),
    Family(count_open, 1.6),
    Family(history, 3.0),
    Family(one_line_changed, 0.9),
)
