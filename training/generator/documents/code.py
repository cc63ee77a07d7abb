"""Small programs in fourteen languages, and questions about what stands in them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from training.generator.documents import code_data
from training.generator.documents.page import Page, joined, pick, upper_first
from training.generator.documents.snippets import SNIPPETS
from training.generator.documents.words import CODE_WORDS, identifier, money

__all__ = ["code"]


@dataclass(frozen=True)
class Language:
    """How a language writes what a small program needs."""

    ending: str
    name: str
    comment: str
    function: str
    condition: str
    returns: str
    closing: str
    constant: str
    end: str = "}"
    camel: bool = True
    import_line: str = ""
    class_line: str = ""
    types: str = "int float str bool"
    null: str = "null"


LANGUAGES = {
    language.ending: language
    for language in (
        Language(
            "py",
            "Python",
            "#",
            "def {f}({p}):",
            "if {c}:",
            "return {v}",
            "",
            "{n} = {v}",
            "",
            camel=False,
            import_line="import {m}",
            class_line="class {a}({b}):",
            null="None",
        ),
        Language(
            "js",
            "JavaScript",
            "//",
            "function {f}({p}) {",
            "if ({c}) {",
            "return {v};",
            "}",
            "const {n} = {v};",
            import_line="const {s} = require('{m}');",
            class_line="class {a} extends {b} {",
        ),
        Language(
            "ts",
            "TypeScript",
            "//",
            "export function {f}({p}: {t}): {r} {",
            "if ({c}) {",
            "return {v};",
            "}",
            "export const {n} = {v};",
            import_line="import {s} from '{m}';",
            class_line="export class {a} extends {b} {",
            types="number number string boolean",
        ),
        Language(
            "go",
            "Go",
            "//",
            "func {f}({p} {t}) {r} {",
            "if {c} {",
            "return {v}",
            "}",
            "const {n} = {v}",
            import_line='import "{m}"',
            types="int float64 string bool",
            null="nil",
        ),
        Language(
            "rs",
            "Rust",
            "//",
            "pub fn {f}({p}: {t}) -> {r} {",
            "if {c} {",
            "return {v};",
            "}",
            "const {n}: {t} = {v};",
            camel=False,
            import_line="use {m};",
            types="i32 f64 &'static_str bool",
            null="None",
        ),
        Language(
            "c",
            "C",
            "//",
            "{r} {f}({t} {p}) {",
            "if ({c}) {",
            "return {v};",
            "}",
            "#define {n} {v}",
            camel=False,
            import_line="#include <{m}>",
            types="int double const_char_* int",
            null="NULL",
        ),
        Language(
            "java",
            "Java",
            "//",
            "public static {r} {f}({t} {p}) {",
            "if ({c}) {",
            "return {v};",
            "}",
            "static final {t} {n} = {v};",
            import_line="import {m};",
            class_line="class {a} extends {b} {",
            types="int double String boolean",
        ),
        Language(
            "rb",
            "Ruby",
            "#",
            "def {f}({p})",
            "if {c}",
            "return {v}",
            "end",
            "{n} = {v}",
            "end",
            camel=False,
            import_line="require '{m}'",
            class_line="class {a} < {b}",
            null="nil",
        ),
        Language(
            "sh",
            "shell",
            "#",
            "{f}() {",
            "if [ {c} ]; then",
            "echo {v}; return",
            "fi",
            "{n}={v}",
            camel=False,
        ),
        Language(
            "php",
            "PHP",
            "//",
            "function {f}({p}) {",
            "if ({c}) {",
            "return {v};",
            "}",
            "const {n} = {v};",
            import_line="use {m};",
            class_line="class {a} extends {b} {",
        ),
        Language(
            "lua",
            "Lua",
            "--",
            "function {f}({p})",
            "if {c} then",
            "return {v}",
            "end",
            "{n} = {v}",
            "end",
            camel=False,
            import_line='local {s} = require("{m}")',
            null="nil",
        ),
        Language(
            "kt",
            "Kotlin",
            "//",
            "fun {f}({p}: {t}): {r} {",
            "if ({c}) {",
            "return {v}",
            "}",
            "const val {n} = {v}",
            import_line="import {m}",
            class_line="class {a} : {b}() {",
            types="Int Double String Boolean",
        ),
        Language(
            "swift",
            "Swift",
            "//",
            "func {f}(_ {p}: {t}) -> {r} {",
            "if {c} {",
            "return {v}",
            "}",
            "let {n} = {v}",
            import_line="import {m}",
            class_line="class {a}: {b} {",
            types="Int Double String Bool",
            null="nil",
        ),
        Language(
            "cs",
            "C#",
            "//",
            "static {r} {f}({t} {p}) {",
            "if ({c}) {",
            "return {v};",
            "}",
            "const {t} {n} = {v};",
            import_line="using {m};",
            class_line="class {a} : {b} {",
            types="int double string bool",
        ),
    )
}
METHOD_VERBS = "load draw save reset start close count".split()
REMARKS = ("tuned by hand", "see ticket 41", "was higher once", "do not change")
REFUSALS = (
    "must not be negative|is too long|is not a number|is missing|must be positive|cannot be empty"
    "|is out of range|is not allowed"
).split("|")
OFTEN = "py py py py js js js ts ts go go rs rs c c java java rb rb sh sh php lua kt swift cs".split()


def drawn(rng: random.Random, block: str) -> list[str]:
    """One entry of a block, in words."""
    return rng.choice(block.strip().replace("\n", "|").split("|")).split()


def camel(name: str) -> str:
    """A name in camel case."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def is_numeric(value: str) -> bool:
    """True for a number."""
    return value.replace(".", "", 1).replace("-", "", 1).replace("e", "", 1).isdigit()


