"""Tiny Python programs with the words that ask for them.

`signature | what it does | the same in other words`, then the body; a script begins with `! file name`.
What a function does completes "a function that …"; what a script does completes "a script that …".
"""

FUNCTIONS = r"""
is_even(n) | returns True if n is even | tells whether a number is even | checks for even numbers
    return n % 2 == 0

is_odd(number) | returns True when the number is odd | says if a number is odd
    return number % 2 == 1

double(x) | returns twice x | doubles a number
    return 2 * x

square(x) | returns x squared | gives the square of a number
    return x * x

cube(x) | returns x to the power of 3 | computes the third power
    return x ** 3

add(a, b) | returns the sum of a and b | adds two numbers
    return a + b

difference(a, b) | returns the absolute difference of a and b | tells how far two numbers are apart
    return abs(a - b)

average(numbers) | returns the mean of a list of numbers | computes the average of a list
    return sum(numbers) / len(numbers)

safe_average(values) | returns the average, 0 for an empty list | \
    computes the mean and gives 0 if the list is empty
    return sum(values) / len(values) if values else 0

median(values) | returns the median of a list | finds the middle value of a list of numbers
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2

total(prices) | returns the sum of a list of prices | sums up prices
    return sum(prices)

biggest(numbers) | returns the largest number of a list | finds the maximum of a list
    return max(numbers)

smallest(values) | returns the smallest value of a list | finds the minimum
    return min(values)

spread(values) | returns the difference between the largest and the smallest value | gives max minus min
    return max(values) - min(values)

factorial(n) | returns n! | computes the factorial of n
    result = 1
    for factor in range(2, n + 1):
        result *= factor
    return result

fib(n) | returns the n-th Fibonacci number (fib(0) is 0, fib(1) is 1) | \
    computes Fibonacci numbers, starting with 0 and 1
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a

is_prime(n) | returns True if n is a prime number | checks if a number is prime
    if n < 2:
        return False
    return all(n % divisor for divisor in range(2, int(n ** 0.5) + 1))

primes(limit) | returns all primes below limit as a list | lists the prime numbers smaller than a limit
    return [n for n in range(2, limit) if all(n % d for d in range(2, int(n ** 0.5) + 1))]

gcd(a, b) | returns the greatest common divisor of a and b | computes the gcd of two numbers
    while b:
        a, b = b, a % b
    return a

is_leap(year) | returns True if the year is a leap year | tells whether a year is a leap year
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)

days_in_february(year) | returns 29 in a leap year and 28 otherwise | gives the number of days of February
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if is_leap else 28

to_celsius(fahrenheit) | converts Fahrenheit to Celsius | turns degrees Fahrenheit into Celsius
    return (fahrenheit - 32) * 5 / 9

to_fahrenheit(celsius) | converts Celsius to Fahrenheit | turns degrees Celsius into Fahrenheit
    return celsius * 9 / 5 + 32

km_to_miles(km) | converts kilometres to miles (1 mile is 1.609344 km) | \
    turns km into miles, with 1.609344 km for a mile
    return km / 1.609344

miles_to_km(miles) | converts miles to km, factor 1.609344 | turns miles into kilometres (times 1.609344)
    return miles * 1.609344

inches_to_cm(inches) | converts inches to centimetres (2.54) | gives the length in cm, an inch is 2.54 cm
    return inches * 2.54

bpm_to_ms(bpm) | returns the milliseconds of one beat: 60000 / bpm | \
    tells how many ms a beat takes (60000 / bpm)
    return 60000 / bpm

hours_to_minutes(hours) | converts hours to minutes | returns hours times 60
    return hours * 60

minutes_to_text(minutes) | returns text like "2:05" for 125 minutes | formats minutes as h:mm
    return f"{minutes // 60}:{minutes % 60:02}"

seconds(hours, minutes) | returns the seconds of so many hours and minutes | \
    converts hours and minutes to seconds
    return hours * 3600 + minutes * 60

with_tax(net) | returns the net price plus ~n~ % tax, rounded to 2 digits | \
    adds ~n~ percent tax and rounds to cents
    return round(net * (100 + ~n~) / 100, 2)

discount(price, percent) | returns the price less the discount in percent | takes some percent off a price
    return price * (100 - percent) / 100

percent(part, whole) | returns what percentage part is of whole | computes part / whole in percent
    return part / whole * 100

interest(amount, rate, years) | returns the amount after years of compound interest, rate in percent | \
    computes compound interest (rate in percent)
    return amount * (1 + rate / 100) ** years

bmi(weight, height) | returns weight divided by height squared | \
    computes the body mass index from kg and metres
    return weight / height ** 2

speed(distance, hours) | returns the distance divided by the hours | computes the average speed
    return distance / hours

circle_area(radius) | returns the area of a circle | computes the area of a circle from its radius
    return math.pi * radius ** 2

hypotenuse(a, b) | returns the length of the hypotenuse | computes the longest side of a right triangle
    return math.sqrt(a * a + b * b)

rectangle_area(width, height) | returns the area of a rectangle | multiplies width and height
    return width * height

volume(length, width, height) | returns the volume of a box | multiplies the three sides
    return length * width * height

clamp(value, low, high) | returns the value, but at least low and at most high | \
    keeps a value between two limits
    return max(low, min(value, high))

sign(n) | returns 1, 0 or -1 depending on the sign of n | \
    tells if a number is positive (1), negative (-1) or zero (0)
    if n > 0:
        return 1
    return -1 if n < 0 else 0

round_to(value, step) | rounds a value to the nearest multiple of step | \
    returns the nearest multiple of step
    return round(value / step) * step

digits_sum(n) | returns the sum of the digits of n | adds up the digits of a number
    return sum(int(digit) for digit in str(n))

reverse(text) | returns the text backwards | turns a string around
    return text[::-1]

is_palindrome(word) | returns True if the word reads the same backwards | checks for palindromes
    return word == word[::-1]

count_vowels(text) | returns the number of vowels in a text | counts a, e, i, o and u (upper and lower case)
    return sum(letter in "aeiou" for letter in text.lower())

count_words(text) | returns the number of words | counts the words of a text
    return len(text.split())

longest_word(sentence) | returns the longest word of a sentence | finds the longest word
    return max(sentence.split(), key=len)

initials(name) | returns the initials, "Ada Holm" gives "AH" | \
    makes initials out of a full name, like "AH" for "Ada Holm"
    return "".join(part[0].upper() for part in name.split())

shout(text) | returns the text in upper case with an exclamation mark | \
    makes everything upper case and puts ! at the end
    return text.upper() + "!"

greet(name) | returns "Hello, NAME!" | makes a greeting like "Hello, Ada!"
    return f"Hello, {name}!"

goodbye(name) | returns "Bye, NAME" | says bye to somebody, e.g. "Bye, Ada"
    return f"Bye, {name}"

capitalize_words(text) | capitalizes every word | \
    returns the text with a capital letter at the start of each word
    return " ".join(word.capitalize() for word in text.split())

slugify(title) | makes a slug: lower case, spaces become hyphens | \
    turns "My First Post" into "my-first-post"
    return "-".join(title.lower().split())

snake_case(text) | returns the text in lower case with underscores for spaces | \
    turns "Big Red Car" into "big_red_car"
    return text.lower().replace(" ", "_")

strip_spaces(text) | removes all spaces from a text | returns the text without spaces
    return text.replace(" ", "")

repeat(text, times) | returns the text so many times in a row | repeats a text
    return text * times

starts_with_vowel(word) | returns True if a word begins with a vowel | \
    checks whether the first letter is a vowel
    return word[:1].lower() in tuple("aeiou")

remove_vowels(text) | returns the text without vowels | deletes all vowels
    return "".join(letter for letter in text if letter.lower() not in "aeiou")

last_char(text) | returns the last character | gives the final letter of a text
    return text[-1]

middle(text) | returns the character in the middle of a text | gives the middle letter
    return text[len(text) // 2]

truncate(text, length) | cuts a text to a length and adds "..." if it was longer | \
    shortens long texts with three dots
    return text if len(text) <= length else text[:length] + "..."

censor(text, word) | replaces a word by asterisks of the same length | hides a word behind stars
    return text.replace(word, "*" * len(word))

count_char(text, char) | returns how often a character is in a text | counts one character
    return text.count(char)

letter_counts(text) | returns a dictionary with the number of each letter | \
    counts how often every character occurs, as a dict
    counts = {}
    for letter in text:
        counts[letter] = counts.get(letter, 0) + 1
    return counts

caesar(text, shift) | shifts lower case letters by shift places in the alphabet, leaves the rest | \
    is a Caesar cipher for lower case letters
    return "".join(
        chr((ord(c) - 97 + shift) % 26 + 97) if "a" <= c <= "z" else c for c in text
    )

is_anagram(a, b) | returns True if two words have the same letters | checks if two words are anagrams
    return sorted(a.lower()) == sorted(b.lower())

unique(items) | returns the items without duplicates, in the same order | \
    removes duplicates but keeps the order
    return list(dict.fromkeys(items))

flatten(lists) | turns a list of lists into one list | flattens one level of nesting
    return [item for inner in lists for item in inner]

chunks(items, size) | splits a list into parts of a given size | cuts a list into pieces of size elements
    return [items[start : start + size] for start in range(0, len(items), size)]

first(items) | returns the first element, None if the list is empty | gives the first item or None
    return items[0] if items else None

evens(numbers) | returns only the even numbers of a list | filters the even numbers
    return [n for n in numbers if n % 2 == 0]

positive(numbers) | returns only the numbers greater than zero | filters out zero and negative numbers
    return [n for n in numbers if n > 0]

above(numbers, limit) | returns the numbers that are greater than limit | filters numbers over a limit
    return [n for n in numbers if n > limit]

squares(n) | returns the squares of 1 to n as a list | lists the first n square numbers
    return [i * i for i in range(1, n + 1)]

reverse_list(items) | returns the list in reverse order | turns a list around
    return items[::-1]

count_items(items, wanted) | returns how often wanted is in the list | counts one value in a list
    return items.count(wanted)

most_common(items) | returns the element that occurs most often | finds the most frequent item
    return max(items, key=items.count)

merge(a, b) | merges two dictionaries, b wins | returns one dict out of two, the second has priority
    return {**a, **b}

invert(mapping) | swaps keys and values of a dictionary | turns a dict around: values become keys
    return {value: key for key, value in mapping.items()}

dot(a, b) | returns the dot product of two lists | multiplies two lists element by element and sums it up
    return sum(x * y for x, y in zip(a, b))

running_total(numbers) | returns the list of partial sums | gives the cumulative sums
    sums, current = [], 0
    for number in numbers:
        current += number
        sums.append(current)
    return sums

second_largest(numbers) | returns the second largest number | finds the number after the maximum
    return sorted(numbers)[-2]

transpose(rows) | swaps rows and columns of a table | transposes a list of lists
    return [list(column) for column in zip(*rows)]

common(a, b) | returns the elements that are in both lists, sorted | \
    finds what two lists have in common, in order
    return sorted(set(a) & set(b))

grade(points) | returns "A" from 90 points, "B" from 75, "C" from 50 and "F" below | \
    turns points into a grade: 90 A, 75 B, 50 C, less is F
    if points >= 90:
        return "A"
    if points >= 75:
        return "B"
    return "C" if points >= 50 else "F"

fizzbuzz(n) | returns "Fizz" for multiples of 3, "Buzz" for 5, "FizzBuzz" for both, otherwise the number \
    as text | does FizzBuzz for one number and returns a string
    if n % 15 == 0:
        return "FizzBuzz"
    if n % 3 == 0:
        return "Fizz"
    return "Buzz" if n % 5 == 0 else str(n)

age(birth_year, year) | returns year minus birth_year | computes how old somebody gets in a year
    return year - birth_year

is_adult(age) | returns True from the age of 18 | tells whether somebody is 18 or older
    return age >= 18

shipping(weight) | returns ~n~ up to 5 kg and ~m~ above | \
    gives the shipping cost: ~n~ for at most 5 kg, otherwise ~m~
    return ~n~ if weight <= 5 else ~m~

ticket_price(age) | returns 0 for children under 6 and ~n~ for everybody else | \
    gives the price of a ticket: free below 6, else ~n~
    return 0 if age < 6 else ~n~

parse_line(line) | splits "key=value" and returns both parts without spaces | \
    returns key and value of a line like "a = b"
    key, value = line.split("=", 1)
    return key.strip(), value.strip()

to_binary(n) | returns the binary digits of n as a string | converts a number to binary text without prefix
    return format(n, "b")

to_hex(red, green, blue) | returns a colour like "#ff8000" | makes a hex colour from red, green and blue
    return f"#{red:02x}{green:02x}{blue:02x}"

is_valid_email(text) | returns True if there is exactly one @ with something on both sides | \
    checks roughly for an e-mail address
    name, at, host = text.partition("@")
    return bool(name and at and host) and "@" not in host

load_lines(path) | returns the lines of a file as a list | reads a text file and returns its lines
    with open(path) as file:
        return file.read().splitlines()

save_text(path, text) | writes a text into a file | stores text under a path
    with open(path, "w") as file:
        file.write(text)

count_lines(path) | returns how many lines a file has | counts the lines of a file
    with open(path) as file:
        return sum(1 for _ in file)

read_json(path) | returns the data of a JSON file | loads a json file
    with open(path) as file:
        return json.load(file)

roll(sides=6) | returns a random number from 1 to sides | throws a die, six sides by default
    return random.randint(1, sides)

pick_winner(names) | returns a random name of a list | draws somebody from a list by chance
    return random.choice(names)

distance(x1, y1, x2, y2) | returns the distance between two points | \
    computes how far (x1, y1) is from (x2, y2)
    return math.hypot(x2 - x1, y2 - y1)

weekday(number) | returns the name of the weekday, 0 is Monday | turns 0 to 6 into Monday to Sunday
    names = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    return names[number]

mirror(text) | returns the text followed by its reverse | appends the reversed text to a text
    return text + text[::-1]

split_bill(amount, people) | returns what each person pays, rounded to cents | \
    divides a bill by the number of people, two decimals
    return round(amount / people, 2)

scale_recipe(grams, servings) | returns the grams for so many servings, the recipe is for ~d~ | \
    scales an amount from ~d~ servings to others
    return grams * servings / ~d~

net_score(goals, against) | returns goals minus against | computes the goal difference
    return goals - against
""".strip()

