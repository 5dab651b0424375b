#!/usr/bin/env python3
"""A signer program for holdfast-server that believes approvers, and nobody else.

It reads a request (holdfast-signing-request-v1, docs/formats.md) on standard input, verifies that people approved the
content and that the octets to sign say what the content says, and prints the signature. So whoever controls the server
can have signed again what approvers agreed to, until it ends, and nothing else.

usage: verifying-signer.py CONFIGURATION

CONFIGURATION is a JSON file that only this program's user may write:
  server   the id of the server, 32 hexadecimal digits
  genesis  the SHA-256 of the first statement of approvers, as holdfast-server init prints it
  app      the app that the key signs for
  state    a file of this program's: what it has accepted, so that nothing older is signed again
  key      the private key, PEM; or
  command  a program and its arguments, such as one that uses a token: it reads the octets on standard input, hashes
           them itself, and prints the signature
  log      a file for one line a request; left out for none

Exit codes: 0 signed, 1 refused, 2 the configuration cannot be used.

Two things are the server's word, which no signature covers: who proposed a change, whose approval does not count if
more than one is needed, and that nobody rejected it. Keep this program, its configuration and its key where the
server's user cannot write, and let it run as another user, such as with sudo.
"""
import base64
import fcntl
import hashlib
import json
import os
import re
import subprocess
import sys
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

GREATEST_REQUEST = 64 << 20
GREATEST_STATEMENTS = 1_000
GREATEST_APPS = 1_024  # octets of the names of apps that one approver approves
APP = r"[a-zA-Z0-9][a-zA-Z0-9_-]{1,254}"
ORIGIN = r"(?:https://([a-z0-9.-]+)|http://localhost)(?::[0-9]+)?"
SLACK = 600  # seconds by which the clocks of server, program and clients may differ


class Refusal(Exception):
    pass


def require(condition, words):
    if not condition:
        raise Refusal(words)


def unique(pairs):
    members = dict(pairs)
    require(len(members) == len(pairs), "a member of an object is there twice")
    return members


def read_json(octets, words):
    try:
        return json.loads(octets, object_pairs_hook=unique)
    except (ValueError, RecursionError):
        raise Refusal(f"{words} is no JSON") from None


def octets(text):
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, TypeError):
        raise Refusal("a field is no Base64") from None


def digest(data):
    return hashlib.sha256(data).hexdigest()


def seconds(text):
    require(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", text or ""), "a time is not written as it should be")
    return int(time.mktime(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))) - time.timezone


# --- approvers ------------------------------------------------------------------------------------------------------


def lines(text, *headers):
    require(text.endswith(b"\n") and all(0x20 <= octet < 0x7F or octet == 0x0A for octet in text), "a text is damaged")
    all_lines = text.decode("ascii")[:-1].split("\n")
    require(all_lines[0] in headers, f"a text is no {headers[0]}")
    return all_lines


class People:
    """Names with keys, how many of them must agree, which keys are of passkeys, on what terms, and for which apps."""

    def __init__(self, number, members, origin=None, rule=None):
        self.number, self.origin, self.rule = number, origin, rule
        self.keys = {digest(der): der for der, _, _ in members}
        self.passkeys = {digest(der) for der, is_passkey, _ in members if is_passkey}
        self.apps = {digest(der): apps for der, _, apps in members}
        require(1 <= number <= len(self.keys) == len(members) <= 64, "a set of approvers is not one")
        require(bool(self.passkeys) == (origin is not None), "passkeys without terms, or terms without passkeys")
        require(self.agree(self.able(set(self.keys))), "too few approvers of all apps")

    def signers(self, text, signatures):
        found = set()
        for signature in signatures:
            identity = signature["identity"]
            der = self.keys.get(identity)
            if der is None:
                continue
            signed = octets(signature["signature"])
            # A passkey signs by its evidence and in no other way, and no other key signs by that.
            if identity in self.passkeys:
                is_good = is_evidence(signed, text, der, self.origin)
            else:
                is_good = is_signature(signed, text, der)
            if is_good:
                found.add(identity)
        return found

    def able(self, signers, app=None):
        """Those who approve an app; without one, those who approve all, such as a statement, which is about all."""
        return {identity for identity in signers if self.apps[identity] is None or app in self.apps[identity]}

    def agree(self, signers):
        """Whether these are enough: a passkey does not show what it signs, so that another key has to sign as well."""
        others = signers - self.passkeys
        return len(signers) >= self.number and bool(others or self.rule != "key-required")

    def has_unchanged(self, identity, before):
        """Whether somebody signs as before: with the same key and, if it is a passkey's, on the same page."""
        is_passkey = identity in self.passkeys
        return (identity in before.keys and is_passkey == (identity in before.passkeys)
                and (not is_passkey or self.origin == before.origin))


