"""Small files whose lines can be meant by what they are.

The first line of a block has the file names and the sign of a comment, if the file has one. In the
others, what follows ` ## ` says how a person may call the line; `~kind~`, `@first`, `@town` and `@good`
are made up. `_` is an empty line.
"""

_BLOCKS = r"""
deploy.sh, release.sh, scripts/deploy.sh; #
#!/bin/sh
set -e ## the set -e / the line that stops at errors
echo "debug: ~word~" ## the debug echo / the debug output / the debug line
cd /srv/~word~ ## the cd / the line that changes the folder
git pull ## the git pull / the line that fetches the code
npm install ## the npm line / the install step
systemctl restart ~word2~ ## the restart / the line that restarts the service
echo "done" ## the done message / the last echo
===
backup.sh, nightly.sh; #
#!/bin/bash
# copies the ~thing~s ## the comment / the comment at the top
DEST=/mnt/~word~ ## the target folder / the DEST line
sleep ~m~ ## the sleep / the pause / the waiting line
rsync -a ~thing~s/ "$DEST" ## the rsync call / the copy command
rm -f /tmp/~word2~ ## the clean-up / the line that removes the temporary file
date >> backup.log ## the line that logs the date / the log line
===
main.py, app.py, ~word~.py; #
import json ## the json import
import os ## the os import
import time ## the time import
_
print("DEBUG ~word~") ## the debug print / the debug output / the DEBUG line
name = "@first" ## the name / the line with the name
count = ~n~ ## the count / the counter
print(f"hello {name}") ## the greeting / the hello print
print(count) ## the line that prints the count
===
server.js, index.js, web.js; //
const express = require("express"); ## the express import / the require of express
const app = express(); ## the line that makes the app
console.log("test ~word~"); ## the test log / the console.log with test / the debug log
app.use(express.json()); ## the json middleware / the JSON line
// TODO: check the ~thing~ ## the TODO / the todo comment
app.listen(~port~); ## the listen call / the line with the port
===
game.lua, main.lua; --
local lives = ~d~ ## the lives / the number of lives
local name = "@first" ## the player name / the name
print("debug " .. lives) ## the debug print / the debug line
-- TODO: music ## the TODO / the todo comment
local speed = ~n~ ## the speed / the speed line
===
Dockerfile; #
FROM debian:12 ## the base image / the FROM line
ENV TZ=UTC ## the time zone / the TZ variable
RUN apt-get update ## the apt-get update / the update step
RUN apt-get install -y ~word~ ## the install step / the line that installs ~word~
COPY . /app ## the copy step / the COPY line
EXPOSE ~port~ ## the port / the EXPOSE line
CMD ["/app/run"] ## the start command / the CMD
===
crontab.txt, crontab, cron.txt; #
0 3 * * * /usr/bin/backup ## the backup job / the nightly backup
*/5 * * * * /usr/bin/ping-~word~ ## the ping job / the job that runs every five minutes
30 6 * * 1 /usr/bin/report ## the weekly report / the Monday job / the report
0 * * * * /usr/bin/sync ## the hourly job / the sync
15 22 1 * * /usr/bin/clean ## the clean-up job / the monthly job
===
hosts, hosts.txt, lan/hosts; #
127.0.0.1 localhost ## the localhost line
10.0.0.~m~ printer ## the printer / the printer entry
10.0.1.~n~ nas ## the nas / the NAS line
10.0.2.~m~ camera-@good ## the camera / the entry of the camera
10.0.3.~n~ ~word~ ## the entry ~word~ / the host ~word~
===
nginx.conf, site.conf, conf/web.conf; #
server {
    listen 80; ## the listen line / the port
    server_name ~word~.example; ## the server name / the domain
    gzip on; ## the gzip line / compression
    access_log /var/log/~word2~.log; ## the access log / the log line
    root /srv/~word2~; ## the root folder / the root line
}
===
style.css, css/site.css, main.css;
.@good {
  color: ~color~; ## the colour / the text colour
  margin: ~m~px; ## the margin
  border: 1px solid red; ## the red border / the border
  font-weight: bold; ## the bold line / the font weight
  padding: ~n~px; ## the padding
}
===
index.html, page.html, web/index.html;
<h1>@town</h1> ## the heading / the h1 / the title
<p>Welcome, @first!</p> ## the welcome line / the greeting / the welcome paragraph
<p>We are closed on ~date~.</p> ## the notice about closing / the closing notice / the paragraph with the closing day
<img src="~word~.png" alt="@good"> ## the picture / the image / the img
<a href="~word2~.html">Contact</a> ## the contact link / the link
<footer>~email~</footer> ## the footer
===
todo.txt, week.txt, plan.txt;
call @first about the @good ## the call / the call with @first / the phone call
buy stamps ## the stamps / the line about stamps
~time~ dentist ## the dentist / the dentist appointment
bring the @good2 to @town ## the line about @town / the trip to @town
pay ~money~ to ~shop~ ## the payment / the bill
water the plants ## the plants / the watering
===
minutes.md, meeting.md, docs/minutes.md;
# Meeting ~date~ ## the heading / the title
_
Present: @first, @first2 ## the line with who was there / the list of those present / the attendance
Budget: ~money~ agreed ## the budget line / the decision about money / the budget
@good: moved to next time ## the point about the @good / the point that was moved
Next meeting: ~date2~ ## the next date / the line with the next meeting / the date of the next meeting
(draft) ## the draft mark / the word draft
===
letter.txt, mail.txt, draft.txt;
Dear @first, ## the greeting / the salutation
thank you for the @good. ## the thanks / the sentence with thank you
It arrived on ~date~. ## the line about the arrival / the arrival date
P.S. Bring the @good2. ## the postscript / the P.S.
Best regards ## the closing formula / the regards
@first2 ## the signature / the name at the end
===
menu.txt, card.txt, today.txt;
Soup of the day ~money~ ## the soup
Fish from @town ~money2~ ## the fish / the fish dish
@good pie ~money3~ ## the pie / the dessert
Coffee 2.50 ## the coffee
Kitchen closes at ~time~ ## the closing time / the note about the kitchen
===
schema.sql, db/init.sql, tables.sql; --
-- version ~version~ ## the version comment / the comment with the version
DROP TABLE IF EXISTS ~word~; ## the drop / the DROP TABLE line / the dangerous line
CREATE TABLE ~word~ (id INTEGER, name TEXT); ## the create statement / the table definition
INSERT INTO ~word~ VALUES (1, '@first'); ## the first insert / the row of @first
INSERT INTO ~word~ VALUES (2, '@first2'); ## the row of @first2
CREATE INDEX i ON ~word~ (name); ## the index / the index line
===
Makefile, build/Makefile; #
CC = gcc ## the compiler / the CC line
CFLAGS = -O2 -Wall ## the flags / the compiler flags
NAME = ~word~ ## the name / the program name
DEBUG = 1 ## the debug switch / the DEBUG line
PREFIX = /usr/local ## the prefix / the install prefix
===
requirements.txt, deps.txt, requirements-dev.txt; #
requests==2.~m~.0 ## requests / the line for requests
pytest ## pytest / the test package
black ## black / the formatter
flask==3.~d~.0 ## flask / the web framework
ipdb ## ipdb / the debugger
# from @first ## the comment
===
.env, prod.env, app.env; #
DATABASE=~word~ ## the database / the database name
DEBUG=true ## the debug switch / the debug flag
SMTP_HOST=mail.~word2~.org ## the mail server / the SMTP host
PORT=~port~ ## the port
# old: PORT=80 ## the comment with the old port / the comment
===
settings.ini, app.ini, config/app.ini; ;
[window] ## the section header of window
width = 8~m~ ## the width
height = 6~m~ ## the height
title = @good ## the title
fullscreen = yes ## the full screen line / fullscreen
color = ~color~ ## the colour / the color line
===
compose.yaml, docker-compose.yml; #
services:
  web:
    image: ~word~:~version~ ## the image / the image line
    restart: always ## the restart policy / the restart line
    # build: . ## the build comment / the comment
    ports: ["~port~:80"] ## the ports / the port mapping
    environment: [TZ=UTC] ## the environment / the time zone
===
poem.txt, song.txt, verse.md;
The @good stands beside the door, ## the line with the door / the line about the door
the rain falls down on @town, ## the line about the rain / the line with @town
and @first walks along the shore ## the line about @first / the line with the shore
and sees the sun go down. ## the last line / the line about the sun
===
recipe.txt, cake.md, soup.txt;
Serves ~d~ ## the servings / the line that says for how many
~n~ g @good ## the @good
2 eggs ## the eggs
a pinch of salt ## the salt
chili to taste ## the chili / the spicy line
Bake ~m~ minutes. ## the baking time / the step with the oven
===
setlist.txt, gig.md, songs.txt;
@town Blues ## the blues / the blues song
Waltz for @first ## the waltz
Drum solo ## the drum solo / the solo
Break ## the break / the pause
@good Rock ## the rock song / the rock number
Encore: ~thing~ song ## the encore
===
packing.txt, luggage.txt, trip.txt;
passport ## the passport
tickets to @town ## the tickets
@good ## the @good
umbrella ## the umbrella / the rain thing
charger for the phone ## the charger
book from @first ## the book
===
journal.md, lab.txt, log.md;
~date~ started with ~n~ ml ## the start / the first entry
~time~ added the @good ## the entry about the @good / the line with the @good
~time2~ pump failed ## the failure / the line about the pump / the entry where the pump failed
~time3~ temperature ~m~ °C ## the temperature / the temperature reading
stopped by @first ## the end / the line that says who stopped it
===
team.txt, staff.txt, crew.md;
@first: cook ## the cook
@first2: driver ## the driver
@first3: nurse ## the nurse
@first4: guide ## the guide
trainee: nobody yet ## the trainee / the free place
===
rules.md, house.txt, wifi.txt;
No shoes inside. ## the rule about shoes / the shoes rule
Quiet after ~time~. ## the quiet hours / the rule about noise
Wifi: ~word~ ## the wifi / the line with the wifi
Dogs are welcome. ## the rule about dogs / the line about dogs
Bring back the @good. ## the rule about the @good / the line about the @good
===
main.go, ~word~.go; //
package main
_
import "fmt" ## the import
_
func main() {
	name := "@first" ## the name
	fmt.Println("debug", name) ## the debug print / the debug output
	count := ~n~ ## the count / the counter
	fmt.Println(name, count) ## the line that prints name and count / the last print
}
===
main.rs, src/main.rs; //
fn main() {
    let name = "@first"; ## the name
    dbg!(name); ## the dbg line / the debug macro
    let count = ~n~; ## the count / the counter
    println!("{name} {count}"); ## the println / the output line
}
===
App.java, Main.java; //
class App {
    static int count = ~n~; ## the counter / the count
    static String name = "@first"; ## the name
    // old code of @first2 ## the comment / the old comment
    public static void main(String[] args) {
        System.out.println("debug"); ## the debug output / the debug line
        System.out.println(name + count); ## the real output / the line that prints the name
    }
}
""".strip("\n")  # noqa: E501
BLOCKS = tuple(_BLOCKS.split("\n===\n"))
"""The blocks."""

NEW_LINES = {
    "#": ("# checked by @first", "# see ~url~", "# do not change", "# ~date~", "# @good"),
    "//": ("// checked by @first", "// see ~url~", "// do not change", "// ~date~", "// @good"),
    "--": ("-- checked by @first", "-- do not change", "-- ~date~", "-- @good"),
    ";": ("; checked by @first", "; do not change", "; ~date~"),
    "": (
        "bring the @good",
        "ask @first about the @good",
        "@good for @town",
        "~time~ @good",
        "see you in @town",
    ),
}
"""New lines for files with each sign of a comment."""
