"""A program that the server starts: does it inherit the password of the database?"""
import base64
import os
import sys

sys.path.insert(0, __file__.rsplit("/", 1)[0])
from lib import server

from cryptography.hazmat.primitives import serialization

given = server.arguments(__doc__)
verdict = server.Verdict()
HOST = "api.example.com"
os.environ["PGPASSWORD"] = "attack-password"

with server.Server(given) as site:
    site.init()
    found = site.folder / "found"
    program = site.folder / "program"
    program.write_text(f"#!/bin/sh\nenv >> {found}\nexit 1\n")
    program.chmod(0o700)
    # A program that signs for the app is started when a list is published, with a key that it has.
    point = server.key().public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    site.write("program.pub", base64.b64encode(point) + b"\n")
    site.run("app", "signer", "bank", "--program", str(program), "--public-key", "program.pub",
             "--data", "pins")
    leaf = server.certificate(HOST, server.key(), site.authority, site.authority_key, [HOST])
    site.write("chain.pem", server.pem(leaf) + server.pem(site.authority))
    site.run("host", "add", "bank", HOST, "--data", "pins")
    site.run("next", "chain", "bank", HOST, "--chain", "chain.pem", "--from", "2026-01-01T00:00:00Z", "--data", "pins")
    said = site.run("change", "propose", "bank", "--data", "pins", "--reason", "attack program", "--no-proposer",
                    "--format", "list", "--force", "lint", "--force", "canary", check=False)
    change = next((w for w in said.replace(":", " ").split() if len(w) == 32 and server.is_hex(w)), None)
    if change:
        site.run("approve", change, "--data", "pins", "--key", "alice.pem", "--yes", check=False)
        site.run("publish", change, "--data", "pins", check=False)
    if not found.exists():
        server.missing(f"no program was started: {said[:400]}")
    verdict.require("attack-password" not in found.read_text(), "a program that it starts gets no password")
verdict.end()
