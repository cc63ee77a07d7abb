"""Tables for editable files: settings and facts by domain, lists by topic, tables by column, lines of text.

In every text `~kind~` stands for a value that `training.generator.sources.value` makes up.
"""

# `# domain; file names`, then `[section]`, then `key; kind of value; how people call it | another name`.
SETTINGS = """
# web server; server, app, web, httpd, gateway
[server]
host; host; host | host name | address it binds to
port; port; port | port number | port it listens on
workers; int 1 16; number of workers | worker count | workers
timeout; int 5 120; timeout | request timeout
[logging]
level; pick debug/info/warning/error; log level | logging level | verbosity
file; path log; log file | path of the log
rotate_days; int 1 60; days until the logs rotate | log rotation
[cache]
enabled; bool; cache
ttl; int 10 900; cache lifetime | ttl | time to live
timeout; int 1 9; cache timeout
# database; database, db, storage, store
[database]
host; host; database host | db host
port; port; database port | db port
user; word; database user | db user name
pool_size; int 2 40; pool size | size of the connection pool
ssl; bool; ssl | encrypted connection
[backup]
folder; path; backup folder | folder for backups
keep; int 2 30; number of backups to keep | how many backups are kept
port; port; backup port
hour; int 0 23; backup hour | hour of the backup
# game; game, settings, player, options
[window]
width; int 640 2560; window width | width
height; int 480 1440; window height | height
fullscreen; bool; fullscreen | full screen mode
[player]
name; person; player name | name of the player
lives; int 1 9; number of lives | lives
speed; float 0.5 12; player speed | walking speed
jump_force; float 4 20; jump force | jump strength
[enemy]
speed; float 0.5 12; enemy speed | speed of the enemies
lives; int 1 9; enemy lives
color; color; enemy color | colour of the enemies
[audio]
music_volume; int 0 100; music volume | how loud the music is
mute; bool; mute
# greenhouse; greenhouse, climate, sensors, thermostat
[heating]
target; float 12 26; target temperature | temperature
min; int 2 10; minimum temperature
enabled; bool; heating
[watering]
interval; int 1 48; watering interval | hours between waterings
liters; float 0.5 20; litres per watering | amount of water
start; time; start of the watering | watering time
enabled; bool; watering
[fan]
speed; int 100 3000; fan speed | speed of the fan
threshold; float 22 35; fan threshold | temperature at which the fan starts
# robot; robot, motor, firmware, arm
[motor]
max_rpm; int 200 6000; maximum rpm | top speed of the motor
gear_ratio; float 1 30; gear ratio
invert; bool; inverted motor | motor inversion
[sensor]
pin; int 2 27; sensor pin | pin of the sensor
sample_rate; int 10 4000; sample rate | sampling rate
threshold; float 0.1 5; sensor threshold
[battery]
low_voltage; float 3 12; low voltage limit | voltage at which it warns
capacity; int 400 9000; battery capacity | capacity
# training run; train, experiment, params, model
[model]
layers; int 2 48; number of layers | layers
dropout; float 0 0.6; dropout
hidden; int 32 2048; hidden size | width of the layers
[optimizer]
learning_rate; pick 0.1/0.01/0.003/0.001/0.0005/0.0001; learning rate | lr
batch_size; pick 8/16/32/64/128/256; batch size
epochs; int 2 200; number of epochs | epochs
seed; int 0 9999; random seed | seed
[data]
path; path; data path | folder of the data
shuffle; bool; shuffling | shuffle
split; pick 0.05/0.1/0.15/0.2/0.25; test split | share of test data
# feed reader; reader, feeds, podcast, newsletter
[feed]
title; name thing; feed title | title of the feed
url; url; feed url | address of the feed
refresh_minutes; int 5 240; refresh interval | minutes between refreshes
[mail]
sender; email; sender | sender address
smtp_port; pick 25/465/587/2525; smtp port | mail port
enabled; bool; mail sending | e-mail notifications
[display]
theme; pick dark/light/sepia/blue/contrast; theme | colour theme
language; pick en/de/fr/es/it/nl/pl/pt/sv/tr; language | interface language
page_size; int 5 100; page size | entries per page
# camera; camera, recorder, webcam, studio
[video]
resolution; pick 640x480/1280x720/1920x1080/2560x1440/3840x2160; resolution | video resolution
fps; pick 15/24/25/30/50/60; frame rate | fps | frames per second
codec; pick h264/h265/vp9/av1; codec | video codec
bitrate; int 500 9000; video bitrate
[audio]
sample_rate; pick 22050/32000/44100/48000/96000; sample rate
channels; int 1 8; channels | number of channels
bitrate; pick 96/128/192/256/320; audio bitrate
# shop; shop, store, billing, checkout
[shop]
name; name shop; shop name | name of the shop
currency; pick EUR/USD/CHF/GBP/SEK/PLN; currency
email; email; contact address | shop e-mail
[tax]
standard; pick 17/19/20/21/22/25; standard tax rate | normal tax | vat
reduced; pick 5/7/8/9/10/12; reduced tax rate | reduced vat
included; bool; tax included in the prices
[shipping]
fee; money; shipping fee | shipping cost
free_from; int 20 150; free shipping limit | order value for free shipping
express; bool; express shipping
# build; build, project, pipeline, ci
[project]
name; word; project name | name of the project
version; version; version | project version
author; person; author
license; pick MIT/BSD-3-Clause/Apache-2.0/ISC/GPL-3.0/MPL-2.0; license | licence
[build]
target; pick debug/release/profile; build target
jobs; int 1 32; number of jobs | parallel jobs
optimize; bool; optimization
version; int 1 40; build version
[test]
timeout; int 10 900; test timeout
retries; int 0 5; retries | number of retries
# contact; contact, about, imprint, business
[shop]
phone; phone; phone number | phone | telephone
mail; email; mail address | e-mail
street; name street; street | address
owner; person; owner
[opening hours]
weekdays; time; opening time on weekdays
saturday; time; opening time on saturday | saturday hours
sunday; pick closed/10:00/11:00/13:00; sunday hours
# event; event, party, concert, fair
[when]
date; date; date | day of the event
begin; time; start | start time | beginning
doors; time; doors | time the doors open
[where]
place; name place; place | venue | where it takes place
room; name room; room
[people]
organiser; person; organiser | person in charge
guests; int 8 180; number of guests | guests
entrance; money; entrance fee | entry price
# trip; trip, journey, travel, route
[outbound]
train; code; train | train number
departure; time; departure | departure time
platform; int 1 24; platform
seat; int 11 98; seat | seat number
[return]
train; code; return train
departure; time; return departure | time of the trip back
platform; int 1 24; return platform
[hotel]
name; name hotel; hotel
nights; int 1 14; number of nights | nights
price; money; price per night | hotel price
# specimen; sample, specimen, probe, assay
[sample]
id; code; sample id | sample number
mass; unit 1 900 mg; mass | sample mass
temperature; unit 2 95 °C; temperature | storage temperature
stored; date; storage date
[assay]
operator; person; operator | person who measures
dilution; pick 1:2/1:5/1:10/1:20/1:50/1:100; dilution
wavelength; unit 280 780 nm; wavelength
duration; unit 5 90 min; duration
# band; setlist, band, rig, session
[song]
title; name song; title | song title
tempo; int 60 190; tempo | bpm
key; pick C/D/E/F/G/A/Am/Dm/Em/Bb; key | key of the song
[rig]
amp_gain; int 0 10; gain | amp gain
reverb; unit 5 80 %; reverb
tuning; pick E A D G B E/D A D G B E/D A D F# A D; tuning
[gig]
fee; money; fee
date; date; gig date | date of the gig
# house; house, home, flat, meter
[rent]
cold; money; cold rent | rent without heating
heating; money; heating costs
due_day; int 1 28; due day | day the rent is due
[meter]
electricity; int 1000 90000; electricity reading | electricity meter
water; int 100 4000; water reading | water meter
[wifi]
name; word; wifi name | name of the wifi
channel; int 1 13; wifi channel | channel
# aquarium; aquarium, tank, terrarium, pond
[water]
volume; unit 30 600 l; volume | size of the tank
ph; float 6 8; ph | ph value
change_every; unit 3 21 days; water change interval
[light]
on; time; time the light goes on
off; time; time the light goes off
power; unit 8 90 W; power of the lamp | wattage
[fish]
species; name fish; species | fish species
count; int 2 40; number of fish | fish count
# page style; style, theme, layout, page
[body]
font_size; unit 10 24 px; font size
background; color; background | background colour
line_height; float 1 2; line height
[header]
height; unit 40 160 px; header height
background; color; header background
[button]
radius; unit 0 20 px; button radius | corner radius of the buttons
color; color; button colour
margin; unit 2 30 px; button margin
# course; course, class, lesson, school
[class]
teacher; person; teacher
room; name room; class room | room
pupils; int 9 32; number of pupils | pupils
[exam]
date; date; exam date | day of the exam
minutes; int 30 240; length of the exam | exam minutes
pass_mark; int 40 70; pass mark | points needed to pass
[homework]
due; date; due date of the homework
pages; int 2 60; pages to read
# printer; printer, slicer, plotter, laser
[print]
layer_height; pick 0.08/0.12/0.16/0.2/0.28; layer height
speed; int 20 200; print speed
infill; unit 5 90 %; infill
[bed]
temperature; int 40 110; bed temperature
size; int 120 400; bed size
[nozzle]
temperature; int 180 260; nozzle temperature
diameter; pick 0.2/0.4/0.6/0.8; nozzle diameter
material; pick PLA/PETG/ABS/TPU/Nylon; material | filament
""".strip()