def is_evidence(evidence, text, der, origin):
    """holdfast-passkey-evidence-v1: what a passkey signed on the page of an origin, for a text."""
    require(len(evidence) <= 4096, "the evidence of a passkey is too long")
    parts = lines(evidence, "holdfast-passkey-evidence-v1")
    require(len(parts) == 5, "the evidence of a passkey is damaged")
    key, data, client, signature = (octets(part) for part in parts[1:])
    said = read_json(client, "what a browser wrote")
    require(type(said) is dict, "what a browser wrote is damaged")
    # An approval begins with other words than a sign-in, so that nobody approves by signing in.
    challenge = b"holdfast-passkey-approval-v1:" + hashlib.sha256(text).digest()
    host = re.fullmatch(ORIGIN, origin)[1] or "localhost"
    return (key == der and len(der) in (44, 91)  # Ed25519 or P-256
            and said.get("type") == "webauthn.get" and said.get("origin") == origin
            and said.get("crossOrigin", False) is False and "topOrigin" not in said
            and said.get("challenge") == base64.urlsafe_b64encode(challenge).rstrip(b"=").decode()
            and len(data) >= 37 and data[:32] == hashlib.sha256(host.encode()).digest()
            # Somebody was there whom the authenticator knows, and no new key follows.
            and data[32] & 0x45 == 0x05 and (data[32] & 0x80 or len(data) == 37)
            and is_signature(signature, data + hashlib.sha256(client).digest(), der))


def is_signature(signature, text, der):
    key = serialization.load_der_public_key(der)
    try:
        if isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(signature, text)
        elif isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name in ("secp256r1", "secp384r1"):
            algorithm = hashes.SHA256() if key.curve.name == "secp256r1" else hashes.SHA384()
            key.verify(signature, text, ec.ECDSA(algorithm))
        else:
            return False
    except InvalidSignature:
        return False
    return True


class Statement:
    """holdfast-approvers-v1, -v2 with passkeys, or -v3 with the apps of each: who approves from now on."""

    def __init__(self, text):
        parts = lines(text, "holdfast-approvers-v1", "holdfast-approvers-v2", "holdfast-approvers-v3")
        self.says_apps = parts[0] == "holdfast-approvers-v3"
        self.digest = digest(text)
        self.server, self.index, self.previous = parts[1], int(parts[2]), parts[3]
        number, count = int(parts[4]), int(parts[5])
        may_have_passkeys = parts[0] != "holdfast-approvers-v1"
        members = self.members(parts[6:6 + count], count, may_have_passkeys, self.says_apps)
        rest = parts[6 + count:]
        origin = rule = None
        if parts[0] == "holdfast-approvers-v2" or any(is_passkey for _, is_passkey, _ in members):
            (origin, rule), rest = rest[:2], rest[2:]
            is_rule = rule in ("key-required", "passkeys-only")
            require(is_rule and re.fullmatch(ORIGIN, origin), "other terms of passkeys")
        self.approvers = People(number, members, origin, rule)
        recovery_number, recovery_count = int(rest[0]), int(rest[1])
        members = self.members(rest[2:], recovery_count)
        self.recovery = People(recovery_number, members) if members else None

    @staticmethod
    def members(parts, count, may_have_passkeys=False, says_apps=False):
        """The key of each, whether it is a passkey's, and the apps; None for all."""
        require(len(parts) == count, "a statement of approvers is damaged")
        members = []
        for part in parts:
            words = part.split(" ")
            apps = words.pop(2) if says_apps and len(words) > 2 else "" if says_apps else "*"
            is_passkey = may_have_passkeys and words[2:] == ["passkey"]
            require(len(words) == (3 if is_passkey else 2), "a statement of approvers is damaged")
            names = apps.split(",")
            is_list = (len(apps) <= GREATEST_APPS and names == sorted(set(names))
                       and all(re.fullmatch(APP, name) for name in names))
            require(apps == "*" or is_list, "a statement of approvers is damaged")
            members.append((octets(words[1]), is_passkey, None if apps == "*" else set(names)))
        return members


