"""Reads the vectors of the server as software that shares no code with it.

usage: check_vectors.py FOLDER
"""
import base64
import hashlib
import hmac
import json
import pathlib
import re
import sys

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF, HKDFExpand

FOLDER = pathlib.Path(sys.argv[1])
checks = 0


def load(name):
    return json.loads((FOLDER / name).read_text("utf-8"))


def check(holds, what):
    global checks
    checks += 1
    if not holds:
        sys.exit(f"does not hold: {what}")


def sha256(text):
    return hashlib.sha256(text.encode("utf-8") if isinstance(text, str) else text).hexdigest()


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def approvals():
    vectors = load("server-approval.json")
    keys = {}
    for key in vectors["keys"]:
        der = base64.b64decode(key["subjectPublicKeyInfo"], validate=True)
        check(sha256(der) == key["identity"], f"identity of {key['name']}")
        keys[key["identity"]] = serialization.load_der_public_key(der)
    for signed in vectors["approvals"] + vectors["chain"]:
        check(sha256(signed["text"]) == signed["sha256"], "digest of a text")
        for one in signed["signatures"]:
            # Raises an exception if the signature is not by this key.
            keys[one["identity"]].verify(base64.b64decode(one["signature"]), signed["text"].encode())
            check(True, "signature")
    genesis, following = (one["text"].split("\n") for one in vectors["chain"])
    check(genesis[0] == following[0] == "holdfast-approvers-v1", "header of statements")
    check(genesis[3] == "0" * 64 and following[3] == vectors["chain"][0]["sha256"], "each names the one before")
    identities = [sha256(base64.b64decode(line.split(" ")[1])) for line in following[6:6 + int(following[5])]]
    check(identities == sorted(identities), "approvers are sorted")
    check({one["identity"] for one in vectors["chain"][0]["signatures"]}
          == {sha256(base64.b64decode(line.split(" ")[1])) for line in genesis[6:6 + int(genesis[5])]},
          "all approvers signed the genesis")
    for approval in vectors["approvals"]:
        lines = approval["text"].split("\n")
        check(len(lines) == 12 and lines[11] == "", "eleven lines")
        check(lines[9] == vectors["chain"][1]["sha256"], "the approvers that count")


class Refused(Exception):
    """Why a chain of approvers does not count."""


def demand(holds, code):
    if not holds:
        raise Refused(code)


# Points of Ed25519 under which anybody can sign, by their y: 0, 1 and p - 1, and what is not below p.
P25519 = 2**255 - 19


def approver_set(lines, says_apps=False):
    """Reads a number, a count and as many approvers; returns the number, and names, keys and apps in their order."""
    number, count = (int(lines.pop(0)) for _ in range(2))
    members = []
    for _ in range(count):
        name, text, *apps = lines.pop(0).split(" ")
        demand(len(apps) == int(says_apps), "malformed")
        apps = apps[0] if says_apps else "*"
        names = [] if apps == "*" else apps.split(",")
        demand(len(apps) <= 1024 and names == sorted(set(names)), "malformed")
        demand(all(re.fullmatch("[a-zA-Z0-9][a-zA-Z0-9_-]{1,254}", one) for one in names), "malformed")
        der = base64.b64decode(text, validate=True)
        y = int.from_bytes(der[12:], "little") & (2**255 - 1)
        demand(1 <= len(name) <= 64 and 1 < y < P25519 - 1, "malformed")
        members.append((name, der, apps))
    return number, members


def approver_statement(text):
    """Reads a statement in its one spelling."""
    demand(text.endswith("\n") and all(0x20 <= ord(one) <= 0x7E or one == "\n" for one in text), "malformed")
    lines = text.split("\n")[:-1]
    header, server, index, previous = (lines.pop(0) for _ in range(4))
    demand(header in ("holdfast-approvers-v1", "holdfast-approvers-v3") and str(int(index)) == index, "malformed")
    says_apps = header == "holdfast-approvers-v3"
    number, approvers = approver_set(lines, says_apps)
    recovery_number, recovery = approver_set(lines)
    demand(number >= 1 and not lines, "malformed")
    demand((index == "0") == (previous == "0" * 64) and (index == "0" or not recovery), "malformed")
    for count, members in ((number, approvers), (recovery_number, recovery)):
        identities = [sha256(der) for _, der, _ in members]
        names = {name for name, _, _ in members}
        demand(len(set(identities)) == len(names) == len(members) >= count, "invalidValue")
        demand(identities == sorted(identities), "malformed")
    apps = {sha256(der): apps for _, der, apps in approvers}
    # A statement is about all apps, and every app there will be has enough people.
    demand(list(apps.values()).count("*") >= number, "invalidValue")
    return {
        "server": server, "index": int(index), "previous": previous, "number": number, "saysApps": says_apps,
        "approvers": {sha256(der): der for _, der, _ in approvers}, "apps": apps, "recoveryNumber": recovery_number,
        "recovery": {sha256(der): der for _, der, _ in recovery}}