# `topic; file names; heading; kind of the number beside an item | items, separated by commas`
TOPICS = """
shopping; shopping, groceries, market; Shopping; int 1 9 | \
    milk, oat flakes, tomatoes, butter, rye bread, apples, coffee, olive oil, eggs, rice, lentils, \
    yoghurt, onions, toothpaste, candles
packing; packing, luggage, bring; Packing list; int 1 6 | \
    tent, sleeping bag, head torch, passport, rain jacket, socks, charger, first aid kit, towel, map, \
    stove, sun hat, water bottle
chores; chores, todo, tasks; To do; unit 5 90 min | \
    call the landlord, fix the bike, return library books, water the plants, pay the gas bill, book the \
    dentist, clean the gutters, sort the photos, mow the lawn, buy stamps, back up the laptop, wash the \
    curtains
menu; menu, card, lunch; Menu; money | tomato soup, goat cheese salad, lentil stew, mushroom risotto, \
    apple pie, lemonade, espresso, garlic bread, grilled trout, potato gratin, plum cake, iced tea, onion \
    tart
guests; guests, invited, attendance; Guests; int 1 5 | \
    Amara Osei, Ben Carlsson, Chiara Conti, Dmitri Volkov, Eszter Nagy, Farid Haddad, Grace Liu, Henrik \
    Lund, Inés Vega, Joanna Krol, Kenji Mori, Leila Amiri, Mateus Rocha
tools; tools, workshop, inventory; Tools; int 1 30 | \
    hammer, spirit level, chisel, jigsaw, clamp, tape measure, wood glue, sandpaper, screwdriver, plane, \
    pliers, soldering iron, hacksaw
books; books, reading, library; Books; int 80 900 | \
    The Salt Road, Night Ferry, Orchard Street, A Field Guide to Moss, The Glass Harbour, Winter Bees, \
    Letters from Tromsø, The Ninth Gate Keeper, Small Engines, Paper Rivers
songs; songs, setlist, playlist; Set list; int 60 190 | \
    Foxglove, Last Bus Home, Copper Wire, Harbour Lights, Seven Crows, Paper Moon, Slow Thunder, Hollow \
    Hill, Blue Kettle, Northbound, Ember Days
plants; plants, seeds, garden; Garden; int 1 40 | \
    basil, runner beans, kale, chives, sunflower, leek, radish, pumpkin, thyme, sweet pea, rhubarb, \
    marigold, beetroot
cities; cities, stops, route; Stops; unit 20 700 km | \
    Bergen, Utrecht, Gdańsk, Lyon, Porto, Ljubljana, Graz, Tampere, Bologna, Leeds, Zaragoza, Aarhus, Brno
instruments; instruments, orchestra, section; Instruments; int 1 12 | \
    violin, viola, cello, oboe, bassoon, clarinet, trombone, timpani, harp, flute, tuba, horn, piccolo
ingredients; recipe, dough, cake; Ingredients; unit 5 900 g | \
    flour, sugar, butter, almonds, cocoa, raisins, oats, honey, quark, yeast, walnuts, semolina, starch
players; scores, ranking, team; Players; int 0 99 | \
    Ada, Bruno, Cem, Dunja, Emeka, Freya, Goran, Hanna, Ivo, Jasmin, Kofi, Lotte, Marek
parts; parts, stock, warehouse; Parts; int 0 500 | \
    brake pads, inner tubes, chain links, spokes, saddle, pedals, handlebar tape, reflectors, bell, \
    derailleur, rim tape, mudguard
chemicals; chemicals, reagents, shelf; Reagents; unit 10 900 ml | \
    ethanol, acetone, sodium chloride, citric acid, glycerol, ammonia, iodine solution, methanol, \
    toluene, acetic acid, copper sulfate
birds; birds, sightings, counts; Birds; int 1 60 | \
    robin, blackcap, kestrel, wren, lapwing, goldfinch, curlew, nuthatch, swift, heron, siskin, dunnock
hosts; hosts, machines, nodes; Machines; ip | \
    atlas, borealis, cygnus, draco, fornax, hydra, lyra, mira, norma, pavo, rigel, vega
services; services, deploy, units; Services; port | \
    auth, billing, search, mailer, media, metrics, gateway, worker, session, export, import, audit
ferries; ferries, departures, timetable; Departures; time | \
    Turku, Tallinn, Rostock, Gedser, Hirtshals, Larvik, Kiel, Visby, Ystad, Helsinki, Mariehamn
budget; budget, costs, expenses; Budget; money | \
    rent, insurance, groceries, internet, gym, electricity, tram pass, music lessons, cat food, phone, \
    savings, cinema
subjects; grades, marks, subjects; Marks; int 1 6 | \
    biology, history, maths, chemistry, music, geography, art, physics, latin, sports, ethics
planets; distances, planets, moons; Distances; unit 30 4500 Mkm | \
    Mercury, Venus, Mars, Jupiter, Saturn, Uranus, Neptune, Ceres, Pluto
tracks; runs, training, log; Training; unit 2 42 km | \
    hill repeats, long run, tempo run, easy jog, intervals, trail loop, recovery run, sprints, stairs
drinks; drinks, bar, cellar; Drinks; money | \
    elderflower spritz, ginger beer, cold brew, mint tea, cider, stout, pear juice, hot chocolate, tonic \
    water
colors; palette, colors, swatches; Colours; color | \
    sand, moss, coral, slate, plum, ochre, teal, ivory, rust, indigo, lime
games; games, boardgames, shelf; Games; int 2 8 | \
    Harbour Trade, Moss and Stone, Night Market, Kingdom of Owls, Train Robbers, Silk Road, Little Farms, \
    Castle Siege
deps; requirements, versions, packages; Packages; version | \
    parsley, quartz, tinylog, fastcsv, webhook, colorize, retry-kit, mapgrid, snowflake, jsonpath, tablefmt
rooms; rooms, bookings, meters; Rooms; unit 12 90 m² | \
    kitchen, attic, cellar, studio, hallway, guest room, library, pantry, workshop, balcony
patients; patients, ward, temperatures; Temperatures; float 35 40 | \
    bed 1, bed 2, bed 3, bed 4, bed 5, bed 6, bed 7, bed 8
einkauf; einkauf, einkaufsliste; Einkauf; int 1 9 | \
    Milch, Brötchen, Käse, Äpfel, Möhren, Quark, Nüsse, Grünkohl, Öl, Butter, Radieschen
courses; courses, marché; Courses; int 1 9 | \
    crème fraîche, pâtes, œufs, fromage, épinards, poires, moutarde, jambon, thé
compra; compra, lista; Compra; int 1 9 | \
    leche, azúcar, limón, jamón, piña, arroz, pimentón, cebollas, aceite
""".strip()

