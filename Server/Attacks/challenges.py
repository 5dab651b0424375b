"""A thousand strangers ask to sign in and never answer: can somebody else still ask?"""
import json
import sys

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from lib import server, sockets

given = server.arguments(__doc__)
verdict = server.Verdict()
ORIGIN = "https://pins.example.com"

with server.Server(given) as site:
    site.init()
    site.start("--no-watch", "--admin-origin", ORIGIN)

    def begin(source):
        status, headers, body = sockets.request(
            site.admin, source, "POST", "/signin/begin", b"{}",
            {"Content-Type": "application/json", "Origin": ORIGIN})
        return status, headers, body

    first = begin("127.0.1.1")
    if first[0] != 200:
        server.missing(f"nobody can ask to sign in: {first[0]} {first[2][:200]}")
    statuses = {}
    for number in range(1_100):
        status = begin(f"127.0.{2 + number // 35}.1")[0]
        statuses[status] = statuses.get(status, 0) + 1
    print(f"the strangers got {statuses}")
    status, headers, body = begin("127.0.99.1")
    verdict.require(status == 200, f"somebody else is asked: {status} {body[:120]}")
    # A cookie that the server did not write is worth nothing.
    challenge = json.loads(body).get("challenge", "") if status == 200 else ""
    answer = sockets.request(
        site.admin, "127.0.99.1", "POST", "/signin/finish",
        json.dumps({"credential": "AA", "authenticatorData": "AA", "clientDataJSON": "AA", "signature": "AA"}).encode(),
        {"Content-Type": "application/json", "Origin": ORIGIN,
         "Cookie": f"__Host-holdfast-visitor={challenge}.9999999999.AAAA"})
    verdict.require(answer[0] == 409, f"a forged cookie is refused: {answer[0]}")
verdict.end()
