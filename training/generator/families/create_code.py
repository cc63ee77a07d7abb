"""Creating small functions and scripts from a description, in fourteen languages."""

import re
from random import Random

from msgspec import Struct

from training.generator import create_code, create_python, sources
from training.generator.families.create import new_path, show
from training.generator.frames import one_frame
from training.generator.play import Family, Play, Unfit
from training.generator.sources import fill, unwrap, value
from training.generator.targets import order_text

FUNCTION = """
write {f} with a function {s} that {d}
create {f} (containing|with) (the function |){s}(, it| which| that) {d}
create {f} with {s}: it {d}
{f}: a function {s} that {d}
{f} with {s}, which {d}
I need a (small |little |)({l} |)function {s} that {d}, (put it in|save it as|in the file|file name) {f}
make (a |a new |)(file|module) {f} with {s}; it {d}
(can|could) you write {s} in {f}? it {d}
please create {f}. It (contains|should contain) {s}, this function {d}
new file {f} with {s} - {d}
write (me |)a ({l} |)function that {d}: {s}, in {f}
(add|make) {f} that defines {s}. {s} {d}
a ({l} |)file {f} with only one function, {s}, that {d}
function {s} -> {f}. it {d}
put a function {s} in a new file {f}; it {d}
in {f} (write|define) {s}, it {d}
we need {s} (it {d}), please write it into {f}
code me {f}: {s} {d}
{s} in a new file {f}. what it does: {d}
for {w} I need {f} with {s} that {d}
""".strip()
FUNCTION_FREE = """
write a {l} function {s} that {d}
I need a {l} function {s} which {d}
(make|create) a (small |)function {s} in {l} that {d}
can you write {s} in {l}? it {d}
(code|write) me {s} in {l}, it {d}
a {l} function {s} please, it {d}
""".strip()
SCRIPT = """
write (a |a small |a tiny |)({l} |)(script|program) {f} that {d}
create {f}(, it| that| which) {d}
{f}: (a script|a program|something) that {d}
I need a (tiny|little|small|simple) ({l} |)(script|program) that {d}, (call it|name it|save it as|as) {f}
make {f} which {d}
a (tiny |small |)({l} |)(script|program) {f} (pls|please), it {d}
(can|could) you (write|make) {f}? it (just |only |){d}
{f} please, it {d}
new (script|file) {f} that {d}
write {f} for {w}, it {d}
please program {f}. When I start it, it {d}
code: {f} {d}
I want a file {f} that {d}
let me have {f}, a ({l} |)thing that {d}
""".strip()
SCRIPT_FREE = """
write a {l} (script|program) that {d}
I need a (small|tiny) {l} (script|program) which {d}
(make|create) a {l} (script|file) that {d}
can you write a {l} program that {d}?
a {l} script please that {d}
""".strip()
DOCUMENT = """
create {f}(, it| that| which) {d}
{f} that {d}
{f}: {l} that {d}
I need (a |){f} that {d}
make {f} which {d}
write (me |)a ({l} file |){f}(, it| that) {d}
(can|could) you write {f}? it (just |only |){d}
new file {f}: it {d}
write {f} for {w}, it {d}
I want a file {f} that {d}
a (small |simple |){f} please, it {d}
""".strip()
PEOPLE = (
    "my pupils,the shop,the band,my sister,our club,school,the lab,work,my homework,a friend,the team".split(
        ","
    )
)
ALIKE = "utils helpers tools lib misc common functions calc mathlib textlib stuff".split()
IMPORTS = ("math", "json", "random")


class Spec(Struct, frozen=True):
    """A small program and the words that ask for it."""

    ending: str
    name: str
    """The function's name, or the script's file."""
    signature: str
    """How an order writes the function; empty for a script."""
    does: tuple[str, ...]
    code: str


