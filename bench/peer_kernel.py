"""An ipykernel as its own client uses it; run by the interpreter of its environment (see kernel.py).

Prints the seconds from its start until it is ready, and those from sending `1+1` to the reply. What it
publishes besides, the value among it, is read outside of the time that counts.
"""

import statistics
import subprocess
import time

from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

STARTS = 3
CELLS = 200
TIMEOUT_S = 60.0


def main() -> None:
    """Print the best start and the median cell."""
    starts, cells = [], []
    for _ in range(STARTS):
        started = time.perf_counter()
        manager = KernelManager()
        manager.start_kernel(stderr=subprocess.DEVNULL)
        client = manager.client()
        client.start_channels()
        client.wait_for_ready(timeout=TIMEOUT_S)
        starts.append(time.perf_counter() - started)
        cells += [cell_s(client) for _ in range(CELLS)]
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    print(min(starts), statistics.median(cells))


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