def approver_chain(statements, vectors, known):
    """The last statement of a chain that counts."""
    def signers(signed, keys):
        found = set()
        for one in signed["signatures"]:
            demand(one["identity"] in keys, "invalidSignature")
            try:
                serialization.load_der_public_key(keys[one["identity"]]).verify(
                    base64.b64decode(one["signature"]), signed["text"].encode())
            except InvalidSignature:
                raise Refused("invalidSignature") from None
            found.add(one["identity"])
        return found

    genesis = approver_statement(statements[0]["text"])
    demand(genesis["index"] == 0 and sha256(statements[0]["text"]) == vectors["genesis"], "brokenChain")
    demand(genesis["server"] == vectors["server"], "notForThis")
    demand(signers(statements[0], genesis["approvers"]) == set(genesis["approvers"]), "notApproved")
    before, digests = genesis, [vectors["genesis"]]
    for signed in statements[1:]:
        following = approver_statement(signed["text"])
        demand(following["server"] == before["server"], "notForThis")
        demand(following["index"] == len(digests) and following["previous"] == digests[-1], "brokenChain")
        demand(following["saysApps"] or not before["saysApps"], "invalidValue")
        found = signers(signed, {**before["approvers"], **genesis["recovery"], **following["approvers"]})
        old, new = set(before["approvers"]), set(following["approvers"])
        recovered = len(found & set(genesis["recovery"])) >= genesis["recoveryNumber"] > 0
        agreeing = {one for one in found & old if before["apps"][one] == "*"}
        demand(recovered or len(agreeing) >= before["number"], "notApproved")
        demand(new - old <= found, "notApproved")
        before = following
        digests.append(sha256(signed["text"]))
    demand(known is None or digests[known["index"]:][:1] == [known["digest"]], "brokenChain")
    return before


def approvers():
    vectors = load("server-approvers.json")
    for key in vectors["keys"]:
        check(sha256(base64.b64decode(key["subjectPublicKeyInfo"])) == key["identity"], f"identity of {key['name']}")
    for signed in vectors["statements"]:
        check(sha256(signed["text"]) == signed["sha256"], "digest of a statement")

    def outcome(case):
        statements = [vectors["statements"][place] for place in case["chain"]]
        return approver_chain(statements, vectors, case.get("known"))

    for case in vectors["accepted"]:
        last = outcome(case)
        check(list(last["approvers"]) == case["approvers"] and last["number"] == case["number"],
              f"the approvers of {case['chain']}")
        check(case.get("apps") == (list(last["apps"].values()) if last["saysApps"] else None),
              f"the apps of {case['chain']}")
    for case in vectors["refused"]:
        try:
            outcome(case)
        except Refused as reason:
            check(str(reason) == case["code"], f"why {case['chain']} is refused: {case['why']}, not {reason}")
        else:
            check(False, f"{case['chain']} is refused: {case['why']}")


def contents():
    vectors = load("server-content.json")
    for content in vectors["contents"]:
        check(sha256(content["text"]) == content["sha256"], "digest of a content")
        check(canonical(json.loads(content["text"])) == content["text"], "a content is canonical")


def audit():
    vectors = load("server-audit.json")
    previous = "0" * 64
    for index, (text, head) in enumerate(zip(vectors["entries"], vectors["heads"])):
        entry = json.loads(text)
        check(canonical(entry) == text, "an entry is canonical")
        check(entry["index"] == index and entry["previous"] == previous, "an entry follows the one before")
        previous = sha256(text)
        check(head == f"{index + 1} {previous}", "head")


