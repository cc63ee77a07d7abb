"""Files that software projects and servers have: READMEs, manifests, builds, pages, schemas."""

import random

from training.generator.documents import project_data
from training.generator.documents.page import Page, joined, pick, spin, unfolded, upper_first
from training.generator.documents.words import (
    CITIES,
    CODE_WORDS,
    FIRST,
    LAST,
    bank,
    clock,
    coined,
    date_of,
    identifier,
    person,
    version,
)

__all__ = ["PROJECT", "entries"]


def entries(block: str) -> list[str]:
    """The entries of a block."""
    return [entry.strip() for entry in unfolded(block).replace("\n", "|").split("|")]


def project_name(rng: random.Random) -> str:
    """The name of a project."""
    return rng.choice(
        [
            coined(rng).lower(),
            f"{rng.choice(CODE_WORDS)}-{rng.choice(CODE_WORDS)}",
            f"{coined(rng).lower()}-{rng.choice(['api', 'cli', 'web', 'kit', 'lite'])}",
        ]
    )


def commands(rng: random.Random, least: int, most: int) -> dict[str, str]:
    """Tasks of a project and the commands for them."""
    chosen = pick(rng, project_data.COMMANDS.split("\n"), least, most)
    return {line.partition("=")[0]: rng.choice(line.partition("=")[2].split("|")) for line in chosen}


def readme(rng: random.Random) -> Page:
    """A README."""
    name, about = project_name(rng), rng.choice(entries(project_data.ABOUT))
    page = Page(
        rng.choice(["README.md", "README.md", "readme.md", "README", "README.txt", "docs/index.md"]),
        "[the|our|this] [readme|read me]",
        f"the README of {name}: {about}",
    )
    page.title = page.add(f"# {name}")
    line = page.add("", f"{upper_first(about)}.")
    page.ask(
        "fact",
        "what is this project about|what is it [for|about]|what kind of project is [it|this]|what is this",
        f"It is {name}: {about}.",
        [1, line],
    )
    page.fact(
        "the name of the project",
        name,
        1,
        "what is the project called|name of the project|which project is it",
        f"The project is called {name}.",
    )
    tasks = commands(rng, 2, 4)
    for task, command in tasks.items():
        page.add("", f"## {upper_first(task)}", "")
        line = page.add(rng.choice(["    {c}", "`{c}`", "Run `{c}`.", "$ {c}"]).replace("{c}", command))
        page.fact(
            f"the command to {task}" if task != "docs" else "the command for the docs",
            command,
            line,
            f"how do i {task} it|what is the command [to|for] {task}|how does one {task} [it|the project]"
            f"|which command is for {task}"
            if task != "docs"
            else "how do i make the docs|what builds the docs",
            f"Use: {command}",
        )
    rows = [
        (
            f"Needs {rng.choice(['Python 3.', 'Node ', 'Go 1.', 'Rust 1.'])}{rng.randint(9, 24)} or newer.",
            "Needs ",
            " or newer.",
            "the requirement",
            "what do i need to run it|which version does it need|what does it require|requirements",
        ),
        (
            f"Maintained by {person(rng)}.",
            "Maintained by ",
            ".",
            "the maintainer",
            "who maintains it|who is the maintainer|who looks after the project|who do i ask about it",
        ),
        (
            f"License: {rng.choice(list(project_data.LICENSES))}",
            "License: ",
            "",
            "the licence",
            "which license [has it|is it under]|under what licence is it|what about the licence",
        ),
        (
            f"Bugs: https://bugs.{coined(rng).lower()}.example/{name}",
            "Bugs: ",
            "",
            "the address for bugs",
            "where do i report bugs|where can i file a bug|bug tracker",
        ),
        (
            f"Status: {rng.choice(['alpha', 'stable', 'abandoned', 'beta', 'frozen'])}",
            "Status: ",
            "",
            "the status",
            "is it stable|what is the status of the project|how mature is it",
        ),
    ]
    page.add("")
    for line_text, start, end, noun, words in rng.sample(rows, rng.randint(1, 4)):
        page.fact(noun, line_text.removeprefix(start).removesuffix(end), page.add(line_text), words)
    sections = [each.lstrip("# ") for each in page.lines if each.startswith("## ")]
    page.listed("list", "which sections [are there|does it have]|list the [sections|headings]", sections)
    page.listed("count", "how many sections [are there|does it have]|number of sections", sections)
    return page


def licence(rng: random.Random) -> Page:
    """A licence."""
    key = rng.choice(list(project_data.LICENSES))
    title, *text = project_data.LICENSES[key]
    page = Page(
        rng.choice(["LICENSE", "LICENSE", "LICENSE.txt", "LICENSE.md", "COPYING", "LICENCE"]),
        "[the|our] [license|licence] [file|]",
        f"the {title}",
    )
    year, holder = (
        rng.randint(2001, 2025),
        rng.choice([person(rng), person(rng), f"The {coined(rng)} authors", f"{coined(rng)} Ltd"]),
    )
    page.title = page.add(title)
    line = page.add(
        "",
        rng.choice(["Copyright (c) {y} {h}", "Copyright {y}, {h}", "Copyright © {y} {h}", "(c) {y} {h}"])
        .replace("{y}", str(year))
        .replace("{h}", holder),
    )
    page.add("", *text)
    page.fact(
        "the licence",
        title,
        1,
        "[which|what] [license|licence] [is it|is this|do we have|is used|is the project under]"
        "|under [which|what] [license|licence] is [it|this]|what's the license here|is it MIT or what",
        f"The licence is: {title}.",
    )
    page.fact(
        "the copyright holder",
        holder,
        line,
        "who [holds|has|owns] the copyright|whose copyright is it|who is the copyright holder|who owns [it"
        "|the rights]|who wrote it",
        f"The copyright is held by {holder}.",
    )
    page.fact(
        "the year of the copyright",
        str(year),
        line,
        "[from|of] which year is [it|the copyright]|copyright year|what year is in it",
        f"The year is {year}.",
    )
    page.ask(
        "fact",
        "which license is it and who holds the copyright|under what licence is [it"
        "|this], and who owns the copyright|license and copyright holder",
        f"It is the {title}, and the copyright is held by {holder}.",
        [1, line],
    )
    return page


