"""Small whole functions in eight languages: what each does, and what it returns at once in a special case.

A block: language | name | what it does | parameters | special case => result; then the code.
"""

__all__ = ["SNIPPETS"]

SNIPPETS = """
py | count_vowels | counts the vowels of a text | text
def count_vowels(text):
    return sum(1 for letter in text.lower() if letter in "aeiou")

py | average | computes the mean of some numbers | numbers | the list is empty => 0.0
def average(numbers):
    if not numbers:
        return 0.0
    return sum(numbers) / len(numbers)

py | longest_word | finds the longest word of a sentence | sentence | the sentence is empty => None
def longest_word(sentence):
    words = sentence.split()
    if not words:
        return None
    return max(words, key=len)

py | read_scores | reads a CSV file into a dictionary of scores | path
def read_scores(path):
    scores = {}
    with open(path) as file:
        for line in file:
            name, points = line.strip().split(",")
            scores[name] = int(points)
    return scores

py | rotate | moves the first items of a list to its end | items, steps
def rotate(items, steps):
    steps %= len(items)
    return items[steps:] + items[:steps]

py | is_palindrome | tells whether a text reads the same backwards | text
def is_palindrome(text):
    letters = [c for c in text.lower() if c.isalnum()]
    return letters == letters[::-1]

py | to_minutes | turns a time such as 7:30 into minutes | clock | there is no colon => -1
def to_minutes(clock):
    if ":" not in clock:
        return -1
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)

py | chunked | cuts a list into pieces of one size | items, size
def chunked(items, size):
    return [items[i : i + size] for i in range(0, len(items), size)]

py | mask_card | hides all but the last four digits of a card | number
def mask_card(number):
    return "*" * (len(number) - 4) + number[-4:]

py | cheapest | picks the item with the lowest price | offers | there are no offers => "sold out"
def cheapest(offers):
    if not offers:
        return "sold out"
    return min(offers, key=lambda offer: offer["price"])

js | unique | removes doubles from a list | items
function unique(items) {
  return [...new Set(items)];
}

js | formatPrice | writes cents as a price | cents | the value is null => 'n/a'
function formatPrice(cents) {
  if (cents === null) {
    return 'n/a';
  }
  return (cents / 100).toFixed(2);
}

js | sumOf | adds up a list of numbers | numbers
function sumOf(numbers) {
  let total = 0;
  for (const n of numbers) {
    total += n;
  }
  return total;
}

js | initials | takes the first letters of a name | name
const initials = (name) => {
  return name.split(' ').map((part) => part[0]).join('');
};

js | debounce | delays a call until there are no more calls for a while | fn, wait
function debounce(fn, wait) {
  let timer;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => fn(...args), wait);
  };
}

js | pickWinner | finds the player with the most points | players | nobody plays => undefined
function pickWinner(players) {
  if (players.length === 0) {
    return undefined;
  }
  return players.reduce((a, b) => (a.points > b.points ? a : b));
}

ts | clampTo | keeps a number between two limits | value, low, high
export function clampTo(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}

ts | slugOf | turns a title into a part of an address | title
export function slugOf(title: string): string {
  return title.toLowerCase().replace(/[^a-z0-9]+/g, "-");
}

ts | lastOf | returns the last item of a list | items | the list is empty => null
export function lastOf<T>(items: T[]): T | null {
  if (items.length === 0) {
    return null;
  }
  return items[items.length - 1];
}

go | Reverse | turns a text around | s
func Reverse(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

go | Max | finds the largest number | nums | the slice is empty => -1
func Max(nums []int) int {
	if len(nums) == 0 {
		return -1
	}
	best := nums[0]
	for _, n := range nums {
		if n > best {
			best = n
		}
	}
	return best
}

go | WordCount | counts how often each word occurs | text
func WordCount(text string) map[string]int {
	counts := map[string]int{}
	for _, word := range strings.Fields(text) {
		counts[word]++
	}
	return counts
}

go | ParseLevel | turns the name of a level into a number | name | the name is unknown => 9
func ParseLevel(name string) int {
	switch name {
	case "low":
		return 1
	case "mid":
		return 5
	}
	return 9
}

rs | fahrenheit | converts Celsius to Fahrenheit | celsius
pub fn fahrenheit(celsius: f64) -> f64 {
    celsius * 9.0 / 5.0 + 32.0
}

rs | first_even | finds the first even number | numbers | there is no even number => None
pub fn first_even(numbers: &[i32]) -> Option<i32> {
    for n in numbers {
        if n % 2 == 0 {
            return Some(*n);
        }
    }
    None
}

rs | shout | writes a text in capitals with an exclamation mark | text
pub fn shout(text: &str) -> String {
    format!("{}!", text.to_uppercase())
}

rs | is_leap | tells whether a year is a leap year | year
fn is_leap(year: u32) -> bool {
    (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
}

c | gcd | computes the greatest common divisor | a, b
int gcd(int a, int b)
{
    while (b) {
        int t = a % b;
        a = b;
        b = t;
    }
    return a;
}

c | count_char | counts a character in a string | s, c
int count_char(const char *s, char c)
{
    int n = 0;
    while (*s)
        if (*s++ == c)
            n++;
    return n;
}

c | index_of | finds the place of a number in an array | a, n, x | the number is not in it => -1
int index_of(const int *a, int n, int x)
{
    for (int i = 0; i < n; i++)
        if (a[i] == x)
            return i;
    return -1;
}

java | factorial | computes the factorial of a number | n
class Numbers {
    static long factorial(int n) {
        long result = 1;
        for (int i = 2; i <= n; i++) {
            result *= i;
        }
        return result;
    }
}

java | join | puts words together with a separator | words, sep | there are no words => ""
class Words {
    static String join(List<String> words, String sep) {
        if (words.isEmpty()) {
            return "";
        }
        return String.join(sep, words);
    }
}

rb | titleize | writes each word of a text with a capital | text
def titleize(text)
  text.split.map(&:capitalize).join(' ')
end

rb | discount | takes a percentage off a price | price, percent | the percentage is over 100 => 0
def discount(price, percent)
  return 0 if percent > 100
  price - price * percent / 100.0
end

rb | group_by_letter | groups words by their first letter | words
def group_by_letter(words)
  words.group_by { |word| word[0] }
end

sh | backup_dir | packs a folder into an archive with the date in its name | dir
backup_dir() {
  tar czf "$1-$(date +%F).tar.gz" "$1"
}

sh | is_number | tells whether the argument is a number | value
is_number() {
  case $1 in
    ''|*[!0-9]*) return 1 ;;
    *) return 0 ;;
  esac
}

sh | retry | runs a command up to five times until it succeeds | command
retry() {
  for i in 1 2 3 4 5; do
    "$@" && return 0
    sleep "$i"
  done
  return 1
}

php | wordLimit | shortens a text to some words | text, limit
function wordLimit($text, $limit) {
    $words = explode(' ', $text);
    return implode(' ', array_slice($words, 0, $limit));
}

lua | distance | computes the distance of two points | x1, y1, x2, y2
function distance(x1, y1, x2, y2)
  return math.sqrt((x2 - x1)^2 + (y2 - y1)^2)
end

kt | median | computes the middle value of a list | values | the list is empty => 0
fun median(values: List<Int>): Int {
    if (values.isEmpty()) {
        return 0
    }
    return values.sorted()[values.size / 2]
}

swift | isOlder | tells whether one person is older than another | a, b
func isOlder(_ a: Person, than b: Person) -> Bool {
    return a.birthYear < b.birthYear
}

cs | Wrap | puts a text between brackets | text | the text is null => "[]"
static string Wrap(string text) {
    if (text == null) {
        return "[]";
    }
    return $"[{text}]";
}
"""