# `what a row is; file names; separator | column=kind, column=kind …`; the first column names the row.
TABLES = """
customer; customers, clients; , | number=int 1000 9999, name=person, city=city
member; members, club; , | name=person, joined=date, fee=money
product; products, stock, articles; , | sku=code, item=item, price=money, stock=int 0 400
employee; staff, employees, team; ; | name=person, role=pick cook/driver/nurse/clerk/designer/welder, \
    city=city
reading; readings, sensors, measurements; , | sensor=code, temperature=float 2 40, humidity=int 20 95
flight; flights, arrivals; , | flight=code, from=city, time=time, gate=pick A1/A4/B2/B7/C3/C9/D5
pupil; marks, grades, pupils; , | name=person, class=pick 5a/5b/6a/7c/8b, mark=int 1 6
invoice; invoices, bills; , | number=int 100 999, customer=person, total=money, paid=pick yes/no
song; songs, tracks; , | title=name song, artist=person, bpm=int 60 190
booking; bookings, reservations; , | name=person, room=int 1 40, nights=int 1 12
city; cities, places; , | city=city, country=pick Norway/France/Spain/Poland/Austria, people=int 9000 900000
tool; tools, rental; ; | id=code, tool=item, loan=pick in/out/broken
plant; plants, garden; , | plant=item, planted=date, bed=int 1 12
contact; contacts, phones, addresses; , | name=person, phone=phone, email=email
match; results, league; , | team=name team, goals=int 0 6, points=int 0 60
ticket; tickets, issues; , | id=int 100 999, status=pick open/closed/waiting, owner=person
user; users, accounts; , | login=word, role=pick admin/editor/viewer/guest, quota=int 1 50
expense; expenses, costs; , | date=date, what=item, amount=money
part; parts, bom; ; | part=code, count=int 1 90, supplier=name shop
runner; runners, race; , | start=int 1 300, name=person, time=time
dose; doses, medicine; , | medicine=item, morning=int 0 2, evening=int 0 2
hive; hives, bees; , | hive=code, frames=int 4 11, honey_kg=float 2 30
train; trains, timetable; , | train=code, departs=time, platform=int 1 12
word; vocabulary, words; , | english=item, points=int 0 9, learned=pick yes/no
""".strip()

