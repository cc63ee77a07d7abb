"""Shapes of long files, and how people ask about one line of them."""

from training.generator.folder_words import entries

# file | first line | line | label of a row | what its value is called | values
# {i} is the number of the row, {d} a day, {v} the value; `values` are words, a pool or a range of numbers.
TABLES = entries("""
features.conf | # feature switches | feature_{i} = {v} | feature_{i} | state | on,off
flags.ini | [flags] | flag_{i}={v} | flag_{i} | value | true,false
inventory.ini | [nodes] | node-{i} ansible_host={v} | node-{i} | host | 10.8.0.[2..254]
hosts.txt | # our hosts | h{i}.lan {v} | h{i}.lan | address | 192.168.4.[2..254]
marks.csv | pupil,points | P{i},{v} | P{i} | points | [3..99]
prices.csv | article,price | A-{i},{v} | A-{i} | price | [2..400].50
stock.csv | part,pieces,shelf | part{i},{v},S4 | part{i} | number of pieces | [0..900]
readings.csv | date,celsius | {d},{v} | {d} | temperature | [-8..35]
rain.csv | day;mm | {d};{v} | {d} | rain | [0..60]
steps.txt | steps a day | {d}: {v} | {d} | number of steps | [900..18000]
levels.py | # points | LEVEL_{i} = {v} | LEVEL_{i} | value | [10..5000]
palette.css | :root { | --tone-{i}: {v}; | --tone-{i} | colour | #[10..99]a0[10..99]
messages.properties | # texts | msg.{i}={v} | msg.{i} | text | product
seats.txt | Seats in the hall | seat {i}: {v} | seat {i} | name | person
lockers.md | # Lockers | - locker {i}: {v} | locker {i} | owner | surname
users.sql | -- seed data | INSERT INTO users VALUES ('u{i}', '{v}'); | u{i} | name | surname
tiles.yaml | tiles: | tile_{i}: {v} | tile_{i} | kind | grass,water,sand,rock,mud
doors.json | { | "door_{i}": "{v}", | door_{i} | state | open,closed
results.txt | test run of tuesday | test_{i} ... {v} | test_{i} | result | ok,ok,ok,ok,FAILED
rooms.toml | [rooms] | room_{i} = {v} | room_{i} | number of beds | [1..6]
bus.txt | Bus numbers | line {i} ends in {v} | line {i} | last stop | city
vocab.txt | Lesson words | word {i}: {v} | word {i} | word | plant
ports.env | # ports of the services | SERVICE_{i}_PORT={v} | SERVICE_{i}_PORT | port | [3000..9999]
animals.csv | tag,species | T{i},{v} | T{i} | species | animal
books.csv | nr;shelf | B{i};{v} | B{i} | shelf | [1..40]
hives.txt | frames per hive | hive {i} {v} frames | hive {i} | number of frames | [4..12]
keys.md | # Keys | * key {i} is with {v} | key {i} | holder | person
speeds.go | package main | const Speed{i} = {v} | Speed{i} | value | [1..300]
notes.h | #pragma once | #define NOTE_{i} {v} | NOTE_{i} | value | [20..5000]
limits.rb | # limits | LIMIT_{i} = {v} | LIMIT_{i} | value | [1..900]
""")
LOOK_UP = """
what is the {thing} of {row}(in {file}|)?
(which|what) {thing} does {row} have (in {file}|)?
{row}: {thing}?
(look up|find) {row} in {file}
(tell|show) me the {thing} of {row} (please|)
what does {file} say about {row}?
where is {row} in {file}, and what is its {thing}?
I need the {thing} of {row}, it is somewhere in {file}
(check|can you check) {row} in {file}: which {thing}?
{file} is too long for me, find {row}
find the line of {row}
"""
CHANGE = """
(set|change) {row} (in {file} |)to {new}
change the {thing} of {row} to {new} (in {file}|)
{row} should be {new} (in {file}|, not {old}|)
{file}: {row} -> {new}
in {file}, make {row} {new}
the {thing} of {row} is wrong, it must be {new}
please correct {row} in {file}: {new} instead of {old}
(update|put) {row} to {new} (in {file}|, please)
{row} is now {new}, update {file}
"""
TAKE_OUT = """
(delete|remove) (the line of|the entry|) {row} (from|in) {file}
{row} is gone, take it out of {file}
we don't have {row} any more, remove it (from {file}|)
{row} (got scrapped|was sold|is broken|is obsolete), (delete|remove) it from {file}
drop {row} from {file}
I don't need {row} in {file} any longer, delete the line
"""
LINE = """
what is (on|in) line {n} of {file}?
(show|read|print) (me|) line {n} of {file}
line {n} of {file}?
{file} has an error in line {n}, show me that line
which entry is on line {n} of {file}?
"""
LAST = """
what is the last (line|entry) of {file}?
(show|read) me the last (line|entry) (of|in) {file}
how does {file} end?
last line of {file}?
"""
FIRST = """
what is the first line of {file}?
how does {file} (begin|start)?
show me the first line of {file}
"""
LAST_FEW = """
(show|print) (me|) the last {n} lines of {file}
tail {file}, {n} lines
the last {n} (entries|lines) of {file}, please
"""
FIRST_FEW = """
(show|print) (me|) the first {n} lines of {file}
head of {file}, {n} lines
the first {n} lines of {file}, please
"""
LINES = """
how many lines (has|does it have, |are in) {file}?
(count the|number of) lines (in|of) {file}(?|)
how long is {file}, in lines?
{file}: how many lines?
"""
ROWS_WITH = """
how many lines (in|of) {file} (contain|have|say) {value}?
how often (does|is) {value} (come up |)in {file}?
(count|number of) {value} in {file}?
how many times is {value} in {file}?
"""
APPEND = """
(add|append) {line} (at the end of|to the end of|to) {file}
put {line} at the bottom of {file}
{file} needs one more line at the end: {line}
"""
LOG_LEVELS = """
(any|are there|are there any) {word}s in {file}?
what went wrong in {file}? look for {word}
which {word} lines are in {file}?
(show|list|find) (all|the|every) {word} (line|message|entry)s? (in|of|from) {file}
was there (a|any) {word} in {file}, and when?
(check|search) {file} for {word}
{word} in {file}?
something failed at night, find the {word} in {file}
"""
COUNT_LEVEL = """
how many {word}s are in {file}?
(count|number of) {word} lines in {file}?
how often does {word} occur in {file}?
"""
LOG_TEXTS = """
INFO request {num} done in {n} ms
INFO cache refreshed
DEBUG {mod} has {n} items
INFO {person} logged in
INFO saved {mod}
DEBUG sensor {n} ok
INFO queue length {n}
"""
LOG_FAILURES = """
{word} cannot reach {host}
{word} {errcode} in {mod}
{word} disk of {host} is full
{word} timeout after {num} ms
{word} {mod} was restarted
{word} wrong password for {person}
"""
# file | first line | line | usual value | unusual one | question
# {d} a day, {p} a person, {s} a surname, {i} the number of the row, {v} the value
ODD = entries("""
attendance.txt | attendance | {d} {p}: {v} | present | late | who was {v}(, and when|)?
attendance.csv | day,pupil,status | {d},{p},{v} | present | absent | who was {v}? (the parents want the
  date, too|on which day|)
payments.csv | member;state | {s} {i};{v} | paid | open | which (payments|bills) are still {v}?
results.txt | results of the night | test_{i} ... {v} | ok | FAILED | which tests {v}?
doors.log | doors at night | {d} door {i} {v} | closed | open | was a door {v}? which one?
homework.md | # Homework | - {p} {i}: {v} | done | missing | whose homework is {v}?
sensors.csv | sensor,state | s{i},{v} | ok | offline | which sensors are {v}?
seats.txt | seats | seat {i} {v} | taken | free | which seats are (still|) {v}?
tickets.txt | tickets | #{i} {s}: {v} | closed | waiting | which tickets are {v}?
builds.log | builds | build {i} on {d}: {v} | passed | broken | which builds are {v}?
loans.csv | book,reader,state | B{i},{s},{v} | returned | overdue | which books are {v}?
parcels.txt | parcels | {d} {s} {v} | delivered | damaged | which parcels (were|are) {v}?
votes.txt | votes | {s} {i}: {v} | yes | abstained | who {v}?
hosts.txt | ping of all hosts | h{i}.lan {v} | up | unreachable | which hosts are {v}?
plants.md | # Plants | * bed {i}: {v} | fine | wilted | which beds are {v}?
trains.log | trains | {d} train {i} {v} | on time | cancelled | which trains were {v}?
licences.csv | user,licence | {s}{i},{v} | valid | expired | whose licence is {v}?
rooms.yaml | rooms: | room_{i}: {v} | clean | flooded | which rooms are {v}?
samples.txt | samples | {d} sample {i} {v} | clear | contaminated | which samples are {v}?
backups.log | backups | {d} backup {i}: {v} | complete | corrupt | which backups are {v}?
""")
ODD_ASK = """
{question}
{question} (see|look in|it is in) {file}
in {file}: {question}
{file} - {question}
(look|can you look) in {file}: {question}
anything {v} in {file}?
(find|show me) (everything that is|all that are|the lines with) {v} in {file}
the list in {file} is long. {question}
"""
STORY_FILES = (
    "story.txt diary.txt chronicle.md log.md memoir.txt letters.txt notes.txt report.md draft.txt novel.md"
)
STORY = """
{person} (never forgot|often spoke of|had only heard of) the {word}.
(On the table|In the shed|By the door|On the map) (was|there was) (still|only|) {word}.
Then everything (changed|stopped) because of (one word|two things): {word}.
"It must be the {word}," said {person}.
{person} wrote {word} on the (wall|list|envelope) and left.
"""
STORY_ASK = """
on which line of {file} (is|comes|do I mention) {word}?
where in {file} (is|do I write about) {word}?
in {file}, which line (has|mentions) {word}?
find {word} in {file}
search my text for {word} (please|)
{file} is so long... where was the part about {word}?
does {file} mention {word}? (give me the line|where)
(quote|show me) the sentence (with|about) {word} (in|from) {file}
where did I write {word}?
"""
STORY_CHANGE = """
(replace|change) {word} (by|with|to) {new} in {file}
in {file}, (write|put|say) {new} instead of {word}
{file}: {word} -> {new}
it must be {new}, not {word}, in {file}
swap {word} for {new} in {file}
"""