SCRIPTS = r"""
! hello.py | prints Hello, world! | says Hello, world!
print("Hello, world!")

! morning.py | prints Good morning, ~city~ | writes Good morning, ~city~ on the screen
print("Good morning, ~city~")

! count.py | prints the numbers from 1 to ~n~, one per line | counts from 1 to ~n~
for number in range(1, ~n~ + 1):
    print(number)

! countdown.py | counts down from ~n~ to 1 and then prints Go! | \
    prints ~n~ down to 1, each on a line, and Go! at the end
for number in range(~n~, 0, -1):
    print(number)
print("Go!")

! evens.py | prints all even numbers from 2 to ~n~ | lists the even numbers up to ~n~
for number in range(2, ~n~ + 1, 2):
    print(number)

! times.py | prints the ~d~ times table from 1 to 10 | \
    shows the multiplication table of ~d~, ten lines like "~d~ x 1 = ..."
for factor in range(1, 11):
    print(f"~d~ x {factor} = {~d~ * factor}")

! squares.py | prints the squares of 1 to ~d~0 | shows the square numbers from 1 to ~d~0 squared
for number in range(1, ~d~0 + 1):
    print(number * number)

! powers.py | prints the powers of 2 from 2 to the 0 up to 2 to the ~d~0 | lists 2**0 to 2**~d~0
for exponent in range(~d~0 + 1):
    print(2 ** exponent)

! sum.py | prints the sum of the numbers from 1 to ~n~ | adds up 1 to ~n~ and prints the result
print(sum(range(1, ~n~ + 1)))

! fizzbuzz.py | plays fizzbuzz from 1 to ~n~ | \
    prints 1 to ~n~, but Fizz for multiples of 3, Buzz for 5 and FizzBuzz for both
for n in range(1, ~n~ + 1):
    if n % 15 == 0:
        print("FizzBuzz")
    elif n % 3 == 0:
        print("Fizz")
    elif n % 5 == 0:
        print("Buzz")
    else:
        print(n)

! vat.py | takes a net price as argument and prints it with ~n~ % tax, two decimals | \
    is called like `python3 vat.py 50` and prints the price plus ~n~ percent with two digits
import sys

net = float(sys.argv[1])
print(f"{net * (100 + ~n~) / 100:.2f}")

! celsius.py | takes degrees Fahrenheit as argument and prints Celsius with one decimal | \
    converts its argument from Fahrenheit to Celsius, one digit after the point
import sys

print(round((float(sys.argv[1]) - 32) * 5 / 9, 1))

! greet.py | takes a name as argument and prints Hello, NAME! | \
    greets the name that is given as argument with Hello, NAME!
import sys

print(f"Hello, {sys.argv[1]}!")

! welcome.py | prints Welcome NAME, or Welcome guest without an argument | \
    greets its argument with Welcome; if there is none it says Welcome guest
import sys

name = sys.argv[1] if len(sys.argv) > 1 else "guest"
print(f"Welcome {name}")

! add.py | adds the two numbers given as arguments and prints the sum | \
    prints the sum of its two arguments (whole numbers)
import sys

print(int(sys.argv[1]) + int(sys.argv[2]))

! total.py | prints the sum of all its arguments | \
    adds all numbers on the command line (they may have decimals)
import sys

print(sum(float(value) for value in sys.argv[1:]))

! backwards.py | prints its argument backwards | reverses the word given as argument
import sys

print(sys.argv[1][::-1])

! shout.py | prints its arguments in upper case | takes words and prints them in capitals on one line
import sys

print(" ".join(sys.argv[1:]).upper())

! words.py | prints how many words the file given as argument has | \
    counts the words of a file (name as argument)
import sys

with open(sys.argv[1]) as file:
    print(len(file.read().split()))

! lines.py | prints the number of lines of a file that is given as argument | \
    counts lines of a file, called with its name
import sys

with open(sys.argv[1]) as file:
    print(len(file.readlines()))

! number_lines.py | prints a file with line numbers, the file name is the argument | \
    shows a file, every line with its number and a colon before it
import sys

with open(sys.argv[1]) as file:
    for number, line in enumerate(file, 1):
        print(f"{number}: {line}", end="")

! upper.py | reads standard input and prints it in upper case | turns what comes in on stdin into capitals
import sys

print(sys.stdin.read().upper(), end="")

! sort_lines.py | reads a file given as argument and prints its lines sorted | \
    sorts the lines of a file (argument) and prints them
import sys

with open(sys.argv[1]) as file:
    for line in sorted(file.read().splitlines()):
        print(line)

! column.py | prints the first column of the CSV file given as argument | \
    reads a csv (argument) and prints only the first column
import csv
import sys

with open(sys.argv[1], newline="") as file:
    for row in csv.reader(file):
        print(row[0])

! dice.py | prints ~d~ random dice rolls with the seed ~n~ | \
    rolls a die ~d~ times, seed ~n~, one result per line
import random

random.seed(~n~)
for _ in range(~d~):
    print(random.randint(1, 6))

! stars.py | prints a triangle of stars, ~d~ rows | draws a triangle: one star, two stars, up to ~d~ stars
for row in range(1, ~d~ + 1):
    print("*" * row)

! box.py | draws a box of # signs, ~d~0 wide and 3 high | prints three lines with ~d~0 # signs each
for _ in range(3):
    print("#" * ~d~0)

! names.py | has a list with ~city~, ~city2~ and ~city3~ and prints each on a line | \
    prints ~city~, ~city2~ and ~city3~, one per line, from a list
names = ["~city~", "~city2~", "~city3~"]
for name in names:
    print(name)

! alphabet.py | prints the letters a to z, one per line | lists the lower case alphabet
for code in range(ord("a"), ord("z") + 1):
    print(chr(code))

! leap.py | prints all leap years from 2000 to 20~n~ | lists the leap years between 2000 and 20~n~
for year in range(2000, 20~n~ + 1):
    if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
        print(year)

! fibonacci.py | prints the first ~n~ Fibonacci numbers, starting with 0 | \
    shows ~n~ numbers of Fibonacci: 0, 1, 1, 2 and so on
a, b = 0, 1
for _ in range(~n~):
    print(a)
    a, b = b, a + b

! primes.py | prints the primes below ~n~ | shows every prime number smaller than ~n~
for n in range(2, ~n~):
    if all(n % divisor for divisor in range(2, n)):
        print(n)

! average.py | prints the average of the numbers given as arguments | computes the mean of its arguments
import sys

numbers = [float(value) for value in sys.argv[1:]]
print(sum(numbers) / len(numbers))

! longest.py | prints the longest of its arguments | finds the longest word on the command line
import sys

print(max(sys.argv[1:], key=len))

! temperature_table.py | prints a table from 0 to ~d~0 Celsius in steps of 10 with Fahrenheit beside it | \
    shows Celsius 0, 10 up to ~d~0 and the Fahrenheit value in each line
for celsius in range(0, ~d~0 + 1, 10):
    print(celsius, celsius * 9 / 5 + 32)

! savings.py | prints the balance of ~n~00 euros after each of ~d~ years at 3 % | \
    starts with ~n~00 and prints the money after every year, 3 percent, ~d~ years, two decimals
balance = ~n~00
for _ in range(~d~):
    balance *= 1.03
    print(f"{balance:.2f}")

! today.py | prints today's date as YYYY-MM-DD | shows the date of today in ISO form
from datetime import date

print(date.today().isoformat())

! env.py | prints the environment variable HOME | shows the value of HOME from the environment
import os

print(os.environ["HOME"])

! files.py | prints the names of all files in the current folder, sorted | \
    lists the files here in alphabetical order
import os

for name in sorted(os.listdir(".")):
    print(name)

! exit.py | prints failed and ends with exit status ~d~ | says failed and exits with ~d~
import sys

print("failed")
sys.exit(~d~)

! quiz.py | asks for the capital of France and says right or wrong | \
    reads an answer, prints right for Paris, otherwise wrong
answer = input("What is the capital of France? ")
print("right" if answer.strip() == "Paris" else "wrong")

! age.py | asks for your name and prints Hi NAME | reads a name from the keyboard and says Hi to it
name = input("Name: ")
print(f"Hi {name}")

! json_keys.py | prints the keys of the JSON file given as argument, one per line | \
    loads a json file (argument) and lists its keys
import json
import sys

with open(sys.argv[1]) as file:
    for key in json.load(file):
        print(key)

! shopping.py | prints a numbered list of ~item~, ~item2~ and ~item3~ | \
    numbers ~item~, ~item2~, ~item3~ with 1., 2., 3.
items = ["~item~", "~item2~", "~item3~"]
for number, item in enumerate(items, 1):
    print(f"{number}. {item}")

! prices.py | has a dictionary with ~item~ ~n~ and ~item2~ ~m~ and prints the total | \
    stores prices (~item~ ~n~, ~item2~ ~m~) in a dict and prints their sum
prices = {"~item~": ~n~, "~item2~": ~m~}
print(sum(prices.values()))
""".strip()