# One line of text each, for notes, logs, letters, messages.
TEXT_LINES = """
call ~person~ back about the ~thing~
~person~ moves to ~city~ on ~date~
meeting with ~person~ at ~time~ in ~place~
~date~ rinsed the column, ~n~ bar
~date~ ~time~ pressure ~n~, all fine
~thing~ ~n~ frozen at ~time~
the ~thing~ costs ~money~ now
Ask ~person~ for the ~item~.
Do not forget the ~item~!
~n~ boxes of ~item~ arrived from ~city~
Rain all day, ~n~ mm until ~time~.
Train ~code~ leaves at ~time~ from platform ~n~
password is with ~person~, not in here
remember: ~item~ before ~item~
Pick up the ~thing~ on ~date~
We are closed on ~date~.
Opening hours: ~time~ to ~time~
draft, do not send
work in progress
TODO: check the ~thing~ with ~person~
reviewed by ~person~
Bring ~n~ chairs and the ~item~
Room ~n~, second floor, ask for ~person~
The ~item~ goes to ~person~, the ~item2~ to ~person2~.
Best regards, ~person~
See you in ~city~!
Version ~version~ is out
released ~version~ on ~date~
fixed the ~thing~ import, ~n~ rows were wrong
~person~ owes me ~money~
paid ~money~ to ~shop~
Table ~n~ wants the bill
band practice ~time~, bring the ~item~
tyre pressure ~n~ psi
sample ~code~ lost, repeat on ~date~
Water the plants every ~n~ days
score ~n~:~m~ for ~city~
battery at ~n~ % after ~m~ hours
The key is under the ~item~.
nobody touched the ~thing~ since ~date~
~item~, ~item2~ and a bit of salt
Dear ~person~, thank you for the ~item~.
Fragile! ~n~ glasses inside
gate ~code~, boarding ~time~
order ~n~~m~ shipped to ~city~
Home ~n~, visitors ~m~
lost: one grey cat, answers to ~word~
wifi: ~word~ on the ground floor
temperature ~n~ °C, humidity ~m~ %
last backup: ~date~ ~time~
Proben am ~date~ im Kühlraum abholen
~person~ kommt erst um ~time~
Schlüssel liegt bei ~person~
Rendez-vous avec ~person~ à ~time~
Merci de fermer la fenêtre à ~time~
Reunión con ~person~ a las ~time~
crème brûlée for ~n~ people
""".strip()