def changelog(rng: random.Random) -> Page:
    """A changelog."""
    page = Page(
        rng.choice(
            ["CHANGELOG.md", "CHANGES.md", "changelog.txt", "HISTORY.md", "NEWS.md", "docs/changelog.md"]
        ),
        "[the|our] [changelog|release notes|change log|history]",
        "a changelog",
    )
    page.title = page.add("# Changelog")
    major, minor = rng.randint(0, 5), rng.randint(4, 20)
    changes = rng.sample(entries(project_data.CHANGES), 9)
    versions = []
    for _ in range(rng.randint(2, 4)):
        number, date = f"{major}.{minor}.{rng.randint(0, 4)}", date_of(rng)
        minor -= 1
        versions.append(number)
        page.add("")
        head = page.add(
            rng.choice(["## {v} - {d}", "## [{v}] {d}", "## {v} ({d})"])
            .replace("{v}", number)
            .replace("{d}", date)
        )
        page.fact(
            f"the date of {number}",
            date,
            head,
            f"when [was {number} released|did {number} come out]|release date of {number}"
            f"|from when is {number}",
            f"{number} is from {date}.",
        )
        mine = []
        for _ in range(rng.randint(1, 3)):
            if not changes:
                break
            change = changes.pop()
            word = rng.choice(["Added", "Fixed", "Changed", "Removed"])
            line = page.add(f"- {word}: {change}")
            mine.append(f"{word}: {change}")
            page.ask(
                "fact",
                f"in which version was {change} {word.lower()}|which release {word.lower()} {change}"
                f"|since when do we have this: {change}",
                f"It was in {number}.",
                [head, line],
            )
        if mine:
            page.listed(
                "list",
                f"what [is new|changed|happened] in {number}|what did {number} bring|changes of {number}"
                f"|notes for {number}",
                mine,
                f"That is what changed in {number}.",
            )
    page.fact(
        "the newest version",
        versions[0],
        next(at for at, each in enumerate(page.lines, 1) if versions[0] in each),
        "what is the [latest|newest|current|last] [version|release]|which version is the newest"
        "|latest version",
        f"The newest version is {versions[0]}.",
    )
    page.listed("count", "how many [versions|releases] are [there|listed]|number of releases", versions)
    page.listed("list", "which versions are [there|listed]|list the versions|all releases", versions)
    return page


def bibliography(rng: random.Random) -> Page:
    """A BibTeX file."""
    page = Page(
        rng.choice(
            ["refs.bib", "library.bib", "paper/refs.bib", "thesis.bib", "literature.bib", "biblio.bib"]
        ),
        "[my|the|our] [bib file|bibliography|references|bibtex file|literature list]",
        "a bibliography",
    )
    years = rng.sample(range(1996, 2026), rng.randint(2, 4))
    words = "sparse,noisy,remote,early,marine,urban,fast,robust".split(",")
    things = entries(project_data.RESEARCH)
    keys = []
    topics = rng.sample(things, len(years))
    for year, thing in zip(years, topics, strict=True):
        people = [
            f"{last}, {first}" for last, first in zip(rng.sample(LAST, 3), rng.sample(FIRST, 3), strict=True)
        ][: rng.randint(1, 3)]
        key = f"{people[0].split(',')[0].lower()}{year}"
        keys.append(key)
        title = (
            f"{upper_first(rng.choice(words))} "
            f"{rng.choice(['estimates of', 'notes on', 'models for', 'studies of'])} {thing}"
        )
        kind, where = rng.choice(
            [
                ("article", ("journal", f"{coined(rng)} Letters")),
                ("book", ("publisher", f"{coined(rng)} Press")),
                ("inproceedings", ("booktitle", f"Proc. {coined(rng)}")),
            ]
        )
        page.add(f"@{kind}{{{key},")
        line = page.add(f"  author = {{{' and '.join(people)}}},")
        page.fact(
            f"the authors of the {year} entry",
            " and ".join(people),
            line,
            f"who wrote the {year} [one|paper|entry]|authors of {key}|who are the authors of {key}"
            f"|who wrote about {thing}",
            f"The authors are {' and '.join(people)}.",
        )
        page.ask(
            "fact",
            f"first author of [the {year} entry|{key}]|who is the first author of [the {year} one|{key}]"
            f"|first author of the one about {thing}",
            f"The first author is {people[0]}.",
            [line],
        )
        page.fact(
            f"the title of {key}",
            title,
            page.add(f"  title = {{{title}}},"),
            f"what is the title of {key}|how is the {year} [paper|entry] called"
            f"|title of the one by {people[0].split(',')[0]}",
            f"The title is: {title}.",
        )
        page.fact(
            f"the {where[0]} of {key}",
            where[1],
            page.add(f"  {where[0]} = {{{where[1]}}},"),
            f"where did {key} appear|{where[0]} of {key}",
            f"The {where[0]} of {key} is {where[1]}.",
        )
        page.fact(
            f"the year of {key}",
            str(year),
            page.add(f"  year = {{{year}}}"),
            f"[from|of] which year is {key}|when did {people[0].split(',')[0]} write about {thing}"
            f"|year of the one about {thing}",
            f"It is from {year}.",
        )
        page.add("}", "")
    page.lines.pop()
    page.listed(
        "count", "how many [entries|references|papers] are [there|in it]|number of [entries|references]", keys
    )
    page.listed("list", "which keys are [there|in it]|list the [entries|cite keys]|keys of all entries", keys)
    return page


