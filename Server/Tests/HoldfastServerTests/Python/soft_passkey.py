"""A passkey of software that shares no code with the server: soft-webauthn and fido2.

usage: soft_passkey.py ORIGIN REGISTRATION CHALLENGE [CHALLENGE ...]

The challenges are in hexadecimal digits. Prints JSON with an object for each kind of key: the registration, and an
assertion for each challenge; and what soft-webauthn makes as it is, without the verification of its user.
"""
import base64
import json
import os
import struct
import sys
import urllib.parse

from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives import hashes
from fido2 import cbor
from fido2.cose import ES256, EdDSA
from fido2.utils import sha256
from fido2.webauthn import AttestedCredentialData, AuthenticatorData, CollectedClientData
from soft_webauthn import SoftWebauthnDevice

ORIGIN = sys.argv[1]
RP_ID = urllib.parse.urlsplit(ORIGIN).hostname
REGISTRATION, *CHALLENGES = (bytes.fromhex(text) for text in sys.argv[2:])
VERIFIED = AuthenticatorData.FLAG.UP | AuthenticatorData.FLAG.UV


def text(octets):
    return base64.b64encode(octets).decode()


def answer(response):
    return {name: text(response[name]) for name in
            ("attestationObject", "authenticatorData", "clientDataJSON", "signature") if name in response}


def as_it_is():
    """The library's own authenticator, which knows no user."""
    device = SoftWebauthnDevice()
    create = {"publicKey": {
        "challenge": REGISTRATION, "rp": {"id": RP_ID}, "user": {"id": b"alice"},
        "pubKeyCredParams": [{"type": "public-key", "alg": -7}], "attestation": "none"}}
    made = device.create(create, ORIGIN)
    used = [device.get({"publicKey": {"challenge": one, "rpId": RP_ID}}, ORIGIN) for one in CHALLENGES]
    return {"registration": answer(made["response"]), "assertions": [answer(one["response"]) for one in used]}


def verified(key, cose, sign):
    """The same with a user who is verified, in the octets that fido2 writes."""
    client = CollectedClientData.create("webauthn.create", REGISTRATION, ORIGIN, False)
    made = AuthenticatorData.create(
        sha256(RP_ID.encode()), VERIFIED | AuthenticatorData.FLAG.AT | AuthenticatorData.FLAG.ED, 0,
        AttestedCredentialData.create(b"\0" * 16, os.urandom(64), cose.from_cryptography_key(key.public_key())),
        {"credProtect": 3})
    registration = {
        "attestationObject": cbor.encode({"fmt": "none", "attStmt": {}, "authData": bytes(made)}),
        "clientDataJSON": bytes(client)}
    assertions = []
    for counter, challenge in enumerate(CHALLENGES, 1):
        client = CollectedClientData.create("webauthn.get", challenge, ORIGIN, False)
        data = bytes(AuthenticatorData.create(sha256(RP_ID.encode()), VERIFIED, counter))
        assertions.append(answer({
            "authenticatorData": data, "clientDataJSON": bytes(client), "signature": sign(key, data + client.hash)}))
    return {"registration": answer(registration), "assertions": assertions}


print(json.dumps({
    "unverified": as_it_is(),
    "es256": verified(ec.generate_private_key(ec.SECP256R1()), ES256,
                      lambda key, message: key.sign(message, ec.ECDSA(hashes.SHA256()))),
    "edDSA": verified(ed25519.Ed25519PrivateKey.generate(), EdDSA, lambda key, message: key.sign(message)),
}))