def approver_chain(request, configuration):
    """The statements from the genesis on, each verified under the one before."""
    chain = []
    require(1 <= len(request["approvers"]) <= GREATEST_STATEMENTS, "there is no statement of approvers")
    for signed in request["approvers"]:
        text = octets(signed["text"])
        statement = Statement(text)
        require(statement.server == configuration["server"], "approvers of another server")
        own = statement.approvers.signers(text, signed["signatures"])
        if not chain:
            require(statement.index == 0 and statement.digest == configuration["genesis"], "another genesis")
            require(len(own) == len(statement.approvers.keys), "a genesis that not all approvers have signed")
        else:
            before, recovery = chain[-1], chain[0].recovery
            require(statement.index == before.index + 1 and statement.previous == before.digest, "a broken chain")
            require(statement.says_apps or not before.says_apps, "approvers without the apps that those before had")
            newcomers = {identity for identity in statement.approvers.keys
                         if not statement.approvers.has_unchanged(identity, before.approvers)}
            # Whoever signs in another way from now on proves that it works, and approves nothing by that.
            agreeing = before.approvers.signers(
                text, [one for one in signed["signatures"] if one["identity"] not in newcomers])
            recovered = recovery and len(recovery.signers(text, signed["signatures"])) >= recovery.number
            has_agreed = before.approvers.agree(before.approvers.able(agreeing))
            require(has_agreed or recovered, "approvers whom those before them have not signed")
            require(newcomers <= own, "an approver who has not signed")
        chain.append(statement)
    return chain


# --- approvals ------------------------------------------------------------------------------------------------------


class Approval:
    """holdfast-approval-v1: what one approver signed."""

    def __init__(self, text):
        parts = lines(text, "holdfast-approval-v1")
        require(len(parts) == 11, "an approval is damaged")
        (self.server, self.app, self.change, self.verdict, base, self.content, self.outlook, self.forced,
         self.approvers, end) = parts[1:]
        self.base, self.end = int(base), seconds(end)
        self.subject = parts[1:4] + parts[5:10]


def verify_approvals(request, configuration, content, now, accepted):
    """Requires that enough people approved this content, in time when it was first seen, and nothing newer is known."""
    chain = approver_chain(request, configuration)
    approvals = [(Approval(octets(one["text"])), one) for one in request["approvals"][:256]]
    require(approvals, "there are no approvals")
    first = approvals[0][0]
    require(first.server == configuration["server"], "approvals for another server")
    require(first.app == configuration["app"] == content["app"], "approvals for another app")
    require(first.content == digest(octets(request["content"])), "approvals of another content")
    require(first.approvers == chain[-1].digest, "approvals under other approvers")
    known = accepted["changes"].get(first.change)
    require(known is None or known["content"] == first.content, "another content for a change that is known")
    require(first.base >= accepted["base"] - 1, "approvals of a change that newer ones have replaced")
    people = chain[-1].approvers
    approving = set()
    for approval, one in approvals:
        require(approval.subject == first.subject, "approvals of different things")
        require(approval.verdict == "approve", "a rejection")
        if known is None and now > approval.end:
            continue
        if people.number > 1 and one["identity"] == request.get("proposer"):
            continue
        approving |= people.able(people.signers(octets(one["text"]), [one]), first.app)
    require(len(approving) >= people.number, f"{len(approving)} valid approvals, and {people.number} are needed")
    require(people.agree(approving), "approvals by passkeys only, and a key that is none is needed")
    if known is None:
        # Whoever kept an old database must not bring back an approver who has left.
        mark = accepted["approvers"]
        require(chain[-1].index >= mark["index"], "approvers who do not count anymore")
        accepted["approvers"] = {"index": chain[-1].index}
        accepted["changes"][first.change] = {"base": first.base, "content": first.content}
        accepted["base"] = max(accepted["base"], first.base)
        # The canary may have a change while everybody has the one before; nothing older is signed again.
        accepted["changes"] = {
            name: one for name, one in accepted["changes"].items() if one["base"] >= accepted["base"] - 1}
    require(now <= seconds(content["end"]), "the content has ended")


# --- what is signed -------------------------------------------------------------------------------------------------