# Prose with a heading; two blank lines separate texts. The first line is the file name.
PROSE = """
letter.txt
Dear ~person~,

thank you for the ~item~ that you sent on ~date~.
We would like to order ~n~ more before the end of the month.
Please send the invoice to our office in ~city~.

Kind regards
~person2~


minutes.md
# Meeting, ~date~

Present: ~person~, ~person2~

- The ~thing~ is late, new date ~date2~.
- ~person~ orders ~n~ boxes of ~item~.
- Next meeting in ~place~ at ~time~.


diary.txt
~date~
Woke up late, coffee with ~person~ at the ~place~.
The ~item~ was out of stock again.
In the evening we walked home through the rain.

~date2~
Train to ~city~ at ~time~, seat ~n~.
Read half of the book about bees.


README.md
# ~word~

A small tool that sorts ~thing~ files by date.

## Install

Copy `~word~.py` into your home folder.

## Usage

Run it with the name of a folder.

## License

MIT


poem.txt
The ~item~ sleeps beside the door,
the kettle sings, the lamps are low,
a boat is waiting at the shore
and all the hills are white with snow.


CHANGELOG.md
# Changelog

## ~version~

- faster ~thing~ import
- fixed a crash when the ~thing2~ was empty

## 0.9.0

- first public release


invitation.txt
You are invited!

On ~date~ we celebrate the birthday of ~person~.
Place: ~place~
Time: ~time~
Please bring a ~item~ and good mood.


rules.md
# House rules

1. Take off your shoes.
2. No music after ~time~.
3. The ~item~ belongs to everybody.
4. Bins go out on Tuesday.


subtitles.srt
1
00:00:0~d~,000 --> 00:00:06,500
Where did you put the ~item~?

2
00:00:07,100 --> 00:00:09,000
It is in ~city~, with ~person~.

3
00:00:10,400 --> 00:00:12,900
Then we are too late.


faq.md
# Questions

## How do I get to ~place~?

Take bus ~n~ to the last stop.

## What does the ~thing~ cost?

~money~ for adults, children are free.

## Who do I ask?

~person~, every day until ~time~.


notes.txt
boiler: pressure ~n~ bar, refill at ~m~
garage key is with ~person~
neighbours back on ~date~
cat gets one tin of ~item~ a day
alarm code changed, ask ~person2~


report.tex
\\documentclass{article}
\\title{The ~thing~ in ~city~}
\\author{~person~}
\\begin{document}
\\section{Introduction}
We watched ~n~ birds for two weeks.
\\section{Results}
% TODO: add the second figure
Most of them came at ~time~.
\\end{document}


index.html
<!DOCTYPE html>
<html>
<head>
  <title>~shop~</title>
</head>
<body>
  <h1>Welcome to ~shop~</h1>
  <!-- old banner -->
  <p>Open daily until ~time~.</p>
  <p>Call ~phone~ or visit us in ~city~.</p>
  <footer>2021 ~person~</footer>
</body>
</html>


brief.txt
Sehr geehrte Frau ~person~,

vielen Dank für Ihre Nachricht vom ~date~.
Die Lieferung nach ~city~ kommt am ~date2~.
Bitte prüfen Sie die Rechnung.

Mit freundlichen Grüßen
~person2~


menu.txt
Menu du jour

Entrée : salade niçoise
Plat : bœuf bourguignon
Dessert : crème brûlée

Prix : ~n~ €


aviso.txt
Aviso a los vecinos

El ascensor no funciona hasta el ~date~.
La reunión es a las ~time~ en el portal.
Traed el ~item~, por favor.


refs.bib
@article{~word~2017,
  author = {~person~},
  title = {Notes on ~thing~ counting},
  year = {2017}
}

@book{~word2~2009,
  author = {~person2~},
  title = {The ~item~ and the sea},
  year = {2009}
}


story.txt
The old lighthouse keeper was called ~person~.
Every night ~person~ counted the ships and wrote the number down.
On ~date~ there were ~n~ ships, more than ever before.
Then the ~item~ fell into the water and the light went out.


crontab.txt
# m h dom mon dow command
0 * * * * /opt/jobs/poll.sh
30 ~d~ * * * /opt/jobs/cleanup.sh
15 22 * * 5 /opt/jobs/~word~.sh


script.txt
INT. KITCHEN - NIGHT

~person~ opens the fridge. It is empty.

PHIL
Where is the ~item~?

ANNA
Ask the cat.


hymn.txt
Oh the river runs
and we run home
the ~item~ is heavy
the road is long


sample.log
~date~ ~time~ INFO start of ~word~
~date~ ~time~ WARN ~thing~ queue at ~n~
~date~ ~time~ ERROR lost connection to ~city~
~date~ ~time~ INFO stop
""".strip()

