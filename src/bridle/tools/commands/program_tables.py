"""Tables of programs and their arguments: which are paths, and which flags are read-only.

With a flag that is not listed here, a program never counts as read-only. Therefore flags that run a
program or write without naming a path (`sort --compress-program`, `rg --pre`) are left out.

```
abc       these letters are flags without a value       --long     the same
n:        has a value that is text                      --long:    the same, `--long=x` or `--long x`
f<        has a value that is a file to read            --long<
o>        has a value that is a file to write           --long>
w?        may have a value, in the same word            --long?
#         -5 and the like are understood
+name     all flags of that row
```
"""

from functools import lru_cache
from typing import Literal, cast

from msgspec import Struct

Operands = Literal["text", "read", "write", "last", "pattern", "second", "mode", "guess"]
"""What the arguments that are not flags mean.

text: no paths. read, write: paths. last: the last is written, the others are read. pattern: a pattern and
then paths to read. second: the second is written. mode: a mode and then paths to write.
guess: a path if it looks like one.
"""

FlagValue = Literal["", ":", "<", ">", "?"]


class Program(Struct, frozen=True):
    """How to interpret the arguments of a program."""

    operands: Operands
    flags: dict[str, FlagValue]
    takes_numbers: bool = False


def program(operands: Operands, flags: str) -> Program:
    """Parse the notation in the module's docstring."""
    known: dict[str, FlagValue] = {}
    for token in flags.split():
        mark = token[-1] if token[-1] in ":<>?" else ""
        name = token.removesuffix(mark)
        if name.startswith("--"):
            known[name] = cast(FlagValue, mark)
        elif mark:
            known["-" + name] = cast(FlagValue, mark)
        else:
            known.update({"-" + letter: "" for letter in name if letter != "#"})
    return Program(operands, known, takes_numbers="#" in flags.split())


@lru_cache(maxsize=256)
def reading_program(name: str) -> Program | None:
    """Return a program that is read-only if every flag is listed and none of them writes."""
    return _lookup(_READING, name)


@lru_cache(maxsize=256)
def known_program(name: str) -> Program | None:
    """Return a program for which at least the path arguments are known."""
    return _lookup(_READING, name) or _lookup(_OTHER, name)


@lru_cache(maxsize=64)
def git_command(name: str) -> Program | None:
    """Return a read-only git command; None for any other."""
    return _lookup(_GIT, name)


def _lookup(table: str, name: str) -> Program | None:
    row = _rows(table).get(name)
    if row is None:
        return None
    operands, _, flags = row.partition(" ")
    return program(cast(Operands, operands), flags)


@lru_cache(maxsize=4)
def _rows(table: str) -> dict[str, str]:
    rows: dict[str, str] = {}
    for line in table.strip().replace("\n    ", " ").splitlines():
        names, _, row = line.partition(" = ")
        for included in [word for word in row.split() if word.startswith("+")]:
            row = row.replace(included, rows[included[1:]].partition(" ")[2])
        rows.update(dict.fromkeys(names.split(","), row))
    return rows


LISTERS = frozenset("ls tree du rg".split())
"""Programs that read the current directory if no path is given."""

