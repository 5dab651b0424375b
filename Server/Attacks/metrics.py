"""Somebody without a token asks /metrics of a server behind a proxy: does it name all apps?"""
import sys

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from lib import server

given = server.arguments(__doc__)
verdict = server.Verdict()

with server.Server(given) as site:
    site.init()
    every = site.token("all", "--every-app", "--scope", "read")
    one = site.token("one", "--app", "bank", "--scope", "read")
    site.start("--no-watch", "--admin-behind-proxy", "127.0.0.1/32")
    status, body = site.get("/metrics", admin=True)
    verdict.require(status == 401 and b"holdfast_" not in body, f"without a token there are no metrics: {status}")
    status, body = site.get("/metrics", admin=True, headers={"Authorization": f"Bearer {one}"})
    verdict.require(status == 403, f"nor with one for an app: {status}")
    status, body = site.get("/metrics", admin=True, headers={"Authorization": f"Bearer {every}"})
    verdict.require(status == 200 and b"holdfast_" in body, f"a token for all apps shows them: {status}")
verdict.end()
