"""Settings asked for by what they mean, and code with named constants, for families.more_answers."""

from training.generator.folder_words import entries

# concept | keys = values; … | questions | answer
CONCEPTS = entries("""
resolution | width = [64..384]0; height = [48..216]0 | what (is the resolution|resolution do we use)?; how
  (large|big) is the (picture|image|window)?; what size (is the picture|does it have) in pixels? | The
  resolution is {width} x {height}.
address | host = {host}; port = [11..99]0[0..9] | (which|what) address (is used|do we connect to)?; where
  do we connect to?; what is the (full address|address with port)? | The address is {host}:{port}.
wait | timeout_s = [3..90] | how long do we wait (for an answer|before giving up|)?; after how many
  seconds do we give up?; when do we stop waiting? | We wait {timeout_s} seconds.
wait | wait_minutes = [2..45] | how long do we wait?; how much time passes before we give up? | We wait
  {wait_minutes} minutes.
contact | contact = {mail} | who do I write to?; whom (do|can) I (mail|contact)?; who (is|would be) the
  person to ask? | You write to {contact}.
contact | email = {mail} | (who|where) do I write to?; which address takes the mail?; where do I send a
  message? | You write to {email}.
tries | max_retries = [2..9] | how often do we try again?; how many times is it tried again?; how many
  further attempts are there? | It is tried again {max_retries} times.
pause | interval_min = [2..55] | how often does it run?; how many minutes are between two runs?; what is
  the pause between runs? | It runs every {interval_min} minutes.
when | opens = {hour1}:00; closes = {hour2}:30 | (what are the opening hours|when are we open)?; from
  when to when is it open?; opening times? | It is open from {opens} to {closes}.
login | user = {user}; auth_file = {word}.key | (how|with what) do we log in?; which account and which key
  file are used?; who logs in, and with which file? | It logs in as {user} with {auth_file}.
language | locale = {locale} | (which|what) language is (it in|used)?; what language do people see? | The
  language is {locale}.
colours | foreground = {color}; background = {color2} | (which|what) colours (are used|does it have)?;
  what are the text colour and the colour behind it? | It is {foreground} on {background}.
target | output_dir = {word}/out | where do the (results|files) (go|land|end up)?; in which folder do I
  find the results? | They go to {output_dir}.
size | max_upload_mb = [5..250] | how (big|large) may (a file|an upload) be?; what is the largest file (we
  take|one may send)? | A file may have {max_upload_mb} MB.
range | min_temp = [3..12]; max_temp = [19..33] | between which temperatures (is it kept|must it stay)?;
  what is the (allowed temperature range|range of temperatures)?; how cold and how warm may it get? | It
  is kept between {min_temp} and {max_temp} degrees.
keep | keep_days = [5..90] | how long are (the copies|old files|things) kept?; when are old ones thrown
  away?; after how many days is it deleted? | They are kept for {keep_days} days.
money | price = [3..60].50; currency = {money} | how much does it cost(, with currency|)?; what do people
  pay? | It costs {price} {currency}.
speed | rate_limit = [5..90]0 | how many requests (are allowed|may one send)?; how fast may one ask? |
  {rate_limit} requests are allowed.
place | latitude = [41..59].[10..98]; longitude = [3..24].[10..98] | where is it on the map?; (what|which)
  are the coordinates?; what is the position? | The position is {latitude}, {longitude}.
when | day = {day}; time = [10..21]:[10..58] | when (does it take place|is it)?; on which day and at what
  time?; (what is|tell me) the date of it? | It is on {day} at {time}.
chatty | log_level = {level} | how much (does it log|gets logged)?; how detailed are the logs? | The log
  level is {log_level}.
many | workers = [2..32] | how many (processes|jobs) run at the same time?; how much runs in parallel? |
  {workers} run at the same time.
spare | margin_top = [2..30]; margin_left = [2..30] | how much space is (left at|kept from) the top and
  the left?; what are the margins? | The margins are {margin_top} at the top and {margin_left} on the
  left.
contact | maintainer = {person} {surname} | who (takes care of|looks after|is responsible for) it?; who do I
  ask about it? | {maintainer} takes care of it.
""")
# names of the sections | names of the file
SECTIONS = entries("""
staging production | deploy servers environments app
test live | app shop servers service
kitchen garage attic | rooms house heating home
screen print | layout output style picture
day night | modes schedule light greenhouse
north south east | stations sites depots branches
winter summer | season plan club pool
guests members | club access gym library
billing search mail | services backend modules app
left right | panels cameras views monitor
phone tablet desktop | devices views site theme
bronze silver gold | plans tiers tariffs
paris oslo lisbon | offices branches places
readers writers | pool access workers
small large | sizes variants presets
backup sync | jobs tasks cron
""")
WORDS = {
    "locale": "de_AT fr_FR pt_BR nl_NL sv_SE pl_PL en_GB it_IT".split(),
    "color": "black navy darkgreen maroon #223344 #102030".split(),
    "color2": "white ivory beige lightyellow #fafafa #f0f8ff".split(),
    "money": "EUR CHF SEK CAD NOK".split(),
    "level": "debug info warning error".split(),
    "word": "north tulip harbor amber maple river copper meadow".split(),
    "user": "deploy runner robot reader batch ops guest1".split(),
    "day": "monday tuesday wednesday thursday friday saturday sunday".split(),
    "hour1": "07 08 09 10".split(),
    "hour2": "16 17 18 19 20".split(),
}
PLACED = entries("""
{q} (for|in|of) {s}
(for|in) {s}: {q}
{s}: {q}
for {s}, {q}
{q} I mean {s}, not {o}
{q} only {s}, (not {o}|{o} is not needed)
I look at {s}. {q}
{q} ({s})
in the {s} section: {q}
{q} in the {s} part
{q} take {s}
I need it for {s}: {q}
{q} for {s}, leave {o} out
""")