PERSONS = """
Ada Holm
Bruno Keller
Chloé Martin
Dai Nguyen
Elif Kaya
Femi Adeyemi
Gintaras Petrauskas
Hanna Lindqvist
Ismail Haddad
Jolanta Wrona
Karim Benali
Lucía Ortega
Marek Novák
Nadia Rahman
Oisín Byrne
Paola Greco
Quentin Roux
Rosa Delgado
Søren Dahl
Tomás Silva
Uma Pillai
Viktor Horvat
Wanjiru Kamau
Ximena Rojas
Yuki Tanaka
Zoltán Kis
Greta Ullmann
Pavel Dvořák
Ingrid Moe
Tunde Bello
Kaito Abe
Marguerite Faure
Jörg Schäfer
Priya Nair
Liam O'Neill
""".strip()

CITIES = """
Bergen Leeds Lyon Brno Bari Graz Porto Utrecht Gdańsk Malmö Zürich Cork Ghent Tartu Split Turku Vigo Kiel \
    Nantes Izmir Kyoto
Lagos Quito Boston Oslo Riga Bonn Padua Cádiz Umeå
""".split()

THINGS = """
order invoice booking report sensor ticket parcel lesson recipe song match player sample meter garden \
    boat camera letter
member voucher window engine signal page track puzzle badge bottle ferry hive
""".split()
COLORS = "red teal navy orange crimson ivory olive gold purple black white".split()