_READING = """
cat = read AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs
tac = read br s: --before --regex --separator:
rev = read
nl = read p b: d: f: h: i: l: n: s: v: w:
head = read qvz # c: n: --bytes: --lines: --quiet --silent --verbose --zero-terminated
tail = read fFqvz # c: n: s: --bytes: --lines: --follow? --retry --quiet --silent --verbose --pid:
wc = read clmLw --bytes --chars --lines --words --max-line-length --total:
sort = read bdfghiMnRrVcCmsuz k: S: t: o> T> --ignore-leading-blanks --dictionary-order --ignore-case
    --check? --general-numeric-sort --human-numeric-sort --month-sort --numeric-sort --random-sort --reverse
    --version-sort --key: --merge --stable --unique --field-separator: --zero-terminated --output>
    --temporary-directory> --parallel: --random-source< --debug --buffer-size: --sort:
uniq = second cdDiuz # f: s: w: --count --repeated --ignore-case --unique --skip-fields: --skip-chars:
    --check-chars: --all-repeated? --group? --zero-terminated
cut = read nsz b: c: d: f: --bytes: --characters: --delimiter: --fields: --complement --only-delimited
    --output-delimiter: --zero-terminated
paste = read sz d: --delimiters: --serial --zero-terminated
join = read iz 1: 2: a: e: j: o: t: v: --header --check-order --nocheck-order --ignore-case
comm = read 123z --check-order --nocheck-order --output-delimiter: --total --zero-terminated
fold = read bs w: --bytes --spaces --width:
fmt = read cstu # w: p: g: --width:
expand = read i t: --initial --tabs:
unexpand = read a t: --all --tabs:
column = read tx s: o: c: N: --table --separator: --output-separator:
tr = text cCdst --complement --delete --squeeze-repeats --truncate-set1
diff = read abBcdeEinNpqrstTuwyZ # C: U: W: x: X< I: F: S: --color? --brief --recursive --unified?
    --context? --side-by-side --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines
    --ignore-trailing-space --ignore-tab-expansion --exclude: --exclude-from< --new-file --text --minimal
    --report-identical-files --suppress-common-lines --width: --label: --from-file< --to-file<
    --strip-trailing-cr --no-dereference --show-c-function --speed-large-files --normal --expand-tabs
cmp = read bls n: i: --print-bytes --verbose --quiet --silent --bytes: --ignore-initial:
od = read abcdfhilosvx A: j: N: t: w? --address-radix: --skip-bytes: --read-bytes: --format: --width?
hexdump,hd = read bcCdovx e: f< n: s:
xxd = second abCdeEipru c: g: l: n: o: s: R:
strings = read adfw n: t: e: --all --bytes: --radix: --encoding: --print-file-name
base64,base32 = read di w: --decode --ignore-garbage --wrap:
cksum = read btz --binary --text --tag --zero a:
    --algorithm: --untagged
sum = read rs
md5sum,sha1sum,sha224sum,sha256sum,sha384sum,sha512sum,b2sum = read btz --binary --text --tag --zero
file = read bhiIkLNrsE0 F: --brief --mime --mime-type --mime-encoding --dereference --no-dereference
    --keep-going --raw --no-pad --separator: --extension --special-files
stat = read Lft c: --dereference --file-system --format: --printf: --terse --cached:
readlink = read femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline
realpath = read eLmPqsz --relative-to: --relative-base: --strip --no-symlinks --quiet --zero
basename = text az s: --multiple --suffix: --zero
dirname = text z --zero
du = read abcDhHklmPsSx0 B: d: t: X< --all --apparent-size --block-size: --bytes --total --max-depth:
    --human-readable --summarize --exclude: --exclude-from< --one-file-system --threshold: --time?
    --separate-dirs --si --null --inodes --count-links
df = read ahHiklPT B: t: x: --all --block-size: --human-readable --si --inodes --local --output?
    --portability --print-type --type: --exclude-type: --total
ls = read aAbBcCdfFgGhHiklmnNopqQrRsStuUvxXZ1 I: T: w: --all --almost-all --author --escape --block-size:
    --ignore-backups --color? --directory --classify? --file-type --format: --full-time
    --group-directories-first --no-group --human-readable --si --hide: --hyperlink?
    --indicator-style: --inode --ignore: --kibibytes --numeric-uid-gid --literal --quote-name
    --quoting-style: --reverse --recursive --size --sort: --time: --time-style: --tabsize: --width: --zero
tree = read aAcCdDfFghiJnNpqQrsStuUvxX L: I: P: --dirsfirst --filesfirst --noreport --prune --gitignore
    --du --si --filelimit: --charset: --sort? --matchdirs --ignore-case --inodes --device --timefmt:
grep,egrep,fgrep = pattern EFGPivwxcLlqsonHhrabTZzUy # e: m: A: B: C: D: d: f< --extended-regexp
    --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp
    --line-regexp --count --files-with-matches --files-without-match --quiet --silent --no-messages
    --only-matching --line-number --with-filename --no-filename --recursive
    --byte-offset --text --null --null-data --regexp: --max-count: --after-context: --before-context:
    --context: --include: --exclude: --exclude-dir: --exclude-from< --file< --color? --colour? --label:
    --binary-files: --initial-tab --line-buffered --binary
rg = pattern abcFHiIlnNopPqsSuUvVwx0. # e: f< g: t: T: A: B: C: m: j: M: d: r: E: --regexp: --file< --glob:
    --iglob: --type: --type-not: --type-list --after-context: --before-context: --context: --max-count:
    --max-depth: --max-columns: --max-filesize: --threads: --replace: --encoding: --sort: --sortr: --color:
    --colors: --count --count-matches --files --files-with-matches --files-without-match --fixed-strings
    --heading --no-heading --hidden --no-hidden --ignore-case --smart-case --case-sensitive --invert-match
    --json --line-number --no-line-number --line-regexp --word-regexp --multiline --multiline-dotall
    --no-filename --with-filename --no-ignore --no-ignore-vcs --no-messages --null --only-matching --pcre2
    --passthru --pretty --quiet --stats --text --trim --vimgrep --column --crlf --no-config --no-mmap
    --one-file-system --unrestricted --byte-offset --auto-hybrid-regex --context-separator:
jq = pattern aceCjMnrRsS --ascii-output --compact-output --color-output --monochrome-output --null-input
    --raw-output --raw-input --slurp --sort-keys --tab --indent: --exit-status --join-output --stream --seq
seq = text w f: s: --format: --separator: --equal-width
sleep,expr,whoami,groups,logname,arch,true,false,times = text
uname = text asnrvmpio --all --kernel-name --nodename --kernel-release --machine --operating-system
id = text agGnruzZ --context --group --groups --name --real --user --zero
nproc = text --all --ignore:
tty = text s
uptime = text ps --pretty --since
free = text bhkmgtlw c: s: --bytes --kibi --mebi --gibi --human --lohi --total --wide
lscpu = text abceJpxy --all --json
which = text as --all
whereis = text bmsu
type = text afptP
pwd = text LP
cal = text 13jmswy n: A: B:
locale = text ackm --all-locales --charmaps
getconf = text a
printenv = text 0 --null
umask = text S
jobs = text lnprs
dirs = text lpv
date = text Ru I? d: r< --date: --iso-8601? --rfc-3339: --rfc-email --utc --universal --reference< --debug
hostname = text AdfiIs --fqdn --short --domain --long --ip-address --all-ip-addresses
ps = text AadefFHjlLMTwy C: G: o: p: q: t: u: U: --forest --sort: --pid: --ppid: --user: --format:
    --no-headers
env,set = text
alias = text p
"""

