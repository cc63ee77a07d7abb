"""Words and sentences for the texts of `home`; entries are separated by `|` or a new line."""

__all__ = [
    "ACTIONS", "ARTICLES", "DISHES", "EVENTS", "JOBS", "LETTERS", "MEETINGS", "NOTES", "OCCASIONS", "PLACES",
    "POEM_TITLES", "QUESTIONS", "REMARKS", "SAYINGS", "STEPS", "SUBJECTS", "TERMS", "TODOS", "VERSES",
]  # fmt: skip

DISHES = """lentil soup|apple cake|potato gratin|banana bread|fish curry|mushroom risotto|plum crumble
onion tart|oat biscuits
carrot salad|pumpkin soup|cheese scones|bean chili|rice pudding|tomato focaccia|leek quiche|ginger cookies
noodle bowl|pea stew|pancakes"""

STEPS = """Heat the oven.|Chop everything small.|Mix the dry things.|Stir until smooth.
Let it rest for ten minutes.|Bake until golden.
Season with salt.|Simmer with the lid on.|Whisk in the liquid.|Serve warm.|Leave it to cool.|Grease the tin.
Knead well.|Taste it.
Drain the water.|Spread on a tray.|Fold it once.|Cover with a cloth."""

TODOS = """street fair: book the stage, print the signs, order toilets, call the radio,
  ask the fire brigade, borrow tables, buy tape, find helpers
house move: cancel the internet, pack the books, rent a van, read the meters, paint the hall, hand over the
  keys, tell the bank, clean the oven
release: write the notes, bump the version, run the tests, tag the commit, update the docs, tell support,
  check the licence, build the image
garden: cut the hedge, sow the peas, mend the fence, clean the pond, turn the compost, oil the tools, label
  the pots, water the roses
wedding: choose the rings, send the cards, taste the cake, hire the band, book the hall, buy shoes, plan the
  seating, write the speech
exam: read chapter four, learn the dates, solve old papers, meet the group, sharpen pencils, copy the notes,
  sleep early, print the ticket
trip: renew the passport, book the hostel, change money, charge the camera, lend the cat, print the map, pack
  the tent, check the tyres
band: tune the piano, fix the amp, learn the bridge, mail the venue, print posters, charge the batteries, pick
  the setlist, pay the rent
workshop: sharpen the saw, sort the screws, sweep the floor, order plywood, glue the stool, test the alarm,
  change the filter, hang the lamp
website: shrink the images, fix the menu, add a map, test on phones, write the imprint, renew the domain,
  remove old news, check the links"""

MEETINGS = """roof repair|summer party|new boiler|library budget|bike cellar|spring concert|football kit
data protection|website|kitchen rota
annual report|playground|choir trip|parking spaces|harvest fair|ferry timetable|road works|hall floor|archive
street lamps"""

PLACES = """town hall|room 4|boat house|old school|library|café Linden|gym|parish hall|online|pier 3
garden shed|station hall|north gate
mill yard|market square|fire station|community kitchen|tennis hut|the barn|bus stop Oak Road"""

ACTIONS = """ask for three offers|call the plumber|book the hall|write to the council|count the chairs
print the flyers|pay the deposit
check the insurance|bring the ladder|find a speaker|update the list|order the paint|measure the door
thank the sponsors|fetch the keys
send the bill|mend the gate|draw a plan|collect the money|buy new bulbs"""

EVENTS = """Walked to the old bridge|Missed the bus and ran|Met a man with three dogs|Planted the tomatoes
Rain all day, read a novel
Repaired the bicycle lamp|Cooked soup for nine people|Lost my left glove|Found a coin under the stairs
The power failed at supper
Visited my aunt at the hospital|Swam in the cold lake|Painted the kitchen door green
Played chess and lost twice|Saw a heron by the canal
Wrote a long letter home|Slept until noon|Bought a second-hand piano|The cat brought a mouse
Climbed the tower at dawn|Broke the blue teapot
Heard the first cuckoo|Took the ferry to the island|Baked bread without salt|Learnt to tie a bowline"""

REMARKS = """Very tired.|It was fun.|Must do it again.|Nobody believed me.|My feet hurt.
Cost more than I thought.|A good day.|Never again.
Quiet evening.|Too much wind.|Went to bed early.|Laughed a lot."""

OCCASIONS = """river clean-up|summer concert|school picnic|book swap|chess night|flea market|lantern walk
harvest supper|repair café|bird walk
open day|film night|blood donation|science fair|charity run|poetry evening|dog show|pottery course
board game night|star gazing"""

