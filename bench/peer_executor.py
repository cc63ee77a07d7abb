"""smolagents' Python executor, which runs inside its process; run by the interpreter of its environment.

Prints the seconds from the start of the program until the first cell has run, and the seconds of each cell
`1+1`. smolagents interprets the code itself, without a separate Python process.
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