_OTHER = """
tee = write aip --append --ignore-interrupts
rm = write dfiIrRv --force --recursive --verbose --dir --interactive? --one-file-system
rmdir = write pv --parents --ignore-fail-on-non-empty --verbose
unlink = write
shred = write fuvxz n: s: --remove? --iterations: --size: --zero --force
mkdir = write pvZ m: --parents --mode: --verbose
mkfifo = write Z m: --mode:
touch = write acfhm d: r< t: --date: --reference< --no-create --time: --no-dereference
truncate = write co r< s: --no-create --io-blocks --reference< --size:
mv = write bfinuvTZ t> S: --force --no-clobber --target-directory> --verbose --backup? --suffix:
cp = last aAbdfHilLnpPrRsTuvxZ t> S: --archive --force --recursive --target-directory> --verbose --link
    --symbolic-link --update? --preserve? --no-clobber --parents --reflink? --sparse: --suffix: --backup?
ln = last bdfFiLnPrsTv t> S: --symbolic --force --relative --verbose --target-directory> --suffix:
install = last bcCdDpsTvZ g: m: o: S: t> --mode: --owner: --group: --target-directory> --directory
chmod = mode cfvR --recursive --reference< --verbose --quiet
chown = mode cfhvRHLP --recursive --reference< --from: --verbose --no-dereference
chgrp = mode cfhvRHLP --recursive --reference< --verbose --no-dereference
less = read eEfFgGiIJKmMnNqQrRsSuUVwWX b: h: j: k< o> O> p: P: t: T< x: y: z:
more = read dflpcsu n:
sed = pattern nErsuz e: f< l: i? --quiet --silent --regexp-extended --expression: --file< --in-place?
    --separate --unbuffered --null-data --debug --sandbox --posix
awk,gawk,mawk,nawk = pattern F: v: f< i< --file< --field-separator: --assign:
ag = pattern
tar = guess AcdrtuxzjJvpPkwOhlmW f> C< T< X< --file> --directory< --files-from< --exclude-from< --exclude:
    --create
zip = guess
unzip = guess d> x:
gzip = write cdfhklLnNqrtvV123456789 S:
gunzip = write cdfklnNqrtv
bzip2 = write cdfkqstvz123456789
xz = write cdefklqtvz0123456789 T:
zstd = write cdfkqtv123456789 o> T: D<
split = last a: b: C: l: n: t: dexuz
csplit = read f> n: b:
patch = write bcefElnNRstTu p: i< o> r> d< --strip: --input< --output> --directory<
curl = guess aBfGgIijJkLlMnNOpqRsSvVZ#012346 A: b: c> C: d: D> e: E< F: h: H: K< m: o> P: Q: r: t: T< u: U:
    w: x: X: y: Y: z: --output> --output-dir> --config< --upload-file< --cookie-jar> --dump-header> --cert<
    --key< --cacert< --trace> --trace-ascii> --stderr> --data: --header: --request: --user: --user-agent:
ssh = text 46AaCfGgKkMNnqsTtVvXxYy b: c: D: E> e: F< I: i< J: L: l: m: o: p: Q: R: S: W: w:
scp = last 346ABCOpqRrsTv c: D: F< i< J: l: o: P: S: X:
rsync = last abcCdDEghHiIkKlLmnNoOpPqrRsStuUvVWxXyzZ0 e: f: B: T> --archive --verbose --delete --exclude:
    --include: --exclude-from< --include-from< --files-from< --rsh: --progress --dry-run --compress
    --log-file>
wget = guess bcdEFhHkKLmNnpqrSvVx O> o> a> i< P> B: t: T: U: e: --output-document> --output-file>
    --input-file< --directory-prefix> --post-file< --body-file< --load-cookies< --save-cookies>
"""

