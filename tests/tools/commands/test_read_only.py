"""Which commands only read."""

import shlex

import pytest

from bridle.tools.commands.expansion import Argument
from bridle.tools.commands.read_only import is_read_only

READING = """
cat a b
cat -n a
head -n 5 a
head -5 a
head -n -5 a
tail -f log
wc -lw a
sort -t: -k2 -n a
sort --reverse --unique
uniq -c a
cut -d: -f1 a
diff -u a b
grep -rn --include=*.py x .
grep -e x -A3 a
rg -n --glob '*.py' x src
ls -la --color=auto
tree -L 2
stat -c %s a
find . -type f -name '*.py' -not -path './x/*'
find -H . ( -name a -o -name b ) -print0
sed -n 1,5p a
sed -n '$p' a
sed 's/a/b/g;s|c|d|' a
sed -E -e 's/a\\/b/c/2p' -e 3d a
sed /x/d a
date
date +%s -u
ps aux
ps -ef
hostname
env
set
printenv HOME
which -a ls
type ls
command -v ls
test -f a
[ a = b ]
true
true x y
pwd
id -u
uname -a
du -sh .
df -h
echo -e x
printf %s x
printf '%-5.2f|%5d %% %q' 1 2 3
[ 1 -eq -2 ]
test ! -f a
test -n x
export -p
alias
jq -r .x a
xxd -l 16 a
xxd -p -s 3 -l16 a
seq 1 3
sleep 1
python3 --version
node -v
git status
git status -sb --porcelain=v2
git --no-pager log --oneline -5 --graph
git log -p -S x -- a
git show HEAD:a
git diff --stat --cached HEAD~1
git blame -L 1,5 a
git branch
git branch -a -vv
git branch --list 'x*'
git branch --contains abc
git tag
git tag -l 'v*'
git tag -n3
git remote -v
git remote get-url origin
git config --get user.name
git config --list
git config get user.name
git ls-files -o --exclude-standard
git rev-parse --abbrev-ref HEAD
git describe --tags --always
git stash list
git reflog
git worktree list
git grep -n x -- a
git cat-file -p HEAD
git --version
"""

NOT_READING = """
strings @a
git status --ignore-submodules=none
git diff --submodule=log
git ls-files --recurse-submodules
git show --remerge-diff
git show --diff-merges=remerge
xxd -po here t
xxd -do src s
xxd -r a
git describe --always --dirty
xxd a -s
xxd a --
xxd -- a
xxd -l 16 a -p
ls -LR
find -L .
find . -follow
tree -l
du -L
git log --format=%G?
git for-each-ref --format=%(signature)
git log --show-signature
printf %n PATH
printf %-5.3n PATH
printf %(%s)T
test -v PATH
test -R x
[ a -eq b ]
test a -a b
jq -n 'import "x" as y; 1'
grep -R x .
sort --files0-from=a
md5sum -c a
file -f a
rg -L x
cargo --version
go version
mvn --version
yarn --version
unknown
cat --unknown
head --lines 5 --output=x
sort -o a a
sort -oa a
sort --output=a a
sort --outp=a a
sort --compress-program=sh a
sort -T/x a
uniq a b
xxd a b
xxd -r a b
tree -o x
find . -delete
find . -exec rm {} ;
find . -execdir rm {} ;
find . -ok rm {} ;
find . -fprint x
find . -fls x
find . -unknown
sed -i s/a/b/ a
sed -i.bak p a
sed --in-place p a
sed 'w x' a
sed 's/a/b/w x' a
sed 's/a/b/e' a
sed -e p -e 'w x' a
sed -f script a
sed e
sed '1e rm x' a
sed 'r a'
sed -n 'p;w x' a
sed s/a/b/;e a
awk 1 a
less a
more a
man ls
date -s x
date 010100002000
date --set=x
hostname x
hostname -F a
env ls
set -e
alias a=b
umask 022
printf -v a x
test -v a[$(x)]
[ -v a[`x`] ]
export A=1
declare A=1
command ls
rg --pre sh x
rg -z x
rg --search-zip x
rg --hostname-bin=x y
file -C
file -z a
jq -f a
ps e
diff -l a b
tail --unknown
type -x
python3 x
python3 -c x
npm version
git
git commit
git branch x
git branch -D x
git branch -d x
git branch -m a b
git branch --edit-description
git branch -f x
git branch -v x
git branch -u origin/x
git tag x
git tag -d x
git tag -a x -m y
git diff --output=x
git diff --ext-diff
git diff --textconv
git log --output=x
git log --output x
git show --textconv
git grep -O x
git grep --open-files-in-pager x
git -c a=b status
git -C a status
git --exec-path=. status
git --git-dir=x status
git --work-tree=x status
git --paginate log
git config a b
git config a
git config --get a --add b
git config --unset a
git config --edit
git config set a b
git remote add x y
git remote show origin
git remote update
git stash
git stash drop
git reflog expire
git worktree add x
git fetch
git ls-remote
git checkout x
git cat-file --textconv a
git cat-file --filters a
git archive HEAD
git branch --merged --delete
"""


def reads(line: str) -> bool:
    name, *words = shlex.split(line)
    return is_read_only(name, [Argument(word, word) for word in words])


@pytest.mark.parametrize("line", READING.strip().splitlines())
def test_what_only_reads(line: str):
    assert reads(line)


@pytest.mark.parametrize("line", NOT_READING.strip().splitlines())
def test_what_may_do_more(line: str):
    assert not reads(line)


@pytest.mark.parametrize(
    ("name", "expected"), [("echo", True), (":", True), ("cat", False), ("printf", False)]
)
def test_a_word_that_is_not_known_only_does_no_harm_where_no_word_can(name: str, expected: bool):
    assert is_read_only(name, [Argument("$x", is_harmless=True)]) == expected


def test_working_out_a_word_may_do_harm_everywhere():
    assert not is_read_only("echo", [Argument("${x:=y}")])
