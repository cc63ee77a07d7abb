"""First prompts of conversations and their titles."""

ORDERS = """
add {it} = Add {it}
please add {it} = Add {it}
can you write {it} for me? = Write {it}
write {it} = Write {it}
I need {it} = Write {it}
create {it} = Create {it}
make {it} please = Create {it}
could you create {it}? = Create {it}
fix {it} = Fix {it}
there is something wrong with {it}, please fix it = Fix {it}
{it} does not work any more, can you look at it? = Fix {it}
{it} is broken = Fix {it}
update {it} = Update {it}
please bring {it} up to date = Update {it}
change {it} as we said = Change {it}
I want you to change {it} = Change {it}
clean up {it} = Clean up {it}
please tidy {it} = Clean up {it}
rename {it} = Rename {it}
find a better name for {it} = Rename {it}
remove {it} = Remove {it}
get rid of {it} = Remove {it}
delete {it}, nobody needs that = Delete {it}
explain {it} = Explain {it}
explain {it} to me, I do not understand it = Explain {it}
how does {it} work? = Explain {it}
what is {it} for? = Purpose of {it}
where is {it}? = Find {it}
find {it} = Find {it}
I cannot find {it}, search it please = Find {it}
show me {it} = Show {it}
let me see {it} = Show {it}
print {it} = Show {it}
check {it} = Check {it}
please check {it} for mistakes = Check {it}
have a look at {it} and tell me if it is ok = Check {it}
review {it} = Review {it}
improve {it} = Improve {it}
make {it} better = Improve {it}
make {it} shorter = Shorten {it}
shorten {it}, it is much too long = Shorten {it}
translate {it} into German = Translate {it} into German
translate {it} into French please = Translate {it} into French
I need {it} in Spanish = Translate {it} into Spanish
sum up {it} = Summary of {it}
summarise {it} in three sentences = Summary of {it}
what does {it} say? give me the short version = Summary of {it}
test {it} = Test {it}
write tests for {it} = Tests for {it}
{it} needs tests = Tests for {it}
document {it} = Document {it}
write a comment for {it} = Document {it}
sort {it} = Sort {it}
put {it} in alphabetical order = Sort {it}
count the lines of {it} = Count lines of {it}
how long is {it}? = Length of {it}
compare {it} with the old one = Compare {it}
what changed in {it}? = Changes in {it}
who changed {it} last? = Last change of {it}
make a copy of {it} = Copy {it}
back up {it} = Backup of {it}
move {it} to the archive = Move {it} to archive
speed up {it}, it takes minutes = Speed up {it}
why is {it} so slow? = Speed of {it}
format {it} = Format {it}
reformat {it} please, the indentation is a mess = Format {it}
list all mistakes in {it} = Mistakes in {it}
plan {it} with me = Plan {it}
let us think about {it} = Ideas for {it}
give me ideas for {it} = Ideas for {it}
finish {it} = Finish {it}
I started {it}, continue please = Continue {it}
convert {it} to PDF = Convert {it} to PDF
turn {it} into a table = Table from {it}
print the total of {it} = Total of {it}
"""
FILES = """
config.toml
app.py
main.rs
index.html
style.css
README.md
package.json
server.go
notes.md
budget.csv
invoice_12.txt
src/parser.py
tests/test_login.py
docs/setup.md
Makefile
lib/date.ts
Game.java
query.sql
deploy.sh
menu.json
songs.txt
players.yaml
report.tex
refs.bib
subtitles.srt
schema.prisma
Dockerfile
.gitignore
utils.js
theme.scss
calendar.ics
prices.xlsx
translations/fr.json
hero.cpp
sensor_log.txt
"""
TOPICS = """
the login page
the date function
the guest list
the shopping list
the invoice template
a packing list for Norway
the recipe for lentil soup
the recipe for apple cake
the price list
the contact form
a backup script
a script that renames photos = photo renaming script
a function that reverses a list = list reversal function
the function that parses dates = date parser
a unit test for the parser = parser unit test
the search box
the dark theme
the error messages
the score counter
the high score table
the jump of the player = player jump
the enemy speed
the timetable of class 7b = timetable of class 7b
the quiz about planets
the letter to the parents
the report of the meeting
the minutes of Tuesday
my travel plan for Portugal
the itinerary for Japan
the bibliography
the abstract
the second chapter
the poem about rain
the setlist
the chord chart
the song lyrics
the tempo table
the sensor readings
the temperature log
the alarm limit
the wiring notes
the budget for 2025
the sum of the expenses = expense total
the tax column
the customer table
the order export
the opening hours
the phone number of the shop = shop phone number
the newsletter text
the footer
the navigation menu
the privacy page
the database schema
the SQL query for late orders = late order query
the API client
the retry logic
the timeout setting
the port number
the logging
the cron job
the deployment script
the release notes
the changelog
the version number
the unused imports
the TODO comments
the type hints
the memory leak
the off-by-one error
the rounding of prices = price rounding
the sorting of names = name sorting
the CSV import
the JSON export
the email check
the password check
the upload form
the image gallery
the map of the park
the garden plan
the watering schedule
the seed list
the training plan
the running log
the match results
the league table
the player statistics
the member list
the birthday calendar
the seating plan
the wedding speech
the job application
the CV
the rental contract
the complaint to the railway = railway complaint
the thank-you card
the crossword
the vocabulary list
the grammar exercise
the lab report
the essay on democracy
the history slides
the thesis outline
the reading list
the film list
the subtitles
the audio notes
the inventory
the stock list of the cellar = cellar stock list
the cleaning roster
the bus times
the mileage sheet
the fuel table
"""
QUESTIONS = """
what is the capital of Norway? | capital of Norway? | which city is Norway's capital = Capital of Norway
what is 17 + 25? | 17 plus 25? | how much is 17+25 = Sum of 17 and 25
how do I list files by date? | command to list files by date? | ls sorted by time, how? = List files by date
how do I undo my last commit? | undo last git commit, how | git: take back the last commit = Undo last git commit
what is a compiler? | explain compilers to me | compiler? = Meaning of compiler
what is recursion? | explain recursion with an example = Explanation of recursion
what is the difference between a list and a tuple? | list vs tuple in python = List and tuple in Python
how do I center a div? | center a div with css, how? = Center a div
convert 30 C to F | 30 degrees celsius in fahrenheit? = 30 C in Fahrenheit
how many days has a leap year? | leap year days = Days of a leap year
who wrote Faust? | author of Faust? = Author of Faust
which port does the server use? | on what port does the app listen = Port of the server
which license does this project have? | what's the license here = License of the project
how many python files are here? | count the .py files = Number of Python files
which files are in this folder? | list the files | what is here? | ls = Files in this folder
what is the largest file? | which file is the biggest here = Largest file
where is the function total defined? | find the definition of total = Definition of total
which branch am I on? | current git branch? = Current git branch
what did I change? | git status please | anything uncommitted? = Uncommitted changes
what was the last commit? | show the last commit = Last commit
do the tests pass? | run the tests | are all tests green? = Test run
which python version is installed? | python version? = Python version
what does this project do? | what is this repository about? | explain the project = Purpose of the project
how much is the soup? | price of the soup in the menu? = Price of the soup
when does the train leave? | departure time in my plan? = Departure time
who is the captain of the blue team? | captain of team blue? = Captain of blue team
how many guests are coming? | number of guests in guests.csv = Number of guests
which song has the key of G? | songs in G major? = Songs in G
what is the total of the invoice? | sum of invoice 12? = Invoice total
when is the deadline? | until when must it be done, see plan.md = Deadline
how many TODOs are left? | where are still TODOs? = Open TODOs
what does the error 404 mean? | my page shows 404, why = Meaning of error 404
why is my script so slow? | my python script takes ages = Slow Python script
how do I exit vim? | I am stuck in vim = Exit vim
how do I make a virtual environment? | python venv, how does it go = Python virtual environment
what is the meaning of chmod 644? | explain chmod 644 = Meaning of chmod 644
how can I resize 200 photos at once? | batch resize photos on linux = Resize many photos
what should I cook tonight with leeks and eggs? | dinner idea with leeks and eggs = Dinner with leeks and eggs
how do I get coffee out of a shirt? | coffee stain on a white shirt = Coffee stain
how long must beans be soaked? | soaking time of dried beans = Soaking time of beans
what is the best time to plant tulips? | when do I plant tulips = When to plant tulips
what is a good name for a boat? | name for my sailing boat please = Name for a boat
how far is the moon? | distance to the moon = Distance to the Moon
how do tides work? | why is there ebb and flow = How tides work
what does rendez-vous mean? | meaning of rendez-vous? = Meaning of rendez-vous
how do you say thank you in Japanese? | thank you in japanese? = Thank you in Japanese
what is the plural of octopus? | octopuses or octopi? = Plural of octopus
how do I write a formal letter? | start of a formal letter? = Formal letter
which chords fit to C major? | chords for a song in c = Chords in C major
what is the offside rule? | explain offside to me = Offside rule
how do I calculate the VAT? | 20% VAT on a net price, how = Calculating VAT
what is the half of 86? | 86 divided by two = Half of 86
is Pluto a planet? | pluto still a planet or not = Pluto as a planet
how do I open a port in the firewall? | ufw open port 8080 = Open a firewall port
how do I schedule a job every night? | cron job at 3 am, syntax? = Nightly cron job
how do I read a JSON file in Python? | python read json = Read JSON in Python
how do I sort a dict by value? | sort python dictionary by value = Sort dictionary by value
what is the difference between merge and rebase? | merge or rebase? = Merge and rebase
why do I get a merge conflict? | git says conflict in app.py, what now = Merge conflict in git
how do I make the player jump higher? | jump height in my game = Jump height of the player
which readings were above 40 degrees? | sensor values over 40? = Readings above 40 degrees
where do we use the old API? | find all calls of the old api = Uses of the old API
can you delete the log files? | all *.log away please = Delete log files
can you build me a web shop? | full online shop with payment = Web shop
port my project to Rust | translate the whole code base to rust = Port project to Rust
I want to learn Python, where do I start? | learn python as a beginner = Learning Python
what can you do? | how can you help me | help = Bridle's abilities
who are you? | what are you | your name? = Who Bridle is
tell me a joke | another joke please | joke = A joke
write a haiku about the sea | haiku, topic sea = Haiku about the sea
I am sad today | I feel down | not a good day = Feeling sad
which mark did Felix get? | what was the grade of Felix in the test = Felix's mark
add milk and eggs to the shopping list | shopping list: milk and eggs too = Add milk and eggs to list
set the timeout to 30 seconds | timeout = 30 please | raise the timeout to 30 s = Set timeout to 30 seconds
bump the version to 2.1.0 | new version 2.1.0 in all files | set version 2.1.0 = Version 2.1.0
rename getUser to fetchUser | getUser should be called fetchUser everywhere = Rename getUser to fetchUser
replace tabs by spaces in all files | tabs -> spaces = Tabs to spaces
remove the debug prints | delete all the print lines I used for debugging = Remove debug prints
make the title blue | the heading should be blue = Blue title
add a dark mode to the page | dark mode please = Dark mode
translate the menu into French | menu in french for our guests = French menu
correct the spelling in letter.txt | typos in letter.txt, fix them = Spelling in letter.txt
write a function that checks leap years | leap year function in JS = Leap year function
make a script that counts words | word count script please = Word count script
write a Makefile with build and test | makefile: build, test = Makefile with build and test
print the first ten primes | program for ten primes = First ten primes
sum up the column amount in sales.csv | total of amount in sales.csv = Sum of sales amounts
commit everything | commit all with a good message = Commit all changes
make a branch for the new menu | new branch new-menu = New branch
undo that | take it back | revert your last change = Undo last change
"""  # noqa: E501
TALK = """
hi | hello | hey | hello there | good morning | hi bridle | yo | good evening | hey there! = Greeting
thanks | thank you very much | thx | cheers = Thanks
bye | see you | good night = Goodbye
how are you? | how is it going | everything fine? = Greeting
test | testing | ping | is this on? = Test
asdf | ?? | ... | hm | x = Unclear request
fix it | do it | help me with this | it does not work = Unclear request
ok | okay | fine = Short answer
"""
LOGS = """
= why does this fail? | what is wrong here? | can you explain the error? | I get this since today: = Division by zero error
Traceback (most recent call last):
  File "<name>.py", line <n>, in <module>
    print(total / count)
ZeroDivisionError: division by zero

= what does this mean? | help, it crashes: | please fix that | see below, any idea? = KeyError in <name>.py
Traceback (most recent call last):
  File "<name>.py", line <n>, in load
    price = prices["tea"]
KeyError: 'tea'

= the import fails | why can't it find the module? | I installed it, but: = Missing Python module
Traceback (most recent call last):
  File "<name>.py", line <n>, in <module>
    import requests
ModuleNotFoundError: No module named 'requests'

= npm gives me this | what should I do? | start does not work = Missing npm script
npm ERR! missing script: start
npm ERR! A complete log of this run can be found in the npm folder.

= push is rejected, why? | git does not let me push | what now? = Rejected git push
 ! [rejected]        main -> main (fetch first)
error: failed to push some refs to 'origin'
hint: Updates were rejected because the remote contains work that you do not have locally.

= I cannot log in to the server | ssh problem, see here: | why? = SSH permission denied
debug1: Trying private key: /home/ann/.ssh/id_ed25519
ann@server: Permission denied (publickey).

= one test is red, please have a look | fix the test | the tests fail since yesterday: = Failing test in <name>
FAIL: test_total (<name>.TestTotal)
AssertionError: <n> != 12
Ran 4 tests in 0.002s

= what does this function do? | explain this code | I found this, what is it for? = Explain a factorial function
def f(n):
    if n < 2:
        return 1
    return n * f(n - 1)

= can this be written shorter? | make this nicer | simplify please = Simplify a loop
result = []
for x in numbers:
    if x > <n>:
        result.append(x * 2)

= why is this query slow? | speed up this query | the database hangs with this: = Slow SQL query
SELECT * FROM orders o JOIN customers c ON c.id = o.customer_id WHERE c.name LIKE '%berg%' ORDER BY o.date

= the server log is full of this, what happens? | is this bad? | what do these lines say? = Server timeouts
2025-03-0<n> 10:12:44 WARN request to /api/items took 3<n>00 ms
2025-03-0<n> 10:12:51 ERROR upstream timed out
2025-03-0<n> 10:13:02 ERROR upstream timed out

= the compiler complains, why? | rust does not accept this | how do I fix that? = Rust move error
error[E0382]: borrow of moved value: `name`
 --> src/main.rs:<n>:20
  |
  |     println!("{}", name);
  |                    ^^^^ value borrowed here after move

= my page does not show the picture | what is wrong in my html? | see code = Picture missing in HTML
<div class="hero">
  <img scr="photo<n>.jpg" alt="the sea">
</div>

= translate this for me | what does the letter say? | I got this letter, please sum it up = Letter from the landlord
Dear tenant,
from 1 May on the rent will be <n> euros higher. The reason is the new heating.
Please tell us until 15 April whether you agree.

= please make a shopping list from it | what do I need to buy for this? = Shopping list for pancakes
Pancakes for <n> people: 250 g flour, 4 eggs, half a litre of milk, a pinch of salt. Mix, wait, fry.

= is this JSON valid? | why is my config not accepted? | find the mistake = Invalid JSON config
{
  "port": 80<n>,
  "debug": true,
  "hosts": ["a", "b",]
}

= disk full? | what does this output tell me | is that dangerous? = Full disk
Filesystem      Size  Used Avail Use% Mounted on
/dev/sda1        40G   39G  200M  99% /

= convert this to a markdown table | nice table please = Markdown table of players
Ana 12 points
Ben <n> points
Chloe 9 points

= what happened in this meeting? | minutes please | sum this up = Meeting summary
Rosa: the hall costs <n> euros more this year.
Omar: then we sell tickets for 12 instead of 10.
Rosa: fine, I print new posters on Monday.

= make fails | makefile problem, see here | why? = Makefile separator error
Makefile:<n>: *** missing separator.  Stop.

= it does not compile | java error, what is missing? = Java compile error
Main.java:<n>: error: ';' expected
        int total = 5
                     ^
"""  # noqa: E501
ABROAD = """
Welche Dateien sind in diesem Ordner? | Liste bitte alle Dateien auf | Was liegt hier alles? = Dateien in diesem Ordner
Ändere den Port auf 9000 | Der Port soll 9000 sein | Stell bitte den Port auf 9000 = Port 9000
Schreib mir einen Brief an die Eltern der 7b | Ich brauche einen Elternbrief = Brief an die Eltern
Erkläre mir diese Funktion | Was macht die Funktion summe? = Erklärung einer Funktion
Übersetze die Speisekarte ins Englische | Speisekarte auf Englisch bitte = Speisekarte auf Englisch
Warum schlägt der Test fehl? | Ein Test ist rot, warum? = Fehlschlagender Test
Wie lautet die Rechnungsnummer? | Welche Nummer hat die Rechnung? = Rechnungsnummer
Hallo | Guten Morgen | Moin | Servus = Begrüßung
Danke schön | Vielen Dank! = Dank
Was kannst du alles? | Wobei hilfst du mir? = Fähigkeiten von Bridle
Lösche die alten Sicherungen | Weg mit den alten Backups = Alte Sicherungen löschen
Füge Milch zur Einkaufsliste hinzu | Milch fehlt auf der Einkaufsliste = Milch auf die Einkaufsliste
Wie viele Schüler sind in der Liste? | Anzahl der Schüler? = Anzahl der Schüler
Was ist ein Compiler? | Erklär mir, was ein Compiler ist = Was ein Compiler ist
Mach das rückgängig | Nimm die letzte Änderung zurück = Letzte Änderung rückgängig
Quels fichiers sont dans ce dossier ? | Liste les fichiers | Qu'y a-t-il ici ? = Fichiers du dossier
Change le port en 9000 | Mets le port à 9000 = Port 9000
Écris une fonction qui additionne deux nombres | Fonction d'addition en Python = Fonction d'addition
Corrige les fautes de lettre.txt | Il y a des fautes dans lettre.txt = Fautes de lettre.txt
Traduis le menu en anglais | Le menu en anglais s'il te plaît = Menu en anglais
Quelle est la capitale du Portugal ? | Capitale du Portugal ? = Capitale du Portugal
Bonjour | Salut | Coucou = Salutation
Merci beaucoup | Merci ! = Remerciement
Que sais-tu faire ? | Comment peux-tu m'aider ? = Capacités de Bridle
Combien coûte la soupe ? | Prix de la soupe ? = Prix de la soupe
Lance les tests | Est-ce que les tests passent ? = Lancement des tests
¿Qué archivos hay en esta carpeta? | Lista los archivos | ¿Qué hay aquí? = Archivos de la carpeta
Cambia el puerto a 9000 | Pon el puerto en 9000 = Puerto 9000
Escribe un poema sobre el mar | Un poema del mar por favor = Poema sobre el mar
Corrige los errores de carta.txt | Hay faltas en carta.txt = Errores de carta.txt
Traduce el menú al inglés | El menú en inglés, por favor = Menú en inglés
¿Cuál es la capital de Perú? | capital de Perú = Capital de Perú
Hola | Buenos días | Buenas = Saludo
Muchas gracias | Gracias = Agradecimiento
¿Qué sabes hacer? | ¿Cómo me puedes ayudar? = Capacidades de Bridle
¿Cuánto cuesta la sopa? | Precio de la sopa = Precio de la sopa
Ejecuta las pruebas | ¿Pasan las pruebas? = Ejecución de las pruebas
Suma la columna total de ventas.csv | Total de ventas.csv = Total de ventas.csv
"""  # noqa: E501