def manifest(rng: random.Random) -> Page:
    """package.json, pyproject.toml, Cargo.toml, go.mod, requirements.txt or pom.xml."""
    kind = rng.choice(["npm", "npm", "npm", "py", "py", "rs", "rs", "go", "req", "pom", "gem", "composer"])
    name, own = project_name(rng), version(rng)
    paths = {
        "npm": "package.json",
        "py": "pyproject.toml",
        "rs": "Cargo.toml",
        "go": "go.mod",
        "req": "requirements.txt",
        "pom": "pom.xml",
        "gem": "Gemfile",
        "composer": "composer.json",
    }
    called = {
        "npm": "package file|package json|dependencies|manifest",
        "py": "pyproject|project file|project settings",
        "rs": "cargo file|manifest|crate file",
        "go": "go mod|module file",
        "req": "requirements|dependency list",
        "pom": "pom|maven file",
        "gem": "gemfile",
        "composer": "composer file",
    }
    page = Page(
        paths[kind],
        f"[the|our] [{called[kind]}]",
        f"the manifest of {name}" if kind not in {"req", "gem"} else "a list of dependencies",
    )
    book = {
        "npm": "npm",
        "composer": "npm",
        "py": "py",
        "req": "py",
        "rs": "rs",
        "go": "go",
        "pom": "java",
        "gem": "rb",
    }[kind]
    packages = pick(rng, project_data.PACKAGES[book], 3, 6)
    split = rng.randint(1, len(packages) - 1)
    pins = {package: version(rng) for package in packages}
    licence_name, author = rng.choice(["MIT", "ISC", "Apache-2.0", "GPL-3.0", "MPL-2.0"]), person(rng)

    def head(line: str, noun: str, value: str, words: str) -> None:
        page.fact(noun, value, page.add(line), words)

    def package_line(line: str, package: str, shown: str) -> None:
        short = package.rpartition("/")[2]
        words = (
            f"[which|what] version of {short} [do we have|is used|is there|do we need]|{short} version"
            f"|version of {short}|which {short} [do we use|is pinned]|{short}?"
        )
        page.fact(
            f"the version of {short}", shown, page.add(line), words, f"The version of {short} is {shown}."
        )

    called_words = "what is [the project|it] called|name of the [project|package]|what's the package name"
    version_words = (
        "[which|what] version [are we at|is it|of the project is it]|what is the version of the [project"
        "|package]|version of the package|our version"
    )
    if kind in {"npm", "composer"}:
        page.add("{")
        head(f'  "name": "{name}",', "the name of the package", name, called_words)
        head(f'  "version": "{own}",', "the version of the package", own, version_words)
        if rng.random() < 0.5:
            head(
                f'  "license": "{licence_name}",',
                "the licence",
                licence_name,
                "[which|what] license [has it|is it]|under which licence is it",
            )
        if rng.random() < 0.4:
            head(
                f'  "author": "{author}",',
                "the author",
                author,
                "who is the author|who wrote the package|author of the package",
            )
        if kind == "npm" and rng.random() < 0.7:
            scripts = commands(rng, 2, 4)
            page.add('  "scripts": {')
            for at, (task, command) in enumerate(scripts.items()):
                head(
                    f'    "{task}": "{command}"{"," * (at < len(scripts) - 1)}',
                    f"the {task} script",
                    command,
                    f"what does npm run {task} do|which command is behind {task}"
                    f"|what does the {task} script run|{task} script",
                )
            page.add("  },")
            page.listed(
                "list", "which scripts are there|list the scripts|what npm scripts do we have", list(scripts)
            )
            page.listed("count", "how many scripts [are there|do we have]|number of scripts", list(scripts))
        for at, (key, part) in enumerate(
            (
                ("dependencies" if kind == "npm" else "require", packages[:split]),
                ("devDependencies" if kind == "npm" else "require-dev", packages[split:]),
            )
        ):
            page.add(f'  "{key}": {{')
            for package in part:
                package_line(
                    f'    "{package}": "^{pins[package]}"{"," * (package != part[-1])}',
                    package,
                    f"^{pins[package]}",
                )
            page.add("  }" + "," * (at == 0))
            word = "runtime dependencies" if at == 0 else "dev dependencies"
            page.listed("list", f"which {word} are there|list the {word}|what {word} do we have", part)
            page.listed("count", f"how many {word} [are there|do we have]|number of {word}", part)
        page.add("}")
    elif kind in {"py", "rs"}:
        page.add("[project]" if kind == "py" else "[package]")
        head(f'name = "{name}"', "the name of the package", name, called_words)
        head(f'version = "{own}"', "the version of the package", own, version_words)
        if kind == "py":
            need = f">=3.{rng.randint(8, 13)}"
            head(
                f'requires-python = "{need}"',
                "the Python version",
                need,
                "which python [do we need|does it need|is required]|python version|what python must i have",
            )
            page.add("dependencies = [")
            for package in packages:
                package_line(f'    "{package}>={pins[package]}",', package, f">={pins[package]}")
            page.add("]")
        else:
            edition = rng.choice(["2018", "2021", "2024"])
            head(
                f'edition = "{edition}"',
                "the edition",
                edition,
                "which edition [is it|do we use]|rust edition|edition of the crate",
            )
            page.add("", "[dependencies]")
            for package in packages:
                package_line(f'{package} = "{pins[package]}"', package, pins[package])
    elif kind == "go":
        head(
            f"module example.org/{name}",
            "the module path",
            f"example.org/{name}",
            "what is the module [called|path]|module name|which module is it",
        )
        release = f"1.{rng.randint(18, 24)}"
        page.add("")
        head(
            f"go {release}",
            "the Go version",
            release,
            "which go [version|] do we [need|use]|go version|what go is required",
        )
        page.add("", "require (")
        for package in packages:
            package_line(f"\t{package} v{pins[package]}", package, f"v{pins[package]}")
        page.add(")")
    elif kind == "pom":
        page.add("<project>")
        head(
            f"  <artifactId>{name}</artifactId>",
            "the artifact",
            name,
            "what is the artifact called|artifact id|name of the artifact",
        )
        head(f"  <version>{own}</version>", "the version of the project", own, version_words)
        page.add("  <dependencies>")
        for package in packages:
            page.add("    <dependency>")
            at = page.add(f"      <artifactId>{package}</artifactId>")
            line = page.add(f"      <version>{pins[package]}</version>")
            page.add("    </dependency>")
            page.fact(
                f"the version of {package}",
                pins[package],
                line,
                f"which version of {package} do we use|{package} version",
                "",
                at,
            )
        page.add("  </dependencies>", "</project>")
    else:
        if kind == "gem":
            page.add('source "https://rubygems.org"', "")
        for package in packages:
            package_line(
                f'gem "{package}", "~> {pins[package]}"' if kind == "gem" else f"{package}=={pins[package]}",
                package,
                pins[package],
            )
    every = [package.rpartition("/")[2] for package in packages]
    if kind not in {"npm", "composer"}:
        page.listed(
            "list",
            "which [dependencies|packages|libraries] [are there|do we need|does it use]"
            "|list the dependencies|what does [it|the project] depend on|what packages do we use",
            every,
        )
        page.listed(
            "count",
            "how many [dependencies|packages|libraries] [are there|do we have|does it need]"
            "|number of dependencies|count the dependencies",
            every,
        )
    other = rng.choice(
        [each.rpartition("/")[2] for each in project_data.PACKAGES[book] if each not in packages]
    )
    there = rng.choice(every)
    number = next(at for at, line in enumerate(page.lines, 1) if there in line)
    page.ask(
        "check",
        f"do we [use|depend on|need] {there}|is {there} [a dependency|among the dependencies]"
        f"|does the project use {there}",
        f"Yes, {there} is a dependency.",
        [number],
    )
    page.ask(
        "check",
        f"do we [use|depend on|need] {other}|is {other} [a dependency|among the dependencies]"
        f"|does the project use {other}",
        f"No, {other} is not a dependency.",
    )
    page.missing(
        f"which version of {other} do we use|{other} version|what {other} is pinned",
        f"There is no {other} in {{file}}. It has {joined(every)}.",
    )
    return page


