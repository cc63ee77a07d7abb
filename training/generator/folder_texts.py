"""Short plausible contents for a file, chosen by its name and ending."""

import json
import posixpath
import re
from collections.abc import Callable
from random import Random

from training.generator.folder_words import POOLS, table
from training.generator.frames import one_frame

Text = str | bytes


def _snippets(text: str) -> dict[str, list[str]]:
    """Read a text block in which `== ending` begins each snippet; an ending may have several."""
    found: dict[str, list[str]] = {}
    for part in text.strip().removeprefix("== ").split("\n== "):
        ending, _, body = part.partition("\n")
        found.setdefault(ending, []).append(body.rstrip().replace("'''", '"""') + "\n")
    return found


SENTENCES = """
{Person} (brought|ordered|repaired|found) the {tool} on {day}.
We (still need|are short of|ran out of) {food}.
The {topic} (is|was|has been) (settled|postponed to {month}|still open).
Call {person} about the {topic}.
{Person} and {other} (meet|met) in {city} on the {n}th.
The {product} costs {price} (EUR|USD|CHF) (now|since {month}).
Ask {person} (for|about) the {product}.
{n} people (signed up|came|are on the list) so far.
(Remember|Do not forget) the {tool}!
A {animal} was seen near the {game}.
The {plant} needs (more light|less water|a bigger pot).
(Bring|Pack|Return) the {tool} before {day}.
Room {num} is (free|booked|closed) in {month}.
{Person} plays the {instrument} in {city}.
(Paid|Owed|Sent) {price} EUR to {surname}.
The train to {city} leaves at {n}:{nn}.
"""
CODE_NOUNS = "total count level index score amount width offset limit length ratio weight speed depth".split()
CODE_VERBS = (
    "load save parse build merge format check count sort find draw send reset update render scale".split()
)
CSV_SHAPES = table("""
date, item, amount: {date}, {product}, {price}
name, city, year: {person}, {city}, {year}
id, name, pieces: {num}, {tool}, {n}
day, animal, count: {day}, {animal}, {n}
name, points: {surname}, {num}
plant, bed, litres: {plant}, {n}, {price}
title, minutes, player: {song}, {n}, {person}
code, meaning, seen: {errcode}, {topic}, {n}
month, income, costs: {month}, {num}, {price}
room, guest, nights: {room}, {surname}, {n}
""")
SNIPPETS = _snippets("""
== py
'''{Title}.'''

{NOUN} = {n}


def {verb}_{noun}(value):
    return value * {n}
== py
import {module}

from {mod} import {verb}_{noun2}


def main():
    {noun} = {verb}_{noun2}("{city}")
    print({noun} + {n})


if __name__ == "__main__":
    main()
== py
{NOUN} = {"{tool}": {n}, "{plant}": {num}}


class {Noun}Table:
    def __init__(self, rows):
        self.rows = rows

    def {verb}(self):
        return [row for row in self.rows if row["{noun2}"] > {n}]
== py
# {sentence}
def {verb}_{noun}({noun}, {noun2}={n}):
    if not {noun}:
        return None
    return {noun} // {noun2}


def test_{verb}_{noun}():
    assert {verb}_{noun}({num}) is not None
== js
import { {verb}{Noun} } from './{mod}.js';

export class {Noun}List {
  constructor(rows = []) {
    this.rows = rows;
  }

  {verb}() {
    return this.rows.filter((row) => row.{noun2} > {n});
  }
}
== js
document.querySelector('#{noun}').addEventListener('click', () => {
  console.log('{verb} {noun}');
});
== ts
interface {Noun} {
  {noun2}: number;
  name: string;
}

export const empty: {Noun} = { {noun2}: {n}, name: '{city}' };
== go
package {pack}

import "fmt"

type {Noun} struct {
\tName string
\t{Noun}Max int
}

func (one {Noun}) String() string {
\treturn fmt.Sprintf("%s {n}", one.Name)
}
== rs
use std::fs;

pub struct {Noun} {
    pub {noun2}: u32,
}

impl {Noun} {
    pub fn {verb}(&self) -> u32 {
        self.{noun2} * {n}
    }
}
== sh
#!/usr/bin/env bash
# {sentence}
for file in *.{ext}; do
  echo "{verb} $file"
done
== sh
#!/bin/bash
{verb}_{noun}() {
  cp -r "$1" /srv/{mod}
}

{verb}_{noun} {host}
== css
:root {
  --{noun}: {n}px;
}

body {
  font-size: {n}px;
}

.{cssname} a:hover {
  color: teal;
}
== html
<ul class="{cssname}">
  <li><a href="{mod}.html">{topic}</a></li>
  <li>{product}</li>
</ul>
<script src="{mod}.js"></script>
== toml
# {title}
[{mod}]
host = "{host}"
{noun} = {n}

[{mod2}]
{noun} = {num}
enabled = true
== yaml
{mod}:
  - {tool}
  - {product}
{noun}: {n}
owner: {person}
== yaml
- name: {topic}
  when: {day}
  {noun}: {n}
- name: {product}
  when: {day2}
  {noun}: {num}
== json
[
  {"name": "{person}", "{noun}": {n}},
  {"name": "{surname}", "{noun}": {num}}
]
== json
{
  "{mod}": {
    "{noun}": {n},
    "host": "{host}"
  },
  "items": ["{tool}", "{product}"]
}
== conf
[{mod}]
host = {host}
{noun} = {n}

[{mod2}]
; {topic}
{noun} = {num}
== log
{date} {host} {mod}: started
{date} {host} {mod}: {errcode} after {n} s
{date} {host} {mod}: retry {d}
{date} {host} {mod}: ok
== sql
CREATE TABLE {tablename} (
  id INTEGER PRIMARY KEY,
  {noun} TEXT NOT NULL,
  {noun2} INTEGER DEFAULT {n}
);
== sql
INSERT INTO {tablename} ({noun}, {noun2}) VALUES ('{city}', {n});
INSERT INTO {tablename} ({noun}, {noun2}) VALUES ('{surname}', {num});
== c
#include "{mod}.h"

#define {NOUN} {n}

static int {noun}[{NOUN}];

void {verb}_{noun}(void)
{
    for (int i = 0; i < {NOUN}; i++)
        {noun}[i] = {d};
}
== java
import java.util.List;

class {Stem} {
    private final List<String> {noun};

    {Stem}(List<String> {noun}) {
        this.{noun} = {noun};
    }
}
== php
<?php

function {verb}{Noun}(${noun}) {
    return ${noun} + {n};
}
== kt
package {mod}

const val {NOUN} = {n}

fun {verb}{Noun}(value: Int) = value * {NOUN}
== R
{noun} <- c({n}, {num})
print(mean({noun}))
== jl
{noun} = [{n}, {num}]
println(sum({noun}))
== scss
.{cssname} {
  margin: {n}px;
}
== swift
struct {Noun} {
    var {noun2} = {n}
}
== js
const {noun} = {n};

function {verb}{Noun}(value) {
  return value + {noun};
}

module.exports = { {verb}{Noun} };
== ts
export const {noun} = {n};

export function {verb}{Noun}(value: number): number {
  return value + {noun};
}
== tsx
export function {Noun}Box() {
  return <div className="{noun}">{title}</div>;
}
== go
package {pack}

const {Noun} = {n}

func {Verb}{Noun}(value int) int {
\treturn value + {Noun}
}
== rs
pub const {NOUN}: u32 = {n};

pub fn {verb}_{noun}(value: u32) -> u32 {
    value + {NOUN}
}
== c
#include <stdio.h>

int {verb}_{noun}(int value)
{
    return value + {n};
}
== h
#pragma once

#define {NOUN} {n}

int {verb}_{noun}(int value);
== cpp
#include "{stem}.h"

int {verb}{Noun}(int value) {
  return value + {n};
}
== ino
const int {noun}Pin = {n};

void setup() {
  pinMode({noun}Pin, OUTPUT);
}

void loop() {
  delay({num});
}
== java
public class {Stem} {
    static final int {NOUN} = {n};

    int {verb}{Noun}(int value) {
        return value + {NOUN};
    }
}
== rb
{NOUN} = {n}

def {verb}_{noun}(value)
  value + {NOUN}
end
== lua
local {noun} = {n}

function {verb}{Noun}(value)
  return value + {noun}
end
== sh
#!/bin/sh
set -e
{NOUN}={n}
echo "{verb} {noun} ${NOUN}"
== sql
-- {title}
SELECT name, {noun} FROM {tablename} WHERE {noun} > {n};
== css
.{cssname} {
  width: {num}px;
  margin: {n}px;
}
== html
<!doctype html>
<title>{Title}</title>
<h1>{Title}</h1>
<p>{sentence}</p>
== toml
name = "{title}"
{noun} = {n}

[{mod}]
{noun2} = {num}
== yaml
name: {title}
{noun}: {n}
{mod}:
  {noun2}: {num}
== json
{
  "name": "{title}",
  "{noun}": {n},
  "{noun2}": {num}
}
== conf
# {title}
{noun} = {n}
{noun2} = {num}
== env
APP_NAME={stem}
{NOUN}={n}
{envkey}={num}
== log
{date} 08:0{d}:11 INFO start {mod}
{date} 08:1{d}:42 WARN {noun} {num}
{date} 09:2{d}:03 INFO done
== srt
1
00:00:0{d},000 --> 00:00:09,500
- {sentence}

2
00:01:1{d},000 --> 00:01:19,000
- Good night, {person}.
== bib
@book{{surname}{year},
  author = {{surname}, {person}},
  title = {{Title}},
  year = {{year}}
}
== tex
\\documentclass{article}
\\begin{document}
\\section{{Title}}
{sentence}
\\end{document}
== svg
<svg xmlns="http://www.w3.org/2000/svg" width="{num}" height="{n}"></svg>
== ly
\\version "2.24.0"
\\header { title = "{Title}" }
{ c' d' e' g' }
== gpx
<gpx>
  <name>{Title}</name>
  <trkpt lat="4{d}.2{num}" lon="1{d}.3"/>
</gpx>
== ics
BEGIN:VEVENT
SUMMARY:{topic}
LOCATION:{city}
END:VEVENT
== tf
variable "{noun}" {
  default = {n}
}
== mod
module example.org/{pkg}

go 1.2{d}
== Makefile
build:
\t./{verb}.sh

clean:
\trm -rf build
== Dockerfile
FROM python:3.1{d}-slim
COPY . /app
CMD ["python", "/app/main.py"]
== LICENSE
MIT License

Copyright (c) {year} {person} {surname}
== VERSION
{d}.{n}.{d}
== .gitignore
*.tmp
""")
SAME_AS = table("""
js: jsx, mjs
conf: ini, cfg, tfvars, npmrc, dockerignore, gitconfig, vimrc, bashrc, example, properties
yaml: yml
env: secrets
json: ipynb
""")
HEADS = {
    "png": b"\x89PNG\r\n\x1a\n",
    "jpg": b"\xff\xd8\xff\xe0",
    "pdf": b"%PDF-1.4\n",
    "mp3": b"ID3\x04",
    "wav": b"RIFF\x00\x00\x00\x00WAVE",
    "mp4": b"\x00\x00\x00\x18ftypmp42",
    "zip": b"PK\x03\x04",
    "xlsx": b"PK\x03\x04",
    "docx": b"PK\x03\x04",
    "stl": b"solid\x00",
    "sqlite": b"SQLite format 3\x00",
    "gz": b"\x1f\x8b\x08\x00",
    "ttf": b"\x00\x01\x00\x00",
    "ico": b"\x00\x00\x01\x00",
}
_ALIAS = {other: kind for kind, others in SAME_AS.items() for other in others}
_SLOT = re.compile(r"\{(\w+)\}")