def sealed_key():
    vector = load("server-sealed-key.json")
    secret = base64.b64decode(vector["secretFile"].split(" ")[1])

    def derived(info):
        return HKDF(hashes.SHA256(), 32, salt=None, info=info).derive(secret)

    check(derived(b"holdfast-secret-id-v1")[:8].hex() == vector["secretID"], "id of the secret")
    sealed = base64.b64decode(vector["sealed"])
    opened = AESGCM(derived(b"holdfast-seal-v1")).decrypt(sealed[:12], sealed[12:], vector["associatedData"].encode())
    check(opened.decode() == vector["opened"], "the sealed key")
    public = serialization.load_pem_private_key(opened, None).public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    check(base64.b64encode(public).decode() == vector["publicKey"], "the public key")
    check(vector["associatedData"].split("\n")[5] == vector["publicKey"], "the public key is authenticated")


def challenge():
    vector = load("challenge.json")
    for case in vector["answers"]:
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), base64.b64decode(vector["publicKey"]))
        key.verify(base64.b64decode(case["signature"]), f"{case['challenge']}&{case['body']}".encode(),
                   ec.ECDSA(hashes.SHA256()))
        check(True, "signature of an answer")


def labeled_extract(suite, salt, label, value):
    """RFC 9180 4, with HKDF-SHA256."""
    return hmac.new(salt or bytes(32), b"HPKE-v1" + suite + label + value, "sha256").digest()


def labeled_expand(suite, key, label, info, length):
    return HKDFExpand(hashes.SHA256(), length, length.to_bytes(2, "big") + b"HPKE-v1" + suite + label + info).derive(key)


def hpke_messages(private, encapsulated, info, psk, psk_id, messages):
    """Opens the messages of a context of RFC 9180 5.1.2: DHKEM(P-256, HKDF-SHA256), HKDF-SHA256, AES-256-GCM, mode 1."""
    kem, suite = b"KEM" + bytes([0, 16]), b"HPKE" + bytes([0, 16, 0, 1, 0, 2])
    point = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), encapsulated)
    own = private.public_key().public_bytes(
        serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint)
    shared = labeled_extract(kem, b"", b"eae_prk", private.exchange(ec.ECDH(), point))
    shared = labeled_expand(kem, shared, b"shared_secret", encapsulated + own, 32)
    context = bytes([1]) + labeled_extract(suite, b"", b"psk_id_hash", psk_id)
    context += labeled_extract(suite, b"", b"info_hash", info)
    secret = labeled_extract(suite, shared, b"secret", psk)
    key = labeled_expand(suite, secret, b"key", context, 32)
    nonce = int.from_bytes(labeled_expand(suite, secret, b"base_nonce", context, 12), "big")
    opened = b""
    for number, message in enumerate(messages):
        mark = b"last" if number + 1 == len(messages) else b"more"
        opened += AESGCM(key).decrypt((nonce ^ number).to_bytes(12, "big"), message, mark)
    return opened


def backup():
    vector = load("server-backup.json")
    private = serialization.load_pem_private_key(vector["recipientPrivateKey"].encode(), None)
    secret = base64.b64decode(vector["secretFile"].split(" ")[1])

    def derived(info):
        return HKDF(hashes.SHA256(), 32, salt=None, info=info).derive(secret)

    file = base64.b64decode(vector["backup"], validate=True)
    name, recipient, secret_id, encapsulated, body = file.split(b"\n", 4)
    check(name == b"holdfast-backup-v1", "header of a backup")
    check(recipient.decode() == sha256(base64.b64decode(vector["recipient"])), "recipient of a backup")
    check(bytes.fromhex(secret_id.decode()) == derived(b"holdfast-secret-id-v1")[:8], "secret of a backup")
    messages = [body[start:start + 16400] for start in range(0, len(body), 16400)]
    check(len(messages) > 1, "several messages")

    def opened(messages):
        return hpke_messages(private, base64.b64decode(encapsulated), b"\n".join([name, recipient, secret_id, b""]),
                             derived(b"holdfast-backup-v1"), bytes.fromhex(secret_id.decode()), messages)

    manifest, database = opened(messages).split(b"\n", 1)
    check(manifest.decode() == vector["manifest"] == canonical(json.loads(manifest)), "a manifest is canonical")
    check(sha256(database) == vector["databaseSHA256"] == json.loads(manifest)["sha256"], "digest of a database")
    check(len(database) == json.loads(manifest)["size"], "size of a database")
    for wrong in (messages[:-1], messages[::-1], messages[1:], messages + [messages[-1]]):
        try:
            opened(wrong)
        except InvalidTag:
            check(True, "order and end of a backup")
        else:
            check(False, "order and end of a backup")