def compose(rng: random.Random) -> Page:
    """A compose file."""
    page = Page(
        rng.choice(["compose.yaml", "docker-compose.yml", "compose.yml", "deploy/compose.yaml"]),
        "[the|our] [compose file|docker compose|containers file|compose]",
        "a compose file with services",
    )
    page.add("services:")
    images = {
        "db": "postgres:1{n}",
        "cache": "redis:{n}",
        "web": "nginx:1.2{n}",
        "queue": "rabbitmq:3.{n}",
        "app": "ghcr.io/{x}/app:{n}.1",
        "search": "elasticsearch:8.{n}",
        "mail": "mailhog:{n}.0",
        "files": "minio:202{n}",
    }
    names = pick(rng, list(images), 2, 4)
    for name in names:
        page.add(f"  {name}:")
        image = images[name].replace("{n}", str(rng.randint(2, 9))).replace("{x}", coined(rng).lower())
        page.fact(
            f"the image of {name}",
            image,
            page.add(f"    image: {image}"),
            f"[which|what] image does [the|] {name} [service|] use|{name} image"
            f"|what runs in the {name} container|image of the {name} service",
            f"The image of {name} is {image}.",
        )
        if rng.random() < 0.7:
            outer, inner = rng.randint(2000, 9999), rng.choice([80, 5432, 6379, 8080, 9000])
            page.add("    ports:")
            line = page.add(f'      - "{outer}:{inner}"')
            page.fact(
                f"the outer port of {name}",
                str(outer),
                line,
                f"on which port is {name} [reachable|on the host]"
                f"|[which|what] port of the host goes to {name}|host port of {name}",
                f"{name} is on port {outer} of the host.",
            )
            page.fact(
                f"the inner port of {name}",
                str(inner),
                line,
                f"which port is inside the {name} container|container port of {name}",
                f"Inside the container it is {inner}.",
            )
        if rng.random() < 0.4:
            policy = rng.choice(["always", "no", "on-failure", "unless-stopped"])
            page.fact(
                f"the restart policy of {name}",
                policy,
                page.add(f"    restart: {policy}"),
                f"is {name} restarted [after a crash|]|restart policy of {name}",
                f"The restart policy of {name} is {policy}.",
            )
    page.listed(
        "list",
        "which [services|containers] are [there|started]|list the services|what [runs|services do we run]",
        names,
    )
    page.listed("count", "how many [services|containers] are there|number of [services|containers]", names)
    return page


def docker(rng: random.Random) -> Page:
    """A Dockerfile."""
    page = Page(
        rng.choice(["Dockerfile", "Dockerfile", "docker/Dockerfile", "Containerfile"]),
        "[the|our] [dockerfile|docker file|image file|container build]",
        "a Dockerfile",
    )
    base = rng.choice(
        ["python:3.{n}-slim", "node:{n}-alpine", "golang:1.{n}", "debian:{n}", "rust:1.{n}", "ruby:3.{n}"]
    ).replace("{n}", str(rng.randint(10, 24)))
    page.fact(
        "the base image",
        base,
        page.add(f"FROM {base}"),
        "[which|what] base image [is it|do we use|does it use]|on which image is it based"
        "|from what image do we build|base image",
    )
    folder, port = f"/{rng.choice(['app', 'srv', 'code', 'work'])}", str(rng.randint(1200, 9900))
    page.fact(
        "the working directory",
        folder,
        page.add(f"WORKDIR {folder}"),
        "what is the workdir|in which folder does it work|working dir",
    )
    key, value = (
        rng.choice(["TZ", "APP_ENV", "LANG", "NODE_ENV", "LOG_LEVEL"]),
        rng.choice(["production", "UTC", "C.UTF-8", "debug", "staging"]),
    )
    page.fact(
        f"the value of {key}",
        value,
        page.add(f"ENV {key}={value}"),
        f"what is {key} [set to|]|{key}|which value has {key}",
        f"{key} is {value}.",
    )
    page.add("COPY . .")
    build = next(iter(commands(rng, 1, 1).values()))
    page.fact(
        "the build command",
        build,
        page.add(f"RUN {build}"),
        "what is run [during the build|while building]|which command does the build run|RUN step",
    )
    page.fact(
        "the exposed port",
        port,
        page.add(f"EXPOSE {port}"),
        "[which|what] port [is exposed|does it expose|does the container open]|exposed port",
    )
    user = rng.choice(["nobody", "app", "1000", "runner"])
    page.fact(
        "the user",
        user,
        page.add(f"USER {user}"),
        "as which user does it run|who runs it|what user does the container have",
    )
    start = rng.choice(["./start.sh", "python -m app", "node server.js", "/usr/bin/app"])
    page.fact(
        "the start command",
        start,
        page.add(f"CMD {start}"),
        "what [is started|runs] in the container|which command starts it|what is the start command|CMD",
    )
    return page


def makefile(rng: random.Random) -> Page:
    """A Makefile or justfile."""
    just = rng.random() < 0.2
    page = Page(
        rng.choice(["justfile"])
        if just
        else rng.choice(["Makefile", "Makefile", "makefile", "build/Makefile"]),
        "[the|our] [justfile]" if just else "[the|our] [makefile|make file]",
        "a Makefile" if not just else "a justfile",
    )
    if rng.random() < 0.6:
        name, value = rng.choice(
            [
                ("CC", "gcc"),
                ("CC", "clang"),
                ("PREFIX", "/usr/local"),
                ("PYTHON", "python3.12"),
                ("OUT", "dist"),
                ("CFLAGS", "-O2 -Wall"),
            ]
        )
        page.fact(
            f"the value of {name}",
            value,
            page.add(f"{name} {':=' if just else '='} {value}"),
            f"what is {name}|{name}|{name} is set to what",
            f"{name} is {value}.",
        )
        page.add("")
    tasks = commands(rng, 3, 5)
    targets = list(tasks)
    for at, (task, command) in enumerate(tasks.items()):
        needs = targets[at - 1] if at and rng.random() < 0.4 else ""
        head = page.add(f"{task}: {needs}".rstrip())
        line = page.add(f"\t{command}", "") - 1
        page.fact(
            f"the recipe of {task}",
            command,
            line,
            f"what does [make|] {task} [do|run]|which command [runs|is run] for {task}|{task} target",
            f"The target {task} runs: {command}",
        )
        if needs:
            page.fact(
                f"the prerequisite of {task}",
                needs,
                head,
                f"what does {task} depend on|on which target does {task} depend|what runs before {task}",
                f"{task} depends on {needs}.",
            )
    page.lines.pop()
    page.listed(
        "list", "which targets [are there|can i make]|list the targets|what can i make|targets", targets
    )
    page.listed("count", "how many targets [are there|does it have]|number of targets", targets)
    return page


def workflow(rng: random.Random) -> Page:
    """A CI workflow."""
    page = Page(
        rng.choice(
            [
                ".github/workflows/ci.yml",
                ".github/workflows/test.yaml",
                "ci.yml",
                ".gitlab-ci.yml",
                ".github/workflows/release.yml",
            ]
        ),
        "[the|our] [CI|ci file|workflow|pipeline|ci config]",
        "a CI workflow",
    )
    name, system = (
        rng.choice(["CI", "tests", "release", "nightly", "check"]),
        rng.choice(["ubuntu-24.04", "ubuntu-latest", "macos-14", "windows-2022"]),
    )
    page.fact(
        "the name of the workflow",
        name,
        page.add(f"name: {name}"),
        "what is the [workflow|pipeline] called|name of the workflow",
    )
    branch = rng.choice(["main", "develop", "release/*", "trunk"])
    page.add("on:", "  push:")
    page.fact(
        "the branch",
        branch,
        page.add(f"    branches: [{branch}]"),
        "on which branch does it run|which branches trigger it|when does the CI run",
    )
    minutes = str(rng.randint(5, 60))
    page.add("jobs:", f"  {rng.choice(['build', 'test', 'check'])}:")
    page.fact(
        "the runner",
        system,
        page.add(f"    runs-on: {system}"),
        "on [which|what] [machine|system|os|runner] does [it|the CI] run|which runner [is used|do we use]",
    )
    page.fact(
        "the timeout",
        minutes,
        page.add(f"    timeout-minutes: {minutes}"),
        "after how many minutes [is it stopped|does it give up]|timeout of the job|how long may it run",
        f"The timeout is {minutes} minutes.",
    )
    page.add("    steps:", "      - uses: actions/checkout@v4")
    steps = list(commands(rng, 2, 3).values())
    for step in steps:
        page.add(f"      - run: {step}")
    page.listed("list", "which commands [does it run|are run]|what does the CI run|list the run steps", steps)
    page.listed("count", "how many commands does it run|number of run steps", steps)
    return page