def text_for(rng: Random, path: str) -> Text:
    """Return a small content that suits a path."""
    name = posixpath.basename(path)
    kind = name.rpartition(".")[2] if "." in name else ""
    kind = _ALIAS.get(kind, kind)
    if kind in HEADS:
        return binary_text(rng, kind)
    if snippets := SNIPPETS.get(name) or SNIPPETS.get(kind):
        return fill_snippet(rng, rng.choice(snippets), path)
    if kind == "csv":
        return csv_text(rng, rng.randint(2, 7))
    if kind == "md":
        return markdown_text(rng, path)
    return "\n".join(_note(rng) for _ in range(rng.randint(2, 7))) + "\n"


def binary_text(rng: Random, kind: str) -> bytes:
    """Return bytes that begin as a file of this kind does."""
    return HEADS[kind] + b"\x00" + rng.randbytes(rng.randint(40, 900))


def title_of(path: str) -> str:
    """Return the words of a file's name: `lentil soup` for `recipes/lentil-soup.md`."""
    stem = posixpath.basename(path).strip(".").partition(".")[0]
    return re.sub(r"[-_]+", " ", stem).strip().lower()


def fill_snippet(rng: Random, snippet: str, path: str) -> str:
    """Return a snippet with its slots filled; a slot has one value in the whole snippet."""
    title = title_of(path)
    noun, noun2 = rng.sample(CODE_NOUNS, 2)
    mod, mod2 = rng.sample(POOLS["mod"], 2)
    day, day2 = rng.sample(POOLS["day"], 2)
    verb = rng.choice(CODE_VERBS)
    slots = {
        "title": title,
        "Title": title.capitalize(),
        "stem": title.replace(" ", "_"),
        "Stem": title.title().replace(" ", ""),
        "noun": noun,
        "noun2": noun2,
        "Noun": noun.capitalize(),
        "NOUN": noun.upper(),
        "verb": verb,
        "Verb": verb.capitalize(),
        "pack": "main" if "/" not in path else posixpath.basename(posixpath.dirname(path)),
        "n": str(rng.randint(1, 60)),
        "d": str(rng.randint(0, 9)),
        "num": str(rng.randint(100, 999)),
        "sentence": sentence(rng),
        "mod": mod,
        "mod2": mod2,
        "day": day,
        "day2": day2,
        "ext": rng.choice(("jpg", "txt", "csv", "md", "log")),
        "module": rng.choice(("json", "sys", "csv", "random", "sqlite3", "datetime")),
    }

    def word(found: re.Match[str]) -> str:
        name = found[1]
        if name not in slots and name in POOLS:
            slots[name] = rng.choice(POOLS[name])
        return slots.get(name, found[0])

    return _SLOT.sub(word, snippet)