class Program:
    """A page of code while it is written."""

    def __init__(self, rng: random.Random, language: Language) -> None:
        self.rng = rng
        self.language = language
        self.page = Page("", "", "")
        self.functions: list[str] = []
        self.constants: list[str] = []
        self.imports: list[str] = []
        self.classes: list[str] = []
        self.wrap = "    " if language.ending in {"java", "cs"} else ""
        self.step = rng.choice(["  ", "    "]) if language.ending not in {"py", "go", "rs"} else "    "
        if language.ending == "go":
            self.step = "\t"

    def add(self, text: str, depth: int = 0) -> int:
        """Append a line of code; its number."""
        return self.page.add(self.wrap + self.step * depth + text if text else "")

    def gap(self) -> None:
        """Keep parts apart."""
        if self.page.lines:
            self.page.add(*[""] * (2 if self.language.ending == "py" else 1))

    def name(self, words: str) -> str:
        """A name in the style of the language."""
        return camel(words) if self.language.camel else words

    def value(self, value: str, *, quote: bool | None = None) -> str:
        """A value as the language writes it."""
        if quote is False or is_numeric(value) or value.startswith('"'):
            return value
        mark = "'" if self.language.ending in {"js", "rb", "php"} else '"'
        return f"{mark}{value}{mark}"

    def type_of(self, value: str) -> str:
        """The type of a value."""
        kinds = [kind.replace("_", " ") for kind in self.language.types.split()]
        return kinds[2] if not is_numeric(value) else kinds[1] if "." in value or "e" in value else kinds[0]

    def head(self, name: str, parameter: str, sample: str, result: str) -> int:
        """The first line of a function."""
        shown = f"${parameter}" if self.language.ending == "php" else parameter
        line = self.language.function
        for slot, text in (
            ("f", name),
            ("p", shown),
            ("t", self.type_of(sample)),
            ("r", self.type_of(result)),
        ):
            line = line.replace("{" + slot + "}", text)
        self.functions.append(name)
        number = self.add(line.replace(" * ", " *"))
        if self.language.ending == "sh":
            self.add(f"local {parameter}=$1", 1)
        return number

    def condition(self, parameter: str, sign: str, value: str) -> str:
        """A comparison."""
        ending = self.language.ending
        if ending == "sh":
            word = {">": "-gt", "==": "=", "<": "-lt", ">=": "-ge"}[sign]
            return f'"${parameter}" {word} {value}'
        if ending in {"java", "c"} and sign == "==":
            return (
                f"{parameter}.equals({value})" if ending == "java" else f"strcmp({parameter}, {value}) == 0"
            )
        sign = "===" if sign == "==" and ending in {"js", "ts", "php"} else sign
        return f"{'$' * (ending == 'php')}{parameter} {sign} {value}"

    def branch(self, condition: str, value: str) -> int:
        """An `if` that returns; the line of the return."""
        self.add(self.language.condition.replace("{c}", condition), 1)
        number = self.add(self.language.returns.replace("{v}", value), 2)
        if self.language.closing:
            self.add(self.language.closing, 1)
        return number

    def finish(self, value: str) -> int:
        """The last return and the end of the function."""
        line = self.language.returns.replace("{v}", value)
        line = {"rs": value, "sh": f"echo {value}", "rb": self.rng.choice([value, line])}.get(
            self.language.ending, line
        )
        number = self.add(line, 1)
        if self.language.end:
            self.add(self.language.end)
        return number

    # ------------------------------------------------------------------------ parts

    def ladder(self) -> None:
        """A function that decides by a number."""
        name, parameter, kinds = drawn(self.rng, code_data.LADDERS)
        results = [money(self.rng, 2, 30) for _ in range(4)] if kinds == "money" else kinds.split(",")
        results = [each for at, each in enumerate(results) if each not in results[:at]]
        count = min(len(results) - 1, self.rng.randint(1, 3))
        results = self.rng.sample(results, count + 1)
        limits = sorted(
            (self.rng.choice([self.rng.randint(2, 20), self.rng.randint(2, 19) * 5]) for _ in range(count)),
            reverse=True,
        )
        if len({*limits}) < count:
            return
        name = self.name(name)
        if name in self.functions:
            return
        self.gap()
        first = self.head(name, parameter, "1", results[0])
        above = 0
        for limit, result in zip(limits, results, strict=False):
            line = self.branch(self.condition(parameter, ">", str(limit)), self.value(result))
            inside = limit + self.rng.randint(1, max(1, min(9, (above or limit + 10) - limit)))
            cases = [
                f"{parameter} is {inside}",
                f"the {parameter} is {inside}",
                f"{parameter} = {inside}",
                f"i pass {inside}",
            ]
            if limit == limits[0]:
                cases += [
                    f"{parameter} is over {limit}",
                    f"the {parameter} is above {limit}",
                    f"{parameter} > {limit}",
                ]
            self.case(name, cases, result, [line - 1, line])
            above = limit
        line = self.finish(self.value(results[-1]))
        low = max(0, limits[-1] - self.rng.randint(0, 3))
        cases = [
            f"{parameter} is {low}",
            f"{parameter} = {low}",
            f"i pass {low}",
            f"the {parameter} is not above {limits[-1]}",
        ]
        self.case(name, cases, results[-1], [line])
        self.signature(name, [parameter], first)

    def case(self, name: str, cases: Sequence[str], result: str, lines: Sequence[int]) -> None:
        """Ask what a function returns in a case."""
        when = "|".join(f"[if|when] {case}" for case in cases)
        plain = "|".join(cases)
        words = (
            f"what does {name}[()|] [return|give back|answer|give me] [{when}]|what do i get [back"
            f"|] from {name} [{when}]"
            f"|what comes out of {name} [{when}]|[{plain}]: what does {name} return"
            f"|{name}, [{plain}], what is the result"
            f"|which value has {name} [{when}]|result of {name} [{when}]"
        )
        shown = (
            f'"{result}"'
            if not is_numeric(result) and result not in {"None", "null", "nil", "NULL"}
            else result
        )
        verb = "prints" if self.language.ending == "sh" else "returns"
        self.page.ask("code", words, f"It {verb} {shown}.", lines)

    def signature(self, name: str, parameters: Sequence[str], line: int) -> None:
        """Ask for the parameters of a function."""
        word = "parameter" if len(parameters) == 1 else "parameters"
        words = (
            f"what [parameters|arguments|params] does {name} [take|have|need|expect]|[parameters|arguments"
            f"|args] of {name}"
            f"|what do i have to pass to {name}|how many [parameters|arguments] has {name}"
            f"|signature of {name}|how do i call {name}"
        )
        answer = f"{name} takes {len(parameters)} {word}: {joined(list(parameters))}."
        self.page.ask("code", words, answer, [line])

    def choice(self) -> None:
        """A function that decides by a word."""
        name, parameter, pairs = drawn(self.rng, code_data.CHOICES)
        cases = [pair.split("=") for pair in pairs.split(",")]
        name = self.name(name)
        if name in self.functions:
            return
        self.gap()
        chosen = self.rng.sample(cases, min(len(cases), self.rng.randint(1, 3)))
        other = self.rng.choice([self.language.null, "0"]) if is_numeric(cases[0][1]) else "unknown"
        if self.language.ending in {"rs", "c", "go", "java", "kt", "swift", "cs", "ts", "sh"} and is_numeric(
            cases[0][1]
        ):
            other = "0"
        first = self.head(name, parameter, "x", cases[0][1])
        for word, result in chosen:
            condition = self.condition(parameter, "==", self.value(word))
            line = self.branch(condition, self.value(result))
            asked = [
                f"{parameter} is {word}",
                f"the {parameter} is {word}",
                f"i pass {word}",
                f'{parameter} is "{word}"',
            ]
            self.case(name, asked, result, [line - 1, line])
            self.page.fact(
                f"the {name} of {word}",
                result,
                line,
                f"{name} for {word}|what is {name} for {word}|{name} of {word}",
                f"{name} for {word} is {result}.",
                line - 1,
            )
        line = self.finish(self.value(other, quote=None if other == "unknown" else False))
        self.case(
            name,
            [
                f"the {parameter} is something else",
                f"the {parameter} is not known",
                f"it is another {parameter}",
            ],
            other,
            [line],
        )
        self.signature(name, [parameter], first)

    def empty(self) -> None:
        """A function with a special answer for nothing."""
        name, parameter, *words = drawn(self.rng, code_data.EMPTIES)
        name, result = self.name(name), " ".join(words)
        if name in self.functions:
            return
        result = self.rng.choice([result, result, self.language.null])
        if self.language.ending in {"c", "go", "rs", "sh", "java", "cs", "ts", "kt", "swift"}:
            result = " ".join(words)
        self.gap()
        first = self.head(name, parameter, "x", "x")
        conditions = {
            "py": f"not {parameter}",
            "js": f"!{parameter}",
            "ts": f"!{parameter}",
            "go": f'{parameter} == ""',
            "rs": f"{parameter}.is_empty()",
            "c": f"{parameter}[0] == '\\0'",
            "java": f"{parameter}.isEmpty()",
            "rb": f"{parameter}.nil? || {parameter}.empty?",
            "sh": f'-z "${parameter}"',
            "php": f"empty(${parameter})",
            "lua": f'{parameter} == ""',
            "kt": f"{parameter}.isEmpty()",
            "swift": f"{parameter}.isEmpty",
            "cs": f'{parameter} == ""',
        }
        quote = None if result == " ".join(words) else False
        line = self.branch(conditions[self.language.ending], self.value(result, quote=quote))
        cases = [
            f"the {parameter} is empty",
            f"{parameter} is empty",
            "i pass an empty string",
            f"there is no {parameter}",
            f"{parameter} is blank",
        ]
        self.case(name, cases, result, [line - 1, line])
        shown = f"${parameter}" if self.language.ending in {"php", "sh"} else parameter
        self.finish(shown if self.language.ending != "sh" else f'"{shown}"')
        self.signature(name, [parameter], first)

    def defaults(self) -> None:
        """A function with default arguments."""
        name, needed, *rest = drawn(self.rng, code_data.DEFAULTS)
        name = self.name(name)
        if (
            self.language.ending not in {"py", "js", "ts", "rb", "php", "kt", "swift"}
            or name in self.functions
        ):
            return
        given = []
        for each in rest:
            key, _, values = each.partition("=")
            value = self.rng.choice(values.split(",")).strip('"')
            given.append((self.name(key), self.value(value)))
        pairs = [f"{key}={value}" for key, value in given]
        typed = self.language.ending in {"ts", "kt", "swift"}
        if typed:
            pairs = [f"{key}: {self.type_of(value)} = {value}" for key, value in given]
        sign = "$" if self.language.ending == "php" else ""
        first = {
            "py": f"def {name}({needed}, ",
            "rb": f"def {name}({needed}, ",
            "kt": f"fun {name}({needed}: String, ",
            "ts": f"export function {name}({needed}: string, ",
            "swift": f"func {name}({needed}: String, ",
        }
        head = first.get(self.language.ending, f"function {name}({sign}{needed}, ")
        tail = {"py": "):", "rb": ")", "swift": ") {", "kt": ") {"}.get(self.language.ending, ") {")
        self.gap()
        self.functions.append(name)
        line = self.add(head + ", ".join(sign + pair for pair in pairs) + tail)
        self.add(self.language.returns.replace("{v}", f"{sign}{needed}"), 1)
        if self.language.end:
            self.add(self.language.end)
        for key, value in given:
            plain = value.strip("\"'")
            words = (
                f"what is the default [of|for|value of] {key} in {name}"
                f"|which {key} does {name} use [by default|if i give none]|default {key} of {name}"
                f"|if i call {name} without {key}, what is used|{name}: [default {key}|{key} default value]"
            )
            self.page.fact(
                f"the default {key} of {name}", plain, line, words, f"The default {key} of {name} is {plain}."
            )
        self.signature(name, [needed, *(key for key, _ in given)], line)

    def doer(self) -> None:
        """A function of one expression."""
        entry = drawn(self.rng, code_data.DOERS)
        name, one, two = self.name(entry[0]), entry[1], entry[2]
        if name in self.functions or self.language.ending in {"sh", "php"}:
            return
        mark = next(
            at for at in range(3, len(entry)) if entry[at] in {"the", "twice", "half", "what"} and at > 3
        )
        expression, meaning = " ".join(entry[3:mark]), " ".join(entry[mark:])
        parameters = [one] if two == "0" else [one, two]
        self.gap()
        kind = self.type_of("1.5")
        shown = ", ".join(parameters)
        if "{t}" in self.language.function:
            style = {
                "ts": "{p}: {t}",
                "rs": "{p}: {t}",
                "kt": "{p}: {t}",
                "swift": "_ {p}: {t}",
                "go": "{p} {t}",
            }
            each = style.get(self.language.ending, "{t} {p}")
            shown = ", ".join(each.replace("{t}", kind).replace("{p}", parameter) for parameter in parameters)
        line = self.language.function
        for slot in ("{p}: {t}", "{p} {t}", "_ {p}: {t}", "{t} {p}", "{p}"):
            if f"({slot})" in line:
                line = line.replace(f"({slot})", f"({shown})")
        number = self.add(line.replace("{f}", name).replace("{r}", kind))
        self.functions.append(name)
        last = self.add(self.language.returns.replace("{v}", expression), 1)
        if self.language.end:
            self.add(self.language.end)
        words = (
            f"what does {name} [do|return|compute|calculate]|what is {name} [for|good for]"
            f"|explain {name} [to me|in one sentence|]"
            f"|what formula [does|is used in] {name}|how is {name} computed"
        )
        self.page.ask("code", words, f"{name} returns {meaning}: {expression}.", [last])
        self.signature(name, parameters, number)

    def constant(self) -> None:
        """One to four constants."""
        entries = pick(self.rng, code_data.CONSTANTS.strip().replace("\n", "|").split("|"), 1, 4)
        self.gap()
        comments = self.rng.random() < 0.3
        for entry in entries:
            name, _, values = entry.partition(" ")
            if name in self.constants:
                continue
            value = (
                str(self.rng.randint(*map(int, values.split(".."))))
                if ".." in values
                else self.rng.choice(values.split(","))
            )
            written = self.value(value.strip('"')) if value.startswith('"') else value
            line = (
                self.language.constant.replace("{n}", name)
                .replace("{v}", written)
                .replace("{t}", self.type_of(value))
            )
            if comments and self.rng.random() < 0.5 and self.language.ending != "c":
                line += f"  {self.language.comment} {self.rng.choice(REMARKS)}"
            number = self.add(line)
            self.constants.append(name)
            said = name.lower().replace("_", " ")
            plain = value.strip('"')
            size = f"|how [large|big|high] is {name}" if is_numeric(value) else ""
            words = (
                f"what is {name}|{name}|value of {name}|what is {name} [set to|in the code]"
                f"|to what is {name} set{size}"
                f"|what is the {said}|which {said} do we use|{said}|what {said} is set in the code"
            )
            self.page.fact(f"the {said}", plain, number, words, f"{name} is {plain}.")

    def importing(self) -> None:
        """Imports, at the top."""
        modules = code_data.IMPORTS.get(self.language.ending)
        if not modules or not self.language.import_line:
            return
        self.imports = pick(self.rng, modules.split(","), 1, 4)
        wrap, self.wrap = self.wrap, ""
        for module in self.imports:
            short = module.rpartition("/")[2].replace(".", "")
            self.add(self.language.import_line.replace("{m}", module).replace("{s}", short))
        self.wrap = wrap
        words = (
            "what [does it|is] import[ed|]|which [modules|libraries|packages] [are imported|does it use"
            "|are used]|list the imports"
            "|[imports|dependencies] of this file|what libraries do we need for it"
        ).replace("import[ed|]", "import")
        self.page.listed(
            "list",
            words.replace("what [does it|is] import", "what does it import|what is imported"),
            self.imports,
        )
        self.page.listed(
            "count",
            "how many [imports|modules are imported|things are imported]|number of imports",
            self.imports,
        )

    def classes_of(self) -> None:
        """A class with a parent and some methods."""
        if not self.language.class_line:
            return
        name, base = drawn(self.rng, code_data.BASES)
        self.gap()
        wrap, self.wrap = self.wrap, ""
        line = self.add(self.language.class_line.replace("{a}", name).replace("{b}", base))
        methods = [
            self.name(f"{self.rng.choice(METHOD_VERBS)}_{self.rng.choice(CODE_WORDS)}")
            for _ in range(self.rng.randint(1, 3))
        ]
        methods = list(dict.fromkeys(methods))
        style = {
            "py": "def {m}(self):",
            "js": "{m}() {",
            "ts": "{m}(): void {",
            "java": "public void {m}() {",
            "rb": "def {m}",
            "php": "public function {m}() {",
            "kt": "fun {m}() {",
            "swift": "func {m}() {",
            "cs": "public void {m}() {",
        }
        for method in methods:
            self.add(style[self.language.ending].replace("{m}", method), 1)
            self.add({"py": "pass", "rb": "# later"}.get(self.language.ending, "// later"), 2)
            if self.language.end:
                self.add(self.language.end, 1)
        if self.language.end:
            self.add(self.language.end)
        self.wrap = wrap
        self.classes.append(name)
        words = (
            f"what is the [parent|base|super] class of {name}|which class does {name} [inherit from|extend]"
            f"|from what is {name} derived"
            f"|what does {name} [extend|inherit from]|{name} extends what|parent of {name}"
            f"|base class of {name}|who is the superclass of {name}"
        )
        self.page.fact(
            f"the parent class of {name}", base, line, words, f"The parent class of {name} is {base}."
        )
        self.page.listed(
            "list",
            f"which methods does {name} have|methods of {name}|list the methods of {name}|what can {name} do",
            methods,
        )
        self.page.listed(
            "count", f"how many methods [has {name}|does {name} have]|number of methods in {name}", methods
        )

    def enumeration(self) -> None:
        """An enumeration."""
        name, members = drawn(self.rng, code_data.ENUMS)
        chosen = pick(self.rng, members.split(","), 3, 7)
        chosen.sort(key=members.split(",").index)
        opening = {
            "py": f"class {name}(Enum):",
            "ts": f"export enum {name} {{",
            "rs": f"pub enum {name} {{",
            "java": f"enum {name} {{",
            "c": f"enum {name.lower()} {{",
            "kt": f"enum class {name} {{",
            "swift": f"enum {name} {{",
            "cs": f"enum {name} {{",
        }
        if self.language.ending not in opening or name in self.classes:
            return
        upper = self.language.ending in {"py", "java", "c", "kt"}
        shown = [member.upper() if upper else member for member in chosen]
        self.gap()
        self.add(opening[self.language.ending])
        for at, member in enumerate(shown):
            line = {"py": f"{member} = {at + 1}", "swift": f"case {member.lower()}"}.get(
                self.language.ending, f"{member},"
            )
            number = self.add(line, 1)
            if self.language.ending == "py":
                self.page.fact(
                    f"the number of {name}.{member}",
                    str(at + 1),
                    number,
                    f"which number [has|is] {name}.{member}|value of {member}",
                    f"{name}.{member} is {at + 1}.",
                )
        if self.language.end:
            self.add(self.language.end + (";" if self.language.ending == "c" else ""))
        if self.language.ending == "swift":
            shown = [member.lower() for member in shown]
        self.classes.append(name)
        self.page.listed(
            "count",
            f"how many [kinds|sorts|types] of {name} [are there|do we have]|how many [members|values"
            f"|variants] [does|has] the enum {name} [have|]|number of {name} values",
            shown,
        )
        self.page.listed(
            "list",
            f"[members|values|variants] of {name}|what [can a {name} be|values has {name}]"
            f"|list the {name} enum",
            shown,
        )
        last = "first" if self.rng.random() < 0.5 else "last"
        at = 0 if last == "first" else -1
        number = len(self.page.lines) - (1 if self.language.end else 0) - (len(shown) - 1 if at == 0 else 0)
        self.page.ask(
            "code",
            f"what is the {last} [member|value|variant] of {name}|{last} {name}",
            f"The {last} one is {shown[at]}.",
            [number],
        )

    def fields(self) -> None:
        """A record with typed fields."""
        name, *pairs = drawn(self.rng, code_data.FIELDS)
        opening = {
            "py": f"class {name}:",
            "ts": f"export interface {name} {{",
            "rs": f"pub struct {name} {{",
            "go": f"type {name} struct {{",
            "c": "typedef struct {",
            "kt": f"data class {name}(",
            "java": f"class {name} {{",
            "swift": f"struct {name} {{",
            "cs": f"class {name} {{",
        }
        ending = self.language.ending
        if ending not in opening or name in self.classes:
            return
        kinds = dict(
            zip(
                ("int", "float", "str", "bool"),
                (kind.replace("_", " ") for kind in self.language.types.split()),
                strict=True,
            )
        )
        kinds |= {"str": "String"} if ending == "rs" else {}
        style = {
            "py": "{n}: {t}",
            "ts": "{n}: {t};",
            "rs": "pub {n}: {t},",
            "go": "{N} {t}",
            "c": "{t} {n};",
            "kt": "val {n}: {t},",
            "java": "{t} {n};",
            "swift": "var {n}: {t}",
            "cs": "public {t} {n};",
        }
        self.gap()
        if ending == "py":
            self.add("@dataclass")
        self.add(opening[ending])
        names = []
        for pair in pairs:
            own, kind = pair.split(":")
            own = self.name(own)
            own = upper_first(own) if ending == "go" else own
            line = (
                style[ending]
                .replace("{n}", own)
                .replace("{N}", own)
                .replace("{t}", kinds[kind])
                .replace("* ", "*")
            )
            number = self.add(line, 1)
            names.append(own)
            words = (
                f"[what|which] type [is|has] {own} [of|in] {name}|type of {own} in {name}"
                f"|is {name}.{own} an int or what"
            )
            self.page.fact(
                f"the type of {own} in {name}",
                kinds[kind],
                number,
                words,
                f"{own} of {name} is of type {kinds[kind]}.",
            )
        end = {"py": "", "c": f"}} {name};", "kt": ")"}.get(ending, "}")
        if end:
            self.add(end)
        self.classes.append(name)
        self.page.listed(
            "list",
            f"which fields [has|does] {name} [have|]|fields of {name}|what is in a {name}"
            f"|list the fields of {name}",
            names,
        )
        self.page.listed("count", f"how many fields has {name}|number of fields in {name}", names)


