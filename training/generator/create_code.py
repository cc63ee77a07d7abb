"""Tiny programs in other languages, as in `training.generator.create_python`; the code is written out."""

PROGRAMS = r"""
== js
isEven(n) | returns true if n is even | tells whether a number is even
function isEven(n) {
  return n % 2 === 0;
}

sum(numbers) | returns the sum of an array | adds up the numbers of an array
function sum(numbers) {
  return numbers.reduce((total, n) => total + n, 0);
}

average(values) | returns the mean of an array | computes the average of an array
function average(values) {
  return values.reduce((total, value) => total + value, 0) / values.length;
}

max(values) | returns the largest value of an array | finds the maximum of an array
function max(values) {
  return Math.max(...values);
}

capitalize(word) | returns the word with a capital first letter | makes the first letter upper case
function capitalize(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

reverse(text) | returns the text backwards | reverses a string
function reverse(text) {
  return text.split('').reverse().join('');
}

greet(name) | returns Hello, NAME! | makes a greeting like "Hello, Ada!"
function greet(name) {
  return `Hello, ${name}!`;
}

toCelsius(fahrenheit) | converts Fahrenheit to Celsius | turns Fahrenheit degrees into Celsius
function toCelsius(fahrenheit) {
  return (fahrenheit - 32) * 5 / 9;
}

unique(items) | returns the items without duplicates | removes duplicates from an array
function unique(items) {
  return [...new Set(items)];
}

slugify(title) | makes a slug, lower case with hyphens for spaces | turns "My Post" into "my-post"
function slugify(title) {
  return title.toLowerCase().split(' ').join('-');
}

countVowels(text) | returns the number of vowels | counts vowels in a text
function countVowels(text) {
  return (text.match(/[aeiou]/gi) || []).length;
}

clamp(value, low, high) | keeps a value between low and high | returns the value, limited to low and high
function clamp(value, low, high) {
  return Math.min(Math.max(value, low), high);
}

factorial(n) | returns n! | computes the factorial
function factorial(n) {
  return n <= 1 ? 1 : n * factorial(n - 1);
}

withTax(net) | returns the price plus ~n~ % | adds ~n~ percent tax
function withTax(net) {
  return net * (1 + ~n~ / 100);
}

last(items) | returns the last element of an array | gives the last item
function last(items) {
  return items[items.length - 1];
}

wordCount(text) | returns the number of words | counts the words in a text
function wordCount(text) {
  return text.trim().split(/\s+/).length;
}

! hello.js | prints Hello, world! | logs Hello, world!
console.log('Hello, world!');

! count.js | prints the numbers from 1 to ~n~ | counts from 1 to ~n~, one number per line
for (let i = 1; i <= ~n~; i++) {
  console.log(i);
}

! greet.js | prints Hello and the name that is given as argument | greets its argument with Hello, NAME!
console.log(`Hello, ${process.argv[2]}!`);

! times.js | prints the ~d~ times table from 1 to 10 | shows the multiplication table of ~d~
for (let i = 1; i <= 10; i++) {
  console.log(`~d~ x ${i} = ${~d~ * i}`);
}

! add.js | prints the sum of its two arguments | adds two numbers from the command line
console.log(Number(process.argv[2]) + Number(process.argv[3]));

! fizzbuzz.js | plays FizzBuzz from 1 to ~n~ | prints 1 to ~n~ with Fizz, Buzz and FizzBuzz
for (let i = 1; i <= ~n~; i++) {
  if (i % 15 === 0) console.log('FizzBuzz');
  else if (i % 3 === 0) console.log('Fizz');
  else if (i % 5 === 0) console.log('Buzz');
  else console.log(i);
}
== ts
isEven(n: number): boolean | returns true if n is even | checks for even numbers
export function isEven(n: number): boolean {
  return n % 2 === 0;
}

sum(values: number[]): number | returns the sum of an array | adds up an array of numbers
export function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

greet(name: string): string | returns Hello, NAME! | makes a greeting
export function greet(name: string): string {
  return `Hello, ${name}!`;
}

clamp(value: number, low: number, high: number): number | keeps a value between two limits | \
    limits a number to low and high
export function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
== sh
! hello.sh | prints Hello, world! | says Hello, world!
#!/bin/sh
echo "Hello, world!"

! morning.sh | prints Good morning, ~city~ | says Good morning, ~city~
#!/bin/sh
echo "Good morning, ~city~"

! greet.sh | greets the name given as first argument with Hello, NAME! | prints Hello and its first argument
#!/bin/sh
echo "Hello, $1!"

! count.sh | prints the numbers from 1 to ~n~ | counts from 1 to ~n~
#!/bin/sh
for i in $(seq 1 ~n~); do
    echo "$i"
done

! today.sh | prints the date as YYYY-MM-DD | shows today's date in ISO form
#!/bin/sh
date +%Y-%m-%d

! count_files.sh | prints how many files are in the current folder | counts the entries of this folder
#!/bin/sh
ls | wc -l

! backup.sh | copies the folder given as argument to a folder with .bak at the end | \
    makes a copy of a folder (argument), named with .bak
#!/bin/sh
cp -r "$1" "$1.bak"

! archive.sh | packs the folder ~word~ into ~word~.tar.gz | makes a tar.gz of the folder ~word~
#!/bin/sh
tar czf ~word~.tar.gz ~word~

! clean.sh | deletes all .tmp files in the current folder | removes *.tmp here
#!/bin/sh
rm -f ./*.tmp

! lines.sh | prints the number of lines of the file given as argument | counts the lines of a file
#!/bin/sh
wc -l < "$1"

! sum.sh | prints the sum of its two arguments | adds two whole numbers
#!/bin/sh
echo $(($1 + $2))

! upper.sh | prints standard input in upper case | turns its input into capitals
#!/bin/sh
tr '[:lower:]' '[:upper:]'

! exists.sh | prints yes if the file given as argument exists, otherwise no | \
    says yes or no: is there such a file (argument)
#!/bin/sh
if [ -e "$1" ]; then
    echo yes
else
    echo no
fi

! countdown.sh | counts down from ~d~ to 1 and prints Go! | prints ~d~ down to 1 and then Go!
#!/bin/sh
i=~d~
while [ "$i" -gt 0 ]; do
    echo "$i"
    i=$((i - 1))
done
echo "Go!"

! env.sh | prints the user name and the home folder | shows USER and HOME
#!/bin/sh
echo "$USER"
echo "$HOME"

! rename.sh | renames all .txt files here to .md | gives every .txt file the ending .md
#!/bin/sh
for file in *.txt; do
    mv "$file" "${file%.txt}.md"
done

! loop.sh | prints ~city~, ~city2~ and ~city3~, one per line | \
    loops over ~city~, ~city2~ and ~city3~ and prints them
#!/bin/sh
for city in "~city~" "~city2~" "~city3~"; do
    echo "$city"
done

! check.sh | ends with exit status ~d~ and prints failed | says failed and exits with ~d~
#!/bin/sh
echo "failed"
exit ~d~
== go
isEven(n int) bool | returns true if n is even | tells whether a number is even
package main

func isEven(n int) bool {
	return n%2 == 0
}

sum(numbers []int) int | returns the sum of a slice | adds up the numbers of a slice
package main

func sum(numbers []int) int {
	total := 0
	for _, n := range numbers {
		total += n
	}
	return total
}

max(a, b int) int | returns the larger of two numbers | gives the bigger number
package main

func max(a, b int) int {
	if a > b {
		return a
	}
	return b
}

greet(name string) string | returns Hello, NAME! | makes a greeting
package main

func greet(name string) string {
	return "Hello, " + name + "!"
}

! main.go | prints Hello, world! | says Hello, world!
package main

import "fmt"

func main() {
	fmt.Println("Hello, world!")
}

! count.go | prints the numbers from 1 to ~n~ | counts from 1 to ~n~
package main

import "fmt"

func main() {
	for i := 1; i <= ~n~; i++ {
		fmt.Println(i)
	}
}

! greet.go | greets its first argument with Hello, NAME! | prints Hello and the name given as argument
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Printf("Hello, %s!\n", os.Args[1])
}
== c
! hello.c | prints Hello, world! | says Hello, world!
#include <stdio.h>

int main(void) {
    printf("Hello, world!\n");
    return 0;
}

! count.c | prints the numbers from 1 to ~n~ | counts from 1 to ~n~
#include <stdio.h>

int main(void) {
    for (int i = 1; i <= ~n~; i++) {
        printf("%d\n", i);
    }
    return 0;
}

! times.c | prints the ~d~ times table from 1 to 10 | shows the multiplication table of ~d~
#include <stdio.h>

int main(void) {
    for (int i = 1; i <= 10; i++) {
        printf("~d~ x %d = %d\n", i, ~d~ * i);
    }
    return 0;
}

is_even(int n) | returns 1 if n is even, otherwise 0 | tells whether a number is even
int is_even(int n) {
    return n % 2 == 0;
}

max(int a, int b) | returns the larger of two numbers | gives the bigger number
int max(int a, int b) {
    return a > b ? a : b;
}

factorial(int n) | returns n! as a long | computes the factorial
long factorial(int n) {
    long result = 1;
    for (int i = 2; i <= n; i++) {
        result *= i;
    }
    return result;
}

sum(const int *values, int count) | returns the sum of an array | adds up an array of ints
int sum(const int *values, int count) {
    int total = 0;
    for (int i = 0; i < count; i++) {
        total += values[i];
    }
    return total;
}

! fizzbuzz.c | plays FizzBuzz from 1 to ~n~ | prints 1 to ~n~ with Fizz, Buzz and FizzBuzz
#include <stdio.h>

int main(void) {
    for (int i = 1; i <= ~n~; i++) {
        if (i % 15 == 0) {
            printf("FizzBuzz\n");
        } else if (i % 3 == 0) {
            printf("Fizz\n");
        } else if (i % 5 == 0) {
            printf("Buzz\n");
        } else {
            printf("%d\n", i);
        }
    }
    return 0;
}
== rb
even?(n) | returns true if n is even | tells whether a number is even
def even?(n)
  n % 2 == 0
end

average(values) | returns the mean of an array | computes the average
def average(values)
  values.sum / values.size.to_f
end

greet(name) | returns Hello, NAME! | makes a greeting
def greet(name)
  "Hello, #{name}!"
end

palindrome?(word) | returns true if the word reads the same backwards | checks for palindromes
def palindrome?(word)
  word == word.reverse
end

to_celsius(fahrenheit) | converts Fahrenheit to Celsius | turns Fahrenheit into Celsius
def to_celsius(fahrenheit)
  (fahrenheit - 32) * 5.0 / 9
end

! hello.rb | prints Hello, world! | says Hello, world!
puts "Hello, world!"

! count.rb | prints the numbers from 1 to ~n~ | counts from 1 to ~n~
(1..~n~).each { |n| puts n }

! times.rb | prints the ~d~ times table from 1 to 10 | shows the multiplication table of ~d~
(1..10).each { |n| puts "~d~ x #{n} = #{~d~ * n}" }

! sum.rb | prints the sum of its arguments | adds all numbers given as arguments
puts ARGV.sum(&:to_f)
== java
! Hello.java | prints Hello, world! | says Hello, world!
public class Hello {
    public static void main(String[] args) {
        System.out.println("Hello, world!");
    }
}

! Count.java | prints the numbers from 1 to ~n~ | counts from 1 to ~n~
public class Count {
    public static void main(String[] args) {
        for (int i = 1; i <= ~n~; i++) {
            System.out.println(i);
        }
    }
}

! Greet.java | greets its first argument with Hello, NAME! | prints Hello and the name given as argument
public class Greet {
    public static void main(String[] args) {
        System.out.println("Hello, " + args[0] + "!");
    }
}

! Times.java | prints the ~d~ times table from 1 to 10 | shows the multiplication table of ~d~
public class Times {
    public static void main(String[] args) {
        for (int i = 1; i <= 10; i++) {
            System.out.println("~d~ x " + i + " = " + ~d~ * i);
        }
    }
}

! Tools.java | has a static method isEven(int n) | has a class Tools with a static isEven
public class Tools {
    public static boolean isEven(int n) {
        return n % 2 == 0;
    }
}
== rs
is_even(n: i32) -> bool | returns true if n is even | tells whether a number is even
pub fn is_even(n: i32) -> bool {
    n % 2 == 0
}

sum(values: &[i32]) -> i32 | returns the sum of a slice | adds up the numbers of a slice
pub fn sum(values: &[i32]) -> i32 {
    values.iter().sum()
}

greet(name: &str) -> String | returns Hello, NAME! | makes a greeting
pub fn greet(name: &str) -> String {
    format!("Hello, {}!", name)
}

clamp(value: i32, low: i32, high: i32) -> i32 | keeps a value between low and high | limits a number
pub fn clamp(value: i32, low: i32, high: i32) -> i32 {
    value.max(low).min(high)
}

! main.rs | prints Hello, world! | says Hello, world!
fn main() {
    println!("Hello, world!");
}

! count.rs | prints the numbers from 1 to ~n~ | counts from 1 to ~n~
fn main() {
    for i in 1..=~n~ {
        println!("{}", i);
    }
}

! times.rs | prints the ~d~ times table from 1 to 10 | shows the multiplication table of ~d~
fn main() {
    for i in 1..=10 {
        println!("~d~ x {} = {}", i, ~d~ * i);
    }
}
== sql
! ~thing~s.sql | creates a table ~thing~s with id, name and price | \
    makes the table ~thing~s: id as primary key, name as text, price as real
CREATE TABLE ~thing~s (
    id INTEGER PRIMARY KEY,
    name TEXT,
    price REAL
);

! all.sql | selects everything from ~thing~s | shows all rows of ~thing~s
SELECT * FROM ~thing~s;

! count.sql | counts the rows of ~thing~s | says how many rows ~thing~s has
SELECT COUNT(*) FROM ~thing~s;

! top.sql | selects the ~d~ most expensive ~thing~s by price | \
    shows the ~d~ rows of ~thing~s with the highest price
SELECT * FROM ~thing~s ORDER BY price DESC LIMIT ~d~;

! delete_old.sql | deletes the ~thing~s from before 20~n~ (column year) | \
    removes rows of ~thing~s with a year below 20~n~
DELETE FROM ~thing~s WHERE year < 20~n~;

! insert.sql | inserts ~person~ with the city ~city~ into members (columns name, city) | \
    adds ~person~ from ~city~ to the table members with name and city
INSERT INTO members (name, city) VALUES ('~person~', '~city~');

! update.sql | sets the price of ~thing~s with id ~n~ to ~m~ | \
    changes the price to ~m~ in ~thing~s where the id is ~n~
UPDATE ~thing~s SET price = ~m~ WHERE id = ~n~;

! per_city.sql | counts the members of each city | \
    shows every city of the table members with its number of rows
SELECT city, COUNT(*) FROM members GROUP BY city;

! users.sql | creates a table users with id, email (unique) and created date | \
    makes a users table: id primary key, email text unique, created date
CREATE TABLE users (
    id INTEGER PRIMARY KEY,
    email TEXT UNIQUE,
    created DATE
);
== html
! index.html | is a page with the title ~shop~ and the heading Welcome | \
    has the title ~shop~ and one h1 that says Welcome
<!DOCTYPE html>
<html>
<head>
  <title>~shop~</title>
</head>
<body>
  <h1>Welcome</h1>
</body>
</html>

! list.html | shows ~item~, ~item2~ and ~item3~ as a list | \
    has an unordered list with ~item~, ~item2~ and ~item3~
<!DOCTYPE html>
<html>
<body>
  <ul>
    <li>~item~</li>
    <li>~item2~</li>
    <li>~item3~</li>
  </ul>
</body>
</html>

! link.html | has a paragraph with a link to https://~word~.example, text ~city~ | \
    is a page with one link, ~city~, that goes to https://~word~.example
<!DOCTYPE html>
<html>
<body>
  <p><a href="https://~word~.example">~city~</a></p>
</body>
</html>

! contact.html | has a form with a field email and a button Send | \
    contains a form: an email input and a Send button
<!DOCTYPE html>
<html>
<body>
  <form>
    <input type="email" name="email">
    <button>Send</button>
  </form>
</body>
</html>
== css
! style.css | makes the background ~color~ and the text white | \
    sets the page background to ~color~ with white text
body {
  background: ~color~;
  color: white;
}

! print.css | hides nav and footer when printing | does not print nav and footer
@media print {
  nav, footer {
    display: none;
  }
}

! heading.css | centers h1 and makes it ~n~px large | gives h1 a font size of ~n~px, centered
h1 {
  text-align: center;
  font-size: ~n~px;
}

! button.css | gives .button a ~color~ background and ~d~px round corners | \
    styles the class button: ~color~ background, border radius ~d~px
.button {
  background: ~color~;
  border-radius: ~d~px;
}
== make
! Makefile | has a target clean that removes the build folder | contains only clean, which does rm -rf build
clean:
	rm -rf build

! Makefile | has a target run that starts python3 ~word~.py | runs python3 ~word~.py with make run
run:
	python3 ~word~.py

! Makefile | has a target test that calls pytest | calls pytest with make test
test:
	pytest

! Makefile | builds ~word~ from ~word~.c with gcc | compiles ~word~.c to ~word~ with gcc
~word~: ~word~.c
	gcc -o ~word~ ~word~.c

! Makefile | has the targets build (npm run build) and deploy (./deploy.sh) | \
    knows build, that is npm run build, and deploy, that is ./deploy.sh
build:
	npm run build

deploy:
	./deploy.sh
== docker
! Dockerfile | starts python ~word~.py from python:3.12-slim in /app | \
    uses python:3.12-slim, copies everything to /app and runs python ~word~.py
FROM python:3.12-slim
WORKDIR /app
COPY . .
CMD ["python", "~word~.py"]

! Dockerfile | serves the folder public with nginx | \
    is based on nginx and copies public to /usr/share/nginx/html
FROM nginx
COPY public /usr/share/nginx/html
""".strip()

LANGUAGES = {
    "js": "JavaScript/JS/Node/javascript",
    "ts": "TypeScript/typescript/TS",
    "sh": "shell/bash/sh",
    "go": "Go/golang",
    "c": "C",
    "rb": "Ruby/ruby",
    "java": "Java/java",
    "rs": "Rust/rust",
    "sql": "SQL/sql",
    "html": "HTML/html",
    "css": "CSS/css",
    "make": "make",
    "docker": "docker",
}
