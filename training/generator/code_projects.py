"""Small code projects in many languages in which one name is defined in a file and used in others."""

import re
from dataclasses import dataclass
from random import Random

from training.generator.folder_texts import CODE_NOUNS, CODE_VERBS, text_for
from training.generator.folder_words import POOLS, entries
from training.generator.folders import Files
from training.generator.frames import spell

# kind of name | file of the definition | other files | style of the name | definition | import | use | use
# `¶` is a line break, `¬` a tab; {N} the name, {h} the stem of its file, {a} {b} words, {n} a number.
SHAPES = entries(r"""
function | {h}.py | {m}.py | snake | def {N}({a}):¶    return {a} * {n} | from {h} import {N} |
  def {b}({a}):¶    return {N}({a}) + {k} | print({N}({k}))
function | src/{h}.py | src/{m}.py | snake | def {N}({a}, {b}=None):¶    if {a} is None:¶        return
  {b}¶    return {a} |
  from src.{h} import {N} | {b} = {N}({k}) | assert {N}({n}) is not None
function | lib/{h}.js | lib/{m}.js | camel | function {N}({a}) {¶  return {a} + {n};¶}¶¶module.exports =
  {h}; |
  const { {N} } = require('./{h}'); | const {b} = {N}({k}); | console.log({N}({n}));
function | src/{h}.ts | src/{m}.ts | camel | export function {N}({a}: number): number {¶  return {a} /
  {n};¶} |
  import { {N} } from './{h}'; | const {b} = {N}({k}); | if ({N}({n}) > {k}) {¶  console.log('{b}');¶}
function | {h}.go | {m}.go | camel | func {N}({a} int) int {¶¬return {a} + {n}¶} | |
  func {b}Of({a} int) int {¶¬return {N}({a}) * {k}¶} | var {b} = {N}({k})
function | src/{h}.rs | src/{m}.rs | snake | pub fn {N}({a}: u32) -> u32 {¶    {a} + {n}¶} | use
  crate::{h}::{N}; |
  fn {b}() -> u32 {¶    {N}({k})¶} | pub fn {a}_{b}() {¶    println!("{}", {N}({n}));¶}
function | src/{h}.c | src/{m}.c | snake | int {N}(int {a})¶{¶    return {a} - {n};¶} | #include "{h}.h" |
  int {b}(void)¶{¶    return {N}({k});¶} | static void {b}_{a}(void)¶{¶    {N}({n});¶}
function | lib/{h}.rb | bin/{m}.rb | snake | def {N}({a})¶  {a} * {n}¶end | require_relative '../lib/{h}' |
  puts {N}({k}) | {b} = {N}({n})
function | lib/{h}.sh | bin/{m}.sh | snake | {N}() {¶  echo "$1 {b}"¶} | . lib/{h}.sh | {N} "{a}" | {N}
  {k} > {b}.txt
function | {h}.lua | {m}.lua | camel | function {N}({a})¶  return {a} + {n}¶end | require("{h}") |
  local {b} = {N}({k}) | print({N}({n}))
function | {h}.php | {m}.php | camel | function {N}(${a}) {¶    return ${a} * {n};¶} | require '{h}.php'; |
  echo {N}({k}); | ${b} = {N}({n});
function | app/{h}.kt | app/{m}.kt | camel | fun {N}({a}: Int): Int = {a} + {n} | |
  val {b} = {N}({k}) | fun {b}Of() {¶    println({N}({n}))¶}
function | js/{h}.js | js/{m}.js | camel | export const {N} = ({a}) => {a} * {n}; | import { {N} } from
  './{h}.js'; |
  document.title = {N}({k}); | const {b} = [{k}, {n}].map({N});
class | {h}.py | {m}.py | pascal | class {N}:¶    {a} = {n} | from {h} import {N} | {b} = {N}() |
  def {a}():¶    return {N}().{a}
class | src/{h}.ts | src/{m}.ts | pascal | export class {N} {¶  {a} = {n};¶} | import { {N} } from
  './{h}'; |
  const {b} = new {N}(); | function {a}(one: {N}) {¶  return one;¶}
class | src/{N}.java | src/{M}.java | pascal | public class {N} {¶    int {a} = {n};¶} | |
      private final {N} {b} = new {N}(); |     void {a}({N} one) {¶    }
struct | src/{h}.rs | src/{m}.rs | pascal | pub struct {N} {¶    pub {a}: u32,¶} | use crate::{h}::{N}; |
  fn {b}(one: &{N}) -> u32 {¶    one.{a}¶} | pub fn {a}_of(one: {N}) -> u32 {¶    one.{a}¶}
struct | {h}.go | {m}.go | pascal | type {N} struct {¶¬{a} int¶} | | func {b}(one {N}) int {¶¬return
  one.{a}¶} |
  var {b}s []{N}
class | lib/{h}.rb | lib/{m}.rb | pascal | class {N}¶  attr_reader :{a}¶end | require_relative '{h}' |
  {b} = {N}.new | def {a}¶  {N}.new¶end
constant | {h}.py | {m}.py | upper | {N} = {n} | from {h} import {N} | {b} = {k} * {N} |
  def {a}(x):¶    return x < {N}
constant | src/{h}.js | src/{m}.js | upper | export const {N} = {n}; | import { {N} } from './{h}.js'; |
  const {b} = {k} + {N}; | if ({a} > {N}) {¶  {a} = 0;¶}
constant | include/{h}.h | src/{m}.c | upper | #define {N} {n} | #include "{h}.h" | static int {b}[{N}]; |
  int {a} = {N} + {k};
constant | {h}.go | {m}.go | pascal | const {N} = {n} | | var {b} = {N} * {k} | func {a}() int { return
  {N} }
constant | src/{h}.rs | src/{m}.rs | upper | pub const {N}: u32 = {n}; | use crate::{h}::{N}; |
  let {b} = {N} + {k}; | assert!({a} < {N});
constant | config/{h}.sh | bin/{m}.sh | upper | {N}={n} | . config/{h}.sh | echo "{b} ${N}" |
  if [ "$1" -gt "${N}" ]; then exit 1; fi
CSS class | css/{h}.css | {m}.html | kebab | .{N} {¶  width: {n}px;¶} | <link rel="stylesheet"
  href="css/{h}.css"> |
  <div class="{N}">{b}</div> | <p class="{N}">{a}</p>
table | db/{h}.sql | queries/{m}.sql | table | CREATE TABLE {N} (¶  id INTEGER,¶  {a} TEXT¶); | |
  SELECT {a} FROM {N} WHERE id > {k}; | DELETE FROM {N} WHERE id = {n};
variable | settings/{h}.tf | modules/{m}.tf | key | variable "{N}" {¶  default = {n}¶} | |
  {b} = var.{N} | {a} = var.{N} + {k}
setting | config/{h}.toml | src/{m}.py | key | {N} = {n} | | {b} = settings["{N}"] | {a} =
  settings.get("{N}", {k})
environment variable | .env | {m}.py | env | {N}={n} | import os | {b} = os.environ["{N}"] |
  {a} = os.getenv("{N}", "{k}")
environment variable | deploy/{h}.env | src/{m}.js | env | {N}={n} | | const {b} = process.env.{N}; |
  start(Number(process.env.{N}) + {k});
environment variable | deploy.yaml | scripts/{m}.sh | env | {h}:¶  {N}: "{n}"¶  {a}: {k} | |
  echo "{b} is ${N}" | [ -n "${N}" ] && exit {k}
enum | src/{h}.ts | src/{m}.ts | pascal | export enum {N} {¶  {a} = {n},¶  {b} = {k},¶} |
  import { {N} } from './{h}'; | const first = {N}.{a}; | function is{N}(one: {N}) {¶  return one ===
  {N}.{b};¶}
interface | src/{h}.ts | src/{m}.ts | pascal | export interface {N} {¶  {a}: number;¶} |
  import type { {N} } from './{h}'; | const {b}: {N} = { {a}: {k} }; | export function {b}Of(one: {N})
  {¶  return one.{a};¶}
component | src/{h}.tsx | src/{m}.tsx | pascal | export function {N}() {¶  return <p>{b}</p>;¶} |
  import { {N} } from './{h}'; | export const {M}Page = () => <{N} />; | root.render(<{N} />);
struct | include/{h}.h | src/{m}.c | key | struct {N} {¶    int {a};¶}; | #include "{h}.h" |
  static struct {N} {b}; | int {a}(struct {N} *one)¶{¶    return one->{a};¶}
enum | src/{h}.rs | src/{m}.rs | pascal | pub enum {N} {¶    Open,¶    Closed,¶} | use crate::{h}::{N}; |
  let {b} = {N}::Open; | fn {a}(one: {N}) -> bool {¶    matches!(one, {N}::Closed)¶}
method | {h}.py | {m}.py | snake | class {M}:¶    def {N}(self):¶        return {n} | from {h} import {M} |
  {b} = {M}().{N}() | print(one.{N}() + {k})
method | src/{H}.java | src/{M}.java | camel | class {H} {¶    int {N}(int {a}) {¶        return {a} +
  {n};¶    }¶} | |
      int {b} = new {H}().{N}({k}); |     void run({H} one) {¶        one.{N}({n});¶    }
function | {h}.swift | {m}.swift | camel | func {N}(_ {a}: Int) -> Int {¶    return {a} * {n}¶} | |
  let {b} = {N}({k}) | print({N}({n}))
function | R/{h}.R | {m}.R | snake | {N} <- function({a}) {¶  {a} + {n}¶} | source("R/{h}.R") |
  {b} <- {N}({k}) | print({N}({n}))
function | {h}.jl | {m}.jl | snake | function {N}({a})¶    {a} * {n}¶end | include("{h}.jl") | {b} =
  {N}({k}) |
  println({N}({n}))
mixin | scss/{h}.scss | scss/{m}.scss | kebab | @mixin {N} {¶  padding: {n}px;¶} | @use '{h}' as *; |
  .{b} {¶  @include {N};¶} | main {¶  @include {N};¶  width: {k}em;¶}
variable | scss/{h}.scss | scss/{m}.scss | kebab | ${N}: {n}px; | @use '{h}' as *; | .{b} {¶  margin:
  ${N};¶} |
  .{a} {¶  width: calc(${N} * {k});¶}
view | db/{h}.sql | reports/{m}.sql | table | CREATE VIEW {N} AS¶SELECT {a}, {b} FROM {h}; | |
  SELECT {a} FROM {N} LIMIT {k}; | SELECT count(*) FROM {N};
label | {h}.tex | chapters/{m}.tex | kebab | \section{{h}}¶\label{{N}} | | See section~\ref{{N}} for the
  {a}. |
  As shown in \ref{{N}}, the {b} grows.
translation key | lang/{h}.json | src/{m}.js | kebab | {¶  "{N}": "{b}"¶} | | label.text = t('{N}'); |
  button.title = t('{N}');
""")