def html(rng: random.Random) -> Page:
    """A web page."""
    name = coined(rng)
    page = Page(
        rng.choice(
            ["index.html", "about.html", "contact.html", "shop.html", "site/index.html", "public/index.html"]
        ),
        "[the|my|our] [web page|homepage|website|html|page]",
        f"a web page of {name}",
    )
    title = spin(
        rng,
        f"{name} {rng.choice(['Bakery', 'Choir', 'Cycles', 'Pottery', 'Books', 'Physio'])}|Welcome to {name}",
    )
    page.add("<!DOCTYPE html>", rng.choice(['<html lang="en">', '<html lang="de">', "<html>"]), "<head>")
    page.fact(
        "the title of the page",
        title,
        page.add(f"  <title>{title}</title>"),
        "what [is the title|stands in the title tag]|which title does the browser show|page title",
    )
    style = rng.choice(["css/main.css", "style.css", "theme.css"])
    page.fact(
        "the style sheet",
        style,
        page.add(f'  <link rel="stylesheet" href="{style}">'),
        "which [css|style sheet] [is loaded|does it use]|what css file does it load",
    )
    page.add("</head>", "<body>")
    head = rng.choice(
        [
            "Fresh every morning",
            "Sing with us",
            "Repairs while you wait",
            "Clay for everyone",
            "Second-hand and new",
            "Open again",
        ]
    )
    page.fact(
        "the main heading",
        head,
        page.add(f"  <h1>{head}</h1>"),
        "what is the [main heading|h1|big heading]|h1|what does the headline say",
    )
    mail = f"{rng.choice(['hello', 'info', 'team', 'post'])}@{name.lower()}.example"
    target = rng.choice(["/shop", "/tickets", "https://map.example/x", "/news"])
    rows = [
        (
            f'  <a href="mailto:{mail}">Mail us</a>',
            "the mail address",
            mail,
            "what mail address is on [it|the page]|where can people write to|contact mail",
        ),
        (
            f'  <a href="{target}">More</a>',
            "the link target",
            target,
            "where does the link more go|target of the more link|where does More lead to",
        ),
        (f'  <img src="img/{rng.choice(CODE_WORDS)}.png" alt="{rng.choice(bank("thing"))}">', "", "", ""),
        (
            f"  <p>Phone {rng.randint(1000, 9999)} {rng.randint(10, 99)}</p>",
            "the phone number",
            "",
            "which phone number is on the page|phone",
        ),
        (
            f"  <p>Open from {clock(rng, 7, 11)}</p>",
            "the opening time",
            "",
            "from when are they open|opening time on the page",
        ),
        (
            f"  <footer>© {rng.randint(2012, 2025)} {person(rng)}</footer>",
            "the footer",
            "",
            "what is in the footer|who is named in the footer|footer text",
        ),
    ]
    for line, noun, value, words in rng.sample(rows, rng.randint(3, 6)):
        number = page.add(line)
        if noun:
            shown = value or line.split(">")[1].split("<")[0].removeprefix("Phone ").removeprefix(
                "Open from "
            )
            page.fact(noun, shown, number, words)
        else:
            source, alt = line.split('"')[1], line.split('"')[3]
            page.fact(
                "the image",
                source,
                number,
                "which picture is on the page|what image is shown|image file on the page",
            )
            page.fact(
                "the alt text of the image", alt, number, "alt text of the picture|what is the alt text"
            )
    items = pick(rng, ["Home", "Prices", "About", "News", "Contact", "Team", "Jobs", "Map"], 3, 6)
    page.add("  <ul>", *(f"    <li>{item}</li>" for item in items), "  </ul>", "</body>", "</html>")
    page.listed("list", "what is in the [list|menu]|which list items are there|[menu|list] entries", items)
    page.listed(
        "count", "how many [list items|li elements|menu entries] are there|number of list items", items
    )
    return page


def css(rng: random.Random) -> Page:
    """A style sheet."""
    page = Page(
        rng.choice(["style.css", "css/main.css", "theme.css", "site/styles.css", "app.css"]),
        "[the|our|my] [css|style sheet|stylesheet|styles]",
        "a style sheet",
    )
    if rng.random() < 0.5:
        page.add(":root {")
        for name in pick(rng, ["accent", "paper", "ink", "gap"], 1, 3):
            value = f"#{rng.randrange(16**6):06x}" if name != "gap" else f"{rng.randint(2, 40)}px"
            page.fact(
                f"the variable {name}",
                value,
                page.add(f"  --{name}: {value};"),
                f"what is --{name}|value of the {name} variable|{name} [colour|variable]",
                f"--{name} is {value}.",
            )
        page.add("}", "")
    selectors = pick(
        rng,
        [
            "body",
            "h1",
            ".card",
            "#menu",
            "a:hover",
            ".btn-primary",
            "footer",
            "table td",
            ".price",
            "nav ul",
            ".hero",
        ],
        2,
        4,
    )
    rules = {
        "color": "",
        "font-size": "px",
        "margin": "px",
        "padding": "px",
        "width": "%",
        "border-radius": "px",
        "background": "",
        "max-width": "px",
        "line-height": "",
    }
    for selector in selectors:
        page.add(f"{selector} {{")
        for rule in pick(rng, list(rules), 1, 4):
            unit = rules[rule]
            value = (
                f"{rng.randint(2, 90)}{unit}"
                if unit
                else rng.choice([f"#{rng.randrange(16**6):06x}", rng.choice(["teal", "crimson", "white"])])
                if rule != "line-height"
                else f"1.{rng.randint(2, 8)}"
            )
            said = rule.replace("-", " ")
            page.fact(
                f"the {said} of {selector}",
                value,
                page.add(f"  {rule}: {value};"),
                f"[which|what] {said} has {selector}|{selector} {rule}|{said} of {selector}",
                f"The {said} of {selector} is {value}.",
            )
        page.add("}", "")
    page.lines.pop()
    page.listed(
        "list",
        "which selectors are [there|styled]|list the selectors|what is styled",
        selectors if ":root {" not in page.lines else [":root", *selectors],
    )
    return page