# language | comment | constant | function: {C} constant, {v} value, {f} function, {a} argument
LANGUAGES = entries(r"""
py | # | {C} = {v} | def {f}({a}):¶    {if}return {C}
js | // | const {C} = {v}; | function {f}({a}) {¶  {if}return {C};¶}
ts | // | const {C}: number = {v}; | export function {f}({a}: number): number {¶  {if}return {C};¶}
go | // | const {C} = {v} | func {f}({a} int) int {¶¬{if}return {C}¶}
rs | // | const {C}: u32 = {v}; | fn {f}({a}: u32) -> u32 {¶    {if}{C}¶}
rb | # | {C} = {v} | def {f}({a})¶  {if}{C}¶end
php | // | const {C} = {v}; | function {f}(${a}) {¶    {if}return {C};¶}
java | // | static final int {C} = {v}; | static int {f}(int {a}) {¶    {if}return {C};¶}
kt | // | const val {C} = {v} | fun {f}({a}: Int): Int {¶    {if}return {C}¶}
swift | // | let {C} = {v} | func {f}(_ {a}: Int) -> Int {¶    {if}return {C}¶}
c | // | #define {C} {v} | int {f}(int {a})¶{¶    {if}return {C};¶}
lua | -- | local {C} = {v} | function {f}({a})¶  {if}return {C}¶end
""")
# function | constant | argument | what it is, for the question | unit
FUNCTIONS = entries("""
shipping_fee | BASE_FEE | weight | the shipping fee
late_fine | FINE_PER_WEEK | weeks | the fine for late books
start_lives | FIRST_LIVES | level | the number of lives at the start
max_guests | ROOM_LIMIT | room | the largest number of guests
retry_pause | PAUSE_SECONDS | attempt | the pause between two attempts
page_length | ROWS_PER_PAGE | page | the length of a page
jump_height | JUMP_STEP | player | the height of a jump
lesson_minutes | LESSON_LENGTH | klass | the length of a lesson
watering_time | WATER_MINUTES | plant | the time for watering
oven_heat | BAKE_DEGREES | dish | the heat of the oven
entry_price | TICKET_PRICE | visitor | the price of a ticket
storage_days | KEEP_DAYS | file | the time that files are kept
bonus_points | BONUS | score | the bonus
break_length | BREAK_MINUTES | shift | the length of a break
tank_size | TANK_LITRES | pump | the size of the tank
queue_size | QUEUE_SLOTS | worker | the size of the queue
deposit_for | DEPOSIT | bike | the deposit
crew_size | CREW | boat | the size of the crew
""")
RETURNED = """
what does {f} return?
(which|what) (number|value) does {f} (return|give|give back)?
what (do I get|comes out) when I call {f}?
what is the result of {f}?
in {file}, what does {f} return?
{f} in {file} returns what (number|)?
what is {what} in {file}?
what is {what}, according to {file}?
(how large|which number) is {what}? see {file}
look at {file}: what is {what}?
"""

MULTIPLIED = """
(what|which number) does {f} multiply {a} (by|with)?
by which number is {a} multiplied in {f}?
{f} multiplies {a} by what (number|)?
in {file}, {f} multiplies {a} by (what|which number)?
look at {file}: by how much is {a} multiplied in {f}?
what is the factor in {f}?
"""

