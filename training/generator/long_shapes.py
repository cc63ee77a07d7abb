"""Long files whose rows have names of their own, in many shapes, and the ways to ask about one row.

`file names | first line | row | how a row's value is called | kind of name | kind of value`. In a row
`{k}` is the name, `{v}` the value, `{i}` a number, `{x}` other words; a row with `¶` has several lines.
"""

SHAPES = """
phones.txt, contacts.txt, numbers.md | Phone numbers | {k}: {v} | phone number, number | full | phone
members.csv, people.csv, list.csv | name,town,since | {k},{v},{y} | town, city | full | town
ages.csv, club.csv | name,age | {k},{v} | age | full | n
emails.txt, addresses.txt | # addresses | {k} <{v}> | mail address, e-mail | full | email
stock.csv, warehouse.csv, parts.csv | article;pieces;price | {k};{v};{m} | number of pieces, stock | goods | n
prices.txt, pricelist.md, shop.txt | Prices | {k} ... {v} | price | goods | money
catalog.md, articles.md | # Catalogue | - {k}: {v} | price | goods | money
glossary.md, vocab.txt, words.txt | # Words | {k} = {v} | translation, meaning | goods | word
settings.conf, big.conf, app.conf | # settings | {k} = {v} | value | key | n
flags.yaml, features.yaml | features: |   {k}: {v} | state | key | onoff
options.json, config.json, params.json | { |   "{k}": {v}, | value | key | n
texts.json, en.json, strings.json | { |   "{k}": "{v}", | text | key | good
app.env, all.env, prod.env | # environment | {K}={v} | value | key | word
constants.py, values.py, tuning.py | # constants | {K} = {v} | value | key | n
limits.h, config.h | #pragma once | #define {K} {v} | value | key | n
theme.css, colors.css | :root { |   --{d}: {v}; | colour, value | key | color
hosts.txt, lan.txt, inventory.txt | # hosts | {v} {h} | address, ip | key | ip
routes.js, urls.js | module.exports = { |   {c}: "/{v}", | path, route | key | word
helpers.py, utils.py, lib.py | # small functions | def {u}():¶    return {v} | return value, result | key | n
calc.js, funcs.js | // small functions | function {c}() {¶  return {v};¶} | return value, result | key | n
tasks.sh, all.sh | #!/bin/sh | {u}() {¶  echo {v}¶} | output, echo | key | word
towns.csv, places.csv | town,people | {k},{v} | number of people, population | towns | big
weather.txt, forecast.txt | Temperatures today | {k} {v} °C | temperature | towns | n
stops.txt, bus.txt, line.md | Departures | {v} {k} | time, departure | towns | time
guests.txt, seating.txt, tables.md | Guests and their tables | {k}, table {v} | table | full | n
lockers.txt, keys.txt | Lockers | {k} has number {v} | number | full | n
marks.txt, grades.md, test.txt | Points | * {k}: {v} points | result, score | full | n
birthdays.txt, dates.md | Birthdays | {k} - {v} | birthday, date | full | date
library.md, books.txt | # Books | "The {T}" by {v} | author | goods | full
diary.md, chapters.md, story.md | # The story | ## {T}¶¶{v} went to {x}.¶ | person | goods | first
faq.md, help.md | # Questions | ### {k}: how much?¶It costs {v}.¶ | price | goods | money
changelog.md, history.md | # Changes | ## {i}¶- {k}: {v}¶ | change, note | goods | word
log.txt, events.log, app.log | start | {t} {k}: {v} | message, entry | code | word
access.log, door.log | log | {t} {k} opened door {v} | door | full | n
orders.csv, sales.csv | order,item,total | {k},{x},{v} | total, amount | code | money
results.txt, race.txt | Results | {i}. {k} {v} min | time | full | n
""".strip("\n").split("\n")

ASK = """
what is the {w} of {k}?
{w} of {k}?
which {w} (has|does) {k} (have|)?
(tell|give) me the {w} of {k}
I need the {w} of {k}
(find|look up) {k} and tell me the {w}
(look|search) for {k}, what is the {w}?
{k}: {w}?
what does it say (for|about) {k}?
{k} - what is the {w} there?
do you see the {w} of {k}?
what's {k}'s {w}?
which {w} is noted for {k}?
(I forgot|I can't find) the {w} of {k}
""".replace("which {w} (has|does) {k} (have|)?", "which {w} does {k} have?").strip()
CHANGE = """
change the {w} of {k} to {v}
set the {w} of {k} to {v}
the {w} of {k} is {v} now
the {w} of {k} (should|must|has to) be {v}
{k}: {w} {v}
{k} has a new {w}: {v}
update {k}, the {w} is {v}
correct {k}: the {w} is {v}, not {o}
the {w} of {k} is wrong, it (is|should be) {v}
{v} instead of {o} for {k}
(can|could) you change the {w} of {k} to {v}?
put {v} as {w} of {k}
""".strip()
DELETE = """
(delete|remove) {k}
(delete|remove) the line of {k}
(delete|remove) the entry {k}
take {k} out
{k} can go
we don't need {k} any more(, delete the line|)
{k} is gone, remove (it|the line)
get rid of {k}
(can|could) you delete {k}?
""".strip()
WHERE = """
on which line is {k}?
where is {k}?
which line has {k}?
line number of {k}?
in which line do I find {k}?
find {k}
""".strip()
INSERT = """
(add|insert|put) the line {n} (after|below) {k} | below
(add|insert|put) the line {n} (before|above) {k} | above
(after|below) {k} (add|insert) {n} | below
(before|above) {k} (add|insert) {n} | above
""".strip()
MISSING = """
There is no {k} in {f}.
{f} has no {k}.
I found no {k} in {f}.
""".strip()
