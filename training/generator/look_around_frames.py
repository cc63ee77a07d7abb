"""How people ask what a folder is and how files differ; chains of facts over two files."""

from training.generator.folder_words import entries

ABOUT = """
what is this (project|folder|program|thing|repo)(| about)?
what (does|can) this (project|program|thing) do?
(explain|tell me) (briefly|in one sentence) what this (project|folder|repo) is (about|for)
what am I looking at here, in a sentence?
(give me|I need) a one-line summary of this project
I just (cloned|downloaded|got|inherited) this. what is it (for|)?
what is the purpose of this (project|program|repo)?
(summarise|summarize) the (readme|README) in one sentence
what does the readme say this is (for|)?
what is {name}?
who would use this project, what is it for?
"""
PURPOSES = """
keeps track of the (trees|tools|books|lessons|bills|shifts) of a (small farm|club|school|workshop|family)
(draws|prints) (maps|charts|posters|labels) from (CSV files|sensor logs|a spreadsheet)
(converts|turns) (recipes|old letters|sheet music|subtitles|invoices) (into|to) (PDF|HTML|plain
  text|Markdown)
(sends|collects) (reminders|reports|photos|temperatures) (every morning|once a week|from three rooms|by
  mail)
is a (small|quiet|two-player|text) game about (lighthouses|night trains|tea|snails|bridges|a lost parcel)
(plays|teaches) (chords|rhythms|vocabulary|chess endings|fractions) (in the terminal|with cards|step by
  step)
(finds|removes) (duplicate photos|broken links|old backups|empty folders)
(plans|shares) (meals|car rides|rehearsals|bike tours|duties) for (a week|a group of friends|a choir|a
  shared flat)
(watches|waters) (the greenhouse|a balcony|twelve bee hives|an aquarium) with a (Raspberry Pi|cheap
  sensor|timer)
(computes|checks) (taxes|tides|postage|travel costs|grades) for (freelancers|sailors|teachers|small shops)
"""
SETUPS = """
Run `{run}` to start it.
Needs nothing but a terminal.
See docs for the details.
Questions go to {person}.
Licensed under the (MIT|BSD|Apache) license.
Started in {year} by {person} {surname}.
"""
LANGUAGE = """
(which|what) (programming language|language) is this (written in|in|)?
in (which|what) language is this (project|program|code) written?
what is this (programmed|coded|written) in?
is this python or (something else|what)?
language of the code (here|)?
(which|what) programming language (do they|did he|do we) use here?
"""
PLACES = entries(r"""
tests | (^|/)(tests?|spec)/|test_|[._]test\.|_test\.|\.spec\.|Test\. | the tests, the test files, the
  unit tests
dependencies | (requirements\.txt|package\.json|Cargo\.toml|go\.mod|Gemfile|pom\.xml|pyproject\.toml)$ |
  the dependencies, the list of dependencies, the required packages
documentation | (^|/)docs/|README | the documentation, the docs, the manual
stylesheets | \.css$ | the stylesheets, the styles, the CSS
pictures | \.(png|jpg|svg)$ | the pictures, the images
data | \.csv$ | the data, the tables, the CSV data
entry point | (^|/)(main|app|index|run_\w+)\.\w+$ | the entry point, the main program, the start of the
  program
build file | (^|/)(Makefile|Rakefile|build\.rs|pom\.xml|Dockerfile)$ | the build file, the build
  instructions
recordings | \.(mp3|wav)$ | the recordings, the sound files, the audio
licence | (^|/)LICENSE | the licence, the license text
notes | (^|/)notes?\.|(^|/)todo\. | the notes, my notes
scripts | \.sh$ | the shell scripts, the scripts
minutes | (^|/)minutes/ | the minutes, the minutes of the meetings
recipes | (^|/)recipes/|baking/ | the recipes, my recipes
contacts | contacts|addresses|kontakte|contactos | the contacts, the address list
invoices | invoices?[/-]|Rechnungen | the invoices, the bills
""")
FIND_PLACE = """
where (do I find|are|is|can I find) {what}?
(which|what) files (are|hold|contain) {what}?
(show|tell) me where {what} (is|are)
where did (they|I|we) put {what}?
in which (folder|file) (is|are) {what}?
I am looking for {what}
{what}: where?
"""
DIFFERENCE = """
what is the difference between {one} and {two}?
(how|in what) do {one} and {two} differ?
compare {one} (and|with) {two}
diff {one} {two}
what (changed|is different) (from|between) {one} (to|and) {two}?
which lines differ in {one} and {two}?
(are|is) {one} and {two} the same? what differs?
{one} vs {two}: what is different?
"""
SAME = """
are {one} and {two} (the same|identical|equal)?
is {two} (just|) a copy of {one}?
do {one} and {two} have the same content?
can I delete {two}, is it identical to {one}?
"""
BIGGER = """
which (file|one) is (bigger|larger), {one} or {two}?
is {one} (bigger|larger) than {two}?
{one} or {two}, which is the bigger file?
compare the size of {one} and {two}
"""
LONGER = """
which (file|one) (is longer|has more lines), {one} or {two}?
does {one} have more lines than {two}?
{one} or {two}: which one has more lines?
"""
SAME_VALUE = """
is the {key} the same in {one} and {two}?
do {one} and {two} (have|use|agree on) the same {key}?
compare the {key} in {one} and {two}
what is the {key} in {one} and in {two}?
does the {key} differ between {one} and {two}?
{key} in {one} and {two}: (equal|the same)?
"""
ON_WHERE = """
in which (of the files|file) is {key} {value}?
which (config|file|one) has {key} {value}?
which file sets {key} to {value}?
where is {key} set to {value}?
{key} = {value}, in which file?
"""
MOST = """
which (file|one) has the (highest|largest|biggest) {key}?
where is the {key} (highest|largest)?
which file sets the (highest|largest) {key}?
what is the (highest|largest) {key} in these files?
in which of the files is the {key} the (highest|largest)?
"""
SHOW = """
(show|print|display|open) (me|) {file}
(cat|print out) {file}
(can|could) you (show|print) (me|) {file} (please|)?
let me (see|read) {file}
I (want|would like) to see {file}
what is in {file}?
(give|show) me the (whole content|content|text) of {file}
print the content of {file} (here|please|)
what does {file} look like?
type out {file}
"""
FIRST_LINES = """
(show|print|give) me the first {n} lines of {file}
the first {n} lines of {file}, please
head -n {n} {file}
what are the first {n} lines of {file}?
(how does {file} begin? show {n} lines|only the first {n} lines of {file})
"""
LAST_LINES = """
(show|print|give) me the last {n} lines of {file}
the last {n} lines of {file}, please
tail -n {n} {file}
how does {file} end? {n} lines
"""
THE_OTHER = """
and {file}?
now {file}
(show|print) {file} (too|as well|also)
what about {file}?
"""
PAIRS = entries("""
config.dev | config.prod
dev | prod
settings | settings.old
test | live
staging | production
client | server
config | backup/config
kitchen | bedroom
left | right
camera1 | camera2
before | after
v1 | v2
de | ch
alice | bob
summer | winter
web01 | web02
local | default
small | large
berlin | lisbon
old/app | app
""")
CHAINS = entries("""
rota.txt | {day}: {person} | phones.csv | {person},{phone} |
  (what is the phone number of|how do I reach) the person on duty on {day}?
orders.txt | {surname}: {product} | prices.csv | {product},{price} | (how much does {surname} have to
  pay|what does the order of {surname} cost)?
rooms.csv | {topic},{room} | keys.txt | {room}: {person} | who has the key of the room of the {topic}?
menu.txt | {day}: {food} | allergies.txt | {food}: {animal} table | which table cannot eat the dish of
  {day}?
guests.csv | {person};{city} | trains.txt | {city} {clock} | when does the train of {person} leave?
setlist.txt | {instrument}: {person} | cars.csv | {person},{animal} | in whose car, (I mean which
  one|which name), does the player of the {instrument} ride?
team.md | - {mod}: {person} | mails.txt | {person} {mail} | what is the mail address of the one who
  looks after {mod}?
beds.txt | bed {n}: {plant} | water.csv | {plant},{litres} litres | how much water does bed {n} need?
classes.txt | {klass}: {surname} | rooms.txt | {surname}: room {num} | in which room is the teacher of
  {klass}?
services.txt | {mod} runs on {host} | addresses.ini | {host} = 10.0.0.{num} | what is the address of the
  machine {mod} runs on?
parcels.csv | {num},{city} | fees.txt | {city}: {price} EUR | what is the fee for parcel {num}?
shifts.txt | {month}: {person} | birthdays.csv | {person},{date} | when was the one with the shift in
  {month} born?
""")
