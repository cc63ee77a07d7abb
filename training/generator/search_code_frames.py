"""Shapes of code and ways to ask for families.search_code: callers, definitions, values, any case."""

from training.generator.folder_words import entries

# kind | file of the definition | other files | style | definition | import | uses
# `¶` is a line break, `¬` a tab; {N} the name, {h} the stem of its file, {a} {b} words, {v} the value.
VALUES = entries(r"""
constant | {h}.py | {m}.py | upper | {N} = {v} | from {h} import {N} | {b} = {k} * {N} |
  def {a}(x):¶    return x < {N} | print("{b}", {N})
constant | app/{h}.py | app/{m}.py | upper | {N}: int = {v} | from app import {h} | {b} = {h}.{N} + {k} |
  if {a} > {h}.{N}:¶    {a} = {h}.{N}
variable | {h}.py | {m}.py | key | {N} = {v} | import {h} | {b} = {h}.{N} | sleep({h}.{N} + {k})
constant | src/{h}.js | src/{m}.js | upper | export const {N} = {v}; | import { {N} } from './{h}.js'; |
  const {b} = {k} + {N}; | if ({a} > {N}) {¶  {a} = 0;¶} | setTimeout({b}, {N});
variable | web/{h}.js | web/{m}.js | noun | let {N} = {v}; | | {b}.max = {N}; | draw({N} * {k});
constant | src/{h}.ts | src/{m}.ts | upper | export const {N}: number = {v}; | import { {N} } from './{h}'; |
  const {b}: number = {N} / {k}; | return {a} <= {N};
constant | {h}.go | {m}.go | pascal | const {N} = {v} | | var {b} = {N} * {k} | func {a}() int { return
  {N} }
constant | src/{h}.rs | src/{m}.rs | upper | pub const {N}: u32 = {v}; | use crate::{h}::{N}; |
  let {b} = {N} + {k}; | assert!({a} < {N});
constant | src/{H}.java | src/{M}.java | upper |     public static final int {N} = {v}; |
  import static app.{H}.{N}; | int {b} = {N} * {k}; | if ({a} > {N}) return;
constant | include/{h}.h | src/{m}.c | upper | #define {N} {v} | #include "{h}.h" | static int {b}[{N}]; |
  for (int i = 0; i < {N}; i++) {a}(i);
constant | app/{h}.rb | app/{m}.rb | upper | {N} = {v} | require_relative '{h}' | puts {N} + {k} | {b} =
  [{a}, {N}].min
constant | inc/{h}.php | {m}.php | upper | define('{N}', {v}); | require 'inc/{h}.php'; | echo {N}; |
  if (${a} > {N}) { exit; }
constant | src/{h}.kt | src/{m}.kt | upper | const val {N} = {v} | | val {b} = {N} * {k} | check({a} < {N})
constant | Sources/{h}.swift | Sources/{m}.swift | noun | let {N} = {v} | | if {a} > {N} { return } |
  print({N} + {k})
constant | Lib/{H}.cs | Lib/{M}.cs | pascal |     public const int {N} = {v}; | | var {b} = {H}.{N}; |
  Debug.Assert({a} < {H}.{N});
variable | conf/{h}.sh | bin/{m}.sh | upper | {N}={v} | . conf/{h}.sh | echo "{b}: ${N}" | sleep "$((N0 +
  {k}))" | [ "$1" -gt "${N}" ] && exit 1
variable | mk/{h}.mk | {m}/Makefile | upper | {N} := {v} | include ../mk/{h}.mk | {b}:¶¬./run --limit
  $({N}) | {a}:¶¬echo $({N})
CSS variable | css/{h}.css | css/{m}.css | kebab | :root {¶  --{N}: {v}px;¶} | @import '{h}.css'; |
  .{b} {¶  padding: var(--{N});¶} | main {¶  gap: calc(var(--{N}) * {k});¶}
environment variable | .env | {m}.py | env | {N}={v} | import os | {b} = os.environ["{N}"] |
  {a} = int(os.getenv("{N}", "{k}"))
environment variable | docker/{h}.env | src/{m}.ts | env | {N}={v} | | const {b} = process.env.{N}; |
  if (!process.env.{N}) throw new Error('{N} is missing');
environment variable | docker-compose.yml | app/{m}.rb | env | services:¶  {h}:¶    environment:¶      {N}:
  "{v}" | | {b} = ENV["{N}"] | {a} = ENV.fetch("{N}").to_i
environment variable | Dockerfile | {m}.go | env | FROM alpine:3¶ENV {N}={v} | import "os" | {b} :=
  os.Getenv("{N}") | log.Println(os.Getenv("{N}"))
setting | config/{h}.yaml | lib/{m}.py | key | {N}: {v} | import yaml | {b} = config["{N}"] |
  limit = config.get("{N}", {k})
setting | config/{h}.ini | lib/{m}.php | key | {N} = {v} | | ${b} = $ini['{N}']; | echo $ini['{N}'];
setting | config/{h}.json | src/{m}.js | noun | {¶  "{N}": {v},¶  "{a}": {k}¶} | | const {b} = config.{N};
  | start(config.{N} * {k});
variable | infra/{h}.tfvars | infra/{m}.tf | key | {N} = {v} | | count = var.{N} | size = var.{N} + {k}
""")

