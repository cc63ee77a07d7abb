"""Small files of known kinds, and the sentences that dictate them.

A shape: file names on the first line, then the ways to ask for it, then `---` and the content. `@person`,
`@town`, `@good` and `~kind~` are made up; one that appears twice is the same in the order and in the
file. A way that names the file with `{f}` is a whole order; another completes "make FILE with …".
"""

from random import Random

from training.generator.sources import value
from training.generator.word_pools import FIRST_NAMES, GOODS, SURNAMES, TOWNS

_SHAPES = """
card.txt, contact.txt, person.txt
the name @person, phone ~phone~ and e-mail ~email~, one per line, like Name: ...
Name: @person, Phone: ~phone~ and Email: ~email~ each on its own line
---
Name: @person
Phone: ~phone~
Email: ~email~
===
address.txt, label.txt, parcel.txt
the address of @person, @street, @town, on three lines
an address label: @person, @street, @town (three lines)
---
@person
@street
@town
===
index.html, page.html, site/index.html
a heading h1 "@good" and a paragraph "Welcome to @town"
(make|write) a small html page {f}: title and h1 "@good", one paragraph "Welcome to @town"
---
<!DOCTYPE html>
<html>
<head>
  <title>@good</title>
</head>
<body>
  <h1>@good</h1>
  <p>Welcome to @town</p>
</body>
</html>
===
links.html, link.html, nav.html
a link to ~url~ with the text @good
a single html link: text @good, address ~url~
---
<a href="~url~">@good</a>
===
style.css, theme.css, main.css
body with the background ~color~ and the font size ~n~px
the css rule body: background ~color~, font-size ~n~px
---
body {
  background: ~color~;
  font-size: ~n~px;
}
===
button.css, buttons.css, ui.css
a class .@good with the color ~color~ and a padding of ~m~px
a css rule for .@good: color ~color~, padding ~m~px
---
.@good {
  color: ~color~;
  padding: ~m~px;
}
===
cron.txt, crontab.txt, jobs.cron
a cron line that runs ~word~.sh every day at 6:30
(a cron job|one cron line): ~word~.sh daily at 06:30
---
30 6 * * * ~word~.sh
===
backup.cron, cron.txt, crontab.txt
a cron line that runs ~word~.sh every hour
an hourly cron job for ~word~.sh
---
0 * * * * ~word~.sh
===
weekly.cron, crontab.txt
a cron line: ~word~.sh every Monday at 8:00
a cron job for ~word~.sh on Mondays at 8 in the morning
---
0 8 * * 1 ~word~.sh
===
Makefile
a Makefile with the target ~word~ that runs python3 ~thing~.py
a target ~word~ which runs python3 ~thing~.py
---
~word~:
	python3 ~thing~.py
===
Makefile
two targets: test runs pytest, clean removes ~word~
the targets test (pytest) and clean (rm -rf ~word~)
---
test:
	pytest

clean:
	rm -rf ~word~
===
Dockerfile
python:3.12 as base, copies ~word~.py to /app and runs it with python
a Dockerfile from python:3.12 that copies ~word~.py into /app and starts it with python
---
FROM python:3.12
COPY ~word~.py /app/
CMD ["python", "/app/~word~.py"]
===
Dockerfile
nginx as base and the folder ~word~ copied to /usr/share/nginx/html
---
FROM nginx
COPY ~word~ /usr/share/nginx/html
===
.env
PORT ~port~ and NAME ~word~
the variables PORT=~port~ and NAME=~word~
---
PORT=~port~
NAME=~word~
===
.editorconfig
root = true and for all files an indent_size of ~d~
---
root = true

[*]
indent_size = ~d~
===
requirements.txt
the packages requests and flask, version ~version~ of flask
requests, and flask pinned to ~version~
---
requests
flask==~version~
===
VERSION
only ~version~
the version number ~version~
---
~version~
===
package.json
the name ~word~ and the version ~version~
name ~word~, version ~version~
---
{
  "name": "~word~",
  "version": "~version~"
}
===
tags.json, list.json, colors.json
a JSON array of the strings @good, @good2 and ~word~
the json list @good, @good2, ~word~
---
["@good", "@good2", "~word~"]
===
user.json, person.json, profile.json
a JSON object: name @person, town @town, age ~n~
the keys name (@person), town (@town) and age (~n~, a number)
---
{
  "name": "@person",
  "town": "@town",
  "age": ~n~
}
===
colors.yaml, team.yaml, list.yaml
a yaml key ~thing~s with the list @good, @good2 and ~word~
the key ~thing~s, below it a list: @good, @good2, ~word~
---
~thing~s:
  - @good
  - @good2
  - ~word~
===
recipe.md, bread.md, cake.md
a recipe: heading @good bread, ingredients ~n~0 g flour and ~d~ eggs as bullets
the title "@good bread" (markdown heading), then the bullets ~n~0 g flour and ~d~ eggs
---
# @good bread

- ~n~0 g flour
- ~d~ eggs
===
notes.md, trip.md, plan.md
the heading @town and below it the bullets @good, @good2
a markdown heading @town and a list with @good and @good2
---
# @town

- @good
- @good2
===
README.md, about.md
the heading ~word~, the sentence "Made by @person." and a section Usage with the line "Run make."
a title ~word~, below it "Made by @person.", then a second-level heading Usage and "Run make."
---
# ~word~

Made by @person.

## Usage

Run make.
===
sign.txt, door.txt, poster.txt
the text OPEN on the first line and ~time~ - ~time2~ on the second
OPEN, and below it ~time~ - ~time2~
---
OPEN
~time~ - ~time2~
===
menu.txt, today.txt, card.txt
@good soup ~money~ and @good2 pie ~money2~, one dish per line
two dishes: @good soup for ~money~, @good2 pie for ~money2~ (format: dish, a space, price)
---
@good soup ~money~
@good2 pie ~money2~
===
hosts.txt, hosts, lan.txt
the line ~ip~ for the host ~word~.lan, like in /etc/hosts
a hosts line: ~ip~ is ~word~.lan
---
~ip~ ~word~.lan
===
query.sql, select.sql
a query that selects all columns from ~thing~s where city is @town
(an |)SQL: everything from the table ~thing~s with the city @town
---
SELECT * FROM ~thing~s WHERE city = '@town';
===
schema.sql, table.sql, db/schema.sql
a table ~thing~s with id integer primary key and name text
SQL that creates the table ~thing~s: id (integer primary key), name (text)
---
CREATE TABLE ~thing~s (
  id INTEGER PRIMARY KEY,
  name TEXT
);
===
insert.sql, data.sql
an insert of @person, @town into ~thing~s (columns name, city)
one INSERT into the table ~thing~s: name @person, city @town
---
INSERT INTO ~thing~s (name, city) VALUES ('@person', '@town');
===
refs.bib, book.bib
a bibtex entry book with the key ~word~: author @person, title @good, year 20~m~
---
@book{~word~,
  author = {@person},
  title = {@good},
  year = {20~m~}
}
===
hello.sh, start.sh, run.sh
a shell script with a shebang for sh that echoes @town
#!/bin/sh and then echo "@town"
---
#!/bin/sh
echo "@town"
===
config.py, constants.py, settings.py
the constants NAME = "@town" and COUNT = ~n~
NAME set to the string @town and COUNT set to ~n~
---
NAME = "@town"
COUNT = ~n~
===
prices.py, stock.py, data.py
a dictionary STOCK with @good: ~n~ and @good2: ~m~
the Python dict STOCK: @good is ~n~, @good2 is ~m~
---
STOCK = {
    "@good": ~n~,
    "@good2": ~m~,
}
===
config.js, settings.js
an exported object with port ~port~ and name "~word~" (module.exports)
module.exports with port ~port~ and name ~word~
---
module.exports = {
  port: ~port~,
  name: "~word~",
};
===
todo.md, tasks.md
the open tasks "buy a @good" and "call @first", and "sell the @good2" already done
a checklist: buy a @good, call @first, and as done: sell the @good2
---
- [ ] buy a @good
- [ ] call @first
- [x] sell the @good2
===
timetable.txt, plan.txt, schedule.txt
Monday @good, Tuesday @good2, Wednesday ~thing~, as DAY: SUBJECT
three lines: Monday: @good, Tuesday: @good2, Wednesday: ~thing~
---
Monday: @good
Tuesday: @good2
Wednesday: ~thing~
===
score.txt, result.txt, game.txt
the result @town ~d~ : ~m~ @good
one line: @town ~d~ : ~m~ @good
---
@town ~d~ : ~m~ @good
===
quote.txt, quote.md
a quote as markdown (> ): "Every @good has a @good2." and on the next quoted line "- @first"
---
> Every @good has a @good2.
> - @first
===
subtitles.srt, film.srt
one subtitle from 00:00:01,000 to 00:00:04,000 that says "Where is the @good?"
---
1
00:00:01,000 --> 00:00:04,000
Where is the @good?
===
vocab.csv, words.csv, cards.csv
the header front,back and the cards @good,~word~ and @good2,~thing~
---
front,back
@good,~word~
@good2,~thing~
===
log.txt, diary.txt, journal.md
an entry for ~date~: "saw a @good in @town"
the date ~date~ on one line and below "saw a @good in @town"
---
~date~
saw a @good in @town
===
.gitignore
the entries ~word~.log, ~thing~/ and .env
~word~.log, ~thing~/ and .env, one per line
---
~word~.log
~thing~/
.env
===
robots.txt
a rule for all robots: do not visit /~word~/
User-agent * and Disallow /~word~/
---
User-agent: *
Disallow: /~word~/
===
unit.service, app.service
a systemd unit: Description @good, ExecStart /usr/bin/~word~
---
[Unit]
Description=@good

[Service]
ExecStart=/usr/bin/~word~
===
invoice.txt, bill.txt
an invoice number ~n~~m~ for @person: @good ~money~, and the word Thanks at the end
---
Invoice ~n~~m~
@person
@good ~money~
Thanks
""".strip("\n")
SHAPES = tuple(_SHAPES.split("\n===\n"))