def _python_functions() -> list[Spec]:
    specs = []
    for block in unwrap(create_python.FUNCTIONS).split("\n\n"):
        head, _, body = block.partition("\n")
        signature, *does = head.split(" | ")
        modules = [f"import {module}\n\n\n" for module in IMPORTS if f"{module}." in body]
        code = f"{''.join(modules)}def {signature}:\n{body}"
        specs.append(Spec("py", signature.partition("(")[0], signature, tuple(does), code))
    return specs


def _python_scripts() -> list[Spec]:
    blocks = unwrap(create_python.SCRIPTS).removeprefix("! ").split("\n\n! ")
    return [_script("py", block) for block in blocks]


def _script(ending: str, block: str) -> Spec:
    head, _, code = block.partition("\n")
    name, *does = head.split(" | ")
    return Spec(ending, name, "", tuple(does), code)


def _others() -> list[Spec]:
    specs = []
    for part in unwrap(create_code.PROGRAMS).removeprefix("== ").split("\n== "):
        ending, _, rest = part.partition("\n")
        for block in re.split(r"\n\n(?=[^\n]+ \| [^\n]+ \| )", rest):
            if block.startswith("! "):
                specs.append(_script(ending, block[2:]))
                continue
            head, _, code = block.partition("\n")
            signature, *does = head.split(" | ")
            specs.append(Spec(ending, signature.partition("(")[0], signature, tuple(does), code))
    return specs


PYTHON_FUNCTIONS = _python_functions()
PYTHON_SCRIPTS = _python_scripts()
OTHERS = _others()
LANGUAGES = {key: words.split("/") for key, words in create_code.LANGUAGES.items()} | {
    "py": ["Python", "python"]
}
RUNNERS = {"py": "python3", "sh": "sh", "js": "node"}


def _filled(rng: Random, spec: Spec) -> Spec:
    """The spec with made-up values, and in some cases another name."""
    parts = fill(rng, "\x00".join((spec.name, spec.signature, spec.code, *spec.does))).split("\x00")
    name, signature, code, *does = parts
    if signature and rng.random() < 0.3:
        new = _other_name(rng, name)
        signature, code = (re.sub(rf"\b{re.escape(name)}(?=\()", new, text) for text in (signature, code))
        name = new
    return Spec(spec.ending, name, signature, tuple(does), code)


def _other_name(rng: Random, name: str) -> str:
    mark = "?" if name.endswith("?") else ""
    plain = name.removesuffix("?")
    camel = re.sub(r"_(\w)", lambda match: match[1].upper(), plain)
    snake = re.sub(r"([A-Z])", lambda match: "_" + match[1].lower(), plain)
    noun = value(rng, "thing")
    return (
        rng.choice(
            (
                camel,
                snake,
                f"my_{snake}",
                f"{snake}_{noun}",
                f"{noun}_{snake}",
                f"calc_{snake}",
                f"do_{snake}",
            )
        )
        + mark
    )


def file_for(rng: Random, spec: Spec) -> str:
    """Return a path for a program."""
    if not spec.signature:
        if spec.ending in ("java", "make", "docker"):
            return spec.name
        if rng.random() < 0.6:
            return new_path(rng, spec.name)
        return new_path(
            rng, f"{value(rng, rng.choice(('thing', 'word')))}{spec.name[spec.name.rindex('.') :]}"
        )
    stem = rng.choice(
        (spec.name.removesuffix("?"), spec.name.removesuffix("?"), rng.choice(ALIKE), value(rng, "thing"))
    )
    return new_path(rng, f"{stem}.{spec.ending}")


def order_program(play: Play, spec: Spec, does: str, path: str, *, tail: str = "") -> None:
    """Let the user ask for a program."""
    rng = play.rng
    language = rng.choice(LANGUAGES[spec.ending])
    shown = spec.signature
    if shown and rng.random() < 0.15:
        shown = f"`{shown}`"
    is_document = spec.ending in ("sql", "css", "html", "make", "docker") or spec.name == "Tools.java"
    block = FUNCTION if spec.signature else DOCUMENT if is_document else SCRIPT
    order = one_frame(rng, block, f=show(rng, path), s=shown, d=does, l=language, w=rng.choice(PEOPLE))
    play.user(order_text(rng, order + tail, exact_end=True))


