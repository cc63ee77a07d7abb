"""A command that changes files endlessly, and reports each change through a FIFO.

usage: storm.py SEED, in a folder with a FIFO named `gate`
"""

import os
import random
import shutil
import sys

NAMES = ("a", "b", "c", "dir/a", "dir/b", "dir/deep/a", "ignored.log")
FOLDERS = ("dir", "dir/deep", "new", "new/deep", "other")


def main(seed: int) -> None:
    chance = random.Random(seed)
    gate = os.open("gate", os.O_WRONLY)
    held = open("held", "wb", buffering=0)  # noqa: SIM115  open until the end, as by a program with a log
    step = 0
    while True:
        step += 1
        one, two = chance.choice(NAMES), chance.choice(NAMES)
        here, there = chance.choice(FOLDERS), chance.choice(FOLDERS)
        try:
            match chance.randrange(12):
                case 0:
                    with open(one, "w") as file:
                        file.write(f"{step}\n" * chance.randrange(2000))
                case 1:
                    with open(one, "ab") as file:
                        file.write(b"\0\xff" * chance.randrange(100))
                case 2:
                    os.unlink(one)
                case 3:
                    os.rename(one, two)
                case 4:
                    os.rename(here, there)
                case 5:
                    os.makedirs(here, exist_ok=True)
                case 6:
                    shutil.rmtree(here)
                case 7:
                    os.symlink(two, one)
                case 8:
                    os.link(one, two)
                case 9:
                    os.chmod(one, chance.choice((0o600, 0o644, 0o755)))
                case 10:
                    os.truncate(one, chance.randrange(10))
                case _:
                    held.write(b"%d\n" % step)
        except OSError:
            pass  # most of it cannot be done most of the time
        os.write(gate, b".")


if __name__ == "__main__":
    main(int(sys.argv[1]))