def schema(rng: random.Random) -> Page:
    """An SQL schema."""
    page = Page(
        rng.choice(["schema.sql", "db/schema.sql", "create.sql", "migrations/001_init.sql", "tables.sql"]),
        "[the|our] [schema|sql|database schema|sql file]",
        "an SQL schema",
    )
    names = []
    for entry in pick(rng, entries(project_data.TABLES), 1, 3):
        name, *columns = entry.split()
        names.append(name)
        page.add(f"CREATE TABLE {name} (")
        for at, column in enumerate(columns):
            own, kind = column.split(":")
            extra = rng.choice(["", "", " NOT NULL", " UNIQUE"]) if at else " PRIMARY KEY"
            line = page.add(f"  {own} {kind}{extra}{',' * (at < len(columns) - 1)}")
            page.fact(
                f"the type of {own} in {name}",
                kind,
                line,
                f"[which|what] type [has|is] {own} [in|of] {name}|type of {name}.{own}"
                f"|column type of {own} in {name}",
                f"{own} in {name} is {kind}.",
            )
            if at:
                page.ask(
                    "check",
                    f"must {own} [in|of] {name} be unique|is {own} unique in {name}",
                    f"{'Yes' if 'UNIQUE' in extra else 'No'}, {own} is "
                    f"{'UNIQUE' if 'UNIQUE' in extra else 'not unique'}.",
                    [line],
                )
            else:
                page.fact(
                    f"the primary key of {name}",
                    own,
                    line,
                    f"what is the [primary key|key] of {name}|primary key of {name}",
                    f"The primary key of {name} is {own}.",
                )
        page.add(");", "")
        own_columns = [column.split(":")[0] for column in columns]
        page.listed(
            "list",
            f"which columns [has|are in] {name}|columns of {name}|list the columns of {name}"
            f"|fields of the {name} table",
            own_columns,
        )
        page.listed(
            "count",
            f"how many columns [has {name}|does {name} have]|number of columns in {name}",
            own_columns,
        )
    page.lines.pop()
    page.listed("list", "which tables are [there|created]|list the tables|what tables do we have", names)
    page.listed("count", "how many tables are there|number of tables", names)
    return page


def crontab(rng: random.Random) -> Page:
    """A crontab."""
    page = Page(
        rng.choice(["crontab", "crontab.txt", "cron/jobs.cron", "etc/crontab", "backup.cron"]),
        "[the|my|our] [crontab|cron file|cron jobs]",
        "a crontab",
    )
    page.add("# m h dom mon dow command")
    scripts = [
        f"{task}.sh"
        for task in pick(
            rng,
            [
                "poll",
                "cleanup",
                "weekly_report",
                "backup",
                "sync",
                "rotate",
                "newsletter",
                "feed_cats",
                "fetch_tides",
            ],
            3,
            5,
        )
    ]
    week = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    for script in scripts:
        minute, hour, day = rng.randint(0, 59), rng.randint(0, 23), rng.randint(0, 6)
        weekly, monthly = rng.random() < 0.35, rng.random() < 0.2
        folder = rng.choice(["/opt/jobs/", "/home/ann/bin/", "/srv/"])
        line = page.add(
            f"{minute} {hour} {'1' if monthly else '*'} * {day if weekly and not monthly else '*'} "
            f"{folder}{script}"
        )
        time = f"{hour:02}:{minute:02}"
        page.fact(
            f"the time of {script}",
            time,
            line,
            f"at what time [of day|] does {script} [run|fire|start]|when is {script} [started|run]"
            f"|{script} runs when",
            f"{script} runs at {time}.",
        )
        page.fact(
            f"the folder of {script}",
            folder,
            line,
            f"where [is|lies] {script}|in which folder is {script}|path of {script}",
            f"{script} is in {folder}.",
        )
        often = "once a month, on the 1st" if monthly else f"every {week[day]}" if weekly else "every day"
        page.fact(
            f"the schedule of {script}",
            often,
            line,
            f"how often does {script} run|on which days does {script} run",
            f"{script} runs {often}.",
        )
    page.listed("list", "which jobs are [there|scheduled]|list the [jobs|scripts]|what runs by cron", scripts)
    page.listed("count", "how many [jobs|entries] are [there|scheduled]|number of cron jobs", scripts)
    return page


def machine(rng: random.Random) -> Page:
    """ssh config, hosts, nginx, systemd, linker script, ansible inventory."""
    return rng.choice([ssh, hosts, nginx, unit, linker, calendar, cards, robots])(rng)


def ssh(rng: random.Random) -> Page:
    """An ssh config."""
    page = Page(
        rng.choice(["ssh_config", ".ssh/config", "config.ssh"]),
        "[my|the] [ssh config|ssh file|ssh settings]",
        "an ssh configuration",
    )
    names = [
        f"{word}{rng.choice(['', '', str(rng.randint(1, 9))])}"
        for word in pick(rng, ["nas", "web", "lab", "pi", "backup", "gate", "build"], 2, 4)
    ]
    for name in names:
        page.add(f"Host {name}")
        address, user, port = (
            f"{rng.randint(10, 192)}.{rng.randint(0, 99)}.{rng.randint(0, 9)}.{rng.randint(2, 250)}",
            rng.choice(FIRST).lower(),
            str(rng.choice([22, 2222, 2200, rng.randint(1024, 9999)])),
        )
        page.fact(
            f"the address of {name}",
            address,
            page.add(f"    HostName {address}"),
            f"[which|what] [ip|address|hostname] [has|is] {name}|where is {name}|ip of {name}",
        )
        page.fact(
            f"the user of {name}",
            user,
            page.add(f"    User {user}"),
            f"[as who|with which user] do i log in [to|on] {name}|user for {name}|user on {name}",
        )
        if rng.random() < 0.6:
            page.fact(
                f"the port of {name}",
                port,
                page.add(f"    Port {port}"),
                f"[which|what] port [has|is for] {name}|ssh port of {name}",
            )
        page.add("")
    page.lines.pop()
    page.listed("list", "which hosts are [there|configured]|list the hosts|what machines can i reach", names)
    page.listed("count", "how many hosts are [there|configured]|number of hosts", names)
    return page


def hosts(rng: random.Random) -> Page:
    """A hosts file or an inventory."""
    page = Page(
        rng.choice(["hosts", "etc/hosts", "hosts.txt", "network.txt", "inventory.ini"]),
        "[the|our] [hosts file|list of hosts|network list]",
        "a list of hosts with their addresses",
    )
    names = pick(
        rng,
        [
            "printer",
            "nas",
            "router",
            "camera-hall",
            "tv",
            "server-1",
            "laptop-mia",
            "doorbell",
            "heating",
            "freezer",
        ],
        3,
        6,
    )
    for name in names:
        address = f"192.168.{rng.randint(0, 9)}.{rng.randint(2, 250)}"
        line = page.add(
            f"{name} ansible_host={address}"
            if page.path.endswith("ini")
            else f"{address}{rng.choice([' ', '  '])}{name}"
        )
        page.fact(
            f"the address of {name}",
            address,
            line,
            f"[which|what] [ip|address] [has|is] [the|] {name}|{name} ip|where do i reach the {name}",
        )
        page.ask(
            "fact",
            f"[who|which machine|which device] [has|is] {address}|what is {address}"
            f"|{address} is which device",
            f"It is {name}.",
            [line],
        )
    page.listed("count", "how many [devices|hosts|machines] are [there|listed]|number of hosts", names)
    return page