def snippet(program: Program) -> None:
    """A whole function that does something."""
    rng, page = program.rng, program.page
    blocks = [block.split("\n") for block in SNIPPETS.strip().split("\n\n") if " | " in block.split("\n")[0]]
    fitting = [block for block in blocks if block[0].startswith(f"{program.language.ending} | ")]
    name, about, parameters, *cases = rng.choice(fitting)[0].split(" | ")[1:] if fitting else ("", "", "")
    if not name or name in program.functions:
        return
    body = next(block[1:] for block in fitting if f" | {name} | " in block[0])
    program.gap()
    start = len(page.lines)
    page.add(*(program.wrap + line if line else "" for line in body))
    program.functions.append(name)
    head = start + next(at for at, line in enumerate(body, 1) if name in line)
    words = (
        f"what does {name} do|what is {name} [for|good for]|explain {name}[ to me| in one sentence|]"
        f"|what happens in {name}"
        f"|{name}: what does it do|describe the function {name}|i don't get {name}, what does it do"
        f"|purpose of {name}"
    )
    page.ask("code", words, f"{name} {about}.", [head])
    page.ask(
        "code",
        f"which function {about}|what is the function called that {about}|name of the function which {about}",
        f"It is {name}.",
        [head],
    )
    program.signature(name, parameters.split(", "), head)
    for case in cases:
        when, _, result = case.partition(" => ")
        matching = [at for at, line in enumerate(body, 1) if result in line and at + start > head]
        if matching:
            words = (
                f"what does {name} [return|give back] [if|when] {when}|what do i get from {name} [if"
                f"|when] {when}|{when}: what does {name} return"
                f"|[if|when] {when}, what is the result of {name}"
            )
            page.ask("code", words, f"It returns {result}.", [start + matching[-1]])


