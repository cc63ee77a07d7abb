"""Git: what changed, what was recorded, branches, commits."""

import random
import shlex

from training.generator.knowledge.git_data import (
    ASKS,
    BRANCHES,
    COMMIT_ALL,
    COMMIT_FILE,
    FOLDERS,
    MESSAGES,
    NEW_LINES,
)
from training.generator.knowledge.scripts import NAMES
from training.generator.phrases import lines, one_of, vary
from training.generator.play import Family, Play, Unfit

OTHER_BRANCHES = ("stable", "old-design", "archive", "spike", "main-old", "next")
STATES = {
    "??": "New, not known to git",
    " M": "Changed",
    "M ": "Changed and staged",
    "A ": "New and staged",
    " D": "Deleted",
}
FACTS = [block.split("\n") for block in ASKS.strip().split("\n\n")]


class Repository:
    """A repository with some commits, laid out before the first prompt."""

    def __init__(self, play: Play, *, commits: int = 0) -> None:
        rng = self.rng = play.rng
        self.play = play
        self.branch = rng.choice(["main", "main", "main", "master", "trunk"])
        rows = [line.split(" = ", 1) for line in lines(rng.choice(FOLDERS.strip().split("\n\n")))]
        self.files = [path for path, _ in rows]
        self.messages = rng.sample(lines(MESSAGES), commits or rng.randint(1, 5))
        self.authors = [
            rng.choice(["Ann Lee", "Ann Lee", *(f"{name} Kovac" for name in NAMES)]) for _ in self.messages
        ]
        for path, content in rows:
            play.file(path, content.replace("\\n", "\n") + "\n")
        commands = [f"git init -q -b {self.branch}", "git add -A"]
        for number, (message, author) in enumerate(zip(self.messages, self.authors, strict=True)):
            if number:
                commands.append(
                    f"echo {shlex.quote(one_of(rng, NEW_LINES))} >> {rng.choice(self.files)} && git add -A"
                )
            mail = f"{author.split()[0].lower()}@example.org"
            who = f"GIT_AUTHOR_NAME={shlex.quote(author)} GIT_AUTHOR_EMAIL={mail}"
            commands.append(f"{who} git commit -qm {shlex.quote(message)}")
        self.commands = commands

    def done(self, *more: str) -> None:
        """Run the commands that were gathered."""
        self.play.setup(" && ".join([*self.commands, *more]))

    def dirty(self, *, changed: int, new: int) -> tuple[list[str], list[str]]:
        """Change some files and add some that git does not know; return both."""
        rng = self.rng
        changes = sorted(rng.sample(self.files, min(changed, len(self.files))))
        names = "draft.txt todo.md sketch.py tmp.log ideas.md new_page.html extra.csv photo_list.txt".split()
        news = sorted(rng.sample([name for name in names if name not in self.files], new))
        self.commands += [f"echo {shlex.quote(one_of(rng, NEW_LINES))} >> {path}" for path in changes]
        self.commands += [f"echo {shlex.quote(one_of(rng, NEW_LINES))} > {path}" for path in news]
        return changes, news


def status(play: Play) -> None:
    """What is not committed: changed and new files."""
    rng = play.rng
    repository = Repository(play)
    changed, new = repository.dirty(changed=rng.choice([0, 1, 1, 2, 3]), new=rng.choice([0, 0, 1, 1, 2]))
    untouched = [path for path in repository.files if path not in changed]
    staged = [f"git add {path}" for path in changed + new if rng.random() < 0.15]
    deleted = [f"rm {path}" for path in untouched[:1] if rng.random() < 0.2]
    repository.done(*staged, *deleted)
    abroad = rng.random() < 0.05
    order = one_of(rng, _frames("status abroad" if abroad else "status"))
    play.user(order if abroad else vary(rng, order))
    play.say(status_words(play.bash("git status --short")))


def status_words(output: str) -> str:
    """Return what `git status --short` says in words, one file on each line."""
    if output == "(no output)":
        return "Everything is committed, nothing has changed."
    return "\n".join(f"{STATES[row[:2]]}: {row[3:]}" for row in output.rstrip().split("\n"))


def untracked(play: Play) -> None:
    """Files that git does not know."""
    rng = play.rng
    repository = Repository(play)
    _, new = repository.dirty(changed=rng.choice([0, 0, 1, 2]), new=rng.choice([0, 1, 1, 2, 3]))
    repository.done()
    play.user(vary(rng, one_of(rng, _frames("untracked"))))
    play.bash("git status --short")
    if not new:
        play.say("There are none: git knows all files.")
        return
    count = "This file is" if len(new) == 1 else f"These {len(new)} files are"
    play.say("\n".join(new) + f"\n{count} not known to git.")