SAYINGS = """You came back early.|The ferry was empty.|I never liked the sea.|Who took the key?
Not a word to Martha.|We should leave before dark.
That was my last match.|The door was never locked.|Ask the old man at the kiosk.|There is no second bridge.
Can you smell the smoke?
She sold the house in spring.|I counted nine of them.|It stopped at midnight.|Keep the red one.
He plays the cello now.|Bring the ladder.
Nobody lives there any more.|Put the kettle on.|I will be at the harbour.|The cake is in the oven.
My train is late again.|Turn left at the mill.
Did you feed the fish?|We are out of coffee.|The rehearsal is cancelled.|I have two tickets left.
That is not my coat.|Meet me on the roof."""

LETTERS = """heating: The heating has been cold since {date}. We ask you to repair it within {days} days.
  Until then we keep back {amount} of the rent
broken chair: The chair arrived with a broken leg on {date}. Please send a new one or pay back {amount}. I can
  wait {days} days
course place: There is a free place in the course from {date}. The fee is {amount}. Please reply within {days}
  days
lost parcel: Your parcel was lost on {date}. We refund {amount} to your account. This takes {days} days
rent increase: From {date} on the rent rises by {amount} a month. You may object within {days} days
library fine: Three books were due on {date}. The fine is {amount} by now. Please return them within {days}
  days
piano lesson: The lessons start again on {date}. One month costs {amount}. You can cancel within {days} days
bike theft: My bike was stolen on {date} in the yard. It was worth {amount}. The police wrote that it takes
  {days} days"""

POEM_TITLES = """The Kettle|Low Water|Night Bus|A Snail's Map|Salt Road|Two Umbrellas
The Lamp Post|Moth Hour|Paper Boats|Winter Ladder|Bread at Six|The Quiet Pump"""

VERSES = """The kettle sings, the street is white,|a lantern swings above the quay,
the gulls are quarrelling again,|my shadow walks ahead of me.
A moth has settled on the chart,|the postman whistles through the hail,|we mended every broken net,
and gave the smallest boat a sail.
The orchard keeps its apples late,|an owl looks down from granny's shed,|the river hums a crooked tune,
and somebody has baked the bread.
No letter came on Saturday,|the ladder leans against the moon,|a button rolled beneath the stove,
the snow will cover all this soon.
The clockmaker forgot the time,|a sparrow borrowed half my crumb,|the harbour bell has lost its tongue,
tomorrow all the ships will come."""

QUESTIONS = """How many legs has a spider = 8|What do bees make = honey
How long may I borrow a kayak = {n} days|Where do I park = behind the hall,in the yard,on the street
Who feeds the fish on holidays = the caretaker,the neighbours,class 4b
Can I bring my dog = yes on a lead,only outdoors,no
When is the office open = mornings,Tuesdays only,after lunch
What is the wifi called = moorhen,guestnet,tin-roof
How do I reset the router = hold the button for {n} seconds
Which bin takes glass = the green one,the white one,the blue one
What does a ticket cost for children = nothing,half price,{n} coins|How many players can join = {n}
Where is the first-aid box = next to the oven,under the stairs,in the van
What is the deposit for a cup = {n} cents,none|Which bus goes to the lake = line {n}
Who has the spare key = the bakery,Mrs Lund,the night porter
How hot may the kiln get = {n}0 degrees|How often are the filters changed = every {n} weeks
What is the door code called = the star code,the old code
Which language is on the signs = Welsh,Basque,Frisian
How do I cancel = by mail,at the desk,online|What must I wear in the lab = goggles,a white coat,closed shoes
Where does the rope hang = hook {n}"""

TERMS = """luff = the front edge of a sail|scree = loose stones on a slope|tare = the weight of the empty box
burr = the rough edge after a cut|roux = flour cooked in fat
coda = the closing part of a piece|gnomon = the part of a sundial that throws the shadow
kerning = the space between two letters|proof = the resting time of dough
selvage = the firm edge of a cloth|spline = a smooth curve through points
latch = a circuit that stores one bit|weir = a low dam in a river|rebate = a groove in wood
escrow = money kept by a third party|folio = a sheet folded once|gusset = a piece of cloth that adds room
hertz = one cycle per second|idempotent = the same result when done twice
jitter = the variation of a delay|keel = the beam along the bottom of a ship
mulch = a cover of leaves on soil|nonce = a number used once|ostinato = a pattern repeated all the time
parity = whether a count is odd or even|quorum = the number of members needed to decide
ullage = the air above the wine|verso = the back side of a page|yaw = turning about the upright axis
SLA = service level agreement|ETA = estimated time of arrival|WIP = work in progress
FIFO = first in, first out|RSVP = please reply|PPE = personal protective equipment|BOM = bill of materials"""

JOBS = """baker|weaver|miller|teacher|sailor|blacksmith|midwife|tailor|forester|clerk|glassblower|nurse
carpenter|beekeeper|printer|farmer"""

SUBJECTS = "maths|history|music|biology|art|physics|Latin|sports|chemistry|geography|English|ethics"