def raising(program: Program) -> None:
    """A function that refuses a bad value."""
    errors = {
        "py": ("raise {e}({m})", "ValueError KeyError RuntimeError TypeError"),
        "js": ("throw new {e}({m});", "Error RangeError TypeError"),
        "ts": ("throw new {e}({m});", "Error RangeError TypeError"),
        "java": ("throw new {e}({m});", "IllegalArgumentException IllegalStateException"),
        "rb": ("raise {e}, {m}", "ArgumentError RangeError KeyError"),
        "php": ("throw new {e}({m});", "InvalidArgumentException"),
        "cs": ("throw new {e}({m});", "ArgumentException InvalidOperationException"),
        "kt": ("throw {e}({m})", "IllegalArgumentException IllegalStateException"),
    }
    ending = program.language.ending
    if ending not in errors:
        return
    rng = program.rng
    form, kinds = errors[ending]
    error, parameter = rng.choice(kinds.split()), rng.choice(CODE_WORDS)
    name = program.name(
        f"{rng.choice(['check', 'set', 'load', 'open', 'book', 'charge'])}_{identifier(rng, 1)}"
    )
    if name in program.functions:
        return
    message = f"{parameter} {rng.choice(REFUSALS)}"
    program.gap()
    first = program.head(name, parameter, "1", "1")
    limit = rng.choice(["0", "1", "10"])
    program.add(program.language.condition.replace("{c}", program.condition(parameter, "<", limit)), 1)
    line = program.add(form.replace("{e}", error).replace("{m}", program.value(message)), 2)
    if program.language.closing:
        program.add(program.language.closing, 1)
    program.finish(f"${parameter}" if ending == "php" else parameter)
    kind = (
        f"which [error|exception] does {name} [raise|throw]|what kind of [error"
        f"|exception] comes from {name}|what does {name} [raise|throw] [if|when] {parameter} is [under"
        f"|below|less than] {limit}"
    )
    program.page.ask("code", kind, f"It {'raises' if ending in {'py', 'rb'} else 'throws'} {error}.", [line])
    text = (
        f"what [error message|message] does {name} give|what is the [error text|message] in {name}"
        f"|which text has the [error|exception] of {name}"
    )
    program.page.ask("code", text, f"The message is: {message}.", [line])
    program.signature(name, [parameter], first)