_TABLES = """
inventory, stock, shop, goods | item=good, count=int 1 90, price=money
people, guests, team, members | name=full, town=town, age=int 7 88
marks, grades, test | name=first, mark=int 1 6
birthdays, dates | name=first, birthday=date
expenses, costs, budget | date=date, what=good, amount=money
contacts, phones | name=full, phone=phone
scores, results, ranking | player=first, points=int 0 99
readings, sensor, temperature | time=time, value=float 2 40
books, library | title=good, author=full, year=int 1950 2026
trips, travel, routes | from=town, to=town, km=int 20 900
plants, garden | plant=good, bed=int 1 12, sown=date
duty, rota, plan | name=first, day=day
doses, medicine | name=good, morning=int 0 2, evening=int 0 2
songs, setlist | title=good, bpm=int 60 190
orders, sales | id=int 100 999, customer=full, total=money
pets, animals | name=first, species=good, weight=float 1 40
runs, training | date=date, km=float 2 30
tasks, todo | task=good, owner=first, done=pick yes/no
users, accounts | id=int 1 99, login=word, role=pick admin/editor/guest
menu, prices | dish=good, price=money
cities, towns | town=town, people=int 900 900000
words, vocab | english=good, points=int 0 9
""".strip().split("\n")


def _table(line: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    stems, columns = line.split(" | ")
    pairs = [column.split("=") for column in columns.split(", ")]
    return tuple(stems.split(", ")), tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)


TABLE_SHAPES = tuple(_table(line) for line in _TABLES)


def cell(rng: Random, kind: str) -> str:
    """Return the text of a cell of a kind."""
    match kind:
        case "good":
            return rng.choice(GOODS)
        case "town":
            return rng.choice(TOWNS)
        case "first":
            return rng.choice(FIRST_NAMES)
        case "full":
            return f"{rng.choice(FIRST_NAMES)} {rng.choice(SURNAMES)}"
        case "day":
            return rng.choice(("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"))
        case _:
            return value(rng, kind)
