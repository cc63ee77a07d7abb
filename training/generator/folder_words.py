"""Word pools and shapes of small files, from which `folders` builds folders of many kinds."""

from textwrap import dedent


def entries(text: str) -> list[str]:
    """Return the entries of a text block; a line that is indented further continues the one before."""
    return dedent(text).strip().replace("\n  ", " ").split("\n")


def table(text: str) -> dict[str, list[str]]:
    """Read a text block of entries `name: a, b, c`."""
    rows = (line.partition(": ") for line in entries(text))
    return {name.strip(): [word.strip() for word in words.split(", ")] for name, _, words in rows}


POOLS = table("""
mod: auth, cart, parser, lexer, router, cache, mailer, queue, report, invoice, search, scores, player,
  enemy, level, physics, sprites, audio, loader, export, importer, schema, models, views, forms, tasks,
  worker, client, server, storage, backup, metrics, logger, session, tokens, users, orders, prices,
  taxes, geometry, matrix, plot, filters, reader, writer, sync, alarm, sensor, motor, display, clock,
  weather, tides, chess, cards, dice, menu, booking, calendar, stats, graph, tree, heap, vector, color,
  font, layout, theme, editor, history, crypto, billing, stock, shipping, webhook, feeds, profile,
  comments, ratings, coupons, mapper, planner, solver, tokens, batch, camera, lights, pump, valve
pkg: orchard, tinybank, kitewatch, brewlog, snailmail, parcelo, moonbase, hikelog, shelfie, quizkit,
  beehive, tidepool, papertrail, sunplan, gridlock, pocketdb, wavebox, inkwell, rainbarrel, catalogus,
  ferrydesk, looper, mapmint, cellar, nightbus, pixelpot, stampede, trainspot, clubhouse, fieldnotes
asset: logo, banner, icon, cover, hero, avatar, splash, background, map, floorplan, photo, portrait,
  button, arrow, badge, header, sketch, poster, screenshot, diagram
doc: intro, install, usage, faq, api, design, roadmap, glossary, tutorial, overview, testing,
  deployment, decisions, style, security, support, contact, architecture, limits, upgrade
recipe: lentil-soup, pancakes, apple-pie, goulash, risotto, ratatouille, hummus, banana-bread, chili,
  dumplings, pizza-dough, waffles, borscht, curry, gnocchi, falafel, cheesecake, tortilla, paella,
  brownies, focaccia, granola, pesto, kimchi, scones, stew
food: cinnamon, saffron, leek, butter, coconut milk, chickpeas, rosemary, buckwheat, capers, nutmeg,
  parmesan, lemon zest, walnuts, yeast, vanilla, paprika, cream, lentils, ginger, honey, oats, spinach,
  thyme, tofu, cumin, almonds, mustard, raisins, cardamom, tahini, fennel, beetroot
person: Amir, Bettina, Carlos, Dagny, Eun-ji, Farah, Giulia, Hamza, Ingrid, Jonas, Keiko, Liam, Mirela,
  Nadia, Oleg, Priya, Quentin, Ruta, Selim, Tamsin, Umar, Vesna, Wanjiru, Xavier, Yara, Zoltan, Agnes,
  Bruno, Celia, Dmitri, Elif, Fergus, Greta, Henrik, Imani, Joana
surname: Abara, Bakker, Castellano, Dvorak, Eriksen, Fofana, Grigorescu, Hollis, Ishikawa, Jansky,
  Kowalczyk, Lindqvist, Moreau, Novotna, Okonkwo, Petrov, Quispe, Rasmussen, Sandoval, Tanaka, Ulrich,
  Vasquez, Whitlock, Yilmaz, Zimmer, Brandtner, Faulkner, Halvorsen, Mbeki, Ferreira
city: Lisbon, Tartu, Oaxaca, Bergen, Kyoto, Ghent, Valparaiso, Tbilisi, Halifax, Zadar, Nairobi, Cork,
  Hanoi, Leipzig, Porto, Tromso, Ravenna, Quito, Perth, Lund, Graz, Bilbao, Aarhus, Sapporo, Malmo,
  Trieste, Hobart, Cusco
song: river-song, last-train, amber-light, paper-boats, winter-coat, two-doors, lighthouse, old-maps,
  salt-air, slow-dance, blue-bicycle, north-wind, tin-roof, harvest-moon, glass-house, second-hand,
  marble-stairs
instrument: violin, cello, trumpet, banjo, mandolin, oboe, accordion, drum kit, double bass, flute,
  clarinet, trombone, harp, ukulele, bassoon, tuba
animal: otter, heron, badger, lynx, gecko, falcon, hedgehog, stork, newt, marten, kestrel, toad, swift,
  beaver, hare, dormouse
plant: tomato, basil, lavender, fern, cactus, orchid, hydrangea, rhubarb, zucchini, mint, dahlia, olive,
  fig, aloe, sage, sunflower
tool: tape measure, torque wrench, soldering iron, drill, sandpaper, ladder, wheelbarrow, extension
  cord, head torch, first aid kit, tent pegs, sleeping bag, gas stove, rope, tarp, rain jacket, duct
  tape, multimeter, level, clamps, hacksaw, chisel, sewing kit, sunscreen, power bank, passport copy
topic: heating, parking permit, insurance, new website, projector, summer party, broken window, budget,
  keys, cleaning rota, newsletter, fire drill, coffee machine, bike shed, wifi, sound system, raffle,
  minibus, storage room, membership fees, translation, playground, noise, elevator, recycling, photo
  day, defibrillator, guest speaker
errcode: E1042, E2207, E3310, E4009, E5150, ERR_TIMEOUT, ERR_DISK_FULL, ERR_NO_ROUTE, ECONNRESET, EPIPE,
  OOM-17, AUTH-403, DB-1205, PX-88, SENSOR_LOST, VALVE_STUCK, LOW_BATTERY, CRC_MISMATCH, HTTP 502, HTTP
  429
product: desk lamp, kettle, yoga mat, wall clock, garden hose, notebook, backpack, thermos,
  bike pump, cutting board, candle, umbrella, keyboard, tripod, hammock, chess set, water filter, door
  mat, bird feeder, phone case, frying pan
envkey: DATABASE_URL, REDIS_HOST, SMTP_PORT, API_TOKEN_FILE, SENTRY_DSN, CACHE_TTL, MAX_UPLOAD_MB,
  FEATURE_BETA, SESSION_HOURS, S3_BUCKET, LOG_FORMAT, STRIPE_MODE, ADMIN_EMAIL, TIMEZONE, WORKER_COUNT,
  QUEUE_NAME, MAPS_REGION, RATE_LIMIT
tablename: customers, invoices, order_items, shipments, warehouses, employees, payments, coupons,
  audit_log, reviews, suppliers, categories, subscriptions, rooms, bookings, lessons, teachers,
  vehicles, readings, stations
cssname: btn-primary, site-header, price-tag, hero-image, nav-item, card-grid, is-hidden, footer-links,
  modal-open, avatar-round, alert-box, sidebar, badge-new, form-row, toast, gallery
month: january, february, march, april, may, june, july, august, september, october, november, december
mon: jan, feb, mar, apr, may, jun, jul, aug, sep, oct, nov, dec
day: monday, tuesday, wednesday, thursday, friday, saturday, sunday
year: 2019, 2020, 2021, 2022, 2023, 2024, 2025
n: 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
nn: 01, 02, 03, 04, 05, 06, 07, 08, 09, 10, 11, 12, 13, 14
date: 2024-01-17, 2024-02-03, 2024-03-22, 2024-04-09, 2024-05-30, 2024-06-11, 2024-07-08, 2024-08-19,
  2024-09-05, 2024-10-27, 2024-11-14, 2025-01-06, 2025-02-21, 2025-03-13, 2025-04-28, 2025-05-02
photo: IMG_2041, IMG_2042, IMG_2077, IMG_3109, DSC00412, DSC00413, beach, birthday, garden, sunset,
  grandma, dog, wedding, hike, boat, snow, cake, castle
subject: maths, biology, history, chemistry, geography, physics, latin, music, art, economics,
  philosophy, literature, statistics, ethics
klass: 5a, 5b, 6a, 6c, 7b, 8a, 9c, 10b
job: backup, cleanup, deploy, release, rotate-logs, restart, build, lint, sync, import, healthcheck,
  migrate, seed, watch, setup, publish
host: web01, web02, db01, mail, nas, gateway, pi-kitchen, pi-garage, build01, proxy, cache01, edge
game: sword, shield, potion, dragon, goblin, castle, village, forest, cave, bridge, merchant, wizard,
  chest, boat, tower, swamp
deptd: Rechnungen, Angebote, Archiv, Vertraege, Bilder, Protokolle, Lieferanten, Kunden, Steuer,
  Vorlagen, Rezepte, Briefe
wordde: brief-vermieter, einkaufsliste, urlaub, kontakte, termine, notizen, rezept-kuchen, inventar,
  packliste, preise, mitglieder, garten
wordfr: courses, recette-tarte, adresses, vacances, devis, budget, menu, rendez-vous, contrat,
  liste-invites, jardin, notes
wordes: compras, receta-tortilla, contactos, viaje, presupuesto, horario, apuntes, facturas, invitados,
  menu, jardin, tareas
""")