def is_clean(play: Play) -> None:
    """Whether everything is committed: yes or no."""
    rng = play.rng
    repository = Repository(play)
    changed, new = repository.dirty(changed=rng.choice([0, 0, 0, 1, 2]), new=rng.choice([0, 0, 1]))
    repository.done()
    play.user(vary(rng, one_of(rng, _frames("clean"))))
    output = play.bash("git status --short")
    if changed or new:
        play.say(f"{status_words(output)}\nSo not everything is committed.")
    else:
        play.say("Everything is committed.")


def facts(play: Play) -> None:
    """Branch, log, last commit, author, number of commits."""
    rng = play.rng
    repository = Repository(play)
    branch = one_of(rng, BRANCHES)
    if rng.random() < 0.6:
        repository.done(f"git branch {rng.choice(OTHER_BRANCHES)}", f"git switch -qc {branch}")
    else:
        branch = repository.branch
        repository.done()
    kind = rng.choice(["branch", "branch", "log", "last message", "last message", "last author", "count"])
    play.user(vary(rng, one_of(rng, _frames(kind))))
    last = repository.messages[-1]
    if kind == "branch":
        play.say(f"You are on {play.bash('git branch --show-current').strip()}.")
    elif kind == "log":
        output = play.bash("git log --oneline")
        commits = _commits(len(repository.messages))
        play.say(f"{output.strip()}\n{commits}, the newest first.")
    elif kind == "last message":
        output = play.bash("git log -1 --format='%h %an: %s'").strip()
        play.say(f'{output}\nThe last commit is "{last}".')
    elif kind == "last author":
        output = play.bash("git log -1 --format='%h %an: %s'").strip()
        play.say(f"{output}\nIt was {repository.authors[-1]}.")
    else:
        count = int(play.bash("git rev-list --count HEAD"))
        play.say(f"{_commits(count)}.")
    if kind == "last message" and rng.random() < 0.3:
        play.user(vary(rng, one_of(rng, "who made it?\nand who was that?\nby whom?\nwho wrote it?")))
        play.say(f"It was {repository.authors[-1]}.")


def _commits(count: int) -> str:
    return "That is 1 commit" if count == 1 else f"Those are {count} commits"


def branches(play: Play) -> None:
    """List the branches."""
    rng = play.rng
    repository = Repository(play, commits=1)
    names = rng.sample(lines(BRANCHES), rng.randint(1, 3))
    repository.done(*(f"git branch {name}" for name in names))
    play.user(vary(rng, one_of(rng, _frames("branches"))))
    play.bash("git branch")
    every = sorted([*names, repository.branch])
    play.say("\n".join(every) + f"\nYou are on {repository.branch}.")


def new_branch(play: Play) -> None:
    """Make a branch and go there, or go to one that is there."""
    rng = play.rng
    repository = Repository(play, commits=1)
    name = one_of(rng, BRANCHES)
    there = rng.random() < 0.4
    repository.done(*([f"git branch {name}"] if there else []))
    back = rng.random() < 0.25
    play.user(vary(rng, one_of(rng, _frames("switch" if there else "new branch")).format(name=name)))
    play.bash(f"git switch {name}" if there else f"git switch -c {name}")
    play.say(f"You are on {name} now." if there else f"Created the branch {name} and switched to it.")
    if back:
        play.user(vary(rng, one_of(rng, _frames("back")).format(name=repository.branch)))
        play.bash(f"git switch {repository.branch}")
        play.say(f"You are on {repository.branch} now.")


def commit(play: Play) -> None:
    """Commit everything, with the message of the order."""
    rng = play.rng
    repository = Repository(play, commits=rng.randint(1, 2))
    changed, new = repository.dirty(changed=rng.randint(1, 2), new=rng.choice([0, 0, 1, 2]))
    repository.done()
    message = _free_message(rng, repository)
    if rng.random() < 0.25:
        path = rng.choice(changed + new)
        play.user(vary(rng, one_of(rng, COMMIT_FILE).replace("{message}", message).replace("{file}", path)))
        play.bash(f'git add {path} && git commit -m "{message}"')
        play.say(f'Committed {path} as "{message}".')
        return
    play.user(vary(rng, one_of(rng, COMMIT_ALL).replace("{message}", message)))
    play.bash(f'git add -A && git commit -m "{message}"')
    count = len(changed) + len(new)
    play.say(f'Committed {count} file{"s" if count > 1 else ""} as "{message}".')


def _free_message(rng: random.Random, repository: Repository) -> str:
    return rng.choice([message for message in lines(MESSAGES) if message not in repository.messages])


