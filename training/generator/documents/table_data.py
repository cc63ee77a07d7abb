"""What tables are about.

A block is one kind of table. Its first line: file names; how people call the file; row word, plural; where
  the row names
come from; header of the first column. Every further line is a column: header; type of the value; noun;
  questions about
one row; the answer as a sentence; and, for numbers, the question for the largest / for the smallest.
"""

__all__ = ["TABLES"]

TABLES = """
plants,garden,greenhouse ; plant list|garden sheet ; plant,plants ;
  fern,cactus,basil,orchid,ivy,aloe,monstera,palm,lavender,mint,begonia,chilli ; plant
water_ml ; int 50 800 50 ; amount of water ; how much water does the {r} [get|need]|how many ml of water for
  the {r}|water for the {r} ; The {r} gets {v} ml of water. ; which plant needs the most water/which plant
  needs the least water
light ; pick full sun,half shade,shade,window ; place ; where should the {r} stand|how much light does the {r}
  want ; The {r} wants {v}.
repotted ; date ; date of repotting ; when was the {r} repotted|when did we repot the {r} last ; The {r} was
  repotted on {v}.

bees,hives,apiary ; hive [table|sheet|records] ; hive,hives ; coined ; hive
frames ; int 4 20 1 ; number of frames ; how many frames [are in|has] {r}|frames in {r} ; {r} has {v} frames.
  ; which hive has the most frames/which hive has the fewest frames
honey_kg ; dec 4 40 1 ; honey yield ; how much honey did {r} give|kg of honey from {r} ; {r} gave {v} kg of
  honey. ; which hive gave the most honey/which hive gave the least honey
queen ; pick marked,unmarked,missing,new ; state of the queen ; what about the queen of {r}|is the queen of
  {r} marked or what ; The queen of {r} is {v}.

prices,price_list,pricelist,catalogue ; price list|prices|catalogue ; article,articles ; things ; article
price ; money ; price ; how much is the {r}|what does the {r} cost|what do we [take|charge] for the {r}|price
  of a {r} ; The {r} costs {v}. ; what is the most expensive article|which article costs the most/what is the
  cheapest article|which article costs least
stock ; int 0 120 1 ; stock ; how many of the {r} do we have [left|in stock]|how many {r} in stock|stock of
  the {r} ; There are {v} of the {r} in stock. ; of which article do we have most/which article is running
  lowest
supplier ; coined ; supplier ; who supplies the {r}|where do we buy the {r}|who delivers the {r} ; {v}
  supplies the {r}.

students,marks,grades,class_7b,exam ; mark list|grade sheet|class list|marks ; student,students ; first ; name
points ; int 8 60 1 ; points ; how many points did {r} [get|have|score]|points of {r} ; {r} got {v} points. ;
  who has the most points|who got the highest score/who has the fewest points|who did worst
grade ; pick A,B,C,D,B+,A- ; grade ; what grade did {r} get|which mark has {r} ; {r} got {v}.
seat ; code R## ; seat ; where does {r} sit|which seat has {r} ; {r} sits at {v}.

team,staff,employees,people,crew ; staff list|team list|employee table|people file ; person,people ; person ;
  name
role ; pick designer,accountant,driver,cook,tester,nurse,welder,clerk,analyst,janitor,translator,foreman ; job
  ; what does {r} do|what is {r}'s job|what job has {r} ; {r} is the {v}.
office ; city ; office ; where does {r} work|in which office is {r}|{r} works in which city ; {r} works in
  {v}.
phone ; phone ; phone number ; what number do i [call|dial] for {r}|how can i phone {r}|phone of {r} ; The
  phone number of {r} is {v}.
since ; year ; first year ; since when is {r} with us|when did {r} join|which year did {r} start ; {r} has
  been here since {v}. ; who joined last/who has been here longest

contacts,address_book,addresses,phonebook,members ; address book|contact list|contacts|member list ;
  contact,contacts ; person ; name
email ; mail ; e-mail address ; what is {r}'s [email|e-mail|mail address]|how do i mail {r}|where can I write
  to {r} ; The e-mail address of {r} is {v}.
city ; city ; city ; where does {r} live|which city is {r} in|what town is {r} from ; {r} lives in {v}.
birthday ; date ; birthday ; when is {r}'s birthday|when was {r} born ; The birthday of {r} is {v}.

sensors,readings,measurements,probes ; sensor [table|data|readings]|readings ; sensor,sensors ; code S-## ;
  sensor
temp_c ; dec -8 38 1 ; temperature ; how warm is it at {r}|what temperature does {r} show|what does {r} read
  in degrees ; {r} shows {v} °C. ; which sensor is the warmest/which sensor is the coldest
humidity ; int 20 95 1 ; humidity ; how humid is it at {r}|humidity at {r} ; The humidity at {r} is {v} %. ;
  which sensor has the highest humidity/which sensor has the lowest humidity
battery ; int 3 100 1 ; battery level ; how full is the battery of {r}|battery of {r} ; The battery of {r} is
  at {v} %. ; which sensor has the fullest battery/which battery is the emptiest
room ; pick attic,cellar,kitchen,hall,roof,garage,barn,lab ; room ; where is {r} [mounted|installed]|in which
  room is {r} ; {r} is in the {v}.

trains,departures,timetable,bus,ferries ; timetable|departure board|schedule ; connection,connections ; city ;
  to
departs ; time ; departure ; when does [the one|it] to {r} leave|at what time do we leave for {r}|when do i
  have to be at the platform for {r} ; The one to {r} leaves at {v}. ; which is the last departure/which is
  the first departure
platform ; int 1 14 1 ; platform ; from which platform does it go to {r}|what platform for {r} ; The one to
  {r} leaves from platform {v}.
minutes ; int 12 240 1 ; travel time ; how long does it take to {r}|how many minutes to {r} ; It takes {v}
  minutes to {r}. ; which trip takes longest/which trip is the shortest
fare ; money ; fare ; what is the fare to {r}|how much is a ticket to {r} ; The fare to {r} is {v}. ; where is
  the most expensive trip to/which destination is the cheapest

invoices,bills,receivables,payments ; invoice list|bills|list of invoices ; invoice,invoices ; code INV-#### ;
  invoice
customer ; coined ; customer ; who is {r} for|which customer has {r}|who got invoice {r} ; {r} is for {v}.
amount ; money ; amount ; how much is [invoice|bill|] {r}|what is the amount of {r}|what do they owe on {r} ;
  {r} is over {v}. ; which invoice is the highest/which invoice is the smallest
status ; pick paid,open,overdue,cancelled ; status ; is {r} paid [already|]|what state is {r} in|has {r} been
  paid ; The status of {r} is {v}.
due ; date ; due date ; when is {r} due|until when must {r} be paid ; {r} is due on {v}.

tracks,playlist,songs,setlist,album ; playlist|set list|track list ; song,songs ; Harbour Lights,Paper
  Moon,Slow Train,Glass River,Copper Sky,Last Ferry,Winter Coat,Salt,Half Asleep,Blue Door,No Map,Ninth Floor
  ; title
artist ; person ; artist ; who [sings|plays|wrote] {r}|{r} is by whom ; {r} is by {v}.
length ; pick 2:48,3:05,3:31,4:12,5:20,2:59,6:03,3:47,4:44 ; length ; how long is {r}|length of {r} ; {r}
  lasts {v}.
bpm ; int 68 176 1 ; tempo ; how fast is {r}|what bpm has {r}|tempo of {r} ; {r} has {v} bpm. ; which song is
  the fastest/which song is the slowest
key ; pick C major,A minor,G major,E minor,B flat,F sharp minor ; key ; in what key is {r}|key of {r} ; {r} is
  in {v}.

books,library,reading_list,shelf ; book list|reading list|library table ; book,books ; The Salt Road,Nine
  Bridges,A House of Wind,Tin Soldiers,The Quiet Coast,Ember,Low Tide,Letters North,The Beekeeper,Half a Map ;
  title
author ; person ; author ; who wrote {r}|author of {r}|who is {r} by ; {r} was written by {v}.
year ; year ; year ; when was {r} published|what year is {r} from|when did {r} come out ; {r} is from {v}. ;
  which book is the newest/which book is the oldest
pages ; int 90 720 1 ; number of pages ; how many pages has {r}|how thick is {r}|pages in {r} ; {r} has {v}
  pages. ; which book is the longest|which book has the most pages/which is the thinnest book
shelf ; code #A# ; shelf ; on which shelf is {r}|where do i find {r} ; {r} is on shelf {v}.

menu,lunch,cafe,bistro ; menu|lunch menu|card of the café ; dish,dishes ; tomato soup,goulash,lentil
  curry,fish pie,mushroom risotto,caesar salad,onion tart,pea stew,cheese plate,apple crumble,ramen,veggie
  burger ; dish
price ; money ; price ; how much is the {r}|what does the {r} cost|price for the {r} ; The {r} costs {v}. ;
  what is the most expensive dish/what is the cheapest [dish|thing to eat]
day ; pick Monday,Tuesday,Wednesday,Thursday,Friday,daily ; day ; when is there {r}|on which day do we have
  {r} ; The {r} is served {v}.
kcal ; int 180 980 10 ; calories ; how many calories has the {r}|kcal of the {r} ; The {r} has {v} kcal. ;
  which dish has the most calories/which dish is the lightest

matches,results,league,scores,tournament ; results|league table|score table|scoreboard ; team,teams ; coined ;
  team
played ; int 4 30 1 ; number of games ; how many games did {r} play ; {r} played {v} games.
won ; int 0 14 1 ; number of wins ; how often did {r} win|how many wins has {r} ; {r} won {v} times. ; who won
  the most games/who won the fewest games
points ; int 3 60 1 ; points ; how many points has {r}|points of {r} ; {r} has {v} points. ; who is leading|
  which team has the most points/who is last|which team has the fewest points

players,heroes,characters,enemies,monsters ; [monster|character] table|unit stats|character sheet ; unit,units
  ; orc,goblin,wraith,golem,bat,troll,imp,hydra,slime,knight,archer,ranger,lich ; name
hp ; int 5 300 5 ; hit points ; how much [hp|health] has the {r}|how many hit points does the {r} have ; The
  {r} has {v} hp. ; who has the most hp/who has the least hp
damage ; int 1 45 1 ; damage ; how hard does the {r} hit|damage of the {r}|what damage does the {r} do ; The
  {r} does {v} damage. ; who hits hardest/who does the least damage
speed ; dec 0 6 1 ; speed ; how fast is the {r} ; The speed of the {r} is {v}. ; which unit is the
  fastest/which unit is the slowest
drops ; pick gold,bone,potion,nothing,gem,scroll ; drop ; what does the {r} drop|what do i get for killing a
  {r} ; The {r} drops {v}.

servers,hosts,machines,nodes,inventory ; server list|host table|inventory ; host,hosts ; coded ; host
ip ; ip ; ip address ; what is the ip of {r}|which address has {r}|where can i reach {r} ; The IP address of
  {r} is {v}.
cpu ; int 1 64 1 ; number of cpus ; how many [cores|cpus] has {r} ; {r} has {v} CPUs. ; which host has the
  most cpus/which host has the fewest cpus
ram_gb ; int 2 256 2 ; memory ; how much [ram|memory] does {r} have ; {r} has {v} GB of memory. ; which host
  has the most memory/which host has the least memory
os ; pick debian 12,ubuntu 24.04,alpine,freebsd 14,rocky 9 ; system ; what does {r} run on|which os is on {r}
  ; {r} runs {v}.

expenses,budget,costs,spending,ledger ; budget|expense sheet|list of expenses|costs ; item,items ;
  rent,power,internet,insurance,heating,groceries,fuel,phone,water,gym,repairs,books,childcare ; item
amount ; money ; amount ; how much do we pay for {r}|what did {r} cost|how much goes to {r}|what do we spend
  on {r} ; We pay {v} for {r}. ; what costs us most|biggest item/what is the smallest item
paid_by ; first ; payer ; who pays for {r}|who paid the {r} ; {v} pays for {r}.
due ; pick 1st,3rd,5th,10th,15th,28th ; due day ; when is {r} due|on what day do we pay {r} ; {r} is due on
  the {v}.

rooms,bookings,meeting_rooms,hotel,cabins ; room list|booking sheet|bookings ; room,rooms ; coined ; room
beds ; int 2 24 1 ; number of seats ; how many people fit in {r}|seats in {r}|how big is {r} ; {r} has {v}
  seats. ; which room is the biggest/which is the smallest room
floor ; int 0 9 1 ; floor ; on which floor is {r}|what floor is {r} on ; {r} is on floor {v}.
booked_by ; person ; guest ; who booked {r}|who has {r}|who is in {r} ; {v} booked {r}.
until ; date ; end of the booking ; until when is {r} booked|when is {r} free again ; {r} is booked until {v}.

orders,shipments,parcels,deliveries ; order list|shipping list|parcels ; order,orders ; code 1#### ; order
customer ; person ; customer ; who ordered {r}|who is order {r} for ; Order {r} is for {v}.
weight_kg ; dec 0 30 1 ; weight ; how heavy is [order|parcel|] {r}|what does {r} weigh ; Order {r} weighs {v}
  kg. ; which order is the heaviest/which order is the lightest
city ; city ; destination ; where does {r} go|to which city goes {r} ; Order {r} goes to {v}.
state ; pick packed,shipped,returned,waiting,lost ; state ; what about order {r}|what is the state of {r} ;
  Order {r} is {v}.

birds,wildlife,sightings,species,animals ; [sighting|animal] list|bird list|species table ; animal,animals ;
  heron,kestrel,otter,badger,hare,swift,owl,stork,fox,newt,lynx,wagtail,kingfisher ; animal
count ; int 1 80 1 ; number ; how many times was the {r} seen|how many {r}s were counted|count of the {r} ;
  The {r} was counted {v} times. ; which animal was seen most/which animal is the rarest
place ; pick east pond,old quarry,river bend,north field,reed belt,mill weir ; place ; where was the {r} seen|
  where did they see the {r} ; The {r} was seen at the {v}.
date ; date ; date ; when was the {r} seen ; The {r} was seen on {v}.
observer ; first ; observer ; who saw the {r}|who reported the {r} ; {v} saw the {r}.

mountains,peaks,summits ; [mountain|peak] table|list of peaks ; peak,peaks ; coined ; peak
height_m ; int 800 4900 1 ; height ; how high is {r}|height of {r} in metres ; {r} is {v} m high. ; which peak
  is the highest/which peak is the lowest
region ; coined ; region ; where is {r}|in what region lies {r} ; {r} lies in {v}.
first_climbed ; year ; first ascent ; when was {r} first climbed|year of the first ascent of {r} ; {r} was
  first climbed in {v}. ; which was climbed last/which peak was climbed first

samples,assay,lab,experiment,results ; lab table|sample sheet|results of the assay ; sample,samples ; code
  X-### ; sample
ph ; dec 4 9 2 ; pH ; what pH has {r}|ph of {r} ; The pH of {r} is {v}. ; which sample has the highest
  ph/which sample is the most acidic
mass_mg ; dec 2 90 2 ; mass ; how many mg is {r}|mass of {r} ; The mass of {r} is {v} mg. ; which sample is
  the heaviest/which sample is the lightest
result ; pick positive,negative,unclear,repeat ; result ; what came out for {r}|was {r} positive ; The result
  of {r} is {v}.
by ; first ; person ; who measured {r}|who did {r} ; {v} measured {r}.

chores,duties,rota,shifts,cleaning ; rota|cleaning plan|duty list|chore table ; chore,chores ;
  dishes,bins,vacuuming,windows,laundry,shopping,bathroom,cooking,lawn,cat litter,dog walk ; chore
who ; first ; person ; who does the {r}|whose turn is it with the {r}|who has to do the {r} ; {v} does the
  {r}.
day ; pick Mon,Tue,Wed,Thu,Fri,Sat,Sun ; day ; on which day is {r}|when is {r} done ; The day for {r} is {v}.
minutes ; int 5 90 5 ; time ; how long does {r} take|minutes for {r} ; {r} takes {v} minutes. ; which chore
  takes longest/which chore is the quickest

courses,lessons,lectures,workshops,classes ; course list|list of workshops|lecture plan ; course,courses ;
  statics,pottery,Latin,optics,chemistry,drawing,robotics,algebra,choir,fencing,botany,ethics ; course
teacher ; person ; teacher ; who teaches {r}|who gives {r}|which teacher has {r} ; {v} teaches {r}.
room ; code B## ; room ; where is {r}|in what room is {r} ; {r} is in room {v}.
starts ; time ; start ; when does {r} start|what time is {r} ; {r} starts at {v}. ; which course starts
  last/which course starts first
places ; int 6 40 1 ; number of places ; how many places are there in {r} ; {r} has {v} places. ; which course
  has the most places/which course has the fewest places

cars,fleet,vehicles,bikes,boats ; fleet list|vehicle list|list of cars ; vehicle,vehicles ; code K-## ;
  vehicle
driver ; person ; driver ; who drives {r}|who has {r} ; {v} drives {r}.
km ; int 900 240000 1 ; mileage ; how many km has {r}|mileage of {r} ; {r} has {v} km. ; which vehicle has the
  most km/which vehicle has run the least
fuel ; pick diesel,petrol,electric,hybrid,gas ; fuel ; what does {r} run on|what do i fill into {r} ; {r} runs
  on {v}.
service ; date ; service date ; when is the next service of {r}|when must {r} go to the garage ; The next
  service of {r} is on {v}.

votes,survey,poll,election ; poll|survey results|votes ; option,options ;
  pizza,picnic,cinema,bowling,museum,lake,hike,zoo,karaoke,board games ; option
votes ; int 0 48 1 ; number of votes ; how many votes did {r} get|how many people want {r}|votes for {r} ; {r}
  got {v} votes. ; what won the vote|what got the most votes/what got the fewest votes
cost ; money ; cost ; what would {r} cost|how expensive is {r} ; {r} costs {v}. ; which option is the most
  expensive/which option is the cheapest

planets,bodies,catalogue_b ; planet table|star list ; body,bodies ; coined ; body
radius_km ; int 300 70000 10 ; radius ; how big is {r}|radius of {r} ; The radius of {r} is {v} km. ; which
  body is the largest/which body is the smallest
moons ; int 0 28 1 ; number of moons ; how many moons has {r} ; {r} has {v} moons. ; which has the most
  moons/which has the fewest moons
discovered ; year ; year of discovery ; when was {r} discovered|discovery of {r} ; {r} was discovered in {v}.
  ; which was discovered last/which was discovered first

stock,warehouse,parts,spares,components ; parts list|stock list|bill of materials ; part,parts ; M3
  screw,washer,bearing,hinge,o-ring,fuse,relay,capacitor,belt,gasket,spring,LED strip,heat sink,switch ; part
qty ; int 0 400 1 ; quantity ; how many {r} do we have|quantity of {r}|how many pieces of {r} are there ;
  There are {v} of {r}. ; what do we have most of/what do we have least of
bin ; code #C# ; bin ; in which bin is the {r}|where is the {r} kept|bin for {r} ; The {r} is in bin {v}.
price ; money ; price ; what does a {r} cost|unit price of the {r} ; The {r} costs {v}. ; which part is the
  most expensive/which part is the cheapest

translations,vocabulary,words,vocab ; vocabulary|word list|vocab file ; word,words ;
  house=Haus=maison,dog=Hund=chien,bread=Brot=pain,tree=Baum=arbre,water=Wasser=eau ; english
german ; part 1 ; German word ; what is {r} in German|how do you say {r} in German|German for {r} ; The German
  word for {r} is {v}.
french ; part 2 ; French word ; what is {r} in French|French for {r}|how is {r} called in French ; The French
  word for {r} is {v}.
level ; pick A1,A2,B1,B2 ; level ; which level is {r} ; The level of {r} is {v}.

elements,dyes,alloys,chemicals,materials ; material table|chemical list ; material,materials ;
  brass,nylon,oak,granite,copper,cork,glass,slate,resin,felt,ash,zinc ; material
density ; dec 0 9 2 ; density ; how dense is {r}|density of {r} ; The density of {r} is {v}. ; which material
  is the densest/which material has the lowest density
melts_at ; int 90 1600 10 ; melting point ; at what temperature does {r} melt|melting point of {r} ; {r} melts
  at {v} °C. ; which has the highest melting point/which one melts first
colour ; colour ; colour ; what colour is {r} ; The colour of {r} is {v}.

runs,training,workouts,swim,laps ; training log|running log|workout sheet ; day,days ;
  Monday,Tuesday,Wednesday,Thursday,Friday,Saturday,Sunday ; day
km ; dec 2 24 1 ; distance ; how far did i [run|go] on {r}|how many km on {r} ; On {r} it was {v} km. ; on
  which day did i run farthest/on which day was the shortest run
pulse ; int 96 181 1 ; pulse ; what was my pulse on {r}|heart rate on {r} ; The pulse on {r} was {v}. ; when
  was my pulse highest/when was my pulse lowest
shoes ; pick red,trail,old,road,none ; shoes ; which shoes did i wear on {r} ; On {r} the shoes were: {v}.

flights,airports,gates ; flight plan|flight list ; flight,flights ; code BX## ; flight
to ; city ; destination ; where does {r} go|where does {r} fly to ; {r} flies to {v}.
gate ; code C# ; gate ; which gate has {r}|from what gate does {r} leave ; {r} leaves from gate {v}.
seats ; int 40 320 2 ; number of seats ; how many seats has {r} ; {r} has {v} seats. ; which flight has the
  most seats/which flight has the fewest seats

patients,pets,dogs,cats,horses ; pet list|patient list|list of the animals ; animal,animals ;
  Rex,Luna,Mocha,Biscuit,Tiger,Nero,Pearl,Sooty,Flash,Olive,Juno,Pip ; name
species ; pick dog,cat,horse,rabbit,goat,parrot ; species ; what kind of animal is {r}|what is {r} ; {r} is a
  {v}.
weight ; dec 1 40 1 ; weight ; what does {r} weigh|how heavy is {r} ; {r} weighs {v} kg. ; who is the
  heaviest/who is the lightest
owner ; person ; owner ; who owns {r}|whose is {r}|who does {r} belong to ; {r} belongs to {v}.
vaccinated ; bool ; vaccination ; is {r} vaccinated|did {r} get the shot ; The vaccination entry of {r} is
  {v}.

wines,teas,coffees,cheeses,beers ; tasting sheet|tasting notes ; kind,kinds ; coined ; name
origin ; coined ; origin ; where does {r} come from|origin of {r} ; {r} comes from {v}.
score ; int 60 99 1 ; score ; what score did {r} get|how many points has {r} ; {r} scored {v}. ; which one got
  the best score/which one got the worst score
note ; pick smoky,floral,nutty,sour,dry,fruity,earthy ; note ; how does {r} taste|what is the note of {r} ;
  {r} tastes {v}.

tickets,bugs,issues,defects ; bug list|ticket list|issue table ; ticket,tickets ; code T-### ; id
title ; pick login fails,slow search,wrong total,broken link,missing icon,crash on save,typo in footer,double
  mail ; title ; what is {r} about|title of {r} ; {r} is about: {v}.
assignee ; first ; assignee ; who works on {r}|who has {r}|whose ticket is {r} ; {v} works on {r}.
priority ; pick low,medium,high,urgent ; priority ; how urgent is {r}|which priority has {r} ; The priority of
  {r} is {v}.
status ; pick open,closed,blocked,in review ; status ; is {r} [done|closed]|how far is {r} ; The status of {r}
  is {v}.

guests,rsvp,wedding,party ; guest list|rsvp list ; guest,guests ; person ; guest
coming ; bool ; answer ; is {r} coming|will {r} be there ; The answer of {r} is {v}.
table ; int 1 9 1 ; table ; at which table sits {r}|where do we seat {r} ; {r} sits at table {v}.
meal ; pick fish,vegan,beef,kids,vegetarian ; meal ; what does {r} eat|which meal for {r} ; {r} eats {v}.

knitting,yarn,fabrics,paints,threads ; yarn list|stash list ; yarn,yarns ; coined ; yarn
colour ; colour ; colour ; what colour is {r} ; The colour of {r} is {v}.
metres ; int 60 420 10 ; length ; how many metres of {r} [are left|do i have] ; There are {v} m of {r}. ; of
  which yarn do i have most/of which yarn is least left
needle ; pick 2.5 mm,3 mm,3.5 mm,4 mm,5 mm,8 mm ; needle size ; which needle for {r}|what needle size does {r}
  want ; {r} wants {v} needles.
"""