def nginx(rng: random.Random) -> Page:
    """A web server's configuration."""
    page = Page(
        rng.choice(["nginx.conf", "nginx/site.conf", "sites/default.conf", "Caddyfile.conf"]).replace(
            "Caddyfile.conf", "site.conf"
        ),
        "[the|our] [nginx config|web server config|nginx file|site config]",
        "the configuration of a web server",
    )
    site, port, root, back, size = (
        f"{coined(rng).lower()}.example",
        str(rng.choice([80, 443, 8080, rng.randint(2000, 9000)])),
        f"/var/www/{identifier(rng, 1)}",
        f"http://127.0.0.1:{rng.randint(3000, 9000)}",
        f"{rng.randint(1, 50)}m",
    )
    page.add("server {")
    page.fact(
        "the port",
        port,
        page.add(f"    listen {port};"),
        "[which|what] port does it listen on|on which port is the site|listen port",
    )
    page.fact(
        "the server name",
        site,
        page.add(f"    server_name {site};"),
        "[which|what] [domain|name|site] is it [for|]|what is the server name|for what domain is it",
    )
    page.fact(
        "the root folder",
        root,
        page.add(f"    root {root};"),
        "where are the files [of the site|]|what is the [document root|root]|which folder is served",
    )
    page.fact(
        "the upload limit",
        size,
        page.add(f"    client_max_body_size {size};"),
        "how large may an upload be|what is the max body size|upload limit",
    )
    path = rng.choice(["/api", "/app", "/ws", "/admin"])
    page.add(f"    location {path} {{")
    page.fact(
        f"the target of {path}",
        back,
        page.add(f"        proxy_pass {back};"),
        f"where does {path} go|to what is {path} proxied|what is behind {path}",
    )
    page.add("    }", "}")
    return page


def unit(rng: random.Random) -> Page:
    """A systemd unit."""
    name = identifier(rng, 1)
    page = Page(
        rng.choice([f"{name}.service", f"systemd/{name}.service", f"units/{name}.service"]),
        f"[the|our] [service file|systemd unit|unit file|{name} service]",
        f"a systemd unit of {name}",
    )
    page.add("[Unit]")
    about, user, wait = (
        f"{upper_first(name)} of {coined(rng)}",
        rng.choice(FIRST).lower(),
        str(rng.randint(1, 60)),
    )
    page.fact(
        "the description",
        about,
        page.add(f"Description={about}"),
        "what is the description|which description does the service have",
    )
    page.fact(
        "the target it waits for",
        "network.target",
        page.add("After=network.target"),
        "after what does it start|what must be up before",
    )
    page.add("", "[Service]")
    page.fact(
        "the user",
        user,
        page.add(f"User={user}"),
        "as which user does it run|who does the service run as|user of the service",
    )
    start = f"/usr/local/bin/{name} --port {rng.randint(2000, 9999)}"
    page.fact(
        "the start command",
        start,
        page.add(f"ExecStart={start}"),
        "which [program|command] is started|what does the service start|start command",
    )
    policy = rng.choice(["always", "on-failure", "no"])
    page.fact(
        "the restart policy",
        policy,
        page.add(f"Restart={policy}"),
        "is it restarted [after a crash|]|when is it restarted",
    )
    page.fact(
        "the wait before a restart",
        wait,
        page.add(f"RestartSec={wait}"),
        "how many seconds [until|before] a restart|how long does it wait before it restarts",
        f"The wait before a restart is {wait} seconds.",
    )
    page.add("", "[Install]", "WantedBy=multi-user.target")
    page.listed("list", "which sections are there|list the sections", ["Unit", "Service", "Install"])
    return page


def linker(rng: random.Random) -> Page:
    """A linker script, or a pin table of a board."""
    page = Page(
        rng.choice(["memory.x", "linker.ld", "board/memory.x", "stm32.ld"]),
        "[the|our] [linker script|memory layout|memory file]",
        "a linker script with memory regions",
    )
    page.add(f"/* {rng.choice(['STM32F', 'NRF52', 'RP20', 'ESP'])}{rng.randint(10, 999)} */", "MEMORY", "{")
    for name in ["FLASH", "RAM", *pick(rng, ["CCM", "EEPROM", "BOOT", "BACKUP"], 0, 2)]:
        size, origin = (
            f"{rng.choice([4, 8, 16, 20, 64, 96, 128, 256, 512])}K",
            f"0x{rng.randint(1, 9)}{rng.choice(['0', '8'])}0{rng.choice('0248')}0000",
        )
        line = page.add(f"  {name} : ORIGIN = {origin}, LENGTH = {size}")
        page.fact(
            f"the size of {name}",
            size,
            line,
            f"how much {name} [do i have|is there|does it give me]|how large is [the|] {name}|{name} size"
            f"|length of {name}",
        )
        page.fact(
            f"the origin of {name}",
            origin,
            line,
            f"where does {name} [start|begin]|start address of {name}|origin of {name}",
        )
    page.add("}")
    return page


def calendar(rng: random.Random) -> Page:
    """A calendar file."""
    page = Page(
        rng.choice(["calendar.ics", "events.ics", "term.ics", "my.ics"]),
        "[my|the|our] [calendar|ics file|calendar file]",
        "a calendar",
    )
    page.add("BEGIN:VCALENDAR")
    names = pick(
        rng,
        [
            "Choir",
            "Dentist",
            "Parents' evening",
            "Regatta",
            "Board meeting",
            "Yoga",
            "Exam",
            "Car check",
            "Book club",
        ],
        2,
        4,
    )
    for name in names:
        day, time, place = (
            f"2026{rng.randint(1, 12):02}{rng.randint(1, 28):02}",
            f"{rng.randint(8, 20):02}{rng.choice(['00', '15', '30'])}00",
            rng.choice(CITIES),
        )
        page.add("BEGIN:VEVENT")
        at = page.add(f"SUMMARY:{name}")
        line = page.add(f"DTSTART:{day}T{time}")
        date = f"{day[:4]}-{day[4:6]}-{day[6:]}"
        page.fact(
            f"the date of {name}",
            date,
            line,
            f"when is [the|] {name}|on which day is {name}|date of {name}",
            f"{name} is on {date} at {time[:2]}:{time[2:4]}.",
            at,
        )
        page.fact(
            f"the start of {name}",
            f"{time[:2]}:{time[2:4]}",
            line,
            f"[at what time|what time] [is|does] {name} [start|]|{name} starts when".replace(
                "[is|does]", "is"
            ).replace(" [start|]", ""),
            f"{name} starts at {time[:2]}:{time[2:4]}.",
            at,
        )
        page.fact(
            f"the place of {name}",
            place,
            page.add(f"LOCATION:{place}"),
            f"where is [the|] {name}|place of {name}|in which city is {name}",
            f"{name} is in {place}.",
            at,
        )
        page.add("END:VEVENT")
    page.add("END:VCALENDAR")
    page.asks = [
        type(ask)(ask.shape, ask.words, ask.answer, tuple(sorted(ask.lines)), ask.items, ask.noun, ask.value)
        for ask in page.asks
    ]
    page.listed(
        "list", "which [events|appointments] are [there|in it]|list the events|what is coming up", names
    )
    page.listed("count", "how many [events|appointments] are [there|in it]|number of events", names)
    return page


