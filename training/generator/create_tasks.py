"""Small scripts and functions with numbers of their own, each in several languages.

`== file names`, then what it does (one wording on each line, `- ` before it), then the code of each
language. `«a»` is a made-up number, `«b+1»` one more than another; `«w»`, `«x»`, `«y»` are words, `«p»`,
`«q»` names, `«t»` is a town. A function begins with `== def` and its signature, and `check` is a call
with its result.
"""

SCRIPTS = r"""
== times.*, table.*, multiply.*
- prints the multiplication table of «k» from «k» x 1 = «k» to «k» x «c» = «k*c»
- prints the «k» times table, from «k» x 1 to «k» x «c», one line each like «k» x 2 = «k*2»
- writes «k» x 1 = «k», «k» x 2 = «k*2» and so on up to «k» x «c»
- shows the times table of «k» up to «c», in the form «k» x 3 = «k*3»
py
for i in range(1, «c+1»):
    print(f"«k» x {i} = {«k» * i}")
sh
for i in $(seq 1 «c»); do
  echo "«k» x $i = $((«k» * i))"
done
js
for (let i = 1; i <= «c»; i++) {
  console.log(`«k» x ${i} = ${«k» * i}`);
}
== table.*, products.*, school.*
- prints the times table of «k» with the other number first: 1 * «k» = «k», 2 * «k» = «k*2», up to «c» * «k»
- prints 1 * «k» = «k» until «c» * «k» = «k*c»
py
for i in range(1, «c+1»):
    print(f"{i} * «k» = {i * «k»}")
sh
for i in $(seq 1 «c»); do
  echo "$i * «k» = $((i * «k»))"
done
js
for (let i = 1; i <= «c»; i++) {
  console.log(`${i} * «k» = ${i * «k»}`);
}
== count.*, numbers.*, range.*
- prints the numbers from «a» to «b», one per line
- counts from «a» up to «b»
- prints every whole number between «a» and «b», both included
- writes the numbers «a» to «b» below each other
py
for number in range(«a», «b+1»):
    print(number)
sh
seq «a» «b»
js
for (let number = «a»; number <= «b»; number++) {
  console.log(number);
}
== down.*, countdown.*, back.*
- counts down from «b» to «a»
- prints the numbers from «b» down to «a», one per line
- prints «b», «b-1», «b-2» and so on down to «a»
py
for number in range(«b», «a-1», -1):
    print(number)
sh
seq «b» -1 «a»
js
for (let number = «b»; number >= «a»; number--) {
  console.log(number);
}
== countdown.*, rocket.*, launch.*
- counts down from «c» to 1 and then prints «w»
- prints «c», «c-1», … 1 and after that the word «w»
- makes a countdown from «c» to 1 that ends with «w»
py
for number in range(«c», 0, -1):
    print(number)
print("«w»")
sh
for number in $(seq «c» -1 1); do
  echo "$number"
done
echo "«w»"
js
for (let number = «c»; number > 0; number--) {
  console.log(number);
}
console.log("«w»");
== steps.*, every.*, jump.*
- prints every «s»th number from «a» to «b», starting with «a»
- counts from «a» to «b» in steps of «s»
- prints «a», «a+s» and so on in steps of «s», not beyond «b»
py
for number in range(«a», «b+1», «s»):
    print(number)
sh
seq «a» «s» «b»
js
for (let number = «a»; number <= «b»; number += «s») {
  console.log(number);
}
== sum.*, total.*, add.*
- prints the sum of all numbers from «a» to «b»
- adds up «a» to «b» and prints only the result
- computes «a» + «a+1» + ... + «b» and prints it
py
print(sum(range(«a», «b+1»)))
sh
sum=0
for number in $(seq «a» «b»); do
  sum=$((sum + number))
done
echo "$sum"
js
let sum = 0;
for (let number = «a»; number <= «b»; number++) {
  sum += number;
}
console.log(sum);
== product.*, factorial.*
- prints the product of the numbers from 1 to «d»
- computes the factorial of «d» and prints it
- prints «d»! (1 * 2 * ... * «d»)
py
product = 1
for number in range(1, «d+1»):
    product *= number
print(product)
sh
product=1
for number in $(seq 1 «d»); do
  product=$((product * number))
done
echo "$product"
js
let product = 1;
for (let number = 1; number <= «d»; number++) {
  product *= number;
}
console.log(product);
== even.*, evens.*
- prints all even numbers from «a» to «b»
- shows only the even numbers between «a» and «b»
py
for number in range(«a», «b+1»):
    if number % 2 == 0:
        print(number)
sh
for number in $(seq «a» «b»); do
  if [ $((number % 2)) -eq 0 ]; then
    echo "$number"
  fi
done
js
for (let number = «a»; number <= «b»; number++) {
  if (number % 2 === 0) {
    console.log(number);
  }
}
== odd.*, odds.*
- prints all odd numbers from «a» to «b»
- lists the odd numbers between «a» and «b», each on its own line
py
for number in range(«a», «b+1»):
    if number % 2 == 1:
        print(number)
sh
for number in $(seq «a» «b»); do
  if [ $((number % 2)) -eq 1 ]; then
    echo "$number"
  fi
done
js
for (let number = «a»; number <= «b»; number++) {
  if (number % 2 === 1) {
    console.log(number);
  }
}
== divisible.*, multiples.*
- prints all numbers from «a» to «b» that can be divided by «s»
- prints the multiples of «s» between «a» and «b»
- lists every number from «a» to «b» divisible by «s»
py
for number in range(«a», «b+1»):
    if number % «s» == 0:
        print(number)
sh
for number in $(seq «a» «b»); do
  if [ $((number % «s»)) -eq 0 ]; then
    echo "$number"
  fi
done
js
for (let number = «a»; number <= «b»; number++) {
  if (number % «s» === 0) {
    console.log(number);
  }
}
== squares.*, powers.*
- prints the squares of the numbers from «a» to «a+c», like «a»^2 = «a*a»
- prints a line like «a»^2 = «a*a» for each number from «a» to «a+c»
py
for number in range(«a», «a+c+1»):
    print(f"{number}^2 = {number * number}")
sh
for number in $(seq «a» «a+c»); do
  echo "$number^2 = $((number * number))"
done
js
for (let number = «a»; number <= «a+c»; number++) {
  console.log(`${number}^2 = ${number * number}`);
}
== cubes.*
- prints the cubes of the numbers 1 to «c»
- shows 1, 8, 27 and so on: the cube of each number up to «c»
py
for number in range(1, «c+1»):
    print(number ** 3)
sh
for number in $(seq 1 «c»); do
  echo $((number * number * number))
done
js
for (let number = 1; number <= «c»; number++) {
  console.log(number ** 3);
}
== fizz.*, fizzbuzz.*, game.*
- prints the numbers from 1 to «b», but «w» for multiples of «s» and «x» for multiples of «u»; «w»«x» for both
- plays fizzbuzz up to «b» with «w» for «s» and «x» for «u»: both words together if both fit
py
for number in range(1, «b+1»):
    text = ""
    if number % «s» == 0:
        text += "«w»"
    if number % «u» == 0:
        text += "«x»"
    print(text or number)
sh
for number in $(seq 1 «b»); do
  text=""
  [ $((number % «s»)) -eq 0 ] && text="${text}«w»"
  [ $((number % «u»)) -eq 0 ] && text="${text}«x»"
  echo "${text:-$number}"
done
js
for (let number = 1; number <= «b»; number++) {
  let text = "";
  if (number % «s» === 0) text += "«w»";
  if (number % «u» === 0) text += "«x»";
  console.log(text || number);
}
== bottles.*, boxes.*, stock.*
- counts from «c» down to 1 and prints "«c» «x»s left", "«c-1» «x»s left" and so on, also for 1
- prints "N «x»s left" for N from «c» down to 1
py
for number in range(«c», 0, -1):
    print(f"{number} «x»s left")
sh
for number in $(seq «c» -1 1); do
  echo "$number «x»s left"
done
js
for (let number = «c»; number > 0; number--) {
  console.log(`${number} «x»s left`);
}
== repeat.*, again.*, lines.*
- prints the word «w» «c» times, each on its own line
- writes «w» «c» times below each other
- says «w» «c» times
py
for _ in range(«c»):
    print("«w»")
sh
for _ in $(seq 1 «c»); do
  echo "«w»"
done
js
for (let i = 0; i < «c»; i++) {
  console.log("«w»");
}
== numbered.*, labels.*, tags.*
- prints «x» 1, «x» 2, ... up to «x» «c»
- prints a label "«x» N" for each N from 1 to «c»
py
for number in range(1, «c+1»):
    print(f"«x» {number}")
sh
for number in $(seq 1 «c»); do
  echo "«x» $number"
done
js
for (let number = 1; number <= «c»; number++) {
  console.log(`«x» ${number}`);
}
== hello.*, greet.*, team.*
- prints Hello «p»! and Hello «q»!, one per line
- greets «p» and «q»: "Hello «p»!" and then "Hello «q»!"
- has a list with the names «p» and «q» and prints "Hello NAME!" for each of them
py
for name in ["«p»", "«q»"]:
    print(f"Hello {name}!")
sh
for name in «p» «q»; do
  echo "Hello $name!"
done
js
for (const name of ["«p»", "«q»"]) {
  console.log(`Hello ${name}!`);
}
== roll.*, crew.*, seats.*
- numbers the names «p», «q» and «r»: 1. «p», 2. «q», 3. «r»
- prints a numbered list of «p», «q» and «r» like "1. «p»"
py
names = ["«p»", "«q»", "«r»"]
for number, name in enumerate(names, 1):
    print(f"{number}. {name}")
sh
number=1
for name in «p» «q» «r»; do
  echo "$number. $name"
  number=$((number + 1))
done
js
const names = ["«p»", "«q»", "«r»"];
names.forEach((name, index) => console.log(`${index + 1}. ${name}`));
== sorted.*, order.*, names.*
- sorts the words «y», «x» and «z» by alphabet and prints one per line
- prints «y», «x» and «z» in alphabetical order, each on its own line
py
for word in sorted(["«y»", "«x»", "«z»"]):
    print(word)
sh
printf '%s\n' «y» «x» «z» | sort
js
for (const word of ["«y»", "«x»", "«z»"].sort()) {
  console.log(word);
}
== upper.*, loud.*, capitals.*
- prints the words «x», «y» and «z» in capital letters, one per line
- writes «x», «y», «z» in upper case below each other
py
for word in ["«x»", "«y»", "«z»"]:
    print(word.upper())
sh
for word in «x» «y» «z»; do
  echo "$word" | tr '[:lower:]' '[:upper:]'
done
js
for (const word of ["«x»", "«y»", "«z»"]) {
  console.log(word.toUpperCase());
}
== length.*, letters.*
- prints how many letters the word «x» has
- prints the length of the word «x», just the number
py
print(len("«x»"))
sh
word=«x»
echo "${#word}"
js
console.log("«x»".length);
== reversed.*, backwards.*, mirror.*
- prints the word «x» backwards
- turns «x» around and prints the result
py
print("«x»"[::-1])
sh
echo «x» | rev
js
console.log([..."«x»"].reverse().join(""));
== join.*, line.*, together.*
- prints «x», «y» and «z» on one line with commas: «x»,«y»,«z»
- joins «x», «y» and «z» with commas and prints that
py
print(",".join(["«x»", "«y»", "«z»"]))
sh
printf '%s,%s,%s\n' «x» «y» «z»
js
console.log(["«x»", "«y»", "«z»"].join(","));
== stairs.*, triangle.*, stars.*
- prints a triangle of stars with «d» rows, one star in the first row
- draws stairs of * with «d» steps: *, **, *** and so on
py
for row in range(1, «d+1»):
    print("*" * row)
sh
line=""
for row in $(seq 1 «d»); do
  line="$line*"
  echo "$line"
done
js
for (let row = 1; row <= «d»; row++) {
  console.log("*".repeat(row));
}
== line.*, rule.*, divider.*
- prints a line of «b» hyphens
- draws a line made of «b» - characters
py
print("-" * «b»)
sh
printf -- '-%.0s' $(seq 1 «b»)
echo
js
console.log("-".repeat(«b»));
== square.*, grid.*, board.*
- prints a square of «d» times «d» # characters
- draws a «d» by «d» block of # signs
py
for _ in range(«d»):
    print("#" * «d»)
sh
row=$(printf '#%.0s' $(seq 1 «d»))
for _ in $(seq 1 «d»); do
  echo "$row"
done
js
for (let row = 0; row < «d»; row++) {
  console.log("#".repeat(«d»));
}
== doubling.*, bacteria.*, grains.*
- starts with «s», doubles it «d» times and prints each result
- prints «s» doubled again and again, «d» lines: «s*2», «s*4» and so on
py
value = «s»
for _ in range(«d»):
    value *= 2
    print(value)
sh
value=«s»
for _ in $(seq 1 «d»); do
  value=$((value * 2))
  echo "$value"
done
js
let value = «s»;
for (let i = 0; i < «d»; i++) {
  value *= 2;
  console.log(value);
}
== halves.*, half.*
- starts with «b*16» and prints it halved 4 times
- halves «b*16» four times and prints every step: «b*8», «b*4», «b*2», «b»
py
value = «b*16»
for _ in range(4):
    value //= 2
    print(value)
sh
value=«b*16»
for _ in 1 2 3 4; do
  value=$((value / 2))
  echo "$value"
done
js
let value = «b*16»;
for (let i = 0; i < 4; i++) {
  value /= 2;
  console.log(value);
}
== saving.*, piggy.*, bank.*
- prints what is saved after each of «c» weeks if I save «k» a week: week 1: «k», week 2: «k*2» and so on
- prints "week N: SUM" for «c» weeks, the sum grows by «k» each week
py
for week in range(1, «c+1»):
    print(f"week {week}: {week * «k»}")
sh
for week in $(seq 1 «c»); do
  echo "week $week: $((week * «k»))"
done
js
for (let week = 1; week <= «c»; week++) {
  console.log(`week ${week}: ${week * «k»}`);
}
== prices.*, cart.*, bill.*
- adds the prices «k», «s» and «u» and prints total: and the sum
- prints "total: «k+s+u»", computed from the list «k», «s», «u»
py
prices = [«k», «s», «u»]
print(f"total: {sum(prices)}")
sh
total=0
for price in «k» «s» «u»; do
  total=$((total + price))
done
echo "total: $total"
js
const prices = [«k», «s», «u»];
console.log(`total: ${prices.reduce((sum, price) => sum + price, 0)}`);
== biggest.*, max.*, top.*
- prints the largest of the numbers «k», «b» and «a»
- finds the biggest number of «k», «b», «a» and prints it
py
print(max([«k», «b», «a»]))
sh
printf '%s\n' «k» «b» «a» | sort -n | tail -n 1
js
console.log(Math.max(«k», «b», «a»));
== smallest.*, min.*, lowest.*
- prints the smallest of the numbers «k», «b» and «a»
- finds the lowest number of «k», «b», «a» and prints it
py
print(min([«k», «b», «a»]))
sh
printf '%s\n' «k» «b» «a» | sort -n | head -n 1
js
console.log(Math.min(«k», «b», «a»));
== stock.*, list.*, prices.*
- prints "«x»: «k»" and "«y»: «b»" from a dictionary
- holds «x» with «k» and «y» with «b» and prints each as name: number
py
stock = {"«x»": «k», "«y»": «b»}
for name, count in stock.items():
    print(f"{name}: {count}")
js
const stock = { «x»: «k», «y»: «b» };
for (const [name, count] of Object.entries(stock)) {
  console.log(`${name}: ${count}`);
}
== minutes.*, clock.*, duration.*
- prints how many minutes «s» hours and «k» minutes are
- converts «s» h «k» min to minutes and prints the number
py
print(«s» * 60 + «k»)
sh
echo $((«s» * 60 + «k»))
js
console.log(«s» * 60 + «k»);
== seconds.*, time.*
- prints how many seconds «k» minutes are
- prints the seconds in «k» minutes
py
print(«k» * 60)
sh
echo $((«k» * 60))
js
console.log(«k» * 60);
== area.*, room.*, garden.*
- prints the area of a rectangle of «k» by «b»
- prints the area of a room that is «k» long and «b» wide
py
print(«k» * «b»)
sh
echo $((«k» * «b»))
js
console.log(«k» * «b»);
== fibonacci.*, fib.*, rabbits.*
- prints the first «c» Fibonacci numbers, starting with 1, 1
- lists «c» numbers of the Fibonacci sequence: 1, 1, 2, 3 ..., one per line
py
a, b = 1, 1
for _ in range(«c»):
    print(a)
    a, b = b, a + b
sh
a=1
b=1
for _ in $(seq 1 «c»); do
  echo "$a"
  next=$((a + b))
  a=$b
  b=$next
done
js
let [a, b] = [1, 1];
for (let i = 0; i < «c»; i++) {
  console.log(a);
  [a, b] = [b, a + b];
}
== average.*, mean.*
- prints the average of «s», «s+6» and «s+3»
- prints the mean of the three numbers «s», «s+6», «s+3» as a whole number
py
numbers = [«s», «s+6», «s+3»]
print(sum(numbers) // len(numbers))
sh
echo $(((«s» + «s+6» + «s+3») / 3))
js
console.log((«s» + «s+6» + «s+3») / 3);
== rest.*, remainder.*, share.*
- prints how many of «b» «x»s are left over if «s» people share them
- prints the remainder of «b» divided by «s»
py
print(«b» % «s»)
sh
echo $((«b» % «s»))
js
console.log(«b» % «s»);
== pairs.*, matches.*, fixtures.*
- prints every pair of «p», «q» and «r», like «p» - «q»
- prints who plays whom among «p», «q» and «r»: «p» - «q», «p» - «r», «q» - «r»
py
names = ["«p»", "«q»", "«r»"]
for at, first in enumerate(names):
    for second in names[at + 1:]:
        print(f"{first} - {second}")
js
const names = ["«p»", "«q»", "«r»"];
for (let i = 0; i < names.length; i++) {
  for (let j = i + 1; j < names.length; j++) {
    console.log(`${names[i]} - ${names[j]}`);
  }
}
== spell.*, letters.*, chars.*
- prints the letters of the word «x», one per line
- spells «x»: every letter on a line of its own
py
for letter in "«x»":
    print(letter)
sh
echo «x» | fold -w 1
js
for (const letter of "«x»") {
  console.log(letter);
}
== vowels.*
- prints how many vowels (a, e, i, o, u) are in the word «x»
- counts the vowels of «x» and prints the number
py
print(sum(letter in "aeiou" for letter in "«x»"))
js
console.log([..."«x»"].filter((letter) => "aeiou".includes(letter)).length);
== days.*, week.*, calendar.*
- prints the seven days of the week, Monday first, one per line
- prints Monday to Sunday, each on a line
py
for day in ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]:
    print(day)
sh
for day in Monday Tuesday Wednesday Thursday Friday Saturday Sunday; do
  echo "$day"
done
js
for (const day of ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]) {
  console.log(day);
}
== travel.*, distance.*, trip.*
- prints how far I get with «b» km/h after 1 to «d» hours: "1 h: «b» km" and so on
- prints a line "N h: M km" for 1 to «d» hours at «b» km/h
py
for hours in range(1, «d+1»):
    print(f"{hours} h: {hours * «b»} km")
sh
for hours in $(seq 1 «d»); do
  echo "$hours h: $((hours * «b»)) km"
done
js
for (let hours = 1; hours <= «d»; hours++) {
  console.log(`${hours} h: ${hours * «b»} km`);
}
"""