def file_name(rng: random.Random, program: Program) -> str:
    """A file name."""
    ending = program.language.ending
    stem = rng.choice(
        [
            *program.functions[:1],
            identifier(rng),
            identifier(rng, 1),
            identifier(rng, 1),
            rng.choice(["main", "utils", "helpers", "app", "core", "lib"]),
        ]
    )
    if ending in {"java", "cs", "kt", "swift"}:
        stem = upper_first(camel(stem))
    elif ending in {"js", "ts"}:
        stem = rng.choice([camel(stem), stem.replace("_", "-")])
    return f"{stem}.{ending}"


def code(rng: random.Random) -> Page:
    """A program of two to five parts."""
    program = Program(rng, LANGUAGES[rng.choice(OFTEN)])
    parts = [
        program.ladder,
        program.choice,
        program.empty,
        program.defaults,
        program.doer,
        program.classes_of,
        program.fields,
    ]
    if rng.random() < 0.6:
        program.importing()
    for part in rng.sample([program.constant, program.constant, program.enumeration], rng.randint(0, 2)):
        part()
    parts += [
        lambda: raising(program),
        lambda: snippet(program),
        lambda: snippet(program),
        lambda: snippet(program),
    ]
    for part in rng.sample(parts, rng.randint(1, 5)):
        if len(program.page.lines) < 38:
            part()
    page = program.page
    if not page.asks:
        return code(rng)
    page.path = file_name(rng, program)
    page.is_common = any(name.isalpha() and name.islower() for name in program.functions)
    if program.wrap:
        wrapped(program)
    stem, own = page.path.split(".")[0], program.language.name
    page.called = f"[the|our|my] [{own} [file|code|script]|{stem} [code|module|file|script]|code|source file]"
    names = [*program.functions, *program.classes, *program.constants, *program.imports]
    page.about = f"a {own} file with {joined(names[:4])}"
    whole(program)
    return page


