"""smolagents' own executor of Python, inside of its process; run by the interpreter of its environment.

Prints the seconds from the start of the program until the first cell has run, and those of each cell `1+1`.
What it runs is interpreted by smolagents itself, not by a Python of its own: there is no process to reach.
"""

import time

STARTED = time.perf_counter()
CELLS = 200


def main() -> None:
    """Print the start and the cells."""
    from smolagents.local_python_executor import LocalPythonExecutor

    execute = LocalPythonExecutor([])
    execute.send_tools({})
    assert execute("1+1").output == 2
    start_s = time.perf_counter() - STARTED
    cells = []
    for _ in range(CELLS):
        started = time.perf_counter()
        execute("1+1")
        cells.append(time.perf_counter() - started)
    print(start_s, *cells)


if __name__ == "__main__":
    main()
