"""An address to dial with a port: is it refused where it enters, or accepted, so that its host is watched by nobody?"""
import json
import sys

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from lib import server

given = server.arguments(__doc__)
verdict = server.Verdict()

with server.Server(given) as site:
    site.init()
    try:
        site.run("host", "add", "bank", "a.example.com", "--dial", "127.0.0.1:8443", "--data", "pins")
        verdict.require(False, "host add refuses --dial with a port")
    except RuntimeError as error:
        verdict.require("dial" in str(error) and "port" in str(error), f"host add refuses --dial with a port: {error}")
    token = site.token("attack")
    site.start("--no-watch")
    for dial in ("127.0.0.1:8443", "b.example.com:443", "[::1]:443", "http://127.0.0.1"):
        status, body = site.request(
            "PUT", "/v1/apps/bank/hosts/b.example.com", json.dumps({"dial": dial}).encode(),
            {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}, admin=True)
        verdict.require(status == 422, f"the call refuses {dial}: {status} {body[:120]}")
verdict.end()