# A layout: a kind and its paths. `<pool>` is a word of a pool, `<POOL>` the same word in the whole layout;
# `?` at the end of a path leaves it out at times, `+` repeats it two to four times.
LAYOUTS = entries("""
python package | pyproject.toml README.md src/<PKG>/__init__.py src/<PKG>/<mod>.py+ tests/test_<mod>.py+
  .gitignore? docs/<doc>.md?
python scripts | <mod>.py+ run_<job>.py? requirements.txt? notes.txt? data/<mon>.csv+
flask app | app.py config.py templates/index.html templates/<mod>.html static/style.css
  static/<asset>.svg? requirements.txt .env?
django-like site | manage.py site/settings.py site/urls.py <mod>/models.py <mod>/views.py
  <mod>/tests.py? README.md?
node package | package.json index.js lib/<mod>.js+ test/<mod>.test.js README.md? .npmrc?
web page | index.html about.html contact.html? css/main.css js/<mod>.js+ img/<asset>.png+
react app | package.json src/App.tsx src/main.tsx src/components/<Mod>List.tsx src/hooks/use<Mod>.ts
  src/styles.css? public/favicon.svg vite.config.ts
typescript service | package.json tsconfig.json src/index.ts src/<mod>.ts+ src/types.d.ts?
  test/<mod>.spec.ts+
go module | go.mod main.go internal/<mod>/<mod>.go+ <mod>_test.go? Makefile README.md?
rust crate | Cargo.toml src/main.rs src/<mod>.rs+ tests/<mod>.rs? README.md? build.rs?
c program | Makefile src/main.c src/<MOD>.c include/<MOD>.h src/<mod>.c+ README?
arduino sketch | <PKG>.ino <mod>.cpp <mod>.h+ platformio.ini? wiring.txt
java project | pom.xml src/main/java/App.java src/main/java/<Mod>Service.java
  src/test/java/<Mod>Test.java README.md?
ruby gem | Gemfile lib/<PKG>.rb lib/<PKG>/<mod>.rb+ spec/<mod>_spec.rb Rakefile?
shell scripts | bin/<job>.sh+ lib/common.sh etc/<host>.conf+ README?
lua game | main.lua conf.lua <game>.lua+ levels/<n>.txt+ assets/<asset>.png+
text adventure | game.py rooms/<game>.txt+ items.json? saves/slot<n>.json+
board game data | rules.md cards.csv decks/<game>.json+ art/<game>.png+
database folder | schema.sql migrations/0<nn>_<mod>.sql+ seeds/<tablename>.sql queries/<tablename>.sql+
data analysis | analysis.py notebook.ipynb? data/raw/<mon>.csv+ data/clean.csv plots/<mod>.png+ README.md
sensor logs | logs/<date>.log+ calibration.json plot.py? README.txt?
server configs | <host>.conf+ nginx/<mod>.conf+ hosts.ini certs/readme.txt? backup.sh
kubernetes files | deploy/<mod>.yaml+ base/service.yaml base/config.yaml Makefile? README.md
docker project | Dockerfile compose.yaml .env app/<mod>.py+ scripts/<job>.sh+ .dockerignore?
ansible | inventory.ini site.yml roles/<mod>/tasks.yml+ group_vars/all.yml
terraform | main.tf variables.tf outputs.tf? modules/<mod>/main.tf+ env/<host>.tfvars+
home folder | shopping.txt todo.md budget.csv photos/<photo>.jpg+ letters/<surname>.txt+
  recipes/<recipe>.md+
recipes | <recipe>.md+ baking/<recipe>.md+ shopping-list.txt? conversions.csv?
photo archive | <year>/<photo>.jpg+ <year>/<city>/<photo>.jpg+ albums.txt index.csv?
music band | songs/<song>.txt+ setlists/<date>.txt+ gigs.csv contacts.txt? covers/<song>.png?
sheet music | scores/<song>.ly+ parts/<instrument>.pdf? recordings/<song>.mp3+ README.md?
podcast | episodes/<nn>-<topic>.md+ audio/<nn>.mp3+ guests.csv jingle.wav?
travel plans | <city>/plan.md <city>/tickets.txt <city>/budget.csv packing.txt passport.jpg?
house hunting | flats/<city>.md flats/<surname>.md+ viewings.csv mortgage.xlsx? photos/<photo>.jpg+
garden | beds.csv seeds/<plant>.txt+ diary/<month>.md+ plan.svg? watering.json?
school class | klasse/<klass>.csv+ tests/<subject>.md+ marks.csv seating.txt? parents.txt
university course | <subject>/notes.md <subject>/exercise<n>.tex+ slides/<nn>.md+ schedule.csv
  literature.bib
thesis | thesis.tex chapters/<nn>-<mod>.tex+ figures/<asset>.pdf+ refs.bib Makefile? notes.md?
lab | protocols/<mod>.md+ results/<date>.csv+ samples.csv labbook.txt instruments.json?
club | members.csv minutes/<date>.txt+ statutes.md? events/<month>.md+ treasurer/<year>.csv+
small shop | products.csv orders/<mon>.csv+ suppliers.json prices.txt invoices/<year>-<nn>.txt+
bookkeeping | <year>/<mon>.csv+ receipts/<date>.txt+ accounts.toml tax.md?
office | contracts/<surname>.txt+ offers/<surname>.txt+ templates/letter.txt contacts.csv calendar.ics?
newsroom | articles/<topic>.md+ drafts/<topic>.md+ images/<asset>.jpg+ style.md
blog | posts/<date>-<topic>.md+ about.md config.yaml static/<asset>.png+ theme/style.css
novel | chapters/<nn>.md+ characters.md timeline.csv? ideas.txt research/<city>.md+
theatre | scripts/act<n>.txt+ cast.csv props.txt lighting/<nn>.json+ posters/<asset>.pdf?
film | shots.csv subtitles/<city>.srt+ footage/<photo>.mp4+ script.fountain crew.txt
sports club | teams/<animal>.csv+ results/<date>.txt+ fixtures.csv rules.md?
fitness log | <month>.csv+ plan.md shoes.txt? routes/<city>.gpx+
zoo | animals/<animal>.md+ feeding.csv keepers.csv map.svg
library | catalog.csv loans/<month>.csv+ members.json labels/<n>.txt+
museum | exhibits/<game>.md+ rooms.csv texts/<animal>.txt+ audio/<nn>.mp3?
restaurant | menu.md menus/<day>.txt+ suppliers.csv allergens.json staff/<month>.csv+
event | guests.csv tables.txt schedule.md quotes/<surname>.txt+ playlist.txt?
translation | en.json de.json fr.json? es.json glossary.csv src/<mod>.js+ README.md
game mod | mod.json scripts/<game>.lua+ textures/<game>.png+ sounds/<game>.wav+ changelog.txt
3d printing | models/<tool>.stl+ slicer.ini prints.csv notes.md
electronics | bom.csv schematic.svg firmware/main.c firmware/<mod>.c+ datasheets/<mod>.pdf+
smart home | automations.yaml sensors.yaml scripts/<job>.sh+ rooms/<room>.json+ secrets.example?
crm export | customers.csv tickets/<date>.txt+ exports/<mon>.json+ readme.txt
german office | <deptd>/<wordde>.txt+ <deptd>/<year>-<nn>.txt+ preise.csv todo.txt
german home | <wordde>.txt+ Bilder/<photo>.jpg+ Rezepte/<wordde>.md+
french home | <wordfr>.txt+ photos/<photo>.jpg+ factures/<year>-<nn>.txt+
spanish class | apuntes/<wordes>.md+ horario.csv notas/<subject>.csv+ <wordes>.txt
dotfiles | .bashrc .vimrc .gitconfig .config/<mod>.toml+ bin/<job>+ install.sh
static docs | mkdocs.yml docs/index.md docs/<doc>.md+ docs/img/<asset>.svg+
monorepo | packages/<mod>/package.json packages/<mod>/index.js services/<mod>/main.go tools/<job>.py+
  README.md LICENSE
mixed downloads | <asset>.png+ invoice-<year>.pdf <surname>.docx <photo>.jpg+ setup.zip song.mp3? list.txt
old backup | backup/<year>/<wordde>.txt+ backup/<year>/<mon>.csv+ restore.sh log.txt
exam prep | cards/<subject>.csv+ plan.md summaries/<subject>.md+ old_exams/<year>.txt+
campaign notes | sessions/<nn>.md+ npcs/<person>.md+ maps/<game>.png+ loot.csv
choir | repertoire.csv scores/<song>.pdf+ rehearsals/<date>.md+ members.txt
beekeeping | hives/<n>.csv+ harvest.csv checks/<date>.txt+ equipment.md
""")
POOLS["room"] = ["kitchen", "bedroom", "attic", "garage", "bathroom", "hall", "office", "cellar"]