_GIT = """
status = guess sbvz u? --short --branch --porcelain? --long --verbose --untracked-files? --ignored?
    --column? --no-column --ahead-behind --no-ahead-behind --show-stash --renames
    --no-renames
diff,diff-tree,diff-index,diff-files = guess abBpuqRswzMCDW # U: S: G: O< --oneline --stat? --numstat
    --shortstat --name-only --name-status --summary --raw --patch --no-patch --patch-with-stat --unified:
    --color? --no-color --word-diff? --word-diff-regex: --diff-filter: --find-renames? --find-copies?
    --no-renames --minimal --patience --histogram --diff-algorithm: --ignore-all-space --ignore-space-change
    --ignore-blank-lines --ignore-space-at-eol --exit-code --quiet
    --full-index --binary --relative? --text --check --cached --staged --merge-base --no-index --no-ext-diff
    --no-textconv --no-prefix --src-prefix: --dst-prefix: --abbrev? --color-words? --compact-summary
    --dirstat? --function-context --pickaxe-regex --pickaxe-all --inter-hunk-context: --color-moved? --base
    --ours --theirs --cc rtm --root --stdin
log,show,shortlog,rev-list,whatchanged = guess +diff cgimEFPLtn n: L: --graph --pretty? --format:
    --abbrev-commit --no-abbrev-commit --all --branches? --tags? --remotes? --author: --committer: --grep:
    --since: --until: --after: --before: --max-count: --skip: --reverse --first-parent --merges --no-merges
    --decorate? --no-decorate --follow --date: --topo-order --date-order --author-date-order --left-right
    --left-only --right-only --cherry-pick --cherry-mark --cherry --not --stdin --source --full-history
    --simplify-by-decoration --ancestry-path? --notes? --no-notes --walk-reflogs --boundary
    --invert-grep --all-match --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --count
    --objects --parents --children --numbered --email --group: --no-walk? --relative-date --no-patch
    --exclude: --glob: --ignore-missing --no-expand-tabs --log-size --min-parents: --max-parents:
blame = guess bcefklnpstw L: M? C? --porcelain --line-porcelain --incremental --date: --root
annotate = guess bcefklnpstw L: M? C?
ls-files = guess cdmoiskutvfz x: X< --cached --deleted --modified --others --ignored --stage --unmerged
    --killed --exclude-standard --exclude: --exclude-from< --full-name --error-unmatch --directory --eol
    --deduplicate --abbrev? --no-empty-directory
ls-tree = guess drtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev?
rev-parse = guess q --abbrev-ref? --show-toplevel --short? --verify --git-dir --git-common-dir
    --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository
    --is-shallow-repository --show-prefix --show-cdup --symbolic --symbolic-full-name --all --branches?
    --tags? --remotes? --revs-only --no-revs --quiet --default: --show-object-format? --git-path:
describe = guess --all --tags --contains --abbrev: --candidates: --exact-match --debug --long --match:
    --exclude: --always --first-parent
branch = text alrv --all --list --remotes --verbose --show-current --omit-empty --abbrev? --contains:
    --no-contains: --merged: --no-merged: --points-at: --sort: --format: --color? --no-color --column?
    --no-column --ignore-case i
tag = text l n? --list --omit-empty --contains: --no-contains: --merged: --no-merged: --points-at: --sort:
    --format: --color? --no-color --column? --no-column --ignore-case i
for-each-ref = text i spt --count: --shell --perl --python --tcl --exclude: --contains: --no-contains:
    --merged: --no-merged: --points-at: --sort: --format: --color? --no-color --column? --no-column
    --ignore-case
show-ref = text dhqs --head --heads --branches --tags --dereference --hash? --verify --quiet --abbrev?
cat-file = guess ept s --batch --batch-check --batch-all-objects
merge-base = text a --all --octopus --independent --is-ancestor --fork-point
name-rev = text --tags --all --name-only --refs: --always
count-objects = text vH --verbose --human-readable
check-ignore = guess qvnz --quiet --verbose --non-matching --stdin --no-index
check-attr = guess az --all --cached --stdin
version = text --build-options
grep = guess acEFGhHiIlLnopPqrvwWz # A: B: C: e: f< m: --cached --untracked --no-index --exclude-standard
    --text --ignore-case --word-regexp --invert-match --full-name --extended-regexp --basic-regexp
    --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only
    --files-without-match --null --only-matching --count --color? --no-color --break --heading
    --show-function --context: --after-context: --before-context: --function-context --max-depth:
    --recursive --all-match --quiet --and --or --not --max-count:
"""
