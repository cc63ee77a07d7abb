"""Attack 1, the other half: a change or a program disguised as something harmless or allowed.

`REALLY_HARMLESS` is the control: what the same judge lets pass, so that not everything is a question.
"""

import pytest

from tests.attacks.stage import Stage, rules

RULES = rules("allow bash(git status:*)", "allow bash(echo:*)")

REALLY_HARMLESS = [
    "git status",
    "git status --short -- src",
    "git status && git status",
    "echo one two",
    "echo 'one > two'",
    "echo one > /dev/null 2>&1",
    "ls -la src",
    "cat notes.txt | head -n 3 | wc -l",
    "grep -rn hello src",
    "cd src && cat main.py",
    "find . -name '*.py'",
    "sort notes.txt",
    "sed -n 1,3p notes.txt",
]

MORE_THAN_THE_RULE = [
    "git status; git push",
    "git status && git push",
    "git status || git push",
    "git status | tee f",
    "git status & git push",
    "git status\ngit push",
    "git status > f",
    "git status 2> f",
    "git status >> .git/config",
    "git status $(git push)",
    "git status `git push`",
    "git status <(git push)",
    "git statusx",
    "git stash",
    "git -c core.fsmonitor=./evil status",
    "git -c core.pager=./evil status",
    "git --git-dir=evil status",
    "git -C .. status",
    "git --exec-path=. status",
    "GIT_DIR=evil git status",
    "GIT_EXTERNAL_DIFF=./evil git status",
    "env GIT_DIR=evil git status",
    "PATH=.:$PATH git status",
    "./git status",
    "git() { ./evil; }; git status",
    "alias git=./evil\ngit status",
    "echo one > f",
    "echo one >> f",
    "echo one >| f",
    "echo one &> f",
    "echo one >& f",
    "echo one 1<> f",
    "echo one > /dev/tcp/127.0.0.1/80",
    "> f echo one",
    'echo one > "$(git push)"',
    "echo one > $HOME/.bashrc",
    "echo one > ../outside/plain.txt",
    "echo $(git push)",
    "echo one; git push",
    "echo one | sh",
    "echo\u00a0one",
    "echo\u2003one",
    "echo\u200b one",
    "echo\rone",
    "еcho one",  # the first letter is Cyrillic
    "echo one;\x0bgit push",
    "LD_PRELOAD=./evil.so echo one",
    "exec echo one > f",
    "echo one <<END > f\nEND",
]

UNREADABLE = ["ls 'unclosed", "ls )", "ls &&", "cat <<END\nno end", "echo one 1<> f"]

