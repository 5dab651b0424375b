"""A mobile utility server that shares no code with ours: it reads the tables as they were exported, and answers apps as the
reference does. A challenge is signed by OpenSSL, through `cryptography`.

usage: old_server.py FOLDER TIME    (the folder has TABLE.csv; what time it is, in seconds since 1970)
It prints where it listens.
"""
import base64
import binascii
import csv
import http.server
import json
import pathlib
import re
import sys
import urllib.parse

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

FOLDER, TIME = pathlib.Path(sys.argv[1]), int(sys.argv[2])
HEADER = "X-Cert-Pinning-"


def table(name):
    with open(FOLDER / f"mus_{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


APPS, DOMAINS, CERTIFICATES = table("mobile_app"), table("mobile_domain"), table("certificate")


class Refusal(Exception):
    def __init__(self, status, code, **more):
        super().__init__(code)
        self.status = status
        self.body = {"status": "ERROR", "responseObject": {"code": code, "message": code.lower(), **more}}


def challenge(text):
    """The challenge, if there is one that is answered: Base64 of 16 to 32 octets, with or without padding."""
    if text is None or not re.fullmatch("[A-Za-z0-9+/]+={0,2}", text):
        return None
    bare = text.rstrip("=")
    try:
        octets = base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)
    except binascii.Error:
        return None
    return text if 16 <= len(octets) <= 32 else None


def entry(domain, row):
    one = {"name": domain["domain"], "fingerprint": row["fingerprint"], "expires": int(row["expires"])}
    if "depth" in row:
        one["depth"] = int(row["depth"])
    return one


def answer(path, query, asked):
    if query.get("platform", "IOS") not in ("ANDROID", "IOS") or not query.get("appName"):
        raise Refusal(400, "ERROR_REQUEST", violations=[{"fieldName": "platform or appName", "hint": "another"}])
    app = next((one for one in APPS if one["name"] == query["appName"]), None)
    if path != "/app/init":
        raise Refusal(404, "NOT_FOUND")
    if not asked:
        raise Refusal(403, "INVALID_CHALLENGE")
    if not app:
        raise Refusal(404, "APP_NOT_FOUND")
    domains = [one for one in DOMAINS if one["app_id"] == app["id"]]
    body = {"timestamp": TIME, "fingerprints": [
        entry(one, row) for one in domains for row in CERTIFICATES if row["mobile_domain_id"] == one["id"]]}
    if any("ssl_pinning_required" in one for one in domains):
        body["domainsConfig"] = {"sslPinningRequiredForUnlisted": True, "domains": sorted((
            {"name": one["domain"], "sslPinningRequired": one["ssl_pinning_required"] == "t"} for one in domains),
            key=lambda one: one["name"])}
    return body


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_GET(self):
        address = urllib.parse.urlsplit(self.path)
        query = {name: values[-1] for name, values in urllib.parse.parse_qs(address.query).items()}
        asked = challenge(self.headers.get(HEADER + "Challenge"))
        try:
            status, body = 200, answer(address.path, query, asked)
        except Refusal as refusal:
            status, body = refusal.status, refusal.body
        octets = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(octets)))
        app = next((one for one in APPS if one["name"] == query.get("appName")), None)
        if asked and app:
            number = int.from_bytes(base64.b64decode(app["sign_private_key"]), "big", signed=True)
            key = ec.derive_private_key(number, ec.SECP256R1())
            signature = key.sign(asked.encode() + b"&" + octets, ec.ECDSA(hashes.SHA256()))
            self.send_header(HEADER + "Signature", base64.b64encode(signature).decode())
        self.end_headers()
        self.wfile.write(octets)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"listening for apps on 127.0.0.1:{server.server_address[1]}", flush=True)
server.serve_forever()
