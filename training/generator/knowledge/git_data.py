"""Ways to ask about a repository, and what the repositories hold."""

BRANCHES = """
dev
develop
feature/login
feature/new-menu
fix-typo
hotfix-42
bugfix/date-format
experiment
spring-edition
redesign
v2
release-1.4
translation-fr
add-tests
anna/wip
concert-2025
docs
refactor-parser
fix/null-check
chapter-three
"""
MESSAGES = """
Add the list of guests
Fix the date
Correct a typo
Update the prices
First version
Add a chapter
Remove the old song
New opening hours
Translate the menu
Add tests for the parser
Raise the version to 1.2
Rename the config
Handle empty input
Fix the rounding error
Shorten the introduction
Add the recipe for soup
Use the new address
Improve the layout
Add licence and readme
Sort the members by name
Change the timeout to 30 seconds
Speed up the search
Better colours for the chart
Add missing comma
Write the summary
Fix crash on start
Lower the volume of the drums
Document the settings
Add German texts
Clean up the notes
Set the deadline to Friday
Show the total on the invoice
Move the map to the front page
Check the user name
Add results of the second match
Prepare the release
Make the buttons larger
Use metres instead of feet
Add photos of the trip
Update dependencies
fix login
wip
typo
more tests
add footer
"""
NEW_LINES = """
one more line
call Rosa on Monday
checked by Ben
price = 12
- buy paint
# reviewed
draft, not final
the second verse
total: 48
open question: who brings the keys?
version 2
see page 14
- rehearsal at 7
30 chairs
print("done")
"""
FOLDERS = """
index.html = <h1>Club</h1>\\n<p>Welcome</p>
style.css = body { margin: 0; }
README.md = # Club site

app.py = print("app")
config.toml = port = 8080
tests.py = import app

chapter1.md = # One\\nIt rained.
chapter2.md = # Two\\nThe sun came out.
outline.txt = 1 arrival\\n2 storm

menu.txt = Soup 4.50\\nSalad 6.00
guests.csv = name,table\\nIda,3
invoice.md = # Invoice 12\\nTotal: 96

lyrics/song1.txt = Down the river
lyrics/song2.txt = Late train home
setlist.md = - song1\\n- song2

src/main.rs = fn main() {}
Cargo.toml = [package]\\nname = "tool"
notes.md = # Notes

sensor.py = LIMIT = 40
data/july.csv = day,value\\n1,20
plot.py = print("plot")

recipes/bread.md = # Bread\\n500 g flour
recipes/soup.md = # Soup\\n3 carrots
shopping.txt = milk

main.go = package main
go.mod = module demo
README.md = # Demo

game/player.js = const speed = 4;
game/level1.json = {"width": 20}
index.html = <canvas></canvas>

plan.md = # Trip\\nDay 1: Porto
budget.csv = item,euro\\ntrain,80
"""
COMMIT_ALL = """
commit everything with the message "{message}"
commit all changes as "{message}"
commit this: "{message}"
git commit with message "{message}"
please commit all with the message "{message}"
make a commit "{message}" with all changes
commit it, message: "{message}"
save everything in git with the message '{message}'
stage all and commit as "{message}"
add everything and commit: "{message}"
commit my work, message "{message}"
can you commit the changes? message should be "{message}"
record all changes in git under "{message}"
git add and commit everything, "{message}"
I am done, commit it as "{message}"
create a commit of all files named "{message}"
all into one commit please, title "{message}"
committe alles mit der Nachricht "{message}"
commite tout avec le message "{message}"
haz un commit de todo con el mensaje "{message}"
"""
COMMIT_FILE = """
commit only {file} with the message "{message}"
commit just {file} as "{message}"
commit {file}, message "{message}", nothing else
only {file} goes into the commit "{message}"
make a commit "{message}" that contains {file} and no other file
add {file} and commit it as "{message}", leave the rest
"""
ASKS = """
= status
git status
git status please
what did I change?
what has changed since the last commit?
which files have I changed?
anything uncommitted?
is there something I forgot to commit?
what is not committed yet?
show me the state of the repo
what would go into the next commit?
any open changes?
list the changed files
what's new or changed here according to git?
did I change anything?
tell me what is modified and what is untracked
show uncommitted files
status of the repository?
what changes are pending
please look which files I touched since the last commit
are there untracked files? and changed ones?
what have I been working on, according to git status

= status abroad
was habe ich geändert, aber noch nicht committet?
quels fichiers ai-je modifiés ?
qu'est-ce qui n'est pas encore commité ?
¿qué he cambiado desde el último commit?

= untracked
which files are not in git yet?
which files does git not know yet?
is there a file that git doesn't track?
any untracked files?
list the untracked files
are there new files that were never added?
which files did I never add to git?
did I forget to git add something new?
files without version control here?
is some file here still unknown to git
welche Dateien sind noch nicht im Git?
qué archivos no están en git todavía

= clean
is the folder clean?
is everything committed?
is the working tree clean?
did I commit everything?
all committed?
have I committed all my work?
is git happy, I mean nothing open?
can I switch the branch safely or is there something uncommitted?
is the repo clean
everything in git?
did I forget to commit something?
is my work saved in git completely?
no open changes, right?
is all my stuff committed

= branch
which branch am I on?
what branch is this?
current branch?
on which branch are we?
what is the name of the current git branch
am I on main?
branch?
tell me the branch I am on
which git branch is checked out?
show the current branch
I forgot which branch I am working on
name of the active branch please
git branch --show-current
where am I in git, which branch
in welchem Branch bin ich?
sur quelle branche suis-je ?
¿en qué rama estoy?

= branches
which branches are there?
list the branches
show all branches
git branch
what branches does this repo have?
which other branches exist?
all branches please
give me a list of the git branches

= log
show the git log
git log
git log --oneline
show me the history
which commits are there?
list all commits
history of this repo?
what was committed so far?
show the last commits
give me the list of commits in short form
what happened in this repository so far, the commits I mean
commit history please
show me all commit messages
recent commits?

= last message
what was the last commit?
last commit?
what did the last commit do?
message of the last commit?
what is the newest commit about?
show the last commit message
what did I commit last?
which change was recorded last?
tell me the most recent commit
what was the latest commit about
the title of the last commit please
git log -1
what's the head commit?

= last author
who made the last commit?
who committed last?
author of the last commit?
who wrote the newest commit?
whose was the last commit
from whom is the latest commit?
who changed something last, according to git?
which person made the most recent commit?

= count
how many commits are there?
number of commits?
how many commits does this repo have?
count the commits
how often was something committed here?
how many commits on this branch?
how long is the history, in commits?

= last files
which files did the last commit change?
what files are in the last commit?
files of the newest commit?
which files were touched by the latest commit?
what did the last commit change? list the files
list the files of the last commit
show which files went into the last commit

= new branch
make a new branch {name}
create a branch called {name}
create the branch {name} and switch to it
new branch {name}
start a branch {name} please
git switch -c {name}
git checkout -b {name}
I want to work on a new branch named {name}
open a branch {name} for me
begin a new branch, name: {name}
branch off as {name}
can you make me a branch {name}?
set up a git branch {name} and go there
I need a branch {name}
put me on a new branch {name}
lege einen neuen Branch {name} an
crée une nouvelle branche {name}
crea una rama nueva {name}

= switch
switch to {name}
switch to the branch {name}
go to branch {name}
check out {name}
git checkout {name}
git switch {name}
change to the {name} branch
I want to be on {name}
let's go over to {name}
please put me on the branch {name}
use the branch {name}
move to branch {name}

= back
and back to {name}
now go back to {name}
back to {name} please
switch back to {name}
return to {name}

= diff
what changed exactly? show the diff
git diff
show me the diff
show the changes since the last commit
what are the exact changes?
which lines did I change?
what is different from the last commit?
show what I changed, line by line
let me see my uncommitted changes

= diff file
what changed in {file}?
what did I change in {file}?
show the diff of {file}
git diff {file}
which lines of {file} are new since the last commit?
difference of {file} to the last commit?
how does {file} differ from the committed version?
show me my changes in {file}
{file}: what is changed?
what is new in {file}?

= add
stage {file}
git add {file}
add {file} to the index
put {file} on the stage, no commit yet
stage the file {file} for the next commit
please add {file} in git, but don't commit
mark {file} for the next commit

= add all
stage everything
git add -A
git add everything, but do not commit
stage all changes
put all files on the stage
add all to the index please

= unstage
unstage {file}
take {file} out of the staging area
git restore --staged {file}
{file} should not go into the next commit, unstage it
remove {file} from the index but keep my changes
I staged {file} by mistake, undo the staging only

= restore
restore {file} from the last commit
throw away my changes in {file}
git restore {file}
git checkout -- {file}
discard the changes in {file}
reset {file} to the committed version
put {file} back to how it is in git, my changes can go
drop my local edits of {file}

= init
make this folder a git repository
git init
initialise a repository here
start version control in this folder
set up git here
turn this into a git repo
create an empty git repository here
I want to use git in this folder
put this folder under git

= init and commit
git init and commit everything as "{m}"
make this a git repo and commit all with the message "{m}"
set up git here and make the commit "{m}" with all files
start a repository with all files, first commit "{m}"
initialise git, add everything, commit "{m}"
"""
