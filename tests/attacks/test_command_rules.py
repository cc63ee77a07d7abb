"""Attack 1: a rule denies `rm`, and the command line hides its `rm`.

Each removal is first run without the sandbox, to show that it does remove the file; then it is judged.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.stage import Stage, rules, run_bare

RULES = rules(
    "deny bash(rm:*)", "deny bash(curl:*)", "allow bash(git status:*)", "allow bash(echo:*)", "allow bash(:)"
)

# Which program runs can be known: the rule decides.
DENIED = [
    "rm x",
    "rm -f -- x",
    "timeout 5 rm -rf x",
    "ls & rm x",
    "ls;rm x",
    "true && rm x",
    "false || rm x",
    "ls | rm x",
    "ls |& rm x",
    "! rm x",
    "(rm x)",
    "{ rm x; }",
    "time rm x",
    "time -p rm x",
    "echo one\nrm x",
    "echo one # not two\nrm x",
    "r\\\nm x",
    "echo \\\n; rm x",
    # quotes
    "r''m x",
    'r"m" x',
    "'rm' x",
    "\\rm x",
    "r\\m x",
    "$'\\x72\\x6d' x",
    "$'\\162\\155' x",
    "$'r'm x",
    '$"rm" x',
    "r{m,m} x",
    # by path, by wrapper
    "/bin/rm x",
    "/usr/../bin/./rm x",
    "../../../../../../../../../../bin/rm x",
    "command rm x",
    "command -p rm x",
    "exec rm x",
    "exec -a ls rm x",
    "nohup rm x",
    "nice -n 5 rm x",
    "nice rm x",
    "setsid -w rm x",
    "stdbuf -o0 rm x",
    "env rm x",
    "env -i PATH=/bin rm x",
    "env FOO=1 sh -c 'rm x'",
    "env -S 'rm x'",
    "env -u HOME -- rm x",
    "FOO=1 rm x",
    "FOO=1 BAR=2 command rm x",
    "xargs rm < list",
    "xargs -a list rm",
    "echo x | xargs -n1 rm",
    "echo x | xargs -I{} rm {}",
    "echo x | xargs -I{} sh -c 'rm {}'",
    "echo x | xargs env rm",
    "find . -name x -exec rm {} +",
    "find . -name x -exec rm {} \\;",
    "find . -name x -execdir rm -- {} \\;",
    "find . -name x -exec sh -c 'rm \"$1\"' _ {} \\;",
    # shells in shells
    'bash -c "rm x"',
    "bash -ec 'rm x'",
    "bash -e -c 'rm x'",
    "bash --norc -c 'rm x'",
    "bash -o errexit -c 'rm x'",
    "sh -c 'sh -c \"rm x\"'",
    "dash -c 'rm x'",
    "bash <<< 'rm x'",
    "bash -s <<< 'rm x'",
    "bash << 'END'\nrm x\nEND",
    "bash <<END\nrm x\nEND",
    "bash <<-END\n\trm x\n\tEND",
    "eval rm x",
    "eval 'r''m x'",
    'eval "rm" "x"',
    "eval eval rm x",
    "trap 'rm x' EXIT",
    "builtin eval 'rm x'",
    "builtin command rm x",
    # substitutions
    "echo $(rm x)",
    'echo "$(rm x)"',
    "echo `rm x`",
    'echo "`rm x`"',
    "echo `echo \\`rm x\\``",
    "ls; : $(rm x)",
    "cat <(rm x)",
    "echo one > >(rm x); wait $!",
    "echo $((a[$(rm x)]))",
    "echo ${y:-$(rm x)}",
    "echo ${HOME/$(rm x)/}",
    "echo ${HOME:$(rm x)0}",
    "[[ -n $(rm x) ]]",
    "[ -n $(rm x) ]",
    "case $(rm x) in *) ;; esac",
    "case a in $(rm x)) ;; esac",
    "for i in $(rm x); do :; done",
    "if rm x; then :; fi",
    "while rm x; do break; done",
    "until rm x; do break; done",
    "select i in $(rm x); do break; done",
    "a=$(rm x)",
    "a=(1 $(rm x))",
    "a[$(rm x)0]=1",
    "export a=$(rm x)",
    "declare a=$(rm x)",
    "readonly a=`rm x`",
    "cat <<END\n$(rm x)\nEND",
    'cat <<< "$(rm x)"',
    "cat < $(rm x; echo notes.txt)",
    "echo one > o$(rm x)",
    # functions
    "f() { rm x; }; f",
    "function ls { rm x; }; ls",
    "ls() (rm x); ls",
    'enable -n echo; echo() { r""m x; }; echo',
    "coproc rm x; wait",
]

# Which program runs shows only when it runs: a person has to look.
ASKED = [
    "{rm,-f,x}",
    'echo "${y:=`rm x`}"',
    "for ((i = $(rm x)0; i < 1; i++)); do :; done",
    "coproc C { rm x; }; wait",
    "$(echo rm) x",
    "`echo rm` x",
    "rm${IFS}x",
    "rm$IFS'x'",
    "$SHELL -c 'rm x'",
    "echo rm x | sh",
    "printf 'rm x' | bash -s",
    "base64 -d <<< cm0geA== | sh",
    'eval "$(base64 -d <<< cm0geA==)"',
    'bash -c "$(base64 -d <<< cm0geA==)"',
    "source <(echo rm x)",
    ". <(echo rm x)",
    "source ./evil",
    "bash ./evil",
    "./evil",
    "bash < evil",
    "sh evil",
    "BASH_ENV=./evil bash -c :",
    "python3 -c 'import os; os.remove(\"x\")'",
    "python3 <<< 'import os; os.remove(\"x\")'",
    "perl -e 'unlink \"x\"'",
    "awk 'BEGIN{system(\"rm x\")}'",
    "awk 'BEGIN{\"rm x\" | getline}'",
    "awk 'BEGIN{print | \"rm x\"}'",
    "sed '1e rm x' notes.txt",
    "sed -n '1!b;e rm x' notes.txt",
    "sed 's/.*/rm x/e' notes.txt",
    "find . -name x -delete",
    "unlink x",
    "mv x y",
    "git -c alias.y='!rm x' y",
    "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='rm x' notes.txt",
    "tar cf - notes.txt | tar xf - --to-command='rm x #'",
    "shopt -s expand_aliases; alias ls='rm x #'\nls",
    "hash -p /bin/rm ls; ls x",
    "PATH=$PWD/bin; ls x",
    "PATH=$PWD/bin:$PATH ls x",
    "export PATH=$PWD/bin:$PATH; ls x",
    'env PATH="$PWD/bin:$PATH" ls x',
    "printf -v 'a[$(rm x)]' y",
    "test -v 'a[$(rm x)]'",
    "[ -v 'a[$(rm x)]' ]",
    "[[ -v 'a[$(rm x)]' ]]",
    "[[ 'a[$(rm x)]' -eq 0 ]]",
    "read 'a[$(rm x)]' <<< y",
    "a=(1); unset 'a[$(rm x)]'",
    "let 'a[$(rm x)]'",
    "echo $(( $(echo 'a[$(rm x)]') ))",
    "echo $[ $(echo 'a[$(rm x)]') ]",
    "echo $((`cat sum`))",
    "echo ${HOME:$(cat sum)}",
    "for i in $(cat sum); do echo $((i)); done",
    "declare 'a[$(rm x)]=1'",
    "export a='b[$(rm x)]'; echo ${!a}",
    "a='b[$(rm x)]'; echo $((a))",
    "a='$(rm x)'; echo \"${a@P}\"",
    "PS4='$(rm x)'; set -x; :",
    "mapfile -C 'rm x #' -c 1 < list",
    "compgen -W '$(rm x)'",
    "compgen -C 'rm x #' a",
    "a=(rm x); ${a[@]}",
    "set -- rm x; $@",
    'set -- rm x; "$1" "$2"',
    "f=r; ${f}m x",
    "b=rm; $b x",
    "/???/rm x",
    "/bin/r[m] x",
    "xargs -I{} sh -c '{}' < commands",
    "xargs -a commands env",
    "sort --compress-program=./evil -S1b notes.txt big",
]
TOO_LATE = ("b=rm; $b x", "f=r; ${f}m x", "/???/rm x", "/bin/r[m] x")
"""Of these the program can be guessed; a denial is as good as a question."""


@pytest.fixture(scope="module")
def judge_stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """Return one stage for all decisions: nothing runs."""
    return Stage(tmp_path_factory.mktemp("world"))


@pytest.fixture
def victim(judge_stage: Stage) -> Iterator[Path]:
    """Yield the file to remove, and other files that the attacks use."""
    project = judge_stage.project
    (project / "x").write_text("precious\n")
    (project / "list").write_text("x\n")
    (project / "commands").write_text("rm x\n")
    (project / "sum").write_text("a[$(rm${IFS}x)]\n")
    (project / "evil").write_text("#!/bin/sh\nrm x\n")
    (project / "evil").chmod(0o755)
    (project / "big").write_text("line\n" * 20_000)
    (project / "bin").mkdir(exist_ok=True)
    (project / "bin/ls").write_text("#!/bin/sh\n/bin/rm x\n")
    (project / "bin/ls").chmod(0o755)
    yield project / "x"
    for name in ("x", "y"):
        (project / name).unlink(missing_ok=True)


@pytest.mark.parametrize("command", DENIED)
def test_a_denied_program_is_denied_in_every_spelling(judge_stage: Stage, victim: Path, command: str):
    decision = judge_stage.decide(command, RULES)
    run_bare(f"SHELL=/bin/bash\n{command}", judge_stage)

    assert (decision, victim.exists()) == ("deny", False)


@pytest.mark.parametrize("command", ASKED)
def test_a_program_that_cannot_be_known_is_a_question(judge_stage: Stage, victim: Path, command: str):
    decision = judge_stage.decide(command, RULES)
    run_bare(f"SHELL=/bin/bash\n{command}", judge_stage)

    assert (decision in (("ask", "deny") if command in TOO_LATE else ("ask",)), victim.exists()) == (
        True,
        False,
    )


@pytest.mark.parametrize("command", [*DENIED, *ASKED])
def test_no_spelling_is_allowed_by_a_broad_rule(judge_stage: Stage, victim: Path, command: str):
    """With `rm` merely not allowed, none of them passes for something harmless."""
    assert judge_stage.decide(command, rules("allow bash(echo:*)", "allow bash(ls:*)")) == "ask"