def webhook():
    vector = load("server-webhook.json")
    notice = json.loads(vector["body"])
    check(canonical(notice) == vector["body"], "a notice is canonical")
    facts = {name: value for name, value in notice.items() if name not in ("id", "words")}
    check(notice["id"] == vector["webhook-id"] == sha256(canonical(facts))[:32], "id of a notice")
    key = base64.b64decode(vector["secret"].removeprefix("whsec_"), validate=True)
    signed = ".".join([vector["webhook-id"], vector["webhook-timestamp"], vector["body"]])
    code = base64.b64encode(hmac.digest(key, signed.encode(), "sha256")).decode()
    check(hmac.compare_digest(vector["webhook-signature"], f"v1,{code}"), "signature of a notice")


def audit_head():
    vector = load("server-audit-head.json")
    secret = base64.b64decode(vector["secretFile"].split(" ")[1])

    def derived(purpose):
        return HKDF(hashes.SHA256(), 32, salt=None, info=purpose).derive(secret)

    check(derived(b"holdfast-secret-id-v1")[:8].hex() == vector["secretID"], "id of a secret")
    for one in vector["heads"]:
        text = "".join(f"{line}\n" for line in ("holdfast-audit-head-v1", vector["server"], one["head"]))
        code = hmac.new(derived(b"holdfast-audit-head-v1"), text.encode(), "sha256").hexdigest()
        check(hmac.compare_digest(code, one["code"]), "signature of a head")


def urlsafe(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def passkey_approval(evidence, text, origin):
    """Why evidence is no approval of a text; None if it is one."""
    lines = evidence.split("\n")
    if len(lines) != 6 or lines[0] != "holdfast-passkey-evidence-v1" or lines[5]:
        return "malformed"
    der, data, client, signature = (base64.b64decode(line, validate=True) for line in lines[1:5])
    said = json.loads(client)
    expected = b"holdfast-passkey-approval-v1:" + bytes.fromhex(sha256(text))
    if (said["type"], urlsafe(said["challenge"]), said["origin"]) != ("webauthn.get", expected, origin):
        return "notForThis"
    if said.get("crossOrigin") or "topOrigin" in said:
        return "notForThis"
    if data[:32].hex() != sha256(origin.removeprefix("https://").split(":")[0]):
        return "notForThis"
    if data[32] & 0x05 != 0x05:
        return "userNotVerified"
    key, signed = serialization.load_der_public_key(der), data + hashlib.sha256(client).digest()
    try:
        if isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(signature, signed, ec.ECDSA(hashes.SHA256()))
        else:
            key.verify(signature, signed)
    except InvalidSignature:
        return "invalidSignature"
    return None


def passkeys():
    vector, foreign = load("server-passkey.json"), load("server-foreign-passkey.json")
    for evidence in vector["accepted"]:
        check(passkey_approval(evidence, vector["text"], vector["origin"]) is None, "an approval by a passkey")
    for one in vector["refused"]:
        check(passkey_approval(one["evidence"], vector["text"], vector["origin"]) == one["code"], one["why"])
    for one in foreign["passkeys"]:
        check(passkey_approval(one["evidence"], foreign["text"], foreign["origin"]) is None, one["algorithm"])
    statement = vector["statement"]
    lines = statement["text"].split("\n")
    check(lines[0] == "holdfast-approvers-v2" and sha256(statement["text"]) == statement["sha256"], "a statement")
    check(lines[8:10] == [vector["origin"], "key-required"], "terms of passkeys")
    members = {}
    for line in lines[6:8]:
        name, key, *mark = line.split(" ")
        members[sha256(base64.b64decode(key, validate=True))] = (key, mark)
    check(list(members) == sorted(members), "approvers are sorted")
    for one in statement["signatures"]:
        key, mark = members.pop(one["identity"])
        signature = base64.b64decode(one["signature"], validate=True)
        if mark == ["passkey"]:
            evidence = signature.decode()
            check(evidence.split("\n")[1] == key, "the key of evidence")
            check(passkey_approval(evidence, statement["text"], vector["origin"]) is None, "a statement by a passkey")
        else:
            serialization.load_der_public_key(base64.b64decode(key)).verify(signature, statement["text"].encode())
    check(not members, "all approvers signed")
    for one in [vector["registration"]] + foreign["passkeys"]:
        key = one["subjectPublicKeyInfo"]
        check(sha256(base64.b64decode(key, validate=True)) == one["identity"], "identity of a passkey")


for part in (approvals, approvers, contents, audit, sealed_key, challenge, backup, webhook, audit_head,
             passkeys):
    part()
print(f"{checks} checks hold")