COMPARED = """
(above which|from which|over what) (number|limit) does {f} (say yes|return true|become true)?
what is {a} compared (to|with) in {f}?
with (what|which) number does {f} compare {a}?
(in|look at) {file}: which limit does {f} check?
which limit does {f} (check|use|have)?
in {file}, {f} compares {a} with which number?
"""

# name of the file | heading | items
LISTS = entries("""
todo.md | # To do | call the plumber; paint the fence; order ink; renew the passport; water the plants;
  sort photos; fix the bike; mail the form; book the train; wash the car
packing.md | # Packing | tent; stove; rain jacket; maps; first aid kit; socks; sun cream; charger; torch; mug
release.md | # Release | write the changelog; run the tests; tag the version; update the docs; tell the
  users; build the image; check the licence; bump the version
party.txt | Party | buy balloons; bake a cake; invite the neighbours; rent chairs; make a playlist; print
  the menu; borrow a grill; hang up lights
move.md | # Moving | cancel the gas; pack the books; return the keys; rent a van; forward the mail; clean
  the oven; read the meters; label the boxes
chores.txt | Chores | vacuum the hall; empty the bins; clean the windows; iron shirts; mop the stairs;
  feed the cat; change the sheets
checklist.md | # Checklist | lock the door; close the valves; switch off the lights; set the alarm; empty
  the fridge; take out the rubbish; unplug the kettle
wedding.md | # Wedding | choose the rings; book the band; order flowers; write the speech; taste the cake;
  send the cards; find a hall
course.md | # Course | read chapter two; hand in the essay; join a group; watch the lecture; pay the fee;
  learn the formulas; print the slides
tasks.txt | Tasks | move the servers; renew the certificate; archive the logs; replace the disk; update
  the firewall; test the backup; order cables
garden.md | # Garden | prune the roses; sow carrots; mend the gate; turn the compost; plant bulbs; clean
  the pond; stake the tomatoes
""")
# line of an open item, line of a done one, lines above, ending of the file if it must be this one
MARKS = [
    ("- [ ] {i}", "- [x] {i}", "", ""),
    ("- [ ] {i}", "- [x] {i}", "", ""),
    ("- [ ] {i}", "- [X] {i}", "", ""),
    ("* [ ] {i}", "* [x] {i}", "", ""),
    ("[ ] {i}", "[x] {i}", "", ""),
    ("☐ {i}", "☑ {i}", "", ""),
    ("⬜ {i}", "✅ {i}", "", ""),
    ("TODO {i}", "DONE {i}", "", ""),
    ("TODO: {i}", "DONE: {i}", "", ""),
    ("{i} - open", "{i} - done", "", ""),
    ("{i}: open", "{i}: closed", "", ""),
    ("{i},open", "{i},closed", "item,state", "csv"),
    ("{i},no", "{i},yes", "task,done", "csv"),
    ("{i};todo;{p}", "{i};done;{p}", "task;status;who", "csv"),
    ("| {i} | open |", "| {i} | done |", "| Item | State |\n|---|---|", "md"),
    ("| {i} | {p} | no |", "| {i} | {p} | yes |", "| Task | Who | Done |\n|---|---|---|", "md"),
]
OPEN = """
what is (still open|not done yet|still to do|left) on (the|my) list?
which (things|items) are (still open|not done yet|still to do|left) on (the|my) list?
what (is left|is still open|remains) on the list?
which (points|tasks|items) (on|of) the list are (still open|not done|not ticked|unchecked)?
what do (I|we) still have to do( according to the list|, going by the list|)?
(list|show me) (everything|all) (that is not done|still open) on the list
the list: what's (left|open|missing)?
(which boxes|what) on the list (are|is) not (ticked|checked) (yes|yet|)?
show the open (items|points|tasks) of (the|my|our) list
"""
DONE = """
what on the list is (already|) (done|finished)?
which (things|items) on (the|my|our) list are (already|) (done|finished)?
which (points|tasks|items) (on|of) the list are (done|ticked|finished|checked off)?
what did (I|we) (already|) (finish|get done) on the list?
(list|show me) (everything|all) that is done on the list
the list: what's done (already|)?
what (have I|have we) ticked off on the list?
show the finished (items|points|tasks) of (the|my|our) list
"""
HOW_MANY_OPEN = """
how many (things|items|points|tasks) (on|of) the list are (still open|not done yet|left)?
how much is (left|still open) on the list?
the list: how many (are left|are open|do I still have to do)?
count the open (items|points|tasks) on (the|my) list
"""
HOW_MANY_DONE = """
how many (things|items|points|tasks) (on|of) the list are (done|finished|ticked off)?
how much of the list is done?
the list: how many are done (already|)?
count the finished (items|points|tasks) on (the|my) list
"""
