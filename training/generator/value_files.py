"""Small files with values that can be meant by what they are; some keys are in several sections.

In a line `[[kind]]` is a value; what follows ` ## ` says how a person calls it. The kinds are those of
`value_of`.
"""

from random import Random

from training.generator import sources
from training.generator.word_pools import DAYS, FIRST_NAMES, GOODS, MONTHS, STREETS, SURNAMES, TOWNS

_BLOCKS = """
prices.txt, menu.md, drinks.txt
# Coffee
small: [[money]] ## the small coffee / the price of a small coffee / small coffee
large: [[money]] ## the large coffee / the price of a large coffee / large coffee
# Tea
small: [[money]] ## the small tea / the price of a small tea / small tea
large: [[money]] ## the large tea / the price of a large tea / large tea
===
hours.md, opening.txt, shop.md
## Shop
Monday: [[time]] ## the Monday opening of the shop / when the shop opens on Monday
Saturday: [[time]] ## the Saturday opening of the shop / when the shop opens on Saturday
## Café
Monday: [[time]] ## the Monday opening of the café / when the café opens on Monday
Saturday: [[time]] ## the Saturday opening of the café / when the café opens on Saturday
===
servers.ini, hosts.ini, infra/servers.ini
[web]
port = [[port]] ## the web port / the port of web / port under [web]
host = [[word]] ## the web host / the host of web
[mail]
port = [[port]] ## the mail port / the port of mail / port under [mail]
host = [[word]] ## the mail host / the host of mail
[db]
port = [[port]] ## the db port / the database port / port in [db]
host = [[word]] ## the db host / the host of the database
===
limits.toml, config/limits.toml, quota.toml
[guest]
max = [[n]] ## the maximum for guests / max of guest / the guest maximum
minutes = [[n]] ## the minutes for guests / the guest minutes
[member]
max = [[n]] ## the maximum for members / max of member / the member maximum
minutes = [[n]] ## the minutes for members / the member minutes
===
services.yaml, stack.yml, compose/services.yml
web:
  memory: [[n]]m ## the memory of web / how much memory web gets
  replicas: [[d]] ## the replicas of web / how many copies of web run
worker:
  memory: [[n]]m ## the memory of the worker / how much memory the worker gets
  replicas: [[d]] ## the replicas of the worker / how many workers run
===
team.json, staff.json, people.json
{
  "cook": {
    "name": "[[full]]", ## the cook's name / the name of the cook
    "room": [[n]] ## the cook's room / the room of the cook
  },
  "driver": {
    "name": "[[full]]", ## the driver's name / the name of the driver
    "room": [[n]] ## the driver's room / the room of the driver
  }
}
===
index.html, page.html, site/index.html
<html lang="[[lang]]"> ## the language of the page / the lang attribute
<title>[[good]]</title> ## the title / the page title
<h1 class="[[word]]">[[town]]</h1> ## the heading / the text of the h1
<a href="[[word]].html">[[good]]</a> ## the link text / the text of the link
<img src="[[word]].png" alt="[[good]]"> ## the alt text / the alternative text of the picture
<input type="text" placeholder="[[good]]"> ## the placeholder / the placeholder of the input
<button>[[word]]</button> ## the button text / the label of the button
<p>Open until [[time]]</p> ## the closing time / until when it is open
===
ticket.txt, booking.txt, flight.txt
Passenger: [[full]] ## the passenger / the name of the passenger
From: [[town]] ## the place of departure / where it starts
To: [[town]] ## the destination / where it goes
Date: [[longdate]] ## the date / the travel date
Departure: [[time]] ## the departure / the departure time
Arrival: [[time]] ## the arrival / the arrival time
Seat: [[seat]] ## the seat / the seat number
===
invoice.txt, bill.txt, rechnung.txt
Invoice no. [[n]] ## the invoice number / the number of the invoice
Customer: [[full]] ## the customer / the customer's name
Address: [[street]] ## the address / the customer's address
Date: [[dotdate]] ## the date / the invoice date
Total: [[euro]] ## the total / the amount
Due: [[dotdate]] ## the due date / the day it is due
Tax: [[n]] % ## the tax / the tax rate
===
recipe.md, soup.md, bread.txt
# [[good]] soup
Serves: [[d]] ## the servings / for how many it is
Water: [[n]]0 ml ## the water / the amount of water
Flour: [[n]] g ## the flour / the amount of flour
Oven: 1[[n]] °C ## the oven temperature / the temperature of the oven
Time: [[n]] min ## the baking time / how long it bakes
===
concert.txt, gig.md, event.txt
What: concert in [[town]] ## the town / where the concert is
Day: [[day]] ## the day / the weekday
Doors: [[time]] ## the doors / when the doors open
Start: [[time]] ## the start / the beginning
Entry: [[euro]] ## the entry / the entrance fee
Support: [[full]] ## the support act / who plays before
===
patient.txt, chart.txt, ward.md
Name: [[full]] ## the patient / the patient's name
Room: [[n]] ## the room / the patient's room
Temperature: 3[[d]].5 ## the temperature / the patient's temperature
Pulse: [[n]] ## the pulse / the heart rate
Nurse: [[full]] ## the nurse / the nurse in charge
Next check: [[time]] ## the next check / when the next check is
===
course.md, class.txt, lesson.md
Teacher: [[full]] ## the teacher / who teaches it
Room: [[seat]] ## the room / the class room
Day: [[day]] ## the day / on which day it is
Start: [[time]] ## the start / when it starts
Pupils: [[n]] ## the number of pupils / how many pupils there are
Exam: [[longdate]] ## the exam / the exam date
===
game.py, settings.py, player.py
WIDTH = [[n]]0 ## the width / the window width / WIDTH
SPEED = [[d]] ## the speed / SPEED
NAME = "[[first]]" ## the name / the player's name / NAME
COLOR = "[[color]]" ## the colour / the color / COLOR
LIVES = [[d]] ## the lives / how many lives there are / LIVES
TITLE = "[[good]]" ## the title / TITLE
===
shop.js, tax.js, cart.js
const TAX = 0.[[n]]; ## the tax / the tax rate / TAX
const SHIPPING = [[money]]; ## the shipping / the shipping cost / SHIPPING
const CURRENCY = "[[cur]]"; ## the currency / CURRENCY
const LIMIT = [[n]]; ## the limit / LIMIT
const OWNER = "[[full]]"; ## the owner / OWNER
===
garden.csv, beds.csv, plants.csv
bed,plant,count
north,[[good]],[[n]] ## the count of the north bed / how many are in the north bed
south,[[good]],[[n]] ## the count of the south bed / how many are in the south bed
east,[[good]],[[n]] ## the count of the east bed / how many are in the east bed
west,[[good]],[[n]] ## the count of the west bed / how many are in the west bed
===
results.csv, scores.csv, league.csv
day,result
monday,[[n]] ## the result of monday / the value for monday
tuesday,[[n]] ## the result of tuesday / the value for tuesday
wednesday,[[n]] ## the result of wednesday / the value for wednesday
thursday,[[n]] ## the result of thursday / the value for thursday
friday,[[n]] ## the result of friday / the value for friday
===
rooms.md, hotel.md, house.md
| room | guest |
|---|---|
| 101 | [[full]] | ## the guest in 101 / the guest of room 101
| 102 | [[full]] | ## the guest in 102 / the guest of room 102
| 203 | [[full]] | ## the guest in 203 / the guest of room 203
| 204 | [[full]] | ## the guest in 204 / the guest of room 204
===
plan.md, rota.md, duty.md
| day | who | from |
|---|---|---|
| Mon | [[first]] | [[time]] | ## the time on Monday / when Monday starts
| Tue | [[first]] | [[time]] | ## the time on Tuesday / when Tuesday starts
| Wed | [[first]] | [[time]] | ## the time on Wednesday / when Wednesday starts
| Thu | [[first]] | [[time]] | ## the time on Thursday / when Thursday starts
===
card.txt, contact.md, door.txt
[[full]] ## the name / the person
[[street]] ## the street / the address
[[town]] ## the town / the city
Tel. [[phone]] ## the phone / the phone number
[[email]] ## the mail / the e-mail address
===
lab.yaml, probe.yml, sample.yaml
sample: [[code]] ## the sample / the sample id
mass: [[n]] mg ## the mass / the sample's mass
temperature: [[n]] °C ## the temperature
operator: [[full]] ## the operator / who measured it
dilution: 1:[[n]] ## the dilution
date: [[date]] ## the date / the day of the measurement
===
style.css, theme.css, look.css
h1 {
  color: [[color]]; ## the colour of h1 / the heading colour
  font-size: [[n]]px; ## the font size of h1 / the size of headings
}
p {
  color: [[color]]; ## the colour of p / the text colour / the paragraph colour
  font-size: [[n]]px; ## the font size of p / the size of paragraphs
}
===
wedding.txt, party.md, feast.txt
The party is on [[day]]. ## the day / the day of the party
It starts at [[time]]. ## the start / the time it starts
We meet at [[street]]. ## the meeting place / the address
[[full]] brings the cake. ## who brings the cake / the one with the cake
There are [[n]] guests. ## the number of guests / the guests
===
subtitles.txt, credits.txt, film.md
Directed by [[full]] ## the director
Music by [[full]] ## the composer / who made the music
Camera: [[full]] ## the camera operator / who was at the camera
Filmed in [[town]] ## the place / where it was filmed
Length: [[n]] min ## the length / how long it is
===
fees.txt, tariff.md, tickets.txt
Adults [[euro]] ## the price for adults / what adults pay
Children [[euro]] ## the price for children / what children pay
Groups [[euro]] ## the price for groups / what groups pay
Dogs [[euro]] ## the price for dogs / what dogs pay
Valid until [[dotdate]] ## how long it is valid / the validity
===
bus.txt, timetable.txt, train.md
Line [[n]] ## the line / the line number
[[town]] [[time]] ## the time of the first stop / the first time
from platform [[n]] ## the platform
last one: [[time]] ## the last one / the time of the last one
runs on: [[day]] ## the day it runs / on which day it runs
===
main.tf, vars.env, run.env
REGION=[[town]] ## the region / REGION
SIZE=[[n]] ## the size / SIZE
OWNER=[[first]] ## the owner / OWNER
START=[[time]] ## the start / START
MAIL=[[email]] ## the mail / MAIL
===
app.properties, messages.properties, ui.properties
button.ok=[[word]] ## the ok button / the text of the ok button
button.back=[[word]] ## the back button / the text of the back button
title.home=[[good]] ## the home title / the title of home
title.login=[[good]] ## the login title / the title of login
color.main=[[color]] ## the main colour
===
main.c, led.c, config.h
#define PIN [[n]] ## the pin / PIN
#define DELAY_MS [[n]]0 ## the delay / DELAY_MS
#define NAME "[[word]]" ## the name / NAME
#define BAUD [[n]]00 ## the baud rate / BAUD
#define RETRIES [[d]] ## the retries / RETRIES
===
greet.py, hello.py, talk.py
def greet(name="[[first]]", times=[[d]]): ## the default of times / how often it greets by default
    for _ in range(times):
        print("[[inter]]", name) ## the greeting / the word it prints
    return [[n]] ## the return value / what greet returns
===
Calc.java, Tax.java, Shop.java
class Calc {
    static final int RATE = [[n]]; ## the rate / RATE
    static final String NAME = "[[town]]"; ## the name / NAME
    static final double PRICE = [[money]]; ## the price / PRICE
}
""".strip("\n")
BLOCKS = tuple(_BLOCKS.split("\n===\n"))
"""The blocks."""
_INTER = "Hello Hi Hey Welcome Servus Ahoy Bonjour Hola Ciao Moin Howdy Greetings Hallo Salut".split()