def wrapped(program: Program) -> None:
    """Put the code of a Java or C# file into its class, which must not move any line asked for."""
    page = program.page
    name = upper_first(camel(page.path.split(".")[0].replace("-", "_")))
    opened = [f"public class {name} {{"]
    start = len(program.imports)
    shift = len(opened)
    page.lines[start:start] = opened
    page.lines.append("}")
    page.asks = [
        type(ask)(
            ask.shape,
            ask.words,
            ask.answer,
            tuple(line + shift * (line > start) for line in ask.lines),
            ask.items,
            ask.noun,
            ask.value,
        )
        for ask in page.asks
    ]


def whole(program: Program) -> None:
    """Ask about the file as a whole, and for what it does not have."""
    page, rng = program.page, program.rng
    functions = program.functions
    if functions:
        page.listed(
            "count",
            "how many functions [are there|does it have|are defined|are in it]|number of functions"
            "|count the functions",
            functions,
        )
        page.listed(
            "list",
            "which functions [are there|does it have|are defined]|list the functions"
            "|what functions [are in it|can i call]|names of [all|the] functions",
            functions,
        )
    if len(program.constants) > 1:
        page.listed(
            "count", "how many constants [are there|are defined]|number of constants", program.constants
        )
        page.listed("list", "which constants [are there|are defined]|list the constants", program.constants)
    other = program.name(
        f"{rng.choice(['send', 'fetch', 'merge', 'print', 'undo'])}_{rng.choice(CODE_WORDS)}"
    )
    has = (
        joined(functions)
        if functions
        else joined([*program.constants, *program.classes] or ["nothing like it"])
    )
    page.missing(
        f"what does {other} return|which parameters does {other} take|what does the function {other} do"
        f"|signature of {other}",
        f"There is no {other} in {{file}}. It has {has}.",
    )