@dataclass(frozen=True)
class CodeProject:
    """A project and the name that is defined in one of its files."""

    files: Files
    name: str
    kind: str
    home: str
    """The file of the definition."""
    users: tuple[str, ...]
    defined: str
    """The line of the definition."""
    value: str
    """The value of a constant."""


def code_project(rng: Random, users: int, kind: str = "", others: int = 2) -> CodeProject:
    """Return a project in which this number of files use a name; of one kind of name if it is given."""
    while True:
        shape = [part.removeprefix(" ") for part in rng.choice(SHAPES).split(" |")]
        if not kind or shape[0] == kind:
            project = _built(rng, shape, users, others)
            if project is not None:
                return project


def _built(rng: Random, shape: list[str], users: int, others: int) -> CodeProject | None:
    kind, home, other, style, definition, import_line, *uses = shape
    stems = rng.sample(POOLS["mod"], users + others + 1)
    a, b = rng.sample(CODE_NOUNS, 2)
    name = name_in_style(rng, style)
    slots = {
        "N": name,
        "h": stems[0],
        "H": stems[0].title(),
        "a": a,
        "b": b,
        "n": str(rng.randint(2, 90)),
        "k": str(rng.randint(2, 9)),
    }

    def put(text: str, **more: str) -> str:
        text = text.replace("¶", "\n").replace("¬", "\t")
        return re.sub(r"\{(\w)\}", lambda found: (slots | more).get(found[1], found[0]), text)

    home_path = put(home)
    slots["M"] = rng.choice(POOLS["pkg"]).title()
    files: Files = {}
    has_more = rng.random() < 0.4 and home_path.endswith(_WITH_MORE)
    plain = str(text_for(rng, f"zz/{home_path}")) if has_more else ""
    files[home_path] = "\n\n".join(part for part in (plain.rstrip("\n"), put(definition)) if part) + "\n"
    for number, stem in enumerate(stems[1:]):
        path = put(other, m=stem, M=stem.title())
        if path in files:
            return None
        if number < users:
            slots["k"] = str(rng.randint(2, 9))
            chosen = rng.sample(uses, rng.choice((1, 1, 2)))
            body = [put(use.lstrip(" ") if "java" not in path else use) for use in chosen]
            if path.endswith(".java"):
                body = ["\n\n".join([f"class {stem.title()} {{", *body]) + "\n}"]
            files[path] = "\n\n".join(part for part in (put(import_line), *body) if part) + "\n"
        else:
            files[path] = text_for(rng, path)
    text = "\n".join(one for one in files.values() if isinstance(one, str))
    defined = next(line for line in str(files[home_path]).split("\n") if name in line)
    if any(name in path for path in files if path != home_path) or text.count(defined) > 1:
        return None
    value = slots["n"] if kind in ("constant", "variable", "setting", "environment variable") else ""
    return CodeProject(
        files, name, kind, home_path, tuple(sorted(list(files)[1 : users + 1])), defined, value
    )