def entries(content):
    """What lists and challenge answers may name: name, fingerprint, last second, depth."""
    end = seconds(content["end"])
    return {
        (host["name"], base64.b64encode(bytes.fromhex(one["fingerprint"])).decode(), min(one["expires"], end),
         one.get("depth", 0))
        for host in content["hosts"] for one in host["certificates"]}


def format_of(content, kind):
    found = [one for one in content["formats"] if one["kind"] == kind]
    require(found, f"the content publishes no {kind}")
    return found[0]


def verify_list(message, request, content, now, accepted):
    format_of(content, "list")
    known = {f"{name}&{fingerprint}&{expires}".encode() for name, fingerprint, expires, _ in entries(content)}
    require(message in known, "an entry that the content does not have")


def verify_challenge(message, request, content, now, accepted):
    format_of(content, "challenge")
    challenge, separator, text = message.partition(b"&")
    require(separator and re.fullmatch(rb"[A-Za-z0-9+/]{22,43}={0,2}", challenge), "no challenge")
    body = read_json(text, "the body")
    require(type(body) is dict, "an answer that is no object")
    if set(body) == {"status", "responseObject"}:
        verify_error(body)
        return
    if set(body) == {"publicKey"}:
        require(octets(body["publicKey"]) == octets(request["publicKey"])[-65:], "another public key")
        return
    require({"timestamp", "fingerprints"} <= set(body) <= {
        "timestamp", "fingerprints", "verifyVersionResult", "domainsConfig"}, "an answer with other fields")
    require(type(body["timestamp"]) is int and abs(body["timestamp"] - now) <= SLACK, "an answer for another time")
    require(type(body["fingerprints"]) is list, "entries that are no list")
    said = set()
    for one in body["fingerprints"]:
        require({"name", "fingerprint", "expires"} <= set(one) <= {"name", "fingerprint", "expires", "depth"},
                "an entry with other fields")
        require(type(one["expires"]) is int and type(one.get("depth", 0)) is int, "an entry with another expiry")
        entry = (one["name"], one["fingerprint"], one["expires"], one.get("depth", 0))
        require(entry not in said, "an entry that is there twice")
        said.add(entry)
    known = entries(content)
    require(said <= known, "an entry that the content does not have")
    require({one for one in known if one[2] > now + SLACK} <= said, "an answer in which entries are missing")
    domains = content.get("domains")
    wanted = domains and {
        "sslPinningRequiredForUnlisted": domains["unlistedNeedPins"],
        "domains": [{"name": one["name"], "sslPinningRequired": one["needsPins"]} for one in domains["domains"]]}
    # Equality of Python takes 1 for true, and a client may not.
    require(json.dumps(body.get("domainsConfig"), sort_keys=True) == json.dumps(wanted or None, sort_keys=True)
            and ("domainsConfig" in body) == bool(wanted), "another domainsConfig")
    if "verifyVersionResult" in body:
        require(body["verifyVersionResult"] == {"update": "NOT_REQUIRED"}, "a verdict on a version, of which nothing is known")


# What the server says about a field of a request, by the name of the field.
HINTS = {
    "appName": {"The name of the app.", "Once."}, "appVersion": {"A version such as 3.1.2.", "Once."},
    "osVersion": {"A version such as 14.5.1, or one number such as 31.", "Once."},
    "platform": {"ANDROID or IOS.", "Once."},
}
GREATEST_ECHO = 256  # octets of a request that an error repeats


def verify_error(body):
    """An error about the fields of a request, the only one of which clients get a signature."""
    said = body["responseObject"]
    require(body["status"] == "ERROR" and type(said) is dict and {"code", "message"} <= set(said)
            and set(said) <= {"code", "message", "violations"}, "an error with something else in it")
    require((said["code"], said["message"]) == ("ERROR_REQUEST", "The request is not valid."), "an error with other words")
    violations = said.get("violations", [])
    require(type(violations) is list and len(violations) <= len(HINTS), "an error with other violations")
    for one in violations:
        require({"fieldName", "hint"} <= set(one) <= {"fieldName", "invalidValue", "hint"},
                "an error with other violations")
        require(one["hint"] in HINTS.get(one["fieldName"], ()), "an error with other words")
        value = one.get("invalidValue", "")
        require(type(value) is str and len(value) <= GREATEST_ECHO, "an error that repeats too much")