def tell(spec: Spec, path: str, does: str) -> str:
    """Return the sentence that tells of a new program."""
    short = does.split(" (")[0]
    if len(short) > 90:
        return f"Created {path}."
    end = "" if short[-1] in "!." else "."
    return (
        f"Created {path} with {spec.signature}; it {short}{end}"
        if spec.signature
        else f"Created {path}; it {short}{end}"
    )


def _create(play: Play, specs: list[Spec]) -> None:
    rng = play.rng
    spec = _filled(rng, rng.choice(specs))
    does = rng.choice(spec.does)
    path = file_for(rng, spec)
    sources.distract(play, path, most=3)
    order_program(play, spec, does, path)
    play.write(path, spec.code)
    play.say(tell(spec, path, does))


def python_function(play: Play) -> None:
    """A Python function in a new file."""
    _create(play, PYTHON_FUNCTIONS)


def python_script(play: Play) -> None:
    """A Python script."""
    _create(play, PYTHON_SCRIPTS)


def other_language(play: Play) -> None:
    """A program in another language, each language about as often."""
    ending = play.rng.choice(sorted({spec.ending for spec in OTHERS} - {"ts"}))
    _create(play, [spec for spec in OTHERS if spec.ending == ending])


def javascript_or_shell(play: Play) -> None:
    """The other languages that people ask for most."""
    _create(play, [spec for spec in OTHERS if spec.ending in ("js", "ts", "sh")])


def no_file_named(play: Play) -> None:
    """A program for which the order names no file: it gets the name of what it is."""
    rng = play.rng
    spec = _filled(rng, rng.choice([*PYTHON_FUNCTIONS, *PYTHON_SCRIPTS, *OTHERS]))
    if spec.ending in ("make", "docker", "sql", "css", "html"):
        raise Unfit("these are named")
    does = rng.choice(spec.does)
    path = f"{spec.name.removesuffix('?')}.{spec.ending}" if spec.signature else spec.name
    sources.distract(play, path, most=2)
    language = rng.choice(LANGUAGES[spec.ending])
    order = one_frame(
        rng, FUNCTION_FREE if spec.signature else SCRIPT_FREE, s=spec.signature, d=does, l=language
    )
    play.user(order_text(rng, order, exact_end=True))
    play.write(path, spec.code)
    play.say(tell(spec, path, does))


def create_and_run(play: Play) -> None:
    """A script that is written and then run."""
    rng = play.rng
    fitting = [
        spec
        for spec in (*PYTHON_SCRIPTS, *OTHERS)
        if spec.ending in RUNNERS
        and not spec.signature
        and not re.search(
            r"argv|stdin|input\(|today|date|HOME|listdir|ls |\$1|tar|rm|\.txt|exit|tr ", spec.code
        )
    ]
    spec = _filled(rng, rng.choice(fitting))
    does = rng.choice(spec.does)
    path = file_for(rng, spec)
    sources.distract(play, path, most=2)
    tail = rng.choice(
        (", and run it", " and run it", ", then run it", ". Run it then", ", and show me the output")
    )
    order_program(play, spec, does, path, tail=tail)
    play.write(path, spec.code)
    shown = play.bash(f"{RUNNERS[spec.ending]} {path}").strip()
    if len(shown.split("\n")) > 14:
        raise Unfit("a long output")
    play.say(f"Created {path}. Its output:\n{shown}")


FAMILIES = (
    Family(python_function, 3.2),
    Family(python_script, 1.6),
    Family(javascript_or_shell, 1.2),
    Family(other_language, 1.6),
    Family(no_file_named, 0.6),
    Family(create_and_run, 0.3),
)