def value_of(rng: Random, kind: str) -> str:
    """Return a made-up value of a kind."""
    match kind:
        case "full":
            return f"{rng.choice(FIRST_NAMES)} {rng.choice(SURNAMES)}"
        case "first":
            return rng.choice(FIRST_NAMES)
        case "town":
            return rng.choice(TOWNS)
        case "good":
            return rng.choice(GOODS)
        case "day":
            return rng.choice(DAYS)
        case "street":
            return f"{rng.choice(STREETS)} {rng.randint(1, 120)}"
        case "longdate":
            return f"{rng.randint(1, 28)} {rng.choice(MONTHS)} {rng.randint(2024, 2028)}"
        case "dotdate":
            return f"{rng.randint(1, 28)}.{rng.randint(1, 12)}.{rng.randint(2024, 2028)}"
        case "euro":
            return f"{rng.randint(2, 90)},{rng.choice(('00', '50', '90', '20'))} €"
        case "seat":
            return f"{rng.randint(1, 60)}{rng.choice('ABCDEF')}"
        case "lang":
            return rng.choice(("en", "de", "fr", "es", "it", "nl", "pl", "pt"))
        case "cur":
            return rng.choice(("EUR", "USD", "CHF", "GBP", "SEK", "PLN"))
        case "inter":
            return rng.choice(_INTER)
        case "n":
            return str(rng.randint(10, 99))
        case "d":
            return str(rng.randint(1, 9))
        case _:
            return sources.value(rng, kind)
