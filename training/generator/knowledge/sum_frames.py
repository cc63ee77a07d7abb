# ruff: noqa: E501
"""Ways to ask for sums."""

PLAIN = {
    "typed": """
{sum}
{sum}?
{sum} =
{sum} = ?
what is {sum}
what is {sum}?
what's {sum}?
what makes {sum}?
what does {sum} make?
what does {sum} give?
what does {sum} equal?
how much is {sum}?
how much makes {sum}
how much (does|would) {sum} make?
(calculate|compute|work out|figure out|solve|evaluate) {sum}
(can|could) you (calculate|compute|work out|solve) {sum} (for me|)?
(tell me|give me|say) {sum}
(the|) (result|answer|solution|value) of {sum} (please|)?
(quick|simple|short|little) (sum|maths|calculation): {sum}
(quickly|quick): {sum}?
I (need|want) {sum}
do you know (what|) {sum} (is|)?
{sum} (makes|is|equals|gives) (what|how much)?
(in my head I get stuck|I am bad at maths|my calculator is broken|no calculator here): {sum}?
my (son|daughter|pupil|child) asks (what|how much) {sum} is
is {sum} hard? what is it?
help me with {sum}
(no file, just|only) a sum: {sum}
""",
    "+": """
what is {a} (plus|and) {b}?
what (makes|do) {a} (and|plus) {b} (make|)?
{a} plus {b}
{a} (plus|and) {b} (is|makes|gives) (what|how much)?
{a} and {b} together
{a} and {b} together?
how much (is|are|do) {a} and {b} together?
(add|sum) {a} and {b}
add {b} to {a}
(add up|sum up) {a} and {b}
the sum of {a} and {b}
what is the sum of {a} and {b}?
what's the total of {a} and {b}?
(total|sum) of {a} and {b}?
if I add {a} and {b}, (what do I get|how much is it)?
I have {a} and get {b} more, how many is that?
{a} (increased by|raised by) {b}?
{a} more than {b} is what?
what number is {b} more than {a}?
count {a} and {b} together
{a} with {b} more
first {a}, then {b} more. total?
""",
    "-": """
what is {a} (minus|less|take away) {b}?
{a} (minus|less|take away) {b}
{a} minus {b} (is|makes|gives) (what|how much)?
(subtract|deduct) {b} from {a}
take {b} (away|) from {a}
the difference (between|of) {a} and {b}
what is the difference between {a} and {b}?
what is left of {a} (when|if) I take away {b}?
{a} (reduced|lowered) by {b}?
I have {a} and give away {b}, how many are left?
how much is missing from {b} to {a}?
what must I add to {b} to get {a}?
how many more is {a} than {b}?
{b} less than {a} is what?
what number is {b} less than {a}?
how far is it from {b} to {a}?
from {a} I take {b}, what remains?
""",
    "*": """
what is {a} (times|multiplied by) {b}?
{a} times {b}
{a} times {b} (is|makes|gives) (what|how much)?
(multiply|take) {a} (by|times) {b}
the product of {a} and {b}
what is the product of {a} and {b}?
how much is {a} times {b}?
{a} (groups|packs|boxes|rows) of {b} (make|are) how many?
{a} (bags|boxes|shelves) with {b} each, how many is that?
{b} each for {a} people, how many in total?
{a} multiplied (with|by) {b}
what do {a} times {b} make?
""",
    "/": """
what is {a} divided by {b}?
{a} divided by {b}
divide {a} by {b}
(split|share) {a} (between|among) {b}, how (much|many) each?
how (often|many times) does {b} (fit into|go into) {a}?
{a} over {b}?
{a} split into {b} equal parts?
{a} shared by {b} is how much (each|)?
what do I get when I divide {a} by {b}?
{a} (sweets|coins|cards) for {b} (children|players), how many each?
""",
}
MORE = """
and {sum}?
(and|now|then) {sum}
what about {sum}?
{sum}?
ok, and {sum}?
next: {sum}
(thanks,|good,|great,) and {sum}?
and how much is {sum}?
"""
DRILL = """
(calculate|compute|solve|work out) (these|this|the following|all of these|them):
(please|) (solve|calculate) (these|all these) sums:
what are (these|the results):
(some|a few|several) sums (for me|please|):
(my|the) homework, please solve:
(can|could) you do these:
(results|answers) (please|for):
(maths|math) (drill|quiz|practice|test):
check my head: what are
how much is
mental arithmetic:
give me the results of
I need these:
what is
fill in the results:
"""
TABLE = """
(the|) {n} times table (please|)
(write|say|show me|give me) the {n} times table
(what is|how goes) the {n} times table?
multiplication table of {n}
(can you|please) (list|write) the multiples of {n} up to ten times {n}
{n} times 1 to {n} times 10
(list|show) the times table for {n}
my (son|daughter) learns the {n} times table, show it
the row of {n} from 1 to 10 (multiplied|times)
"""
LONG = """
{sum}
{sum}?
{sum} = ?
what is {sum}?
how much is {sum}?
(add|sum) (up|) {list}
the sum of {list}
total of {list}?
(what do|how much do) {list} make together?
(calculate|compute) {sum}
I have {list}, how much is it (together|in total)?
(please|) add these numbers: {list}
{list} - all together?
"""
AVERAGE = """
(what is|) the (average|mean) of {list}?
average of {list}
(calculate|compute) the (average|mean) of {list}
mean of {list} please
what do {list} average to?
how much is {list} on average?
my marks are {list}, what is the average?
(find|give me) the (average|mean) of these numbers: {list}
"""
BILL = """
{n} (coffees|teas|rolls|pens|tickets|stamps|apples|cards|beers|cakes) at {price} each, how much is it?
{n} times {price}
one (coffee|ticket|bottle|book|kilo) costs {price}, what (do|are) {n} (cost|)?
what do I pay for {n} (at|when one costs) {price}?
{n} x {price} = ?
(how much|what) is {n} times {price}?
{n} pieces at {price} euros, what is the total?
I sell {n} for {price} each. how much do I get?
"""
CHANGE = """
I pay with {paid} euros and it costs {cost}, how much change (do I get|is it)?
(change|rest) from {paid} for {cost}?
what do I get back from {paid} (if|when) it costs {cost}?
{paid} minus {cost}?
{paid} - {cost}
the customer gives me {paid}, the price is {cost}. what do I give back?
bill {cost}, I hand over {paid}, (how much back|change)?
"""
TOGETHER = """
{a} + {b}
{a} plus {b}?
(what|how much) is {a} plus {b}?
(add|sum up) {a} and {b}
{a} and {b} together?
the soup is {a} and the main course {b}, (what do I pay|how much together)?
one item {a}, the other {b}, total?
"""
SPAN = """
how long is it from {start} to {end}?
how (much time|long) is (it|) between {start} and {end}?
(the|my) (lesson|meeting|film|rehearsal|shift|train ride|concert) goes from {start} to {end}, how long is that?
from {start} until {end}, how long?
I (worked|slept|practised|ran) from {start} to {end}. how long was that?
start {start}, end {end}: duration?
{start} to {end} is how long?
"""
PART_OF = """
what percentage is {a} of {b}?
{a} of {b} in percent?
{a} out of {b}, (how many|what) percent is that?
how many per cent is {a} of {b}?
{a} of {b} is what percentage?
I got {a} of {b} points, what is that in percent?
{a} out of {b} people came, percent?
"""
FRACTIONS = [
    (3, 4, "three quarters"),
    (2, 3, "two thirds"),
    (1, 5, "a fifth"),
    (2, 5, "two fifths"),
    (1, 10, "a tenth"),
    (1, 8, "an eighth"),
    (1, 3, "a third"),
    (1, 4, "a quarter"),
    (1, 2, "one half"),
    (3, 5, "three fifths"),
]
RECTANGLE = {
    "area": """
a room of {a} by {b} metres, what is its area?
area of a {a} x {b} m (rectangle|garden|room|wall)?
how many square metres (is|has) a (room|garden|field|flat) of {a} m by {b} m?
the (wall|floor|plot) is {a} m long and {b} m (high|wide), how many square metres?
""",
    "perimeter": """
perimeter of a rectangle with {a} m and {b} m?
a garden is {a} m by {b} m, how long is the fence around it?
what is the perimeter of a {a} m by {b} m (field|room|rectangle)?
""",
}
SPEED = """
I (ride|drive|go) {v} km per hour for {t} hours, how far do I get?
at {v} km/h, how far in {t} hours?
{t} hours at {v} km/h, how many kilometres?
how far is {t} hours with {v} km an hour?
"""
ABROAD = {
    "de": {
        "+": """
was ist {a} plus {b}?
wie viel ist {a} plus {b}?
was ergibt {a} plus {b}?
was macht {a} und {b}?
{a} und {b} zusammen?
addiere {a} und {b}
rechne {a} plus {b}
die Summe von {a} und {b}?
""",
        "-": """
was ist {a} minus {b}?
wie viel ist {a} minus {b}?
zieh {b} von {a} ab
rechne bitte {a} minus {b}
was bleibt von {a}, wenn ich {b} wegnehme?
die Differenz von {a} und {b}?
""",
        "*": """
was ist {a} mal {b}?
wie viel ist {a} mal {b}?
rechne {a} mal {b}
multipliziere {a} mit {b}
das Produkt von {a} und {b}?
""",
        "/": """
was ist {a} geteilt durch {b}?
wie viel ist {a} durch {b}?
teile {a} durch {b}
wie oft passt {b} in {a}?
""",
    },
    "fr": {
        "+": """
combien font {a} plus {b} ?
combien fait {a} plus {b} ?
{a} plus {b} ?
ajoute {a} et {b}
la somme de {a} et {b} ?
calcule {a} plus {b}
""",
        "-": """
combien font {a} moins {b} ?
{a} moins {b} ?
calcule {a} moins {b}
la différence entre {a} et {b} ?
que reste-t-il de {a} si j'enlève {b} ?
""",
        "*": """
combien font {a} fois {b} ?
{a} fois {b} ?
calcule {a} fois {b}
multiplie {a} par {b}
le produit de {a} et {b} ?
""",
        "/": """
combien font {a} divisé par {b} ?
{a} divisé par {b} ?
divise {a} par {b}
""",
    },
    "es": {
        "+": """
¿cuánto es {a} más {b}?
¿cuánto son {a} más {b}?
suma {a} y {b}
la suma de {a} y {b}
calcula {a} más {b}
{a} más {b}?
""",
        "-": """
¿cuánto es {a} menos {b}?
{a} menos {b}?
resta {b} de {a}
calcula {a} menos {b}
¿cuánto queda de {a} si quito {b}?
""",
        "*": """
¿cuánto es {a} por {b}?
{a} por {b}?
multiplica {a} por {b}
calcula {a} por {b}
""",
        "/": """
¿cuánto es {a} entre {b}?
{a} dividido entre {b}?
divide {a} entre {b}
""",
    },
    "it": {
        "+": """
quanto fa {a} più {b}?
{a} più {b}?
somma {a} e {b}
calcola {a} più {b}
la somma di {a} e {b}?
""",
        "-": """
quanto fa {a} meno {b}?
{a} meno {b}?
sottrai {b} da {a}
calcola {a} meno {b}
""",
        "*": """
quanto fa {a} per {b}?
{a} per {b}?
moltiplica {a} per {b}
""",
        "/": """
quanto fa {a} diviso {b}?
{a} diviso {b}?
dividi {a} per {b}
""",
    },
}
