"""Small programs and scripts that can be edited, each with the edits that make sense in it.

A program begins with `=== file names`; after `---` come its edits, one a line:

    rename OLD > NEW, NEW | function            the name everywhere in the file
    value text with «the old value» | what it is, another name | kind of the new value
    text text with «the old words» | what it is | new words/other new words
    line a part of the line => the whole new line | an order; another order
    delete a part of the line | what it is; another name
    cut a part of the first line .. a part of the last | what it is
    comment a part of the line | what it is
    below a part of the line => new lines (\\n between) | an order; another order
"""

PROGRAMS = r"""
=== temperature.py, convert.py, weather.py
FREEZING = 32
FACTOR = 1.8


def to_celsius(degrees):
    return (degrees - FREEZING) / FACTOR


def report(city, degrees):
    print("Temperature in", city)
    print("DEBUG", degrees)
    print(round(to_celsius(degrees), 1))


report("~city~", ~n~)
---
rename to_celsius > fahrenheit_to_celsius, celsius, convert | function
rename report > show, print_report, announce | function
rename degrees > fahrenheit, temp, value | parameter
value report("«~city~»", | city, city in the call | city
value , «~n~») | number of degrees, temperature in the call | int 10 110
text print("«Temperature in»", city) | label, printed text | Weather in/It is warm in/Degrees in
delete "DEBUG" | the debug print; the debug line; the DEBUG output
comment "DEBUG" | the debug print; the DEBUG line
line round(to_celsius => print(round(to_celsius(degrees), 2)) | round to two decimals instead of one; \
    report should show 2 digits after the point
line return (degrees => return round((degrees - FREEZING) / FACTOR, 1) | \
    to_celsius should return a value rounded to one decimal
=== orders.py, ~thing~s.py, billing.py
import json

TAX = 0.19
CURRENCY = "EUR"
LIMIT = ~n~


def load(path):
    with open(path) as file:
        return json.load(file)


def total(~thing~s):
    sum_ = 0
    for ~thing~ in ~thing~s:
        sum_ += ~thing~["price"]
    return sum_ * (1 + TAX)


def is_large(~thing~s):
    return len(~thing~s) > LIMIT
---
rename total > grand_total, compute_total, total_price | function
rename load > read_json, load_file | function
rename is_large > too_many, is_big, over_limit | function
rename sum_ > amount, subtotal, acc | variable
rename LIMIT > MAX_COUNT, LIMIT_PER_DAY | constant
rename TAX > VAT, TAX_RATE | constant
value TAX = «0.19» | tax, tax rate, vat | pick 0.2/0.21/0.07/0.16/0.25/0.081
value CURRENCY = "«EUR»" | currency | pick USD/CHF/GBP/PLN/SEK/NOK
value LIMIT = «~n~» | limit, LIMIT | int 3 500
line > LIMIT => return len(~thing~s) >= LIMIT | \
    is_large should also be true when the count is equal to the limit; use >= in is_large; \
    the comparison in is_large must be greater or equal
line def load(path) => def load(path="~thing~s.json"): | give load a default path: "~thing~s.json"; \
    the path of load should default to "~thing~s.json"
line open(path) => with open(path, encoding="utf-8") as file: | open the file with encoding="utf-8"; \
    load must read as utf-8, add encoding="utf-8" to open
below import json => import sys | import sys too; add an import of sys; we also need "import sys"
cut def is_large .. > LIMIT | the function is_large; is_large
=== greet.py, hello.py, welcome.py
import sys


def greet(name):
    # say hello
    return f"Hello, {name}!"


if __name__ == "__main__":
    print(greet(sys.argv[1]))
---
rename greet > welcome, hail, salute | function
text f"«Hello», {name}!" | greeting, word of the greeting | Ahoy/Good evening/Hi/Moin/Welcome/Salut/Hej
line # say hello => # build the greeting | the comment should be "build the greeting"; \
    change the comment to: build the greeting
delete # say hello | the comment; the comment in greet; the comment line
line def greet(name) => def greet(name="friend"): | name should default to "friend"; \
    give the parameter name the default "friend"
line print(greet => print(greet(sys.argv[1]).upper()) | print the greeting in upper case; \
    the printed greeting should be upper case, use .upper()
=== counter.py, words.py, textstats.py
def count_words(text):
    cnt = 0
    for word in text.split():
        if len(word) > 3:
            cnt += 1
    return cnt


def count_lines(text):
    return len(text.splitlines())


sample = "~word~ and ~word2~ met at noon"
print(count_words(sample))
print(count_lines(sample))
---
rename cnt > total, found, result | variable
rename count_words > long_words, number_of_words | function
rename count_lines > number_of_lines, lines_in | function
rename sample > example, text_sample | variable
value len(word) > «3» | minimum length, shortest word length, limit in count_words | int 4 9
line len(word) > 3 => if len(word) >= 3: | words of 3 letters should count too, use >=; \
    make it >= 3 instead of > 3
delete print(count_lines | the last print; the line that prints count_lines; the print of the lines
cut def count_lines .. splitlines | the function count_lines
comment print(count_words | the print of count_words; the line that prints the words
=== shapes.py, geometry.py
import math


class Circle:
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return math.pi * self.radius ** 2

    def scale(self, by=~d~):
        self.radius *= by


class Square:
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side * self.side
---
rename Circle > Disc, Round, Ring | class
rename Square > Quad, Box | class
rename scale > grow, resize, enlarge | method
rename radius > r, size | attribute
rename side > length, width, edge | attribute
value scale(self, by=«~d~») | default of by, default factor of scale | int 5 20
line return self.side => return self.side ** 2 | write the area of Square as side ** 2; \
    use ** 2 in the square's area
line math.pi => return round(math.pi * self.radius ** 2, 2) | \
    the circle area should be rounded to 2 digits; round the area of Circle to two decimals
below return self.side => \n    def perimeter(self):\n        return 4 * self.side | \
    add a method perimeter to Square: 4 times the side; Square needs a perimeter method (4 * side)
=== bot.py, client.py, fetch.py
import time

URL = "https://~word~.example/api"
RETRIES = ~d~
TIMEOUT = 30
VERBOSE = False


def wait(seconds=2):
    time.sleep(seconds)


def call(path, method="GET"):
    for attempt in range(RETRIES):
        print("try", attempt, method, URL + path)
        wait()
---
value URL = "«https://~word~.example/api»" | url, address, api address | url
value RETRIES = «~d~» | number of retries, retries | int 5 12
value TIMEOUT = «30» | timeout, time out | int 5 120
value VERBOSE = «False» | verbose, verbose mode | pick True
value seconds=«2» | default of wait, default seconds | int 3 60
text method="«GET»" | default method, method default | POST/PUT/HEAD
rename RETRIES > MAX_TRIES, ATTEMPTS | constant
rename wait > pause, sleep_for, hold | function
rename attempt > number, i, turn | variable
line print("try" => print("attempt", attempt, method, URL + path) | it prints try, should be attempt; \
    print "attempt" instead of "try"
delete print("try" | the print in call; the print line; the line that prints the tries
comment wait() | the call of wait in the loop
line def call => def call(path, method="GET", data=None): | \
    call needs a third parameter data, default None; add a parameter data=None to call
below VERBOSE => AGENT = "~word2~/1.0" | add a constant AGENT = "~word2~/1.0" after VERBOSE; \
    below VERBOSE put AGENT = "~word2~/1.0"
=== game.py, dice.py, play.py
import random

SIDES = 6
START_LIVES = 3


def roll(dice=2):
    return sum(random.randint(1, SIDES) for _ in range(dice))


def lose(lives):
    if lives < 1:
        return "game over"
    return "try again"


# old code, not used
print(roll())
---
value SIDES = «6» | sides of the dice, number of sides | pick 8/10/12/20/4/100
value START_LIVES = «3» | lives at the start, start lives | int 4 9
value dice=«2» | default number of dice, default of dice | int 3 6
text return "«game over»" | text at the end, game over message | you lost/the end/good bye/that was it
text return "«try again»" | try again message | go on/once more/next round
rename roll > throw, roll_dice, toss | function
rename lives > hearts, left, chances | parameter
delete # old code | the old comment; the comment; the line "old code, not used"
line lives < 1 => if lives <= 0: | compare with <= 0 instead of < 1; use lives <= 0 in lose
line print(roll()) => print(roll(3)) | roll three dice at the end; call roll with 3
=== hail.js, hello.js, greet.js
const name = process.argv[2] || 'sailor';

function hail(who) {
  return `Hello, ${who}!`;
}

console.log('debug:', name);
console.log(hail(name));
---
text `«Hello», | greeting, greeting word | Ahoy/Good morning/Howdy/Salut/Hei
value || '«sailor»' | default name, fallback name | pick friend/guest/nobody/captain/stranger
rename hail > greet, welcome, sayHello | function
rename who > person, guest, sailorName | parameter
delete 'debug:' | the debug line; the debug log; the console.log with debug
comment 'debug:' | the debug log; the debug line
line return `Hello => return `Hello, ${who.toUpperCase()}!`; | \
    the name should be in upper case, use toUpperCase; print the name in capitals
=== tax.js, cart.js, prices.js
const RATES = { books: 7, food: 10, rest: 20 };
const MAX_ITEMS = ~n~;

function gross(net, kind = 'rest') {
  const rate = RATES[kind];
  return net * (1 + rate / 100);
}

function isFull(cart) {
  return cart.length > MAX_ITEMS;
}

module.exports = { gross, isFull };
---
value books: «7» | tax rate for books, books rate | int 4 9
value food: «10» | tax on food, food rate | int 11 19
value rest: «20» | normal rate, rate for the rest | int 16 25
value MAX_ITEMS = «~n~» | maximum of items, item limit | int 3 200
rename gross > withTax, grossPrice | function
rename isFull > tooMany, cartIsFull | function
rename MAX_ITEMS > LIMIT, MAX_CART | constant
line cart.length => return cart.length >= MAX_ITEMS; | the cart is full at the limit already, use >=; \
    >= instead of > in isFull
line net * => return Math.round(net * (1 + rate / 100) * 100) / 100; | \
    gross should round to two decimals; round the result of gross to cents
line kind = 'rest' => function gross(net, kind = 'books') { | the default kind should be books; \
    default for kind: 'books'
=== server.ts, app.ts, routes.ts
import { createServer } from "http";

const PORT = 3000;
export let debug = false;

export function log(message: string): void {
  console.log(message);
}

export function boot(port: number = PORT): void {
  createServer().listen(port);
  log("started");
}
---
value PORT = «3000» | port | port
value debug = «false» | debug, debug flag | pick true
text log("«started»") | log message, start message | running/server is up/ready/listening
rename log > info, writeLog | function
rename boot > run, listen, open_up | function
rename message > text, line | parameter
line console.log => console.log(new Date().toISOString(), message); | \
    put the time before the message: new Date().toISOString(); \
    log should print new Date().toISOString() first
delete log("started") | the call of log in start; the log line in start
=== timer.ts, clock.ts
interface Timer {
  label: string;
  seconds: number;
}

export enum State { Idle, Running, Done }

export const DEFAULT: Timer = { label: "~item~", seconds: ~n~ };

export function minutes(timer: Timer): number {
  return Math.floor(timer.seconds / 60);
}
---
value label: "«~item~»" | default label, label | item
value seconds: «~n~» }; | default seconds, seconds | int 5 900
rename minutes > toMinutes, wholeMinutes | function
rename Timer > Countdown, Alarm | interface
rename Idle > Waiting, Ready | state
line enum State => export enum State { Idle, Running, Paused, Done } | add Paused to State after Running; \
    the enum needs a Paused between Running and Done
line Math.floor => return Math.ceil(timer.seconds / 60); | round up instead of down; use ceil, not floor
below seconds: number => \  repeat: boolean; | add a field repeat: boolean to the interface; \
    Timer needs repeat: boolean as last field
=== main.go, render.go, app.go
package main

import "fmt"

const maxItems = ~n~

// Deprecated: use Render
func Print(s string) {
	fmt.Println(s)
}

func Render(s string, times int) string {
	out := ""
	for i := 0; i < times; i++ {
		out += s + "-"
	}
	return out
}

func main() {
	fmt.Println(Render("~word~", 3))
}
---
value const maxItems = «~n~» | max items, maxItems, maximum of items | int 3 200
value Render("«~word~»" | word that main renders, text in main | word
value , «3»)) | number of repeats in main, times in the call | int 4 9
text s + "«-»" | separator | +/_/./,
rename maxItems > limit, itemLimit | constant
rename Render > Repeat, Build | function
rename out > result, text, buf | variable
delete // Deprecated | the deprecated comment; the comment above Print; the Deprecated line
cut // Deprecated .. ^} | the function Print with its comment; Print and the comment above it
line i < times => 	for i := 0; i <= times; i++ { | the loop should go one further, <= instead of <; \
    use i <= times
=== store.go, cache.go, queue.go
package store

import "time"

var (
	Ttl     = 15 * time.Minute
	Retries = ~d~
	Region  = "eu-north"
)

type Entry struct {
	Key   string
	Value string
}

func Expired(at time.Time) bool {
	return time.Since(at) > Ttl
}
---
value Ttl     = «15» * | ttl, lifetime in minutes, time to live | int 16 90
value Retries = «~d~» | retries, number of retries | int 5 12
value Region  = "«eu-north»" | region | pick us-east/eu-west/ap-south/sa-east
rename Expired > IsOld, Outdated | function
rename Entry > Item, Record | struct
rename Ttl > MaxAge, Life | variable
line return time.Since => 	return time.Since(at) >= Ttl | use >= in Expired; \
    expired should be true at exactly Ttl too
below Value string => 	Count int | add a field Count int to the struct; \
    Entry needs a Count of type int at the end
=== main.rs, src/main.rs, src/player.rs
const JUMP_FORCE: f32 = ~d~.5;
const MAX_HEALTH: u8 = 6;

struct Player {
    name: String,
    health: u8,
}

fn mend(player: &mut Player, by: u8) {
    player.health += by;
    if player.health > MAX_HEALTH {
        player.health = MAX_HEALTH;
    }
    println!("debug {}", player.health);
}

fn main() {
    let mut player = Player { name: "~word~".to_string(), health: 3 };
    mend(&mut player, 2);
    println!("{}", player.name);
}
---
value JUMP_FORCE: f32 = «~d~.5» | jump force, strength of a jump | pick 9.5/12.0/14.5/7.25
value MAX_HEALTH: u8 = «6» | maximum health, max health | int 7 20
value name: "«~word~»" | player's name, name of the player | word
value health: «3» } | health at the start, start health | int 4 6
value mend(&mut player, «2») | amount of healing in main | int 3 9
rename mend > restore, cure, patch_up | function
rename MAX_HEALTH > FULL_HEALTH, HEALTH_LIMIT | constant
rename JUMP_FORCE > JUMP_SPEED, LEAP | constant
delete println!("debug | the debug println; the debug output; the debug line in mend
comment println!("debug | the debug println; the debug output
below health: u8, =>     level: u32, | add a field level: u32 to Player; \
    the struct needs level: u32 as last field
=== lexer.rs, src/lexer.rs, src/lib.rs
// TODO: nested comments
pub fn split_words(text: &str) -> Vec<String> {
    let mut res = Vec::new();
    for part in text.split(' ') {
        if part.len() > ~d~ {
            res.push(part.to_string());
        }
    }
    res
}

pub enum Token {
    Word,
    Number,
    End,
}
---
value part.len() > «~d~» | minimum length | int 5 9
rename split_words > words, tokenize | function
rename res > result, found, tokens | variable
rename part > piece, chunk | variable
rename Token > Kind, Symbol | enum
delete // TODO | the todo; the TODO comment; the comment at the top
line text.split => for part in text.split_whitespace() { | \
    split at any whitespace: use split_whitespace(); use split_whitespace() instead of split(' ')
below     Number, =>     Comma, | add Comma to the enum after Number; \
    the enum Token needs Comma between Number and End
=== buf.c, main.c, io.c
#include <stdio.h>

#define BUF_SIZE 512
#define NAME_LEN 64

static int limit = ~n~;

int twice(int n) {
    return n + n;
}

int main(void) {
    char buf[BUF_SIZE];
    printf("size %zu\n", sizeof buf);
    printf("%d\n", twice(limit));
    return 0;
}
---
value BUF_SIZE «512» | buffer size, BUF_SIZE | pick 1024/4096/256/2048/8192
value NAME_LEN «64» | name length, NAME_LEN | pick 32/128/100/255
value limit = «~n~» | limit | int 3 500
text printf("«size» | printed word, label of the first output | bytes/buffer/length/capacity
rename twice > doubled, times_two | function
rename limit > maximum, top | variable
rename BUF_SIZE > BUFFER_LEN, BUFSZ | macro
line return n + n => return 2 * n; | write 2 * n instead of n + n; twice should return 2 * n
below #include <stdio.h> => #include <string.h> | include string.h too; \
    add #include <string.h> below the first include
delete sizeof buf | the size printf; the line that prints the size
comment sizeof buf | the size printf; the line that prints the size
line return 0; => return 1; | main should return 1; exit status 1 instead of 0 in main
=== led.c, blink.c, firmware.c
#include "led.h"
#include "wdt.h"

#define SLOW_MS 800
#define FAST_MS 1~m~

void blink_slow(void)
{
    led_toggle();
    delay_ms(SLOW_MS);
}

int main(void)
{
    led_init();
    wdt_enable(WDT_2S);
    while (1) {
        blink_slow();
    }
}
---
value SLOW_MS «800» | slow delay, slow blink time | pick 500/900/1000/1200/1500
value FAST_MS «1~m~» | fast delay, fast blink time | int 20 99
rename blink_slow > blink, slow_blink | function
rename SLOW_MS > DELAY_SLOW, SLOW_DELAY | macro
comment wdt_enable | the wdt_enable call; the watchdog line; wdt_enable
delete wdt_enable | the watchdog line; the wdt_enable call
line blink_slow(); => led_toggle(); | call led_toggle in the loop instead of blink_slow
line WDT_2S => wdt_enable(WDT_4S); | the watchdog should use WDT_4S; WDT_4S instead of WDT_2S
=== Invoice.java, Order.java, Account.java
import java.util.List;

public class Account {
    private static final double RATE = 0.0~d~;
    private String owner = "~person~";

    public double interest(double amount) {
        return amount * RATE;
    }

    public String label() {
        // TODO translate
        return "Owner: " + owner;
    }
}
---
value RATE = «0.0~d~» | rate, interest rate | pick 0.05/0.065/0.0125/0.07
value owner = "«~person~»" | owner, owner's name | person
text "«Owner»: | label text, word in the label | Holder/Belongs to/Inhaber/Client
rename interest > yearlyInterest, computeInterest | method
rename owner > holder, client | field
rename label > describe, title | method
delete // TODO | the todo comment; the TODO; the comment in label
below import java => import java.util.Map; | import java.util.Map too; add an import for java.util.Map
line return amount => return Math.round(amount * RATE * 100) / 100.0; | round interest to two decimals; \
    interest should be rounded to cents
=== invoice.rb, tax.rb, order.rb
class Invoice
  RATE = 0.2

  def initialize(items)
    @items = items
  end

  def calulate_total
    @items.sum { |i| i[:price] * i[:qty] }
  end

  def to_s
    puts "debug"
    "Total: #{calulate_total} EUR"
  end
end
---
rename calulate_total > calculate_total, total, sum_up | method
rename Invoice > Bill, Receipt | class
rename RATE > TAX, VAT_RATE | constant
value RATE = «0.2» | rate, tax rate | pick 0.19/0.21/0.07/0.25
text "«Total»: | label, word before the amount | Sum/Amount/Gesamt/To pay
text } «EUR»" | currency | USD/GBP/CHF/euros
delete puts "debug" | the debug puts; the debug line; puts "debug"
=== sync.sh, backup.sh, scripts/backup.sh
#!/bin/bash
# copy the ~thing~s to the nas
set -e
SRC="$HOME/~thing~s"
DEST=nas:/~word~
KEEP=~d~
echo "DEBUG src is $SRC"
rsync -a "$SRC/" "$DEST/"
echo "finished"
---
value DEST=«nas:/~word~» | destination, target | host
value KEEP=«~d~» | number of copies, KEEP | int 5 30
text echo "«finished»" | final message, last message | done/all copied/ready/backup complete
rename SRC > SOURCE, FROM | variable
rename DEST > TARGET, GOAL | variable
delete "DEBUG | the debug echo; the DEBUG line; the debug output
comment rsync | the rsync call; the rsync line
line rsync -a => rsync -av --delete "$SRC/" "$DEST/" | rsync with -av --delete; \
    the rsync options should be -av --delete
line set -e => set -euo pipefail | set -euo pipefail instead of set -e; make it set -euo pipefail
delete # copy | the comment; the comment line; the description at the top
=== deploy.sh, start.sh, run.sh
#!/bin/sh
HOST=~word~.example.org
PORT=80~m~
USER_NAME=deploy
if [ -z "$1" ]; then
    echo "usage: $0 version"
    exit 1
fi
scp "app-$1.tar.gz" "$USER_NAME@$HOST:/srv"
ssh -p "$PORT" "$USER_NAME@$HOST" restart
---
value HOST=«~word~.example.org» | host, server, target host | host
value PORT=«80~m~» | port, ssh port | port
value USER_NAME=«deploy» | user, user name | pick admin/www/ops/robot
value exit «1» | exit status, exit code | int 2 9
rename HOST > SERVER, TARGET | variable
text echo "«usage»: | word of the help | Usage/how to use/call it like this
comment ssh -p | the restart; the ssh line
line restart => ssh -p "$PORT" "$USER_NAME@$HOST" reload | call reload instead of restart; \
    reload, not restart, on the server
below #!/bin/sh => set -eu | put `set -eu` right below the shebang; add set -eu as second line; \
    second line should be set -eu
=== schema.sql, tables.sql, db/schema.sql
-- ~thing~ database
CREATE TABLE ~thing~s (
    id INTEGER PRIMARY KEY,
    name VARCHAR(~n~) NOT NULL,
    city TEXT DEFAULT '~city~',
    price REAL
);

CREATE INDEX by_name ON ~thing~s (name);
INSERT INTO ~thing~s VALUES (1, '~person~', 'Rome', 9.5);
---
value VARCHAR(«~n~») | length of name, maximum length of the name | int 100 255
value DEFAULT '«~city~»' | default city, city default | city
value (1, '«~person~»' | name in the insert, inserted name | person
value 'Rome', «9.5» | price in the insert, inserted price | pick 12.5/7.9/20.0/3.25
rename by_name > name_index, idx_name | index
delete CREATE INDEX | the index; the index by_name; the create index line
line price REAL => price REAL NOT NULL | price must not be null; make price NOT NULL
below DEFAULT =>     phone TEXT, | add a column phone TEXT after city; new column phone (TEXT) below city
line city TEXT => city TEXT NOT NULL, | the city has no default any more but is NOT NULL: city TEXT NOT NULL
=== query.sql, report.sql
SELECT name, SUM(amount) AS total
FROM ~thing~s
WHERE year = 20~n~ AND status = 'open'
GROUP BY name
ORDER BY total DESC
LIMIT 10;
---
value LIMIT «10» | limit, number of rows | int 11 100
value year = «20~n~» | year | int 2010 2030
text status = '«open»' | status, status in the condition | closed/paid/waiting/sent
line ORDER BY => ORDER BY name ASC | sort by name ascending; order by name, not by total
rename total > amount_sum, sum_total | column name
rename ~thing~s > archive, old_~thing~s | table name
=== style.css, css/main.css, theme.css
body {
  font-family: Georgia, serif;
  font-size: 1~d~px;
  background: #fafafa;
}

.button {
  color: white;
  background: ~color~;
  padding: ~d~px;
}

.footer {
  display: none;
}
---
value font-size: «1~d~px» | font size, size of the text | pick 18px/20px/16.5px/22px
value background: «#fafafa» | page background, background of body | pick #ffffff/#222222/ivory/#eef2f5
value   background: «~color~»; | button background, background of the buttons | color
value padding: «~d~px» | padding of the button, button padding | pick 8px/12px/16px/20px
value font-family: «Georgia, serif» | font, font family | \
    pick Arial, sans-serif/Verdana, sans-serif/monospace
text display: «none» | display of the footer, footer display | block/flex/inline
rename .button > .btn, .action | class
rename .footer > .bottom, .page-end | class
below color: white => \  border-radius: 4px; | give the button round corners: border-radius: 4px; \
    add border-radius: 4px to .button after the color
cut .footer { .. ^} | the footer rule; the .footer block
=== index.html, public/index.html, page.html
<!DOCTYPE html>
<html lang="en">
<head>
  <title>~shop~</title>
  <link rel="stylesheet" href="style.css">
</head>
<body>
  <h1>Welcom to our ~thing~ shop</h1>
  <!-- banner -->
  <p class="note">Open until ~time~</p>
  <a href="contact.html">Contact</a>
  <footer>2021 ~person~</footer>
</body>
</html>
---
value <title>«~shop~»< | title, page title | shop
value until «~time~»< | closing time, time in the note | time
value <footer>«2021» | year in the footer, year | int 2022 2029
value 2021 «~person~»< | name in the footer | person
value href="«style.css»" | stylesheet, style sheet link | pick main.css/css/site.css/theme.css
value lang="«en»" | language, lang attribute | pick de/fr/pl/it
text >«Contact»</a> | link text, text of the link | Write to us/Get in touch/Kontakt/Find us
text <h1>«Welcom» to | first word of the heading | Welcome
delete <!-- banner | the banner comment; the html comment; the comment
below <p class => \  <p>Closed on Sundays</p> | add a paragraph below the note: Closed on Sundays; \
    after the note put <p>Closed on Sundays</p>
line <a href => <a href="about.html">Contact</a> | the link should go to about.html; \
    link to about.html instead of contact.html
=== Makefile
CC = gcc
CFLAGS = -Wall -O1
NAME = ~word~

all: $(NAME)

$(NAME): main.c
	$(CC) $(CFLAGS) -o $(NAME) main.c

clean:
	rm -f $(NAME)

test:
	./$(NAME) --check
---
value CC = «gcc» | compiler | pick clang/cc/tcc
value CFLAGS = «-Wall -O1» | flags, compiler flags | pick -Wall -O2/-Wextra -O3/-g -O0
value NAME = «~word~» | name, program name | word
text ./$(NAME) «--check» | option of the test | --selftest/--verify/-t
cut test: .. --check | the test target; the target test
below rm -f => 	rm -rf build | clean should also remove the build folder: rm -rf build; \
    add rm -rf build to clean
rename clean > tidy, clear | target
=== Dockerfile
FROM python:3.9-slim
WORKDIR /app
ENV MODE=test
COPY requirements.txt .
RUN pip install -r requirements.txt
COPY . .
EXPOSE 80~m~
CMD ["python", "~word~.py"]
---
value FROM «python:3.9-slim» | base image, image | pick python:3.12-slim/python:3.13/python:3.11-alpine
value EXPOSE «80~m~» | port, exposed port | port
value WORKDIR «/app» | working directory, work dir | path
text MODE=«test» | mode | production/debug/live
value "«~word~.py»" | started script, script in the command | pick main.py/server.py/worker.py
delete ENV MODE | the MODE variable; the ENV line; the env MODE line
line RUN pip => RUN pip install --no-cache-dir -r requirements.txt | \
    pip should not cache: --no-cache-dir; add --no-cache-dir to pip install
below WORKDIR => USER nobody | run as nobody: put USER nobody below WORKDIR; \
    after WORKDIR add the line USER nobody
=== compose.yaml, docker-compose.yml
services:
  web:
    image: nginx:1.25
    ports:
      - "80~m~:80"
  db:
    image: postgres:14
    environment:
      POSTGRES_DB: ~word~
  cache:
    image: redis:7
---
value image: nginx:«1.25» | nginx version, nginx | pick 1.27/1.26/1.28
value image: postgres:«14» | postgres version, postgres | pick 15/16/17
value image: redis:«7» | redis version, redis | pick 8/6/7.4
value "«80~m~»:80 | published port, port of web, outer port | int 8100 9999
value POSTGRES_DB: «~word~» | database name, name of the database | word
cut cache: .. redis | the cache service; the service cache
below POSTGRES_DB =>       POSTGRES_USER: ~word2~ | add POSTGRES_USER: ~word2~ below POSTGRES_DB; \
    set also POSTGRES_USER to ~word2~, below the db name
=== ci.yml, .github/workflows/test.yml
name: tests
on: [push]
jobs:
  test:
    runs-on: ubuntu-22.04
    timeout-minutes: ~m~
    steps:
      - uses: actions/checkout@v3
      - run: pip install -r requirements.txt
      - run: pytest -q
---
value runs-on: «ubuntu-22.04» | runner, os of the job | pick ubuntu-24.04/macos-14/windows-2022
value timeout-minutes: «~m~» | timeout, job timeout | int 60 120
value checkout@«v3» | checkout version, version of checkout | pick v4/v5
value name: «tests» | workflow name | pick checks/ci/build
line on: [push] => on: [push, pull_request] | run it for pull requests too; \
    on should be [push, pull_request]
line pytest -q => \      - run: pytest -q --maxfail=1 | pytest with --maxfail=1; \
    add --maxfail=1 to the pytest call
=== nginx.conf, site.conf
server {
    listen 80;
    server_name ~word~.example;
    root /var/www/~word~;
    client_max_body_size ~n~m;
    location /api {
        proxy_pass http://localhost:3000;
    }
}
---
value listen «80»; | port it listens on, listen port | port
value server_name «~word~.example»; | server name | pick www.site.example/shop.example/intern.lan
value client_max_body_size «~n~m»; | maximum body size, upload limit | pick 100m/200m/1g/512k
value localhost:«3000»; | backend port, port of the api | port
rename /api > /v1, /backend | location
below root => \    index index.html; | add `index index.html;` below root; after root put index index.html;
=== game.lua, main.lua
local speed = ~n~
local title = "~shop~"

function update(dt)
  x = x + speed * dt
end

function draw()
  print(title)
end
---
value speed = «~n~» | speed | int 100 300
value title = "«~shop~»" | title, window title | shop
rename update > step, tick | function
rename draw > paint, render | function
rename speed > velocity, pace | variable
line speed * dt => \  x = x - speed * dt | it moves to the wrong side, minus instead of plus; \
    subtract instead of add in update
=== Main.kt, App.kt
const val LIMIT = ~n~
var owner: String = "~person~"

fun double(x: Int): Int {
    return x * 2
}

fun main() {
    println("start")
    println(double(LIMIT))
}
---
value LIMIT = «~n~» | limit | int 3 500
value "«~person~»" | owner | person
text println("«start»") | first message, start message | begin/here we go/hello
rename double > twice, timesTwo | function
rename LIMIT > MAX, TOP | constant
delete println("start") | the start message; the line that prints start
=== index.php, mail.php
<?php
$sender = "~email~";
$subject = "Your ~thing~";
$copies = ~d~;

function footer($year) {
    return "(c) $year ~word~";
}

echo footer(2023);
---
value $sender = "«~email~»" | sender, sender address | email
text "«Your ~thing~»" | subject, mail subject | Your booking/News for you/Thank you
value $copies = «~d~» | number of copies, copies | int 5 20
value footer(«2023») | year, year of the footer | int 2024 2030
rename footer > bottom, copyright | function
delete echo footer | the echo; the last line; the call of footer
=== Counter.swift, Model.swift
import Foundation

let maximum = ~n~
var label = "~item~"

func clamp(_ value: Int) -> Int {
    if value > maximum {
        return maximum
    }
    return value
}
---
value maximum = «~n~» | maximum | int 100 500
value label = "«~item~»" | label | item
rename clamp > limit, capped | function
rename maximum > upperLimit, top | constant
line value > maximum => if value >= maximum { | compare with >= instead of >; use >= in clamp
=== vector.cpp, math.cpp
#include <iostream>
#include <vector>

const int kSize = ~n~;

double mean(const std::vector<double>& values) {
    double s = 0;
    for (double v : values) s += v;
    return s / values.size();
}

int main() {
    std::cout << "mean: " << mean({1, 2, 3}) << "\n";
}
---
value kSize = «~n~» | size, kSize | int 100 900
text "«mean»: | printed label, word that is printed | average/result/the mean value
rename mean > average, avg | function
rename kSize > kLength, kCount | constant
below #include <vector> => #include <string> | include <string> too; \
    add #include <string> after the vector include
line std::cout => std::cout << "mean: " << mean({1, 2, 3, 4}) << "\n"; | call mean with {1, 2, 3, 4}; \
    the numbers should be 1, 2, 3, 4
""".strip()

COMMENTS = """
checked by ~person~
see ticket ~n~
used by the ~thing~ import
do not change without asking ~person~
returns early when empty
works for all ~thing~s
slow, but simple
added on ~date~
TODO: write a test
keep in sync with the ~thing~ page
""".strip()

IMPORTS = {
    "py": "import re/import os/import random/from pathlib import Path/import logging/from datetime import \
    date",
    "js": "const fs = require('fs');/const path = require('path');/const os = require('os');",
    "ts": 'import fs from "fs";/import path from "path";',
    "c": "#include <stdlib.h>/#include <ctype.h>/#include <math.h>",
    "java": "import java.util.Set;/import java.time.LocalDate;",
    "rs": "use std::fs;/use std::collections::HashMap;",
    "rb": "require 'json'/require 'date'",
}

SIGNS = {
    "py": "# ",
    "sh": "# ",
    "rb": "# ",
    "sql": "-- ",
    "lua": "-- ",
    "yml": "# ",
    "yaml": "# ",
    "conf": "# ",
}
SIGNS |= {"": "# "} | dict.fromkeys("js ts go rs c java kt php swift cpp".split(), "// ")