def diff(play: Play) -> None:
    """What changed in a file since the last commit."""
    rng = play.rng
    repository = Repository(play, commits=rng.randint(1, 2))
    path = rng.choice(repository.files)
    line = one_of(rng, NEW_LINES)
    repository.commands.append(f"echo {shlex.quote(line)} >> {path}")
    others = [other for other in repository.files if other != path]
    named = rng.random() < 0.6
    if named and others and rng.random() < 0.5:
        repository.commands.append(f"echo {shlex.quote(one_of(rng, NEW_LINES))} >> {rng.choice(others)}")
    repository.done()
    play.user(vary(rng, one_of(rng, _frames("diff file" if named else "diff")).format(file=path)))
    output = play.bash(f"git diff {path}" if named else "git diff")
    if f"+{line}" not in output:
        raise Unfit("the line is not shown")
    play.say(f"In {path} one line was added:\n+{line}")


def staging(play: Play) -> None:
    """Stage, unstage, restore a file when that is ordered."""
    rng = play.rng
    repository = Repository(play, commits=1)
    changed, new = repository.dirty(changed=rng.randint(1, 2), new=rng.choice([0, 1]))
    path = rng.choice(changed)
    kind = rng.choice(["add", "add", "add all", "unstage", "restore"])
    repository.done(*([f"git add {path}"] if kind == "unstage" else []))
    play.user(vary(rng, one_of(rng, _frames(kind)).format(file=path)))
    commands = {
        "add": (f"git add {path}", f"Staged {path}."),
        "add all": (
            "git add -A",
            f"Staged {len(changed) + len(new)} file{'s' * (len(changed) + len(new) > 1)}.",
        ),
        "unstage": (f"git restore --staged {path}", f"Unstaged {path}; its changes are still there."),
        "restore": (f"git restore {path}", f"Restored {path} as it was in the last commit."),
    }
    command, answer = commands[kind]
    play.bash(command)
    play.say(answer)


def init(play: Play) -> None:
    """Make the folder a repository."""
    rng = play.rng
    for line in lines(rng.choice(FOLDERS.strip().split("\n\n"))):
        path, content = line.split(" = ", 1)
        play.file(path, content.replace("\\n", "\n") + "\n")
    message = rng.choice(["first commit", "initial commit", "start"])
    play.user(
        vary(
            rng,
            one_of(rng, _frames(kind := rng.choice(["init", "init", "init and commit"]))).format(m=message),
        )
    )
    if kind == "init":
        play.bash("git init -b main")
        play.say("This folder is a git repository now.")
    else:
        play.bash(f'git init -b main && git add -A && git commit -m "{message}"')
        play.say(f'This folder is a git repository now, with the commit "{message}".')


def no_repository(play: Play) -> None:
    """A question about a repository in a folder that is none."""
    rng = play.rng
    path, content = rng.choice(lines(FOLDERS.replace("\n\n", "\n"))).split(" = ", 1)
    play.file(path, content.replace("\\n", "\n") + "\n")
    kind, command = rng.choice(
        [
            ("status", "git status --short"),
            ("branch", "git branch --show-current"),
            ("log", "git log --oneline"),
            ("last message", "git log -1 --format='%h %an: %s'"),
            ("branches", "git branch"),
        ]
    )
    play.user(vary(rng, one_of(rng, _frames(kind))))
    if "not a git repository" not in play.bash(command):
        raise Unfit("git found a repository above, or answered otherwise")
    play.say("This folder is not a git repository. `git init` would make it one.")


def changed_files_of_commit(play: Play) -> None:
    """Which files the last commit changed."""
    rng = play.rng
    repository = Repository(play, commits=1)
    changed, new = repository.dirty(changed=rng.randint(1, 2), new=rng.choice([0, 1]))
    message = _free_message(rng, repository)
    repository.done("git add -A", f"git commit -qm {shlex.quote(message)}")
    play.user(vary(rng, one_of(rng, _frames("last files"))))
    play.bash("git show --stat --oneline HEAD")
    play.say("\n".join(sorted(changed + new)) + f'\nThe commit is "{message}".')


def _frames(kind: str) -> list[str]:
    return next(frames for head, *frames in FACTS if head == f"= {kind}")


FAMILIES = (
    Family(status, 1.4),
    Family(untracked, 0.6),
    Family(is_clean, 0.7),
    Family(facts, 2.0),
    Family(branches, 0.4),
    Family(new_branch, 0.9),
    Family(commit, 1.1),
    Family(diff, 0.6),
    Family(staging, 0.5),
    Family(init, 0.3),
    Family(no_repository, 0.4),
    Family(changed_files_of_commit, 0.3),
)