# ending = ways to call a function
MORE_CALLS = {
    "py": [
        "def {b}_{a}({a}):\n    total = {N}({a})\n    return total + {k}",
        "for one in range({k}):\n    {N}(one)",
        "if {N}({n}) > {k}:\n    print('{b}')",
        "class {M}Page:\n    def show(self):\n        return {N}(self.{a})",
        "    log.info('%s', {N}({k}))",
    ],
    "js": [
        "export function {b}({a}) {\n  return {N}({a});\n}",
        "list.forEach((one) => {N}(one));",
        "button.onclick = () => {N}({k});",
    ],
    "ts": ["const {a}s = rows.map((row) => {N}(row.{a}));", "await Promise.resolve({N}({n}));"],
    "go": ["\tif {N}({k}) > {n} {\n\t\treturn\n\t}", 'fmt.Println("{b}", {N}({n}))'],
    "rs": [
        "    let {a} = {N}({k}) + {n};",
        "    match {N}({n}) {\n        0 => {}\n        _ => {b}(),\n    }",
    ],
    "rb": ["@{a} = {N}({k}) + {n}", "return if {N}({n}) > {k}"],
    "php": ["return {N}(${a}) + {k};", "if ({N}({n}) > {k}) {\n    echo '{b}';\n}"],
    "c": ['    printf("%d\\n", {N}({k}));', "    while ({N}({n}) > {k}) {b}++;"],
    "sh": ['{b}=$({N} "$1")', 'if {N} {n}; then echo "{b}"; fi'],
    "kt": ["    return {N}({a}) + {k}"],
    "lua": ["if {N}({k}) > {n} then return end"],
}
REMARKS = entries("""
{N} is tested by hand
see {N} for the rule
get rid of {N} some day
{N} was here before
same idea as in {N}, but faster
this part does not need {N} any more
the result must agree with {N}
ask before you touch {N}
old name: {N}
""")
PAGES = entries("""
README.md | # {M}¶¶`{N}` is explained in the wiki.
CHANGELOG.md | # Changes¶¶- {N} has a better name now¶- fewer warnings
docs/{a}.md | # {M}¶¶Start with `{N}`, then read on.
TODO.txt | - tests for {N}¶- new logo
docs/design.md | # Design¶¶We talked about {N} in spring.
""")
CALLED = """
(who|what) calls {name}?
(which|what) files call {name}?
(where|from where|in which files) is {name} called?
(list|show|find|name) (all|every one of the|the) callers of {name}
(all|every) (call|caller) of {name} (please|, with file and line|)
callers of {name}, (not the definition|without the definition and imports|only real calls)
in which places (do we|does the code) (really|actually) call {name}?
I (will|want to|have to) change the (arguments|parameters|signature) of {name}. (who calls it|which files
  do I have to touch|where are the calls)?
which (modules|scripts|parts) (call|invoke|run) {name}?
who is (using|calling) {name}, (all files|all of them) please
{name} gets called (where|from where|by whom)?
calls to {name}?
if I break {name}, which files (call it|are calling it)?
need (all the|every) (spot|place|line) where {name} is called
which files need {name} (at run time, so not imports or comments|and really call it)?
"""
COUNT_CALLS = """
how many times is {name} called( here| in this project| in total|)?
how many calls (of|to) {name} (are there|do we have)?
how often (is {name} called|do we call {name})?
count the calls of {name}( please|, without the definition|)
(number|count) of calls to {name}?
how many lines call {name}?
"""
IMPORTED = """
which files import {name}?
who imports {name}?
where is {name} imported?
(list|show) (all|the) imports of {name}
{name}: which files import it?
"""
SET = """
where do I set {name}?( It is used everywhere.| It's all over the place.|)
where is {name} (set|assigned|given its value)?
where do I (change|tune|adjust|raise|lower) {name}? (It is used everywhere.|I only see uses.|)
I (want|need|have) to (tune|change|raise|lower|adjust) {name}, (where is it set|which file and line is it|in
  which file do I do that|where)?
{name} (is|shows up) all over the (code|project), (which file really sets it|where does the value come from|in
  which line is it set)?
(which|what) (file|line) (sets|holds the value of) {name}?
where does {name} get its value (from|)?
in which file (can|do|must) I (edit|change|set) {name}?
(not the uses|no uses please), (just|only) the line (that sets|where we set) {name}
which line do I edit to (make {name} bigger|get another {name}|change {name})?
(the|our) {kind} {name}, where is it set?
{name}: where is it set?
who sets {name}?
I see {name} used (in many files|everywhere|again and again). Where (is|was) it set?
find the place where {name} is set, (not where it is read|not every use)
"""
DEFINE = """
where is {name} defined?( It is used everywhere.| It's all over the place.|)
where do (we|I) define {name}?
{name} is (used everywhere|all over the code), (but|so) where is it defined?
(find|show|give me) the definition of {name}, (not the calls|not the uses|only that)
(which|what) (file|line) (defines|declares) {name}?
the {kind} {name}: where (is it written|is it defined|does it live)?
in which file (do I find|is) the {kind} {name} (itself|defined|)?
I want to (read|change|fix) {name}. where is it (defined|written)?
(what|which) file has the (body|code|source|definition) of {name}?
where (was|is) {name} (declared|implemented|defined)? (no imports|no usages|)
everybody uses {name}, who defines it?
"""
VALUE = """
what is {name} (set to|here|in this project|)?
which value (has|does) {name} (have|)?
what(s|'s| is) the value of {name}?
{name} is set to what?
how (large|high|big) is {name}?
look up {name} for me, (what is its value|which value is it)?
"""
ANY_CASE = """
(search|grep|look) for {item}, (ignore case|ignoring case|any case|case-insensitive|case insensitive|upper or
  lower case|case does not matter|big or small letters|however it is capitalised)
(grep|search) -i {item}
grep -i "{item}" (please|)
grep -rin {item} .
grep -ri '{item}' *
{item}, (ignore case|any case|case-insensitive): which (files|lines)?
(which|what) (files|lines) (mention|contain|have) {item}, (ignoring|no matter the|whatever the|regardless of)
  (case|upper and lower case)?
find {item} in (any|every) (case|capitalisation|spelling of upper and lower case)
(all|show all|list all) lines with {item} (case-insensitive|in any case|ignoring case)
where (is|do I find) {item}? (ignore case|case does not matter|I don't know if it is written in
  capitals|could be upper case too)
(find|search) {item}, it may be written in (capitals|small letters|upper or lower case)
I need every {item} here, (capital letters or not|upper or lower case|-i)
case insensitive (search|grep) for {item}
"""
CASE_LINES = entries("""
notes/{x}.md | {W} comes on {d}
{x}.log | 12:0{k} {W} started
src/{x}.py | {a} = "{W}"
{x}.txt | - call {W} again
docs/{x}.md | The {W} is in the {r}.
{x}.csv | {k},{W},{n}
src/{x}.js | // {W}: {a} first
mail/{x}.txt | Hello {W}, see you on {d}.
""")