def cards(rng: random.Random) -> Page:
    """Visiting cards."""
    page = Page(
        rng.choice(["contacts.vcf", "people.vcf", "team.vcf"]),
        "[my|the|our] [vcard file|visiting cards|vcf|contacts file]",
        "visiting cards",
    )
    names = []
    for _ in range(rng.randint(2, 4)):
        name, phone_number, mail, firm = (
            person(rng),
            f"+{rng.randint(20, 99)} {rng.randint(100, 999)} {rng.randint(1000, 9999)}",
            f"{coined(rng).lower()}@{coined(rng).lower()}.example",
            coined(rng),
        )
        names.append(name)
        page.add("BEGIN:VCARD")
        at = page.add(f"FN:{name}")
        page.fact(
            f"the company of {name}",
            firm,
            page.add(f"ORG:{firm}"),
            f"[which company|where] does {name} work [for|]|company of {name}".replace("work [for|]", "work"),
            f"The company of {name} is {firm}.",
        )
        page.fact(
            f"the phone number of {name}",
            phone_number,
            page.add(f"TEL:{phone_number}"),
            f"what is {name}'s number|how do i call {name}|phone of {name}",
            "",
        )
        page.fact(
            f"the mail address of {name}",
            mail,
            page.add(f"EMAIL:{mail}"),
            f"[what is|] {name}'s [mail|email]|how do i mail {name}",
            "",
        )
        page.add("END:VCARD")
        page.asks = [
            type(ask)(
                ask.shape,
                ask.words,
                ask.answer,
                ask.lines if len(ask.lines) > 1 else (at, *ask.lines),
                ask.items,
                ask.noun,
                ask.value,
            )
            for ask in page.asks
        ]
    page.listed(
        "list",
        "[who|which people] [is|are] in it|list the [people|names]|whose cards are there".replace(
            "[who|which people] [is|are] in it", "who is in it"
        ),
        names,
    )
    page.listed("count", "how many [people|cards|contacts] are in it|number of cards", names)
    return page


def robots(rng: random.Random) -> Page:
    """A list of patterns: .gitignore or the like."""
    page = Page(
        rng.choice([".gitignore", ".dockerignore", ".npmignore"]),
        "[the|our] [gitignore|ignore file]",
        "a list of ignored files",
    )
    patterns = pick(
        rng,
        [
            "*.log",
            "build/",
            "dist/",
            ".env",
            "__pycache__/",
            "node_modules/",
            "*.tmp",
            ".DS_Store",
            "coverage/",
            "*.pyc",
            "target/",
            "secrets.json",
            "*.bak",
            ".venv/",
        ],
        4,
        9,
    )
    page.lines = list(patterns)
    there = rng.choice(patterns)
    gone = rng.choice(
        [
            each
            for each in ["*.mp3", "docs/", "vendor/", "*.sql", "photos/", "local.yaml"]
            if each not in patterns
        ]
    )
    page.ask(
        "check",
        f"is {there} ignored|do we ignore {there}|is {there} in it",
        f"Yes, {there} is ignored.",
        [patterns.index(there) + 1],
    )
    page.ask("check", f"is {gone} ignored|do we ignore {gone}|is {gone} in it", f"No, {gone} is not ignored.")
    page.listed("list", "what is ignored|which [patterns|files] are ignored|list the patterns", patterns)
    page.listed("count", "how many patterns are [there|in it]|number of [patterns|entries]", patterns)
    folders = [each for each in patterns if each.endswith("/")]
    if folders:
        page.listed("list", "which folders are ignored|only the folders please", folders)
    return page


def latex(rng: random.Random) -> Page:
    """A LaTeX document."""
    topic = rng.choice(["bees", "tides", "street noise", "moss", "snow", "bridges", "yeast", "owls"])
    page = Page(
        rng.choice(["paper.tex", "thesis.tex", f"{topic.replace(' ', '_')}.tex", "report/main.tex"]),
        "[the|my|our] [tex file|latex file|paper|thesis]",
        f"a LaTeX document about {topic}",
    )
    kind, size, author = (
        rng.choice(["article", "report", "book", "letter"]),
        rng.choice(["10pt", "11pt", "12pt"]),
        person(rng),
    )
    line = page.add(f"\\documentclass[{size}]{{{kind}}}")
    page.fact(
        "the document class", kind, line, "which document class [is it|does it have]|class of the document"
    )
    page.fact("the font size", size, line, "what font size does it use|how big is the font")
    page.fact(
        "the title",
        f"On {topic}",
        page.add(f"\\title{{On {topic}}}"),
        "what is the title|title of the paper|how is the paper called",
    )
    page.fact(
        "the author",
        author,
        page.add(f"\\author{{{author}}}"),
        "who is the author|who wrote it|author of the paper",
    )
    page.add("\\begin{document}")
    sections = pick(rng, ["Introduction", "Method", "Data", "Results", "Limits", "Outlook", "Thanks"], 3, 5)
    values = [str(rng.randint(2, 400)) for _ in sections]
    thing = rng.choice(["hives", "stations", "samples", "nights", "volunteers"])
    for at, section in enumerate(sections):
        page.add(f"\\section{{{section}}}")
        if at == 1:
            page.fact(
                f"the number of {thing}",
                values[at],
                page.add(f"We watched {values[at]} {thing}."),
                f"how many {thing} did they watch|number of {thing}|how many {thing}",
                f"They watched {values[at]} {thing}.",
            )
        else:
            page.add(
                rng.choice(["To be written.", "See the table.", "More is needed.", "The rest is clear."])
            )
    page.add("\\end{document}")
    page.listed("list", "which sections [are there|does it have]|list the sections|section titles", sections)
    page.listed("count", "how many sections [are there|does it have]|number of sections", sections)
    first = next(at for at, each in enumerate(page.lines, 1) if "\\section" in each)
    page.ask(
        "fact",
        "[what is|] the first section|how is the first section called",
        f"The first section is {sections[0]}.",
        [first],
    )
    return page


PROJECT = (
    readme,
    readme,
    licence,
    licence,
    changelog,
    changelog,
    bibliography,
    bibliography,
    manifest,
    manifest,
    manifest,
    manifest,
    compose,
    docker,
    makefile,
    workflow,
    html,
    html,
    css,
    css,
    schema,
    schema,
    crontab,
    machine,
    machine,
    machine,
    latex,
)
