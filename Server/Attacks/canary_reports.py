"""Two anonymous requests about a document of the year 2099: do they hold the canary of an app?"""
import json
import sys
import time

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from lib import server, sockets

given = server.arguments(__doc__)
verdict = server.Verdict()
HOST = "api.example.com"
CODES = ["pinMismatch", "pinsExpired", "notTrusted"]


def body():
    policies = [{
        "policy": {"policy-type": "holdfast-pins", "policy-domain": HOST, "document-version": "20990101T000000Z"},
        "summary": {"total-successful-session-count": 0, "total-failure-session-count": 3},
        "failure-details": [{"result-type": code, "failed-session-count": 1} for code in CODES],
        "sampling": {"failure-fraction": 1, "success-fraction": 1}} for _ in range(64)]
    return json.dumps({"policies": policies}).encode()


with server.Server(given) as site:
    site.init("--no-shipped-pins", "--canary", "24")
    leaf_key = server.key()
    leaf = server.certificate(HOST, leaf_key, site.authority, site.authority_key, [HOST])
    site.write("chain.pem", server.pem(leaf) + server.pem(site.authority))
    site.run("host", "add", "bank", HOST, "--data", "pins")
    site.run("next", "chain", "bank", HOST, "--chain", "chain.pem", "--from", "2026-01-01T00:00:00Z", "--data", "pins")
    site.run("app", "key", "bank", "--data", "pins")
    site.run("app", "reports", "bank", "--on", "--data", "pins")

    def propose(*options):
        text = site.run("change", "propose", "bank", "--data", "pins", "--reason", "attack program", "--no-proposer",
                        *options)
        change = next(w for w in text.replace(":", " ").split() if len(w) == 32 and server.is_hex(w))
        site.run("approve", change, "--data", "pins", "--key", "alice.pem", "--yes")
        return change, site.run("publish", change, "--data", "pins", check=False)

    first, said = propose("--format", "list", "--force", "canary", "--force", "lint")
    if "generation 1" not in said:
        server.missing(f"nothing is published: {said}")
    later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 60 * 86_400))
    second = server.certificate(HOST, server.key(), site.authority, site.authority_key, [HOST])
    site.write("second.pem", server.pem(second) + server.pem(site.authority))
    site.run("next", "chain", "bank", HOST, "--chain", "second.pem", "--from", later, "--data", "pins")
    site.start("--no-watch")
    change, said = propose("--force", "lint")
    if "canary" not in said:
        server.missing(f"no change has the canary: {said}")

    def metric():
        text = site.get("/metrics", admin=True)[1].decode()
        lines = [l for l in text.splitlines() if l.startswith("holdfast_canary_held_by_reports{")]
        return lines[0].endswith(" 1") if lines else None

    server.wait_until(lambda: metric() is not None, 60, "the app in /metrics")
    statuses = [
        sockets.request(site.public, f"127.0.{n}.1", "POST", "/reports?appName=bank-canary", body(),
                        {"Content-Type": "application/json"})[0] for n in (1, 2)]
    if statuses != [202, 202]:
        server.missing(f"the two reports are not taken: {statuses}")
    held = False
    for _ in range(40):
        held = held or bool(metric())
        if held:
            break
        time.sleep(1)
    verdict.require(not held, "two anonymous requests hold no canary")
verdict.end()
