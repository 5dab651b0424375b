"""python-tuf's client over a repository in a folder, made by others.

usage: folder_client.py REPOSITORY METADATA TARGETS NAME...

REPOSITORY has the folders `metadata` and `targets`, METADATA the trusted `root.json`. Prints the hash of each target.
"""
import hashlib
import os
import sys

from tuf.api.exceptions import DownloadHTTPError
from tuf.ngclient import FetcherInterface, Updater


class Folder(FetcherInterface):
    def __init__(self, folder):
        self.folder = folder

    def _fetch(self, url):
        path = os.path.join(self.folder, url.removeprefix("file:///"))
        if not os.path.isfile(path):
            raise DownloadHTTPError("absent", 404)
        with open(path, "rb") as file:
            yield file.read()


repository, metadata, targets, *names = sys.argv[1:]
updater = Updater(
    metadata, "file:///metadata", targets, "file:///targets", fetcher=Folder(repository), bootstrap=None)
updater.refresh()
for name in names:
    path = updater.download_target(updater.get_targetinfo(name))
    with open(path, "rb") as file:
        print(hashlib.sha256(file.read()).hexdigest())
