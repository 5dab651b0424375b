"""python-tuf behind the command line that `holdfastctl tuf` has: the foreign peer of the simulator.

usage: python_client.py [options] init ROOT | refresh | download
"""
import argparse
import os
import shutil
import sys

from tuf.ngclient import Updater


def main():
    parser = argparse.ArgumentParser()
    for option in ["--metadata-url", "--metadata-dir", "--target-dir", "--target-base-url"]:
        parser.add_argument(option)
    parser.add_argument("--target-name", action="append", default=[])
    parser.add_argument("verb", choices=["init", "refresh", "download"])
    parser.add_argument("root", nargs="?")
    given = parser.parse_args()
    if given.verb == "init":
        shutil.copyfile(given.root, os.path.join(given.metadata_dir, "root.json"))
        return 0
    updater = Updater(
        given.metadata_dir, given.metadata_url, given.target_dir, given.target_base_url, bootstrap=None)
    updater.refresh()
    for name in given.target_name:
        target = updater.get_targetinfo(name)
        if target is None:
            raise LookupError(name)
        if not updater.find_cached_target(target):
            updater.download_target(target)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(1)
