"""Ways to ask for commands, and the commands."""

RUN = """
run {file}
run {file} and tell me what it prints
run {file} please and show me the output
execute {file}
execute {file} and tell me the result
please start {file} and tell me what comes out
what does {file} print?
what comes out when you run {file}?
what is the output of {file}?
output of {file}?
what does {file} say when it runs?
can you run {file} for me?
could you execute {file} and paste the output here
start {file}
launch {file}
try {file}
try out {file} and tell me what happens
{command}
run {command}
run `{command}` and tell me what it says
I want to see the output of {file}
I would like to know what {file} prints
let {file} run and tell me what it gives
{file}: run it
{file}, what does it output?
show me what {file} gives
give me the output of {file}
what happens if I run {file}?
what do I get from {file} when I run it
just run {file}
call {file} and show the result
make a test run of {file}
do a quick run of {file}, what is printed?
I need the result of {file}
what is printed by {file}
run the script {file}
please run my program {file} and tell me what it shows
does {file} work? run it and show me
kick off {file} and report back
gimme the output of {file}
can you see what {file} prints on the screen
use python or sh as needed and run {file}
I wrote {file}, please run it and tell me what it says
my colleague sent me {file}. run it and show what it writes
"""
RUN_AND_TELL = """
run {file} and tell me the {label}
run {file}. what is the {label}?
what {label} does {file} print?
execute {file} and give me the {label}
which {label} comes out of {file}?
{file} computes the {label}. run it, what is it?
I need the {label} from {file}, run it
start {file}, I want to know the {label}
what is the {label} according to {file}? run it
run {file}, I only care about the {label}
what's the {label} when you run {file}
let {file} run: {label}?
please find out the {label} with {file}
gimme the {label} that {file} spits out
{command} and tell me the {label}
"""
RUN_BY_KIND = """
run {what}
run {what} and tell me what it prints
please start {what}
execute {what} and show me the output
what does {what} print?
what comes out of {what}?
can you run {what}?
I want to see what {what} says
there is {what} somewhere here, run it
find {what} and run it
let {what} run and tell me the result
start {what} please, I forgot its name
what is the output of {what}
give me the result of {what}
try {what} and report
could you run {what} for me, I don't know the file name
"""
RUN_ABROAD = """
führe {file} aus und sag mir, was es ausgibt
starte {file}
was gibt {file} aus?
lass {file} laufen und zeig mir das Ergebnis
lance {file} et dis-moi ce que ça affiche
exécute {file}
qu'affiche {file} ?
ejecuta {file} y dime qué imprime
¿qué imprime {file}?
"""
RUN_WITH = {
    "first": """
run {file} with {spoken}
run {file} with {spoken} and tell me what it prints
run {file} {arguments}
{command} {arguments}
execute {file} with {spoken} behind it
call {file} with {spoken}
what does {file} print for {spoken}?
what comes out of {file} if I give it {spoken}?
start {file}, arguments {arguments}
try {file} with {spoken}
use {file} on {spoken}
pass {spoken} to {file}, what is the result?
please run `{command} {arguments}`
what is the result of {file} for {spoken}?
give {file} the input {spoken} as arguments and show the output
output of {command} {arguments}?
I want to know what {file} makes of {spoken}
""",
    "again": """
now with {spoken}
and with {spoken}?
the same with {spoken}
again with {spoken} please
what about {spoken}?
and for {spoken}?
now try {spoken}
once more, but with {spoken}
""",
}
WITH_INPUT = """
count.py | import sys\\n\\nprint(len(sys.stdin.read().split())) | prose | run {script} with {file} as input | feed {file} to {script}, what does it print? | pipe {file} into {script} | {script} < {file} please
total.py | import sys\\n\\nprint(sum(int(line) for line in sys.stdin)) | numbers | run {script} with the numbers of {file} as input | {script} reads from standard input. give it {file} | pass {file} to the input of {script} and tell me the result
top.py | import sys\\n\\nprint(max(map(int, sys.stdin))) | numbers | run {script} on the content of {file} by standard input | feed {script} with {file} | what does {script} print when it reads {file} from stdin?
shout.py | import sys\\n\\nprint(sys.stdin.read().upper().strip()) | words | run {script} and give it {file} as stdin | {file} into {script} please, show the output | use {file} as the input for {script}
different.py | import sys\\n\\nprint(len(set(sys.stdin.read().split()))) | words | run {script} with {file} on its standard input | let {script} read {file} from stdin
first.py | import sys\\n\\nprint(sys.stdin.readline().strip()) | prose | run {script} with {file} on stdin | {script}, input {file}: what comes out?
rows.py | import csv\\nimport sys\\n\\nprint(len(list(csv.reader(sys.stdin))) - 1, "rows") | csv | run {script} with {file} as standard input | how many rows does {script} report for {file} on stdin?
"""  # noqa: E501
ASK_FAILING = """
why does {file} fail?
{file} crashes, run it and tell me why
what is wrong with {file}? run it
run {file}, I get an error. what does it mean?
{file} does not work, why?
which error does {file} give?
execute {file} and explain the error
what error comes when I start {file}?
run {file} and tell me whether it works
does {file} run through?
does {command} work?
try {file} and tell me the error message
I get an error in {file}, can you run it and tell me what it is?
{file} breaks somewhere, run it and have a look
please check if {file} runs without errors
what goes wrong in {file} when it runs?
"""
ASK_LINE = """
in which line?
which line is it?
where exactly?
what line?
where does it happen?
and which line is wrong?
show me the line
"""
ASK_EXIT = """
exit status of {command}?
exit code of {command}?
what is the exit status of {file}?
which exit code does {file} return?
run {file} and tell me the exit status
run {file}, with what code does it end?
does {file} succeed? I need the exit code
what does {command} exit with?
what return code do I get from {file}?
tell me the exit code of {file} please
with which status does {file} finish?
execute {command} and give me its exit status
I need the return code of {command}
check the exit code of {file}
what number does {file} exit with?
{file}: exit status?
"""
ASK_TESTS = {
    "all": """
run the tests
run all tests
run the unit tests please
do the tests pass?
are the tests green?
is everything green?
which tests fail?
does any test fail?
execute the test suite
can you run the tests and tell me the result
how many tests fail?
test it
are all tests ok?
run the test suite and tell me what fails
I changed something, do the tests still pass?
check the tests
any red tests?
let the tests run, please
python3 -m unittest, what does it say?
tests?
""",
    "named": """
run the tests in {file}
run {file} and tell me which tests fail
do the tests in {file} pass?
{command} - what fails?
{command}
execute {command} and tell me the result
which test in {file} is red?
is {file} green?
{file}: all ok?
are there failing tests in {file}?
how many tests of {file} pass?
check {file}, do all tests pass
run {command} please, which one fails?
does {file} pass?
tell me which tests of {file} are broken
""",
}
MODULES = """
price | def gross(net):\\n    return net * 12 // 10\\n\\n\\ndef discount(price, percent):\\n    return price - price * percent // 100 | gross => price.gross(100) => 120 | discount => price.discount(200, 10) => 180 | no_discount => price.discount(50, 0) => 50 | free => price.gross(0) => 0
words | def count(text):\\n    return len(text.split())\\n\\n\\ndef first(text):\\n    return text.split()[0] | count => words.count('a b c') => 3 | empty => words.count('') => 0 | first => words.first('red fox') => 'red' | one_word => words.count('fox') => 1
temperature | def to_fahrenheit(c):\\n    return c * 9 // 5 + 32\\n\\n\\ndef is_frost(c):\\n    return c < 0 | zero => temperature.to_fahrenheit(0) => 32 | boiling => temperature.to_fahrenheit(100) => 212 | frost => temperature.is_frost(-3) => True | no_frost => temperature.is_frost(4) => False
score | def add(points, bonus=0):\\n    return points + bonus\\n\\n\\ndef level(points):\\n    return points // 100 + 1 | add => score.add(5, 2) => 7 | no_bonus => score.add(5) => 5 | level_one => score.level(30) => 1 | level_three => score.level(250) => 3
names | def initials(name):\\n    return ''.join(part[0] for part in name.split())\\n\\n\\ndef upper(name):\\n    return name.upper() | initials => names.initials('Ada Byron') => 'AB' | single => names.initials('Ada') => 'A' | upper => names.upper('eva') => 'EVA'
basket | def total(prices):\\n    return sum(prices)\\n\\n\\ndef cheapest(prices):\\n    return min(prices) | total => basket.total([1, 2, 3]) => 6 | empty_basket => basket.total([]) => 0 | cheapest => basket.cheapest([4, 2, 9]) => 2 | one_item => basket.total([8]) => 8
calendar_tools | def is_leap(year):\\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) | normal_year => calendar_tools.is_leap(2023) => False | leap_year => calendar_tools.is_leap(2024) => True | century => calendar_tools.is_leap(1900) => False | year_2000 => calendar_tools.is_leap(2000) => True
lists | def evens(items):\\n    return [n for n in items if n % 2 == 0]\\n\\n\\ndef last(items):\\n    return items[-1] | evens => lists.evens([1, 2, 4]) => [2, 4] | no_evens => lists.evens([1, 3]) => [] | last => lists.last([7, 8]) => 8
tempo | def beat_ms(bpm):\\n    return 60000 // bpm\\n\\n\\ndef bars(beats, per_bar=4):\\n    return beats // per_bar | beat => tempo.beat_ms(120) => 500 | slow => tempo.beat_ms(60) => 1000 | bars => tempo.bars(16) => 4 | waltz => tempo.bars(12, 3) => 4
stack | def push(items, item):\\n    return [*items, item]\\n\\n\\ndef pop(items):\\n    return items[:-1] | push => stack.push([1], 2) => [1, 2] | push_empty => stack.push([], 5) => [5] | pop => stack.pop([1, 2]) => [1]
slugs | def slug(title):\\n    return title.lower().replace(' ', '-') | simple => slugs.slug('My Page') => 'my-page' | one => slugs.slug('Home') => 'home' | three => slugs.slug('A B C') => 'a-b-c'
shapes | def area(a, b):\\n    return a * b\\n\\n\\ndef is_square(a, b):\\n    return a == b | area => shapes.area(3, 4) => 12 | zero_area => shapes.area(0, 9) => 0 | square => shapes.is_square(2, 2) => True | not_square => shapes.is_square(2, 3) => False
seats | def free(total, taken):\\n    return max(0, total - taken) | some_free => seats.free(10, 4) => 6 | full => seats.free(5, 5) => 0 | overbooked => seats.free(5, 8) => 0
grades | def passed(points):\\n    return points >= 50\\n\\n\\ndef best(points):\\n    return max(points) | passed => grades.passed(70) => True | failed => grades.passed(20) => False | border => grades.passed(50) => True | best => grades.best([3, 9, 4]) => 9
"""  # noqa: E501
TEXT_TOOLS = """
= prose || wc -w < {file} || {file} has {value} words.
count the words of {file} with wc
how many words has {file}? you can use wc
use wc to count the words in {file}
word count of {file}?
wc -w on {file} please
how long is {file} in words?
tell me the number of words in {file}, wc does it
I am paid per word: how many words are in {file}?

= prose || wc -l < {file} || {file} has {value} line{s}.
count the lines of {file} with wc
how many lines does {file} have? use wc -l
line count of {file}, please run wc
wc -l {file}
number of lines in {file}? (wc)
how many lines long is {file}? let wc count

= words || wc -l < {file} || {file} has {value} line{s}.
how many entries are in {file}? count them with wc -l
use wc -l on {file} and tell me the number
count the lines in {file} with a command
how many rows has {file}? run wc

= prose || wc -c < {file} || {file} has {value} bytes.
how many bytes is {file}? use wc
size of {file} in bytes?
wc -c for {file}
how big is {file} in bytes
use a command to tell me the size of {file} in bytes

= words || sort {file} || {file}, sorted: // {out}
sort {file} and show me the result
show {file} in alphabetical order, but do not change it
run sort on {file}
print the lines of {file} sorted
give me the content of {file} alphabetically
I want to see {file} sorted, with the sort command

= numbers || sort -n {file} || {file}, sorted by number: // {out}
sort the numbers in {file}
show {file} sorted by number, leave the file as it is
sort -n {file}
print the values of {file} from small to large
numbers of {file} in ascending order please

= numbers || sort -n {file} | tail -1 || The largest number in {file} is {out}.
what is the largest number in {file}? use sort and tail
find the maximum in {file} with a command
highest value in {file}? let the shell find it
use sort -n to get the biggest number of {file}
maximum of {file} with shell tools please

= numbers || sort -n {file} | head -1 || The smallest number in {file} is {out}.
smallest number in {file}, with sort and head
find the minimum of {file} with a shell command
lowest value in {file}? use the shell
use sort to find the smallest number of {file}

= numbers || awk '{s += $1} END {print s}' {file} || The sum of {file} is {out}.
add up the numbers in {file} with awk
sum of all numbers in {file}? use awk
what is the total of {file}? compute it with a command
let awk sum up {file}
sum up {file} please, by command
how much do the numbers in {file} make together? calculate it with the shell

= numbers || awk '{s += $1} END {print s / NR}' {file} || The average of {file} is {out}.
average of the numbers in {file} with awk
compute the mean of {file} in the shell
what is the mean value in {file}? use awk
calculate the average of {file} with a command

= csv || awk -F, 'NR > 1 {s += $2} END {print s}' {file} || The sum of {sumhead} in {file} is {out}.
sum of the column {sumhead} in {file}? use awk
add up the {sumhead} column of {file} with a command
what is the total of {sumhead} in {file}? calculate it with awk
total {sumhead} in {file}, let the shell add it
let awk sum the second column of {file}

= csv || cut -d, -f{col} {file} || Column {col} of {file}: // {out}
show only the column {head} of {file}
cut column {col} out of {file} and print it
print column {col} of {file}
use cut to show the {head} column of {file}
only the {head} column of {file} please, with cut

= csv || tail -n +2 {file} | sort -t, -k2 -n -r | head -1 || The row with the highest {sumhead} in {file}: {out}
which row of {file} has the highest {sumhead}? sort it in the shell
sort {file} by {sumhead} and show me the top row
top row of {file} by {sumhead} with sort and head
use sort to find the row with the largest {sumhead} in {file}

= words || sort {file} | uniq -c | sort -rn || {file}, counted: // {out}
how often does each line occur in {file}? use sort and uniq
count the duplicates in {file} with uniq -c
count how many times each entry of {file} occurs
frequency of the lines of {file}, with uniq

= words || sort -u {file} || Without duplicates {file} holds: // {out}
show the different lines of {file}
show {file} without duplicates, do not change it
unique entries of {file}, with sort -u
which different entries are in {file}? use sort

= words || sort -u {file} | wc -l || {file} has {value} different line{s}.
how many different entries are in {file}? use the shell
count the unique lines of {file} with a pipe
number of distinct lines in {file}, sort and wc

= words || sort {file} | uniq -d || These lines occur more than once in {file}: // {out}
which lines of {file} are there twice? use uniq
find the duplicates in {file} with sort and uniq -d
show repeated lines of {file} with a command

= prose || head -n {n} {file} || The first {n} lines of {file}: // {out}
show the first {n} lines of {file} with head
head -n {n} {file}
print the top {n} lines of {file} with a command
run head on {file}, {n} lines

= prose || tail -n {n} {file} || The last {n} lines of {file}: // {out}
show the last {n} lines of {file} with tail
tail -n {n} {file}
run tail on {file}, {n} lines
give me the final {n} lines of {file} by command

= prose || grep -c {word} {file} || {value} line{s} of {file} contain {word}.
how many lines of {file} contain {word}? use grep -c
count the lines with {word} in {file} with grep
grep -c {word} {file}
let grep count {word} in {file}

= words || sha256sum {file} || The SHA-256 checksum: // {out}
make a sha256 checksum of {file}
what is the sha256 of {file}?
sha256sum {file}
I need the SHA-256 hash of {file}

= words || tr a-z A-Z < {file} || {file} in capitals: // {out}
print {file} in capital letters, without changing it
show {file} in upper case with tr
use tr to show {file} in capitals

= prose || nl {file} || {file} with line numbers: // {out}
show {file} with line numbers, use nl
nl {file}
number the lines of {file} on the screen

= words || tac {file} || {file} from the end: // {out}
print {file} from the last to the first line
show {file} in reverse order with tac
tac {file}

= words || sort -r {file} || {file}, sorted from Z to A: // {out}
sort {file} in reverse, only show it
show {file} from Z to A with sort
sort -r {file}

= numbers || wc -l < {file} || {file} has {value} line{s}.
how many numbers are in {file}? count with wc
wc -l on {file}, how many?
count the values in {file} with a command

= words || paste -sd, {file} || {file} in one line: // {out}
join the lines of {file} with commas, only print it
print {file} as one line with commas, use paste
all lines of {file} in one, separated by commas
"""  # noqa: E501
ANY_COMMAND = {
    "commands": """
any ls | wc -l
any find . -type f | wc -l
any ls | head -{n}
any ls *.py
any cat {file}
any wc {file}
any echo one two three | wc -w
any seq {n} 6
any seq 1 {n} | paste -sd+
any printf 'b\\na\\nc\\n' | sort
any echo hello | tr a-z A-Z
any basename {file}
any expr {n} + 5
any echo $(( 7 * {n} ))
any printf '%05d\\n' {n}
any for i in 1 2 3; do echo $((i * {n})); done
any test -f {file} && echo yes
any python3 -c "print(2 ** {n}0)"
prose grep -n the {file}
prose grep -i the {file} | wc -l
prose head -{n} {file} | wc -w
prose cut -c1-10 {file}
prose tr ' ' '\\n' < {file} | sort | uniq | wc -l
prose sed -n {n}p {file}
prose sed 's/the/THE/g' {file}
words sort {file} | head -{n}
words sort {file} | uniq -c
words sort {file} | uniq | tail -1
words sed -n 2,{n}p {file}
words grep -c a {file}
words head -1 {file} | rev
words awk '{print NR, $1}' {file}
words awk 'length($1) > 5' {file}
numbers sort -n {file} | head -{n}
numbers sort -nr {file} | head -{n}
numbers awk '$1 > 100' {file}
numbers awk '{print $1 * 2}' {file}
numbers paste -sd+ {file}
csv cut -d, -f1 {file}
csv cut -d, -f2 {file} | tail -n +2
csv awk -F, 'NR > 1 && $2 > 50 {print $1}' {file}
csv tail -n +2 {file} | sort
csv head -1 {file}
csv sort -t, -k2 -n {file}
csv tail -n +2 {file} | wc -l
""",
    "orders": """
run {command}
run `{command}`
run: {command}
execute {command}
execute `{command}` and show me the output
what does `{command}` print?
what is the output of `{command}` here?
please run this: {command}
$ {command}
{command}
can you run `{command}` and tell me what comes out
I want to see the result of `{command}`
type {command} and tell me the output
try `{command}`
what do I get from `{command}`?
""",
}
ONE_LINERS = """
python3 -c "print({n}{m} * {m})" || use python to calculate {n}{m} * {m} || let python compute {n}{m} times {m} || {n}{m} * {m} with python3 -c please
python3 -c "print(2 ** {n})" || what is 2 to the power of {n}? use python || compute 2**{n} with python
python3 -c "print('{w}'[::-1])" || reverse the word {w} with python || use python3 -c to turn '{w}' around
python3 -c "print(len('{w}'))" || let python count the letters of {w} || how long is '{w}'? ask python
python3 -c "print({n}000 / {d})" || divide {n}000 by {d} with python || {n}000 / {d}, use python
python3 -c "print(hex({n}{d}))" || convert {n}{d} to hex with python || hex of {n}{d}? use python
python3 -c "print(bin({n}))" || {n} in binary, let python do it || use python to convert {n} to binary
python3 -c "print(sum(range(1, {n}{d} + 1)))" || sum of the numbers from 1 to {n}{d}, with python || use python to add up 1 to {n}{d}
python3 -c "print('{w}'.count('e'))" || count the letter e in {w} with python || how many e are in '{w}'? check with python
python3 -c "print({n}{m} % {d})" || remainder of {n}{m} divided by {d}? use python || {n}{m} mod {d} with python
python3 -c "import math; print(round(math.sqrt({n}{m}), 3))" || square root of {n}{m} with python || use python for sqrt({n}{m})
echo $(( {n} * {m} + {d} )) || use the shell to compute {n} * {m} + {d} || let bash calculate {n} * {m} + {d}
echo {w} | wc -c || pipe {w} into wc -c || run echo {w} | wc -c
seq -s ' ' 1 {d} || print the numbers 1 to {d} with seq || use seq to count to {d}
printf '%s\\n' {w} tea oak | sort || sort the words {w}, tea and oak with the shell || use sort on the words {w}, tea, oak
"""  # noqa: E501
VERSIONS = """
python3 --version || The Python version is {last}. || which python version is installed? || python version? || what version of python do I have || python3 --version || which python is on this computer? || tell me the installed Python version || is python installed and which version? || check the python version please || what Python do we run here || welche Python-Version ist installiert?
python3 --version || The Python version is {last}. || which Python is on this computer, I mean the version number || Which python do I have? The number of the version || is it python 3.10 or 3.11 or something else here? || how new is my python? || what is the exact version of Python here? || my teacher asks which python we have installed || do I have Python 3.8 or newer? || I need to know the python version for a bug report || quelle version de python est installée ? || ¿qué versión de python tengo? || show the version of python, not a file || tell me the python version on this machine
python3 --version || The Python version is {last}. || run python3 --version || python3 -V please || what does python3 --version say? || can you look up which python3 this is? || version number of python3, please || what number does the installed Python have?
git --version || The git version is {last}. || which git version is installed? || git version? || git --version || what version of git do I have here || is git installed? which version?
git --version || The git version is {last}. || which git is on this computer (I mean the version number)? || how old is my git? || what is the version of git here || what does git --version print? || I need the git version for support || welche git Version habe ich? || quelle version de git ai-je ? || qué versión de git hay aquí || check which git this is, the number please || is my git newer than 2.20?
node --version || The Node version is {out}. || which node version is installed? || node version? || what version of node do I have? || which Node.js is on this machine, I mean the number || is node installed, and which version? || node --version || how new is my node? || welche Node-Version läuft hier? || version of nodejs please
java -version 2>&1 | head -1 || {out} || which java version is installed? || java version? || what Java do I have here, I mean the version || is java there, which version? || version of java on this computer
gcc --version | head -1 || {out} || which gcc version is installed? || version of gcc? || which C compiler is here, and which version? || gcc version please || how new is gcc on this machine?
perl -e 'print "$^V\\n"' || The Perl version is {out}. || which perl version is installed? || perl version? || what version of perl is on this machine
sqlite3 --version | cut -d' ' -f1 || The SQLite version is {out}. || which sqlite3 is installed? || version of the sqlite3 program?
make --version | head -1 || {out} is installed. || which make is installed? || version of make? || is make there, and which version?
bash --version | head -1 || {out} || which bash version is this? || version of bash? || bash version please || which bash do I have, I mean the version number || what bash is installed here? || how old is the bash on this computer? || bash --version
sed --version | head -1 || {out} is installed. || which sed is this? || version of sed? || sed version please
curl --version | head -1 | cut -d' ' -f1,2 || {out} is installed. || which curl is installed? || curl version? || version number of curl please
pip3 --version | cut -d' ' -f2 || The pip version is {out}. || which pip version do I have? || pip version? || version of pip please
nproc || This machine has {out} processors. || how many processors has this machine? || number of CPU cores? || nproc
python3 -c "import sqlite3; print(sqlite3.sqlite_version)" || The SQLite version is {last}. || which sqlite version does my python have? || sqlite version in python?
python3 -c "import sys; print(sys.version_info.major)" || The major version of Python is {last}. || is this python 2 or 3? || major version of python here?
uname -s || The system is {last}. || which operating system is this? || what OS runs here? use uname || uname -s || am I on linux or mac?
pwd || The current folder is {out}. || in which folder are we? || pwd || what is the current directory? || where am I? show me the path || print the working directory
ls | wc -l || Number of entries in this folder: {last}. || how many entries has this folder? use ls and wc || ls | wc -l || count what is in this folder with a command
"""  # noqa: E501
SYNTAX = """
check the syntax of {file}
is the syntax of {file} ok?
does {file} compile?
is {file} valid python?
can {file} be compiled? don't run it
syntax check for {file} please
py_compile {file}, any error?
check {file} for syntax errors without running it
are there syntax errors in {file}?
verify that {file} is correct Python
"""
MAKE = {
    "targets": """
build = echo "built {word}"
test = echo "{n} tests passed"
clean = echo "removed {n} files"
hello = echo "hello {word}"
docs = echo "{n} pages written"
lint = echo "no problems in {n} files"
report = echo "report for {word} ready"
count = echo {n}
list = echo "{word}, oak, tea"
check = echo "check ok: {word}"
version = echo "{n}.0.1"
""",
    "orders": """
make {target}
run make {target}
run the target {target} of the Makefile
what does make {target} print?
execute make {target} and tell me what comes out
please call make {target}
output of make {target}?
use make to run {target}
can you make {target} and tell me the result
""",
}
FILE_WORK = """
= cp {file} {new} || Copied {file} to {new}.
copy {file} to {new}
make a copy of {file} called {new}
duplicate {file} as {new}
I need a copy of {file} named {new}, keep the original
cp {file} {new}
please copy {file} under the name {new}
save a copy of {file} as {new}

= mv {file} {new} || Renamed {file} to {new}.
rename {file} to {new}
please rename {file}, it should be called {new}
{file} should have the name {new}
mv {file} {new}
give {file} the new name {new}
change the name of the file {file} to {new}
call the file {file} {new} from now on

= mv {file} {dir}/ || Moved {file} to {dir}/.
move {file} into {dir}
move {file} to the folder {dir}
put the file {file} into the {dir} folder
{file} belongs into {dir}, move it
please move {file} to {dir}/
mv {file} {dir}/

= cp {file} {dir}/ || Copied {file} to {dir}/.
copy {file} into the folder {dir}
put a copy of {file} into {dir}
copy {file} to {dir}/
I want {file} also in {dir}, copy it there

= rm {file} || Deleted {file}.
delete {file}
delete the file {file}
remove the file {file} please
rm {file}
I don't need {file} any more, delete it
get rid of {file}
throw {file} away
please erase {file}
lösche {file}
supprime {file}
borra el archivo {file}

= mkdir -p {dir} || Created the folder {dir}.
make a folder {dir}
create a directory called {dir}
mkdir {dir}
new folder {dir} please
I need an empty folder named {dir}
create a subfolder {dir} here

= mkdir -p {dir} && mv {file} {dir}/ || Created the folder {dir} and moved {file} into it.
make a folder {dir} and move {file} into it
create a new folder {dir}, {file} goes in there
put {file} into a new folder called {dir}
move {file} to a new directory {dir}
"""