NOTES = """
the spare key is at {p}'s place ; where is the spare key/who has the key ; The spare key is at {p}'s place.
dentist {d} at {t} ; when do i go to the dentist/when is my dentist appointment/dentist, what day was it ; The
  dentist is on {d} at {t}.
wifi at the cabin: {x}{n} ; what is the wifi at the cabin/wifi name or password of the cabin ; The wifi at the
  cabin is {x}{n}.
{p} owes me {m} ; how much does {p} owe me/what do i get from {p} ; {p} owes you {m}.
car is parked on level {n} ; where is the car/on which level did i park ; The car is on level {n}.
paint for the hall: {k} ; what colour is the hall/which paint did we choose for the hall ; The paint for the
  hall is {k}.
call the landlord, {f} ; what is the number of the landlord/how do i reach the landlord ; The landlord has
  {f}.
gas meter read {n}{n}{n} ; what did the gas meter say/gas meter? ; The gas meter read {n}{n}{n}.
train to {c} leaves at {t} ; when does the train to {c} leave/what time is my train ; The train to {c} leaves
  at {t}.
lend the {w} to {p} ; who gets the {w}/to whom do i lend the {w} ; {p} gets the {w}.
shoe size of {p} is {n} ; what shoe size has {p}/shoe size of {p} ; The shoe size of {p} is {n}.
gel {n}: stained over night ; which gel was stained over night/number of the gel that was stained ; It was gel
  {n}.
filter of the pump: change every {n} days ; how often must i change the filter/after how many days comes a new
  filter ; Every {n} days.
locker code {n}-{n} ; what is my locker code/code of the locker ; The locker code is {n}-{n}.
{p} is allergic to nuts ; who is allergic to nuts/who must not eat nuts ; {p} is allergic to nuts.
present for {p}: a {w} ; what does {p} get/what do i give to {p} as a present ; {p} gets a {w}.
hotel in {c}: {x} ; what is the hotel in {c} called/where do we sleep in {c} ; The hotel in {c} is {x}.
meeting moved to {t} ; to what time was the meeting moved/when is the meeting now ; The meeting is at {t}.
bike lock: colour {k}, key {n} ; which key is for the bike lock/what colour has the bike lock ; The bike lock
  is {k} and has key {n}.
plants: water on {d} ; when must i water the plants/when do the plants get water ; The plants get water on
  {d}.
{x} passed the second test ; who passed the second test/which one passed test two ; {x} passed the second
  test.
oil pressure {n} at idle ; how high is the oil pressure/oil pressure at idle ; The oil pressure at idle is
  {n}.
rent went up to {m} ; how much is the rent now/what do we pay for rent ; The rent went up to {m}.
soup kitchen needs {n} bowls ; how many bowls does the soup kitchen need/bowls for the soup kitchen ; The soup
  kitchen needs {n} bowls.
bus {n} now stops at the {w} shop ; which bus stops at the {w} shop/what is the number of the bus ; Bus {n}
  stops there.
tent pegs: {n} left ; how many tent pegs are left/do we have enough pegs, how many ; {n} tent pegs are left.
{p} plays the organ on {d} ; who plays the organ/who is at the organ ; {p} plays the organ.
sold the old {w} for {m} ; what did we get for the old {w}/for how much did the {w} go ; The old {w} went for
  {m}.
garage code changed to {n}{n} ; what is the new garage code/how do i open the garage ; The garage code is
  {n}{n}.
{x} street is closed until {d} ; which street is closed/until when is the street closed ; {x} street is closed
  until {d}.
ladder is at {p}'s ; who has the ladder/where is our ladder ; The ladder is at {p}'s.
drill bit size {n} for the shelf ; which drill bit for the shelf/what size do i drill for the shelf ; Size
  {n}.
chlorine in the pool: {m} ; how much chlorine is in the pool/chlorine value ; The chlorine value is {m}.
cat weighs {m} kg ; how heavy is the cat/weight of the cat ; The cat weighs {m} kg.
backup disk is labelled {x} ; what is written on the backup disk/label of the backup disk ; It is labelled
  {x}.
{p} wants the window seat ; who wants the window seat/who sits at the window ; {p} wants the window seat.
museum closes at {t} ; when does the museum close/until what time is the museum open ; The museum closes at
  {t}.
choir meets in {c} this year ; where does the choir meet/in which city is the choir this year ; The choir
  meets in {c}.
candles burn {n} minutes ; how long do the candles burn/burning time of the candles ; {n} minutes.
stain on the carpet: use {k} soap ; what do i use for the stain/which soap for the carpet ; Use the {k} soap.
fuse {n} is the oven ; which fuse is the oven/what is fuse {n} ; Fuse {n} is the oven.
interview with {p} moved to {c} ; where is the interview/who is the interview with ; The interview with {p} is
  in {c}.
asked for {n} chairs, got half ; how many chairs did we ask for/number of chairs we wanted ; We asked for {n}
  chairs.
kite needs {n} m of string ; how much string does the kite need/how long must the string be ; It needs {n} m.
tram ticket is {m} now ; what is a tram ticket now/how expensive is the tram ; A tram ticket is {m}.
library card number {n}-{n}{n} ; what is my library card number/number of the library card ; It is {n}-{n}{n}.
{p} returned the {w} broken ; who broke the {w}/who returned the {w} ; {p} returned the {w} broken.
the good bakery in {c} is called {x} ; what is the bakery called/name of the good bakery ; It is called {x}.
hamster is {n} weeks old ; how old is the hamster/age of the hamster ; The hamster is {n} weeks old.
concert tickets at row {n} ; which row are we in/row of our tickets ; Row {n}.
router reboot every day at {t} ; when does the router reboot/at what hour does the router restart ; The router
  reboots at {t}.
left the umbrella in {c} ; where did i leave the umbrella/where is my umbrella ; The umbrella is in {c}.
curtains need {n} hooks ; how many hooks for the curtains/hooks? ; The curtains need {n} hooks.
honey from {x}, not from the supermarket ; where is the honey from/which honey do we buy ; The honey is from
  {x}.
{p} feeds the fish until {d} ; who feeds the fish/until when are the fish looked after ; {p} feeds the fish
  until {d}.
tyre pressure {m} bar ; what pressure do the tyres need/how much air goes in the tyres ; {m} bar.
first aid course costs {m} ; what does the first aid course cost/fee of the course ; It costs {m}.
song {n} in the book is too high ; which song is too high/number of the song that is too high ; Song {n} is
  too high.
vet said {n} drops a day ; how many drops a day/what did the vet say ; The vet said {n} drops a day."""

