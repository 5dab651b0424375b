"""Strangers ask why a server without its secret is not ready: does it tell them where the secret is, and do probes remove it?"""
import sys

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from lib import server

given = server.arguments(__doc__)
verdict = server.Verdict()

with server.Server(given) as site:
    site.init()
    (site.folder / "secret").rename(site.folder / "elsewhere")
    site.start("--no-watch")
    path = str(site.folder / "secret").encode()
    for admin in (False, True):
        who = "administration" if admin else "apps"
        ready = site.get("/health/ready", admin=admin)
        writable = site.get("/health/writable", admin=admin)
        verdict.require(ready[0] == 200, f"{who}: documents can be served, so it is ready: {ready[0]}")
        verdict.require(writable[0] == 503, f"{who}: nothing can be changed, so it is not writable: {writable[0]}")
        verdict.require(
            path not in ready[1] and path not in writable[1] and b"secret" not in ready[1] + writable[1],
            f"{who}: neither says anything about the secret: {ready[1][:160]} {writable[1][:160]}")
verdict.end()
