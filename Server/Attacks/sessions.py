"""One person who may read one app signs in again and again: can others still sign in?"""
import base64
import hashlib
import json
import struct
import sys

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from lib import server, sockets

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

given = server.arguments(__doc__, ("--count", {"type": int, "default": 12, "help": "how often to sign in"}))
verdict = server.Verdict()
ORIGIN = "https://pins.example.com"


def encode(octets):
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


class Passkey:
    """A passkey of the algorithm ES256, as an authenticator would make it (WebAuthn Level 3, 6 and 7)."""

    def __init__(self, name):
        self.private = server.key()
        self.id = hashlib.sha256(name.encode()).digest()

    def data(self, flags, more=b""):
        return hashlib.sha256(b"pins.example.com").digest() + bytes([flags]) + struct.pack(">I", 0) + more

    @staticmethod
    def client(kind, challenge):
        return json.dumps(
            {"type": kind, "challenge": challenge, "origin": ORIGIN, "crossOrigin": False}).encode()

    def registration(self, challenge):
        numbers = self.private.public_key().public_numbers()
        point = [numbers.x.to_bytes(32, "big"), numbers.y.to_bytes(32, "big")]
        # A COSE_Key in canonical CBOR: {1: 2, 3: -7, -1: 1, -2: x, -3: y}.
        cose = b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20" + point[0] + b"\x22\x58\x20" + point[1]
        data = self.data(0x45, b"\0" * 16 + struct.pack(">H", len(self.id)) + self.id + cose)
        head = b"\x58" + bytes([len(data)]) if len(data) < 256 else b"\x59" + struct.pack(">H", len(data))
        attestation = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData" + head + data
        return {"attestationObject": encode(attestation),
                "clientDataJSON": encode(self.client("webauthn.create", challenge))}

    def assertion(self, challenge):
        data, client = self.data(0x05), self.client("webauthn.get", challenge)
        signature = self.private.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        return {"credential": encode(self.id), "authenticatorData": encode(data), "clientDataJSON": encode(client),
                "signature": encode(signature)}


with server.Server(given) as site:
    site.init()
    links = {}
    for person in ("reader", "honest"):
        site.run("invitation", "prepare", "--data", "pins", "--person", person, "--purpose", "sign-in", "--link",
                 f"{person}.link", "--output", f"{person}.txt", "--admin-origin", ORIGIN,
                 *(("--app", "bank") if person == "reader" else ()))
        site.run("sign", f"{person}.txt", "--key", "alice.pem", "--output", f"{person}.sig", "--yes")
        site.run("invitation", "open", f"{person}.txt", "--data", "pins", "--signature", f"{person}.sig")
        links[person] = (site.folder / f"{person}.link").read_text().strip()
    site.start("--no-watch", "--admin-origin", ORIGIN)

    def post(path, body, source, cookie=None):
        headers = {"Content-Type": "application/json", "Origin": ORIGIN}
        if cookie:
            headers["Cookie"] = cookie
        return sockets.request(site.admin, source, "POST", path, json.dumps(body).encode(), headers)

    def cookie(headers, name):
        for value in headers.get_all("Set-Cookie") or []:
            if value.startswith(name + "="):
                return value.split(";")[0]
        return None

    def ask(path, body, source):
        status, headers, answer = post(path + "/begin", body, source)
        if status != 200:
            return status, None, None
        return status, json.loads(answer)["challenge"], cookie(headers, "__Host-holdfast-visitor")

    def register(person):
        passkey = Passkey(person)
        path, token = links[person].removeprefix(ORIGIN).split("#")
        status, challenge, visitor = ask(path, {"token": token}, "127.0.250.1")
        if challenge is None:
            server.missing(f"{person} cannot register: {status}")
        done = post(path + "/finish", {"token": token, **passkey.registration(challenge)}, "127.0.250.1", visitor)
        if done[0] != 201:
            server.missing(f"{person} cannot register: {done[0]} {done[2][:300]}")
        return passkey

    def sign_in(passkey, source):
        status, challenge, visitor = ask("/signin", {}, source)
        if challenge is None:
            return status, None
        status, headers, _ = post("/signin/finish", passkey.assertion(challenge), source, visitor)
        return status, cookie(headers, "__Host-holdfast") if status == 200 else None

    reader, honest = register("reader"), register("honest")
    cookies = []
    for number in range(given.count):
        status, session = sign_in(reader, f"127.0.{1 + number // 18}.1")
        if session is None:
            print(f"sign-in {number}: {status}")
            break
        cookies.append(session)
    status, _ = sign_in(honest, "127.0.251.1")
    verdict.require(status == 200, f"somebody else signs in beside {len(cookies)} sign-ins: {status}")
    listed = site.run("session", "list", "--data", "pins").splitlines()
    own = sum(" reader " in line for line in listed)
    verdict.require(own <= 8, f"one passkey has at most 8 sessions: {own}")
verdict.end()