def elements(der):
    """The elements of DER one after another: tag and content; lengths of two octets at most."""
    while der:
        require(len(der) >= 2, "damaged DER")
        tag, length, at = der[0], der[1], 2
        if length & 0x80:
            count = length & 0x7F
            require(1 <= count <= 2 and len(der) >= 2 + count, "damaged DER")
            length, at = int.from_bytes(der[2:2 + count], "big"), 2 + count
        require(len(der) >= at + length, "damaged DER")
        yield tag, der[at:at + length]
        der = der[at + length:]


def verify_trust_server(message, request, content, now, accepted):
    customer = format_of(content, "trust-server")["customer"]
    text = octets(request["document"])
    attributes = list(elements(message))
    require(len(attributes) == 1 and attributes[0][0] == 0x31, "no attributes of CMS")
    values = {}
    for tag, attribute in elements(attributes[0][1]):
        require(tag == 0x30, "no attributes of CMS")
        (_, name), (_, value) = list(elements(attribute))
        values[name.hex()] = list(elements(value))[0][1]
    content_type, signing_time, message_digest = "2a864886f70d010903", "2a864886f70d010905", "2a864886f70d010904"
    require(set(values) == {content_type, signing_time, message_digest}, "other attributes of CMS")
    require(values[content_type].hex() == "2a864886f70d010701", "another type of content")
    signed = re.fullmatch(rb"(\d{2}|\d{4})(\d{10})Z", values[signing_time])
    require(signed, "a signing time that is not written as it should be")
    # RFC 5652 11.3: UTCTime until 2049.
    century = b"" if len(signed[1]) == 4 else b"20" if signed[1] < b"50" else b"19"
    at = int(time.mktime(time.strptime((century + signed[1] + signed[2]).decode(), "%Y%m%d%H%M%S"))) - time.timezone
    require(abs(at - now) <= SLACK, "a signature of another time")
    require(values[message_digest] == hashlib.sha256(text).digest(), "the digest of another document")
    document = read_json(text, "the document")
    require(set(document) == {"customer", "hashes", "timestamp"} and document["customer"] == customer,
            "a document of another customer")
    require(type(document["timestamp"]) is int and abs(document["timestamp"] - now) <= SLACK,
            "a document for another time")
    known = {(host["name"], str(host["port"])): host for host in content["hosts"]}
    said = set()
    for host in document["hashes"]:
        require(set(host) == {"hostname", "port", "fp", "pk"}, "a host with other fields")
        place = (host["hostname"], host["port"])
        require(place in known and place not in said, "a host that the content does not have")
        said.add(place)
        certificates = {one["fingerprint"] for one in known[place]["certificates"]}
        lasting = {one["fingerprint"] for one in known[place]["certificates"] if one["expires"] > now + SLACK}
        keys = {one["pin"] for one in known[place]["keys"] if one["state"] != "candidate"}
        require(type(host["fp"]) is list and type(host["pk"]) is list, "fingerprints or keys that are no list")
        require(set(host["fp"]) <= certificates, "a certificate that the content does not have")
        require(lasting <= set(host["fp"]), "a host in which certificates are missing")
        pins = [digest(octets(key)) for key in host["pk"]]
        require(set(pins) == keys, "other keys than those of the content")
        require(len(pins) == len(keys) and len(host["fp"]) == len(set(host["fp"])), "a pin that is there twice")
    require(said == set(known), "a document in which hosts are missing")


def verify_metadata(message, request, content, now, accepted):
    format_of(content, "repository")
    signed = read_json(message, "the metadata")
    require(type(signed) is dict and set(signed) == {"_type", "spec_version", "version", "expires", "meta"},
            "metadata with other fields")
    role = signed["_type"]
    # A repository may have one key for both, and two programs with it: each is asked for both. Its root says which count.
    require(role in ("snapshot", "timestamp"), "no snapshot or timestamp")
    require(re.fullmatch(r"1\.0\.\d{1,3}", signed["spec_version"]), "metadata of another specification")
    require(type(signed["version"]) is int and signed["version"] > 0, f"a {role} without a version")
    require(seconds(signed["expires"]) >= now - SLACK, f"a {role} that has expired")
    require(seconds(signed["expires"]) <= seconds(content["end"]) + 1, f"a {role} that outlasts the content")
    # The same version again: the server did not get as far as publishing the one before.
    require(signed["version"] >= accepted["versions"].get(role, 0), f"an older {role}")
    file = "targets.json" if role == "snapshot" else "snapshot.json"
    require(type(signed["meta"]) is dict and set(signed["meta"]) == {file}, f"a {role} that names other files")
    named = signed["meta"][file]
    require(set(named) == {"version", "length", "hashes"} and set(named["hashes"]) == {"sha256"}
            and type(named["version"]) is int and type(named["length"]) is int
            and re.fullmatch(r"[0-9a-f]{64}", named["hashes"]["sha256"]), f"a {role} with other facts of a file")
    # Clients are not led back, whatever version the server names.
    require(named["version"] >= accepted.setdefault("files", {}).get(file, 1), f"a {role} with an older {file}")
    accepted["versions"][role] = signed["version"]
    accepted["files"][file] = named["version"]