ITEMS = """
oak frame
blue mug
torch
flower pot
brass lamp
linen towel
ladder
kettle
chess board
paint brush
bike pump
violin bow
garden hose
tea tin
wool scarf
desk clock
tripod
picnic rug
rubber boots
sewing kit
snow shovel
bread knife
fish tank
hat stand
""".strip()

NAMES = {
    "shop": "Rosie's Records, Corner Bakery, Müller & Sohn, Blue Door Books, Harbour Cycles, Café \
    Lumière, Nut & Bolt",
    "street": "Mill Lane 4, Rue Verte 12, Hauptstraße 31, Pier Road 8, Calle Mayor 5, Station Street 77, \
    Elm Close 2",
    "place": "town hall, boat house, old library, city park, Pier Road, school gym, café Lumen, market \
    square",
    "room": "A12, B204, lab 3, music room, aula, C017, room 9, workshop 2",
    "hotel": "Hotel Astra, Seaview Inn, Pension Edelweiß, Casa Lola, The Anchor, Hôtel du Lac",
    "song": "Foxglove, Copper Wire, Harbour Lights, Seven Crows, Slow Thunder, Blue Kettle, Northbound, \
    Hollow Hill, Last Bus",
    "fish": "neon tetra, guppy, zebra loach, angelfish, corydoras, goldfish",
    "team": "Red Foxes, Harbour United, FC Nord, Owls, River Rats, Blue Comets, Old Boys",
    "thing": "Morning News, Bee Weekly, Rust Radio, Tidal Notes, Northern Lights, Slow Cooking",
}

FOLDERS = """
conf/
config/
etc/
data/
docs/
notes/
src/
app/
my stuff/
2024/
private/
deploy/
home/
lists/
work/
archive/2023/
""".strip()
