"""python-tuf's client, which refreshes as it is told.

usage: tuf_refresher.py

For every line "TIMES FOLDER URL" on standard input it refreshes so many times the metadata that FOLDER has, from the
folder of metadata at URL, each time with a client of its own, and prints a line.
"""

import sys
from importlib.metadata import version

from tuf.ngclient import Updater


def main() -> None:
    print(f"python-tuf {version('tuf')}", flush=True)
    for line in sys.stdin:
        times, folder, url = line.split()
        for _ in range(int(times)):
            Updater(folder, url, bootstrap=None).refresh()
        print("done", flush=True)


if __name__ == "__main__":
    main()