VERIFIERS = {
    "list": ("fingerprints", verify_list), "challenge": ("fingerprints", verify_challenge),
    "trust-server": ("trust-server", verify_trust_server), "snapshot": ("snapshot", verify_metadata),
    "timestamp": ("timestamp", verify_metadata),
}


def signature(message, use, configuration):
    if "command" in configuration:
        return subprocess.run(configuration["command"], input=message, capture_output=True, check=True).stdout
    with open(configuration["key"], "rb") as file:
        key = serialization.load_pem_private_key(file.read(), None)
    if isinstance(key, ed25519.Ed25519PrivateKey):
        return key.sign(message)
    if isinstance(key, rsa.RSAPrivateKey):
        if use == "trust-server":
            return key.sign(message, padding.PKCS1v15(), hashes.SHA256())
        return key.sign(message, padding.PSS(padding.MGF1(hashes.SHA256()), hashes.SHA256.digest_size), hashes.SHA256())
    algorithm = hashes.SHA384() if key.curve.name == "secp384r1" else hashes.SHA256()
    return key.sign(message, ec.ECDSA(algorithm))


# --- the program ----------------------------------------------------------------------------------------------------


def answer(data, configuration, accepted, now):
    require(len(data) <= GREATEST_REQUEST, "the request is too long")
    request = read_json(data, "the request")
    require(request["format"] == "holdfast-signing-request-v1", "a request of another version")
    require(request["server"] == configuration["server"], "a request of another server")
    require(request["app"] == configuration["app"], "a request for another app")
    require(request["use"] in VERIFIERS, "another use")
    purpose, verify = VERIFIERS[request["use"]]
    require(request["purpose"] == purpose, "a use that this key is not for")
    content = read_json(octets(request["content"]), "the content")
    message = octets(request["message"])
    verify_approvals(request, configuration, content, now, accepted)
    verify(message, request, content, now, accepted)
    return signature(message, request["use"], configuration), request["use"]


def main():
    os.environ["TZ"] = "UTC"
    time.tzset()
    try:
        with open(sys.argv[1], "rb") as file:
            configuration = json.load(file)
        lock = open(configuration["state"] + ".lock", "wb")
        # One request at a time reads and writes what was accepted.
        fcntl.flock(lock, fcntl.LOCK_EX)
        accepted = read_state(configuration["state"])
    except (IndexError, OSError, ValueError, KeyError):
        return 2
    now = int(time.time())
    signed = None
    try:
        signed, words = answer(sys.stdin.buffer.read(GREATEST_REQUEST + 1), configuration, accepted, now)
    except Refusal as refusal:
        words = f"refused: {refusal}"
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError):
        words = "refused: the request is damaged"
    except (OSError, subprocess.CalledProcessError):
        words = "the key cannot be used"
    if "log" in configuration:
        with open(configuration["log"], "a", encoding="ascii") as log:
            log.write(f"{now} {words}\n")
    if signed is None:
        return 1 if words.startswith("refused") else 2
    write_state(configuration["state"], accepted)
    sys.stdout.buffer.write(signed)
    return 0


def read_state(path):
    try:
        with open(path, "rb") as file:
            return json.load(file)
    except FileNotFoundError:
        return {"changes": {}, "base": 0, "approvers": {"index": 0}, "versions": {}}


def write_state(path, accepted):
    """Before the signature leaves: what was signed is never forgotten."""
    with open(path + ".new", "wb") as file:
        file.write(json.dumps(accepted).encode())
        file.flush()
        os.fsync(file.fileno())
    os.replace(path + ".new", path)


sys.exit(main())