def sentence(rng: Random) -> str:
    """Return a plain sentence about everyday things."""
    person, other = rng.sample(POOLS["person"], 2)
    slots = {name: rng.choice(words) for name, words in sorted(POOLS.items())}
    slots |= {"Person": person, "person": person, "other": other, "num": str(rng.randint(2, 99))}
    slots["price"] = _price(rng)
    return one_frame(rng, SENTENCES, **slots)


def _price(rng: Random) -> str:
    return f"{rng.randint(1, 80)}.{rng.choice(('00', '50', '95', '20'))}"


def _note(rng: Random) -> str:
    return rng.choice((sentence, sentence, _item))(rng)


def _item(rng: Random) -> str:
    pool = rng.choice(("tool", "food", "product", "topic", "plant"))
    return f"- {rng.choice(POOLS[pool])}"


def csv_text(rng: Random, rows: int) -> str:
    """Return a small table with a head."""
    head = rng.choice(sorted(CSV_SHAPES))
    lines = [head.replace(", ", ",")]
    for _ in range(rows):
        cells = [fill_snippet(rng, cell.replace("{price}", _price(rng)), "") for cell in CSV_SHAPES[head]]
        lines.append(",".join(cells))
    return "\n".join(lines) + "\n"


def markdown_text(rng: Random, path: str) -> str:
    """Return a heading and a few lines."""
    body: list[Callable[[Random], str]] = [sentence, _item]
    make = rng.choice(body)
    return (
        "\n".join([f"# {title_of(path).capitalize()}", "", *(make(rng) for _ in range(rng.randint(1, 5)))])
        + "\n"
    )


def as_json(values: dict[str, object]) -> str:
    """Return an indented JSON object with a final newline."""
    return json.dumps(values, indent=2, ensure_ascii=False) + "\n"