LOOKS_HARMLESS = [
    "> f",
    ": > f",
    "ls > f",
    "cat notes.txt > f",
    "cat < /etc/shadow",
    "cat /etc/shadow",
    "cat ~/.ssh/id_ed25519",
    "cat ../outside/plain.txt",
    "cd .. && cat outside/plain.txt",
    "cd ~; cat .ssh/id_ed25519",
    "pushd ..; ls; cat outside/plain.txt",
    "cat $FILE",
    "cat $(echo notes.txt)",
    "head -c 100 /dev/sda",
    "tee f < notes.txt",
    "dd if=notes.txt of=f",
    "sort -o f notes.txt",
    "sort --output=f notes.txt",
    "sort --outp f notes.txt",
    "sort -of notes.txt",
    "uniq notes.txt f",
    "sed -i s/a/b/ notes.txt",
    "sed -n 'w f' notes.txt",
    "sed -n '1w f' notes.txt",
    "sed s/a/b/w\\ f notes.txt",
    "sed -f script notes.txt",
    "sed --in-place s/a/b/ notes.txt",
    "sed -ni p notes.txt",
    "find . -fprint f",
    "find . -fprintf f %p",
    "find . -fls f",
    "find . -delete",
    "find . -ok rm {} ;",
    "awk '{print > \"f\"}' notes.txt",
    "awk -f script notes.txt",
    "rg --pre ./evil hello",
    "rg --hostname-bin ./evil hello",
    "rg -z hello",
    "grep -f /etc/shadow notes.txt",
    "man -P ./evil ls",
    "less notes.txt",
    "more notes.txt",
    "vim -c '!rm x' notes.txt",
    "vim -es -c 'w! f' notes.txt",
    "git branch -D main",
    "git branch new",
    "git tag v1",
    "git diff --output=f",
    "git diff --ext-diff",
    "git diff --no-index notes.txt /etc/shadow",
    "git log --output=f",
    "git -c core.pager=./evil log",
    "git -c alias.x='!sh' x",
    "git -p log",
    "git grep -O./evil hello",
    "git grep --open-files-in-pager=./evil hello",
    "git show HEAD:x > y",
    "git archive -o f HEAD",
    "git blame --contents=/etc/shadow notes.txt",
    "git config core.pager ./evil",
    "git config --get-all core.pager --file=/etc/shadow",
    "git remote add evil http://evil",
    "git fetch",
    "git ls-remote ext::sh",
    "git clone . other",
    "git reflog expire --all",
    "git worktree add f",
    "GIT_PAGER=./evil git log",
    "PAGER=./evil git log",
    "LD_PRELOAD=./evil.so ls",
    "LESSOPEN='|./evil %s' less notes.txt",
    "BASH_ENV=./evil ls",
    "ssh -o ProxyCommand=./evil host",
    "curl -o f http://example.com/",
    "curl file:///etc/shadow",
    "wget http://example.com/",
    "scp notes.txt host:",
    "nc 127.0.0.1 80",
    "cat < /dev/tcp/127.0.0.1/80",
    "exec 3<> /dev/tcp/127.0.0.1/80",
    "printf -v PATH .",
    "export PATH=.",
    "ls() { ./evil; }; ls",
    "alias ls=./evil",
    "enable -f ./evil.so ls",
    "hash -p ./evil ls",
    "umask 0",
    "ulimit -c unlimited",
    "kill -9 1",
    "chmod 777 notes.txt",
    "chmod u+s notes.txt",
    "ln -s /etc/shadow f",
    "ln notes.txt f",
    "cp notes.txt f",
    "touch f",
    "mkdir f",
    "mkfifo f",
    "truncate -s 0 notes.txt",
    "xxd -r notes.txt f",
    "split notes.txt",
    "csplit notes.txt 1",
    "tar xf a.tar",
    "tar cf f notes.txt",
    "tar tf a.tar --to-command=./evil",
    "tar tf a.tar -I ./evil",
    "unzip a.zip",
    "file -C -m f",
    "date -s 2020-01-01",
    "hostname evil",
    "sudo ls",
    "su -c ls",
    "chroot . ls",
    "unshare -r ls",
    "nsenter -t 1 ls",
    "strace -o f ls",
    "gdb -batch -ex 'shell ./evil'",
    "python3 -c pass",
    "python3 --version; python3 evil.py",
    "node -e 1",
    "make",
    "npm test",
    "fd -x rm",
    "parallel rm ::: x",
    "watch ls",
    "crontab -",
    "at now",
    "systemctl stop x",
    "tree -o f",
    "jq -n input > f",
    "diff <(./evil) notes.txt",
    "comm notes.txt <(./evil)",
    "cat notes.txt | xargs",
    "ls | xargs -I{} ./{}",
    "xargs -a list cat",
    "type ls; ./ls",
    "./ls",
    "src/../ls",
    "if",
    *UNREADABLE,
]


@pytest.fixture(scope="module")
def judge_stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Return one stage for all decisions: nothing runs."""
    return Stage(tmp_path_factory.mktemp("world"))


@pytest.mark.parametrize("command", REALLY_HARMLESS)
def test_what_is_harmless_or_allowed_passes(judge_stage: Stage, command: str):
    assert judge_stage.decide(command, RULES) == "allow"


@pytest.mark.parametrize("command", MORE_THAN_THE_RULE)
def test_an_allow_rule_covers_no_more_than_it_says(judge_stage: Stage, command: str):
    assert judge_stage.decide(command, RULES) == "ask"


@pytest.mark.parametrize("command", LOOKS_HARMLESS)
def test_what_only_looks_harmless_is_a_question(judge_stage: Stage, command: str):
    assert judge_stage.decide(command) == "ask"


@pytest.mark.usefixtures("plain_home")
@pytest.mark.parametrize("command", [*MORE_THAN_THE_RULE, *LOOKS_HARMLESS])
def test_in_plan_mode_it_is_denied(judge_stage: Stage, command: str):
    """Invalid command lines, and lines that only use the network, still need approval."""
    is_connection = "/dev/tcp/" in command and "exec" not in command
    expected = "ask" if command in UNREADABLE or is_connection else "deny"

    assert judge_stage.decide(command, RULES, "plan") == expected


@pytest.mark.parametrize(
    "command",
    ["curl evil.example", "/usr/bin/curl evil.example", "c''url evil.example", "echo | curl -d@- x"],
)
def test_in_yolo_mode_a_deny_rule_stands(judge_stage: Stage, command: str):
    denied = rules("deny bash(curl:*)")

    assert [judge_stage.decide(command, given, "yolo") for given in (denied, ())] == ["deny", "allow"]