FUNCTIONS = r"""
== def triple(x)
- returns three times x
- gives back x times 3
py return x * 3
js return x * 3;
check triple(4) == 12
== def half(x)
- returns half of x
- divides x by two
py return x / 2
js return x / 2;
check half(9) == 4.5
== def plus_«k»(number)
- returns the number plus «k»
- adds «k» to a number
py return number + «k»
js return number + «k»;
check plus_«k»(1) == «k+1»
== def times_«k»(n)
- multiplies n by «k»
- returns «k» times n
py return n * «k»
js return n * «k»;
check times_«k»(2) == «k*2»
== def is_positive(n)
- returns True if n is greater than zero
- tells whether a number is above zero
py return n > 0
js return n > 0;
check is_positive(3) == True
== def is_between(x, low, high)
- returns True if x is between low and high, both included
- tells whether x lies from low to high
py return low <= x <= high
js return low <= x && x <= high;
check is_between(3, 1, 3) == True
== def is_divisible(a, b)
- returns True if a can be divided by b without a remainder
- checks whether b divides a
py return a % b == 0
js return a % b === 0;
check is_divisible(9, 3) == True
== def is_teenager(age)
- returns True for an age from 13 to 19
- tells whether somebody of this age is a teenager
py return 13 <= age <= 19
js return 13 <= age && age <= 19;
check is_teenager(12) == False
== def may_vote(age)
- returns True from «v» years on
- tells if somebody is old enough to vote, «v» or older
py return age >= «v»
js return age >= «v»;
check may_vote(«v») == True
== def net_to_gross(net)
- adds «k» % tax to a net amount
- returns net plus «k» percent
py return net * (1 + «k» / 100)
js return net * (1 + «k» / 100);
check net_to_gross(0) == 0
== def tip(bill)
- returns «k» percent of the bill
- computes a tip of «k» %
py return bill * «k» / 100
js return bill * «k» / 100;
check tip(100) == «k»
== def minutes_to_hours(minutes)
- converts minutes to hours
- returns the minutes divided by 60
py return minutes / 60
js return minutes / 60;
check minutes_to_hours(90) == 1.5
== def days_to_hours(days)
- converts days to hours
- returns how many hours so many days have
py return days * 24
js return days * 24;
check days_to_hours(2) == 48
== def weeks_to_days(weeks)
- converts weeks to days
- returns the number of days in some weeks
py return weeks * 7
js return weeks * 7;
check weeks_to_days(3) == 21
== def euros_to_cents(euros)
- converts euros to cents
- returns the amount in cents
py return round(euros * 100)
js return Math.round(euros * 100);
check euros_to_cents(1.5) == 150
== def grams_to_kilos(grams)
- converts grams to kilograms
- divides by 1000
py return grams / 1000
js return grams / 1000;
check grams_to_kilos(500) == 0.5
== def feet_to_metres(feet)
- converts feet to metres (0.3048)
- returns feet times 0.3048
py return feet * 0.3048
js return feet * 0.3048;
check feet_to_metres(0) == 0
== def perimeter(width, height)
- returns the perimeter of a rectangle
- computes twice the sum of width and height
py return 2 * (width + height)
js return 2 * (width + height);
check perimeter(2, 3) == 10
== def triangle_area(base, height)
- returns the area of a triangle
- computes base times height divided by 2
py return base * height / 2
js return (base * height) / 2;
check triangle_area(4, 3) == 6
== def cube_volume(side)
- returns the volume of a cube
- computes side to the third power
py return side ** 3
js return side ** 3;
check cube_volume(3) == 27
== def price_total(price, count)
- returns price times count
- computes what count pieces cost
py return price * count
js return price * count;
check price_total(3, 4) == 12
== def change_back(paid, price)
- returns the change: paid minus price
- tells how much money comes back
py return paid - price
js return paid - price;
check change_back(10, 7) == 3
== def larger(a, b)
- returns the larger of two numbers
- gives back the bigger one of a and b
py return a if a > b else b
js return a > b ? a : b;
check larger(2, 5) == 5
== def smaller(a, b)
- returns the smaller of two numbers
- gives back whichever is less
py return a if a < b else b
js return a < b ? a : b;
check smaller(2, 5) == 2
== def first_letter(word)
- returns the first letter of a word
- gives the initial of a word
py return word[0]
js return word[0];
check first_letter("tree") == "t"
== def last_letter(word)
- returns the last letter of a word
- gives the letter at the end
py return word[-1]
js return word[word.length - 1];
check last_letter("tree") == "e"
== def full_name(first, last)
- joins first and last name with a space
- returns "FIRST LAST"
py return f"{first} {last}"
js return `${first} ${last}`;
check full_name("Ada", "Holm") == "Ada Holm"
== def sort_name(first, last)
- returns "Last, First"
- writes the last name, a comma and the first name
py return f"{last}, {first}"
js return `${last}, ${first}`;
check sort_name("Ada", "Holm") == "Holm, Ada"
== def greeting(name)
- returns "«w», NAME!"
- greets a person like "«w», «p»!"
py return f"«w», {name}!"
js return `«w», ${name}!`;
check greeting("«p»") == "«w», «p»!"
== def whisper(text)
- returns the text in lower case
- turns a text into small letters
py return text.lower()
js return text.toLowerCase();
check whisper("Hi") == "hi"
== def without_spaces(text)
- removes all spaces from a text
- returns the text without blanks
py return text.replace(" ", "")
js return text.replaceAll(" ", "");
check without_spaces("a b") == "ab"
== def dashes(text)
- replaces every space by a hyphen
- puts - where spaces were
py return text.replace(" ", "-")
js return text.replaceAll(" ", "-");
check dashes("a b") == "a-b"
== def word_count(text)
- returns how many words a text has
- counts the words
py return len(text.split())
js return text.split(/\s+/).filter(Boolean).length;
check word_count("a b c") == 3
== def ends_with(text, ending)
- returns True if the text ends with the ending
- checks the end of a text
py return text.endswith(ending)
js return text.endsWith(ending);
check ends_with("song.mp3", "mp3") == True
== def is_same(a, b)
- compares two texts without looking at upper and lower case
- returns True if two texts are equal apart from capitals
py return a.lower() == b.lower()
js return a.toLowerCase() === b.toLowerCase();
check is_same("Ab", "aB") == True
== def sum_even(numbers)
- returns the sum of the even numbers of a list
- adds up only the even numbers
py return sum(n for n in numbers if n % 2 == 0)
js return numbers.filter((n) => n % 2 === 0).reduce((sum, n) => sum + n, 0);
check sum_even([1, 2, 4]) == 6
== def sum_of_squares(numbers)
- returns the sum of the squares of a list
- squares each number and adds them up
py return sum(n * n for n in numbers)
js return numbers.reduce((sum, n) => sum + n * n, 0);
check sum_of_squares([1, 2, 3]) == 14
== def product(numbers)
- multiplies all numbers of a list
- returns the product of a list
py result = 1\n    for number in numbers:\n        result *= number\n    return result
js return numbers.reduce((result, number) => result * number, 1);
check product([2, 3, 4]) == 24
== def doubled(numbers)
- returns a list with every number doubled
- doubles each element of a list
py return [n * 2 for n in numbers]
js return numbers.map((n) => n * 2);
check doubled([1, 2]) == [2, 4]
== def longer_than(words, length)
- returns the words that have more than length letters
- keeps only words longer than length
py return [word for word in words if len(word) > length]
js return words.filter((word) => word.length > length);
check longer_than(["a", "bcd"], 2) == ["bcd"]
== def below(numbers, limit)
- returns the numbers smaller than limit
- filters a list: only what is under the limit stays
py return [n for n in numbers if n < limit]
js return numbers.filter((n) => n < limit);
check below([1, 5, 9], 6) == [1, 5]
== def last_item(items)
- returns the last element of a list
- gives the final item of a list
py return items[-1]
js return items[items.length - 1];
check last_item([1, 2]) == 2
== def has_item(items, wanted)
- returns True if wanted is in the list
- tells if an item is in a list
py return wanted in items
js return items.includes(wanted);
check has_item([1, 2], 2) == True
== def count_true(values)
- counts how many values are True
- returns the number of True values in a list
py return values.count(True)
js return values.filter((value) => value === true).length;
check count_true([True, False]) == 1
== def lookup(prices, name)
- returns the price of a name from a dictionary, 0 if it is missing
- looks a name up in a dict and gives 0 when it is not there
py return prices.get(name, 0)
js return prices[name] ?? 0;
check lookup({}, "tea") == 0
== def fizz(n)
- returns "«w»" for multiples of «s» and the number itself otherwise
- gives "«w»" if n can be divided by «s», else n
py return "«w»" if n % «s» == 0 else n
js return n % «s» === 0 ? "«w»" : n;
check fizz(«s*2») == "«w»"
== def shipping_cost(total)
- returns 0 from «b» on and «s» below
- gives 0 if the total is at least «b», otherwise «s»
py return 0 if total >= «b» else «s»
js return total >= «b» ? 0 : «s»;
check shipping_cost(«b») == 0
== def passed(points)
- returns True from «b» points on
- tells whether the points are enough, «b» or more
py return points >= «b»
js return points >= «b»;
check passed(«b») == True
== def stars(count)
- returns so many stars as a text
- gives back count asterisks
py return "*" * count
js return "*".repeat(count);
check stars(3) == "***"
"""