ARTICLES = """
lighthouse
{x} is a lighthouse near {c}. ; where is the lighthouse/near which city is {x} ; {x} is near {c}.
It was built in {y} by {p}. ; who built {x}/who built it and when ; {p} built it in {y}.
The tower is {m} metres high. ; how high is the tower/how tall is {x} ; The tower is {m} metres high.
{n} steps lead to the top. ; how many steps [are there|lead to the top] ; {n} steps lead to the top.
Its light can be seen from {m} kilometres away. ; how far can the light be seen ; The light can be seen from
  {m} kilometres away.

river
The {x} is a river that ends near {c}. ; where does the river end/where does the {x} end ; It ends near {c}.
It is {n} kilometres long. ; how long is [the river|the {x}] ; It is {n} kilometres long.
{m} bridges cross it. ; how many bridges [cross it|are there] ; {m} bridges cross it.
The first map of it was drawn by {p} in {y}. ; who drew the first map/from what year is the first map ; {p}
  drew it in {y}.

composer
{x} was a composer from {c}. ; where did {x} come from/which city was {x} from ; {x} was from {c}.
The first opera was played in {y}. ; when was the first opera played ; The first opera was played in {y}.
There are {m} known songs. ; how many songs are known ; {m} songs are known.
The teacher was {p}. ; who was the teacher [of {x}|] ; The teacher was {p}.

beetle
The {x} beetle lives in forests around {c}. ; where does the beetle live ; It lives in forests around {c}.
It grows up to {m} millimetres. ; how [big|long] does it [get|grow] ; It grows up to {m} millimetres.
A female lays {n} eggs. ; how many eggs does [it|a female] lay ; A female lays {n} eggs.
It was first described by {p} in {y}. ; who described it first/in which year was it described ; {p} described
  it in {y}.

ship
The {x} was a cargo ship built in {c}. ; where was the ship built ; It was built in {c}.
It sank in {y}. ; when did [it|the ship|the {x}] sink ; It sank in {y}.
{m} people were on board. ; how many people were on board ; {m} people were on board.
The captain was {p}. ; who was the captain/name of the captain ; The captain was {p}.
The wreck lies {n} metres deep. ; how deep [is|lies] the wreck ; The wreck lies {n} metres deep.

village
{x} is a village with {n} inhabitants. ; how many [people|inhabitants] [live there|has {x}] ; It has {n}
  inhabitants.
It lies {m} kilometres from {c}. ; how far is it from {c} ; It is {m} kilometres from {c}.
The church dates from {y}. ; how old is the church/from which year is the church ; The church dates from {y}.
The mayor is {p}. ; who is the mayor ; The mayor is {p}.

telescope
The {x} telescope stands near {c}. ; where is the telescope ; It stands near {c}.
Its mirror measures {m} centimetres. ; how large is the mirror ; The mirror measures {m} centimetres.
In {y} it saw its first light. ; when was first light/when did it see its first light ; It was in {y}.
It is named after {p}. ; who is it named after ; It is named after {p}.
It has found {n} comets. ; how many comets has it found ; It has found {n} comets.
"""
