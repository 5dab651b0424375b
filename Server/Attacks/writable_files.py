"""A database that everybody on the machine can write: does the operator learn of it?"""
import sys

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from lib import server

given = server.arguments(__doc__)
verdict = server.Verdict()

with server.Server(given) as site:
    site.init()
    (site.data / "server.db").chmod(0o666)
    text = site.run("doctor", "--data", "pins", check=False)
    verdict.require("server.db" in text and "write" in text, f"doctor names the file: {text[:300]}")
    site.start("--no-watch")
    log = (site.folder / "serve.log").read_text()
    verdict.require("server.db" in log and "write" in log, "serve says so when it starts")
verdict.end()