# A collection: files of one kind, each with lines about some items of a pool.
# folder | file name | first line | line about an item | pool | noun | plural | verbs ("uses/has")
COLLECTIONS = entries("""
recipes | <recipe>.md | # <recipe> | (- <amount> {item}|- {item}, <amount>|<n>. Stir in the {item}.) |
  food |
  recipe | recipes | use, call for, contain, need
kochbuch | <recipe>.txt | <recipe> | ({item} <amount>|<amount> {item}|Add {item} and wait <n> minutes.)
  | food |
  recipe | recipes | use, have, contain
minutes | <date>.txt | Minutes of <date> | (<person> reported on the {item}.|The {item} was postponed.|
  Vote on the {item}: <n> in favour.|Question about the {item} from <person>.) | topic | protocol |
  minutes |
  mention, talk about, deal with
meetings | <date>.md | # Meeting <date> | (- {item}: <person> takes care of it|- {item}: open|- [ ]
  {item}) |
  topic | meeting note | meeting notes | mention, cover, are about
sessions | <nn>.md | # Session <nn> | (The party met {item} near the <game>.|{item} lost the <game>.|
  <n> gold for {item}.) | person | session | session notes | mention, feature
diary | <month>.md | # <month> | (<day>: phoned {item}, then the <topic> again|<day>: {item} came for
  dinner|
  <day>: rain. Chess with {item}.) | person | diary page | diary pages | mention, speak of
letters | <surname>.txt | Dear <surname>, | (we spent <n> days in {item} and liked it.|
  greetings from {item}, where it rains.|next month we move to {item}.) | city | letter | letters |
  mention, talk about
trips | <month>.md | ## Trip in <month> | (* night train to {item}, <n> nights|* {item}: <n> nights|
  * bus from {item}, <price> EUR) | city | trip | trips | go to, include, pass through
packing | <city>.txt | Packing list <city> | ([ ] {item}|- {item}|{item}: <n>) | tool | packing list |
  packing lists | have, include, list
jobs | <surname>.md | # Job for <surname> | (bring: {item}|return the {item} on <day>|* {item}, rented)
  | tool |
  job sheet | job sheets | need, ask for, list
orders | <mon>.csv | number,product,pieces | <num>,{item},<n> | product | order list | order lists |
  contain, have
invoices | <year>-<nn>.txt | Invoice <year>-<nn> | (<n> x {item}  <price> EUR|{item}, used: <price> EUR) |
  product | invoice | invoices | contain, bill, list
offers | <surname>.csv | article;price | {item};<price> | product | offer | offers | include, list
bands | <song>.txt | <song> | ({item}: <person>|solo for {item} in bar <num>|no {item} in the chorus) |
  instrument |
  song sheet | song sheets | have, need
arrangements | <song>.yaml | title: <song> | - part: {item} | instrument | arrangement | arrangements |
  have, use
sightings | <date>.csv | time,animal,count | 1<digit>:15,{item},<n> | animal | sighting list | sighting
  lists |
  mention, contain, list
walks | <city>.md | # Walk around <city> | (Saw a {item} by the <game>.|A {item} crossed the path.|
  Km <n>: tracks of a {item}) | animal | walk | walks | mention, report
beds | <n>.txt | bed <n> | (row <n>: {item}|{item}, sown in <month>|edge: {item}) | plant | bed plan |
  bed plans |
  have, list
garden | <month>.md | # Garden in <month> | (- water the {item}|- {item}: <n> litres|- cut back the
  {item}) | plant |
  garden note | garden notes | mention, speak of
logs | <host>.log | 2025-03-01 00:00:01 INFO start |
  2025-03-01 1<digit>:2<digit>:07 (ERROR {item} in <mod>|WARN <mod>: {item}|<mod> failed with {item}) |
  errcode |
  log | logs | contain, have, show
crashes | <date>.txt | Crash report <date> | (code {item}, thread <n>|{item} at address 0x<num>) | errcode |
  crash report | crash reports | show, contain
teams | <animal>.csv | name,number | {item},<n> | person | team | teams | have, list
classes | <klass>.txt | class <klass> | ({item}, <subject>|<n>. {item}) | person | class list | class
  lists |
  have, contain
contracts | <surname>.md | # Contract <surname> | (Signed by {item} in <city>.|Witness: {item}|
  Rent is paid to {item} until <month>.) | surname | contract | contracts | name, mention
tickets | <num>.txt | Ticket <num> | (customer {item} writes about the <product>|called back {item}|
  refund of <price> to {item}) | surname | ticket | tickets | mention, deal with
loans | <month>.csv | reader,book | {item},<song> | surname | loan list | loan lists | contain, have
rooms | <room>.yaml | room: <room> | - {item} | game | room file | room files | contain, have
levels | <n>.txt | level <n> | (spawn {item} at <num>,<n>|{item} guards the exit|hide {item} behind tile
  <n>) | game |
  level | levels | have, contain
env | <host>.env | APP_NAME=<mod> | {item}=<num> | envkey | env file | env files | set, define, have
deploy | <host>.yaml | host: <host> | - name: {item} | envkey | deployment file | deployment files |
  set, use
queries | <mod>.sql | -- <mod> report | (SELECT count(*) FROM {item};|DELETE FROM {item} WHERE id = <n>;|
  UPDATE {item} SET <mod> = <n>;) | tablename | query | queries | use, touch
migrations | 00<nn>_<mod>.sql | -- <mod> | (ALTER TABLE {item} ADD COLUMN <mod> TEXT;|
  CREATE INDEX <mod>_<n> ON {item} (id);|DROP TABLE IF EXISTS {item};) | tablename | migration |
  migrations |
  change, touch
pages | <mod>.html | <h1><mod></h1> | (<div class="{item}"><topic></div>|<p
  class="{item}"><product></p>) | cssname |
  page | pages | use, have
styles | <mod>.css | /* <mod> */ | (.{item} { margin: <n>px; }|a.{item}:hover { top: <n>px; }) | cssname
  | stylesheet |
  stylesheets | style, define
exercises | <subject>.tex | \\section{<subject>} | (\\item Ask {item} about the <subject> sheet.|
  \\item {item} buys <n> apples.) | person | exercise sheet | exercise sheets | mention, name
npcs | <game>.md | # The <game> | (Owes <num> coins to {item}.|Afraid of {item}.|Brother of {item}) |
  person |
  character sheet | character sheets | mention, name
subtitles | <city>.srt | 1 | (- And where is {item} now?|- {item}, the door!|- I told {item}
  everything.) | person |
  subtitle file | subtitle files | mention, name
episodes | <nn>.md | # Episode <nn> | (<digit>:0<digit> guest {item} joins|thanks to {item}|
  link to the book by {item}) | surname | episode | episodes | feature, mention
refs | <subject>.bib | % <subject> | @book{b<num>, author = {{item}, <person>}, year = <year>} | surname |
  bibliography | bibliographies | cite, list
chats | <month>.txt | chat of <month> | (<person>: has anybody seen the {item}?|<person>: the {item} is
  with me|
  <person>: sold the {item}!!) | tool | chat | chats | mention, talk about
lessons | <subject>.md | # <subject> | (- {item} by train or by boat?|- map of {item}|- population of
  {item}: <num>) |
  city | lesson plan | lesson plans | mention, use
bills | <year>.csv | what,amount | {item},<price> | topic | bill list | bill lists | contain, have
playlists | <month>.m3u | #EXTM3U | music/{item}.mp3 | song | playlist | playlists | contain, have
reviews | <product>.txt | Review | (Not as good as the {item}.|Came with a free {item}.|Same seller as
  the {item}) |
  product | review | reviews | mention, name
""")