def name_in_style(rng: Random, style: str) -> str:
    """Return a new name of two or three words in a style of writing."""
    words = [rng.choice(CODE_VERBS), rng.choice(_LAST)]
    if rng.random() < 0.25:
        words.insert(1, rng.choice(("all", "raw", "next", "old", "user", "daily", "full")))
    match style:
        case "snake":
            return "_".join(words)
        case "table":
            return f"{rng.choice(('old', 'open', 'daily', 'club', 'shop'))}_{rng.choice(POOLS['tablename'])}"
        case "key":
            return f"{rng.choice(_LAST)}_{rng.choice(CODE_NOUNS)}"
        case "env":
            return f"{rng.choice(POOLS['pkg'])}_{rng.choice(CODE_NOUNS)}".upper()
        case "kebab":
            return "-".join(
                [rng.choice(POOLS["mod"]), rng.choice(("box", "title", "row", "label", "note", "card"))]
            )
        case "camel":
            return words[0] + "".join(word.title() for word in words[1:])
        case "pascal":
            role = ("Store", "Reader", "View", "Rule", "Item", "Plan", "Board", "Limit", "Point", "Error")
            return rng.choice(POOLS["mod"]).title() + rng.choice(role)
        case _:
            return spell(rng, "(MAX|MIN|DEFAULT|BASE|START)_{a}", a=rng.choice(_LAST).upper())


_WITH_MORE = (".py", ".js", ".ts", ".go", ".rs", ".c", ".rb", ".sh", ".lua", ".css", ".sql", ".kt", ".toml")
_LAST = """
price order invoice player ticket report message song route member lesson sample photo recipe
payment guest booking token cookie chart sprite bullet tile email phone address discount refund
high_score temperature voltage humidity pulse tempo chord verse shelf parcel signal frame packet
username avatar badge
""".split()
