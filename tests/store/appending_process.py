"""A process that appends groups of attempts to a run of its own, and tells of each group once it is stored.

python appending_process.py STORE RUN GROUPS SIZE: writes how many attempts are stored so far after each group.
"""

from __future__ import annotations

import sys
from pathlib import Path

from small_run import answered, header_of

from temp0.store import Store


def main(path, run_id, groups, size):
    with Store.open(Path(path)) as store:
        store.begin(header_of(run_id))
        for group in range(int(groups)):
            first = group * int(size)
            store.append(run_id, [answered(order, f"text {order}") for order in range(first, first + int(size))])
            sys.stdout.write(f"{first + int(size)}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
