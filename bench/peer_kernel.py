"""An ipykernel used through its own client; run by the interpreter of its environment (see kernel.py).

Prints the seconds from its start until it is ready, and the seconds from sending `1+1` to the reply of each
cell. Other messages, such as the value, are read outside the measured time.
"""

import subprocess
import time

from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

CELLS = 200
TIMEOUT_S = 60.0


def main() -> None:
    """Print the start and the cells."""
    started = time.perf_counter()
    manager = KernelManager()
    manager.start_kernel(stderr=subprocess.DEVNULL)
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=TIMEOUT_S)
    start_s = time.perf_counter() - started
    cells = [cell_s(client) for _ in range(CELLS)]
    client.stop_channels()
    manager.shutdown_kernel(now=True)
    print(start_s, *cells)


def cell_s(client: BlockingKernelClient) -> float:
    """Run `1+1` once."""
    started = time.perf_counter()
    client.execute("1+1")
    client.get_shell_msg(timeout=TIMEOUT_S)
    took_s = time.perf_counter() - started
    while client.get_iopub_msg(timeout=TIMEOUT_S)["content"].get("execution_state") != "idle":
        pass
    return took_s


if __name__ == "__main__":
    main()
