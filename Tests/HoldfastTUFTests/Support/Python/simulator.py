"""Shows repositories, honest and hostile, to a client, and says what it made of them.

usage: simulator.py [--only WORD] CLIENT [ARGUMENT...]

CLIENT has the command line of `holdfastctl tuf`. A line for each scenario: `ok NAME`, or `FAILED NAME: why`. Exit code 1
if one failed.
"""
import json
import os
import subprocess
import sys
import tempfile

from securesystemslib.signer import CryptoSigner

from repository import Repository, Server

SCENARIOS = []


def scenario(function):
    SCENARIOS.append(function)
    return function


class Client:
    def __init__(self, command, server, name, repository):
        self.command, self.server, self.name, self.repository = command, server, name, repository
        self.folder = tempfile.TemporaryDirectory()
        self.metadata, self.targets = (os.path.join(self.folder.name, part) for part in ["metadata", "targets"])
        os.mkdir(self.metadata)
        os.mkdir(self.targets)
        self.said = ""

    def run(self, *arguments):
        del self.repository.requests[:]
        done = subprocess.run([*self.command, "--metadata-dir", self.metadata, *arguments], capture_output=True, timeout=60)
        self.said = done.stderr.decode()
        return done.returncode

    def init(self):
        root = os.path.join(self.folder.name, "root.json")
        with open(root, "wb") as file:
            file.write(self.repository.published["root"][1])
        status = self.run("init", root)
        same(self.repository.requests, [], "init asks for nothing")
        return status

    def refresh(self):
        return self.run("--metadata-url", self.server.url(self.name, "metadata"), "refresh")

    def download(self, *names):
        options = [part for name in names for part in ["--target-name", name]]
        return self.run(
            "--metadata-url", self.server.url(self.name, "metadata") + "/", *options, "--target-dir", self.targets,
            "--target-base-url", self.server.url(self.name, "targets"), "download")

    def versions(self):
        found = {}
        for name in sorted(os.listdir(self.metadata)):
            if name.endswith(".json"):
                with open(os.path.join(self.metadata, name)) as file:
                    found[name.removesuffix(".json")] = json.load(file)["signed"]["version"]
        return found

    def artifacts(self):
        found = []
        for name in sorted(os.listdir(self.targets)):
            with open(os.path.join(self.targets, name), "rb") as file:
                found.append(file.read())
        return found

    def expect(self, status, expected, what):
        same(status, expected, f"{what} ({self.said.strip()[:300]})")


def same(found, expected, what):
    if found != expected:
        raise AssertionError(f"{what}: expected {expected}, found {found}")


FIRST = ["2.root.json", "timestamp.json", "1.snapshot.json", "1.targets.json"]
NOTHING_NEW = ["2.root.json", "timestamp.json"]


@scenario
def honest(repository, client):
    client.expect(client.init(), 0, "init")
    client.expect(client.refresh(), 0, "refresh")
    same(repository.requests, FIRST, "requests")
    same(client.versions(), {"root": 1, "snapshot": 1, "targets": 1, "timestamp": 1}, "versions")
    for role in ["timestamp", "snapshot", "targets"]:
        with open(os.path.join(client.metadata, role + ".json"), "rb") as file:
            same(file.read(), repository.published[role][1], "octets of " + role)
    client.expect(client.refresh(), 0, "refresh again")
    same(repository.requests, NOTHING_NEW, "requests of a refresh with nothing new")


@scenario
def inconsistent_snapshots(repository, client):
    repository.root.consistent_snapshot = False
    repository.published.clear()
    repository.publish("root", "targets", "snapshot", "timestamp")
    repository.add("a/b", b"content")
    repository.publish_all()
    client.init()
    client.expect(client.download("a/b"), 0, "download")
    same(repository.requests, ["2.root.json", "timestamp.json", "snapshot.json", "targets.json", "a/b"], "requests")


@scenario
def keys_of_all_kinds(repository, client):
    client.init()
    signers = [
        CryptoSigner.generate_ed25519(), CryptoSigner.generate_ecdsa(), CryptoSigner.generate_rsa(),
        CryptoSigner.generate_rsa(scheme="rsa-pkcs1v15-sha256"),
    ]
    old = repository.signers["root"]
    repository.rotate("root", old + signers, threshold=5)
    repository.publish("root")
    client.expect(client.refresh(), 0, "refresh")
    same(client.versions()["root"], 2, "root")
    for signer in signers:
        def spoil(document):
            for signature in document["signatures"]:
                if signature["keyid"] == signer.public_key.keyid:
                    digit = signature["sig"][-9]
                    signature["sig"] = signature["sig"][:-9] + ("0" if digit != "0" else "1") + signature["sig"][-8:]
        repository.publish("root")
        good = repository.published["root"][3]
        repository.change("root", spoil)
        client.expect(client.refresh(), 1, "refresh with a wrong signature")
        same(client.versions()["root"], 2, "root")
        repository.published["root"].pop(3)
        repository.root.version = 2
    repository.published["root"][3] = good
    client.expect(client.refresh(), 0, "refresh")


@scenario
def unknown_fields(repository, client):
    client.init()
    repository.root.unrecognized_fields["ключ \"x\" \\ \u2028"] = {"b": [1, None, True, "é\n\t\u0007"], "a": {}}
    repository.root.keys[repository.signers["root"][0].public_key.keyid].unrecognized_fields["x"] = "y"
    repository.publish("root")
    repository.targets.unrecognized_fields["\U0001F600\uFF61"] = {"\U0001F600": 1, "\uFF61": 2}
    repository.add("x", b"")
    repository.targets.targets["x"].unrecognized_fields["custom"] = {"n": -9007199254740991}
    repository.publish_all()
    client.expect(client.refresh(), 0, "refresh")
    same(client.versions()["root"], 2, "root")


@scenario
def root_rotation(repository, client):
    client.init()
    for _ in range(5):
        old = repository.signers["root"]
        new = repository.rotate("root", [CryptoSigner.generate_ed25519() for _ in range(2)], threshold=2)
        repository.signers["root"] = old + new
        repository.publish("root")
        repository.signers["root"] = new
    client.expect(client.refresh(), 0, "refresh")
    same(client.versions()["root"], 6, "root")
    repository.rotate("root")
    repository.publish("root")
    client.expect(client.refresh(), 1, "refresh to a root that the keys before have not signed")
    same(client.versions()["root"], 6, "root")


@scenario
def expired_root(repository, client):
    client.init()
    repository.expire("root", days=-1)
    repository.publish("root")
    client.expect(client.refresh(), 1, "refresh")
    same(client.versions(), {"root": 2}, "versions")


def expired(role, versions):
    def run(repository, client):
        client.init()
        repository.expire(role, days=-1)
        repository.publish_all()
        client.expect(client.refresh(), 1, "refresh")
        same(client.versions(), versions, "versions")
    run.__name__ = "expired_" + role
    return scenario(run)


expired("timestamp", {"root": 1})
expired("snapshot", {"root": 1, "timestamp": 2})
expired("targets", {"root": 1, "snapshot": 2, "timestamp": 2})


def unsigned(role, versions):
    def run(repository, client):
        client.init()
        repository.signers[role] = [CryptoSigner.generate_ed25519()]
        repository.publish_all()
        client.expect(client.refresh(), 1, "refresh")
        same(client.versions(), versions, "versions")
    run.__name__ = "unsigned_" + role
    return scenario(run)


unsigned("timestamp", {"root": 1})
unsigned("snapshot", {"root": 1, "timestamp": 2})
unsigned("targets", {"root": 1, "snapshot": 2, "timestamp": 2})


@scenario
def hashes_of_metadata(repository, client):
    client.init()
    repository.describes_files = True
    repository.publish_all()
    client.expect(client.refresh(), 0, "refresh")
    repository.publish("targets")
    repository.snapshot.meta["targets.json"].hashes["sha256"] = "0" * 64
    repository.publish("snapshot", "timestamp")
    client.expect(client.refresh(), 1, "refresh")
    same(client.versions(), {"root": 1, "snapshot": 3, "targets": 2, "timestamp": 3}, "versions")


@scenario
def timestamp_rollback(repository, client):
    client.init()
    repository.publish("timestamp")
    client.expect(client.refresh(), 0, "refresh")
    repository.published["timestamp"].pop(2)
    client.expect(client.refresh(), 1, "refresh")
    same(client.versions()["timestamp"], 2, "timestamp")


@scenario
def snapshot_rollback(repository, client):
    client.init()
    repository.publish("snapshot", "timestamp")
    client.expect(client.refresh(), 0, "refresh")
    repository.timestamp.snapshot_meta.version = 1
    repository.publish("timestamp")
    client.expect(client.refresh(), 1, "refresh")
    same(repository.requests, NOTHING_NEW, "requests")
    same((client.versions()["timestamp"], client.versions()["snapshot"]), (2, 2), "versions")


@scenario
def targets_rollback(repository, client):
    client.init()
    repository.publish_all()
    client.expect(client.refresh(), 0, "refresh")
    repository.snapshot.meta["targets.json"].version = 1
    repository.publish("snapshot", "timestamp")
    client.expect(client.refresh(), 1, "refresh")
    same(client.versions(), {"root": 1, "snapshot": 2, "targets": 2, "timestamp": 3}, "versions")


@scenario
def missing_role_in_snapshot(repository, client):
    client.init()
    repository.delegate("A")
    repository.publish_all()
    client.expect(client.refresh(), 0, "refresh")
    repository.snapshot.meta.pop("A.json")
    repository.publish("snapshot", "timestamp")
    client.expect(client.refresh(), 1, "refresh")
    same(client.versions()["snapshot"], 2, "snapshot")


@scenario
def same_timestamp_version(repository, client):
    client.init()
    client.expect(client.refresh(), 0, "refresh")
    repository.published.pop("timestamp")
    repository.timestamp.snapshot_meta.version = 100
    repository.publish("timestamp")
    client.expect(client.refresh(), 0, "refresh")
    same(repository.requests, NOTHING_NEW, "requests")


@scenario
def fast_forward_recovery(repository, client):
    client.init()
    repository.timestamp.version = repository.snapshot.version = 1000
    repository.published.pop("timestamp"), repository.published.pop("snapshot")
    repository.publish("snapshot", "timestamp")
    client.expect(client.refresh(), 0, "refresh")
    repository.rotate("timestamp"), repository.rotate("snapshot")
    repository.timestamp.version = repository.snapshot.version = 2
    repository.published.pop("timestamp"), repository.published.pop("snapshot")
    repository.publish("root", "snapshot", "timestamp")
    client.expect(client.refresh(), 0, "refresh")
    same(client.versions(), {"root": 2, "snapshot": 2, "targets": 1, "timestamp": 2}, "versions")


@scenario
def duplicate_signature(repository, client):
    client.init()
    repository.change("snapshot", lambda document: document["signatures"].append(document["signatures"][0]))
    client.expect(client.refresh(), 1, "refresh")
    same(client.versions(), {"root": 1, "timestamp": 1}, "versions")


@scenario
def wrong_signature_beside_enough(repository, client):
    client.init()
    repository.rotate("timestamp", [CryptoSigner.generate_ed25519() for _ in range(2)])
    repository.publish("root", "timestamp")
    repository.change("timestamp", lambda document: document["signatures"][0].update(sig=""))
    client.expect(client.refresh(), 0, "refresh")


@scenario
def threshold_out_of_reach(repository, client):
    client.init()
    repository.rotate("snapshot", threshold=2)
    repository.publish("root", "snapshot", "timestamp")
    client.expect(client.refresh(), 1, "refresh")
    same(client.versions(), {"root": 2, "timestamp": 2}, "versions")


@scenario
def altered_after_signing(repository, client):
    client.init()
    repository.change("targets", lambda document: document["signed"].update(extra=1))
    client.expect(client.refresh(), 1, "refresh")


@scenario
def not_json(repository, client):
    client.init()
    for octets in [b"", b"{}", b"[" * 10_000, b"\xff\xfe", b'{"signed":{"_type":"timestamp"}}', b"null"]:
        repository.published["timestamp"][1] = octets
        client.expect(client.refresh(), 1, "refresh")
        same(client.versions(), {"root": 1}, "versions")


@scenario
def endless_metadata(repository, client):
    client.init()
    repository.published["timestamp"][1] += b" " * 20_000
    client.expect(client.refresh(), 1, "refresh")
    same(client.versions(), {"root": 1}, "versions")


@scenario
def delegations_in_order(repository, client):
    repository.delegate("A", terminating=False)
    repository.delegate("B")
    repository.delegate("C", "A", terminating=True)
    repository.delegate("D", "A")
    repository.delegate("E", "C")
    repository.publish("A", "B", "C", "D", "E", "targets", "snapshot", "timestamp")
    client.init()
    client.expect(client.download("x"), 1, "download")
    same(repository.requests[4:], ["1.A.json", "1.C.json", "1.E.json"], "requests")


@scenario
def cycle_of_delegations(repository, client):
    repository.delegate("A")
    repository.delegate("B", "A")
    repository.delegate("A", "B", signer=repository.signers["A"][0])
    repository.publish("A", "B", "targets", "snapshot", "timestamp")
    client.init()
    client.expect(client.download("x"), 1, "download")
    same(repository.requests[4:], ["1.A.json", "1.B.json"], "requests")


@scenario
def patterns_and_prefixes(repository, client):
    repository.delegate("docs", paths=["*.md", "a?/*/x.[ch]"])
    repository.delegate("bins", prefixes=["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "a", "b", "c", "d", "e", "f"])
    repository.add("README.md", b"1", "docs")
    repository.add("ab/c/x.h", b"2", "docs")
    repository.add("ab/c/d/x.h", b"3", "docs")
    repository.add("anything/at all", b"4", "bins")
    repository.publish("docs", "bins", "targets", "snapshot", "timestamp")
    client.init()
    client.expect(client.download("README.md", "ab/c/x.h", "anything/at all"), 0, "download")
    same(sorted(client.artifacts()), [b"1", b"2", b"4"], "artifacts")
    client.expect(client.download("ab/c/d/x.h"), 1, "download")


@scenario
def kept_role_of_another_delegator(repository, client):
    mine = repository.delegate("A", paths=["a/*"])
    repository.delegate("B", paths=["b/*"])
    repository.delegate("shared", "A", signer=mine, paths=["*/*"])
    repository.delegate("shared", "B", paths=["*/*"])
    repository.add("a/1", b"1", "shared")
    repository.add("b/1", b"2", "shared")
    repository.publish("A", "B", "shared", "targets", "snapshot", "timestamp")
    client.init()
    client.expect(client.download("a/1"), 0, "download")
    client.expect(client.download("a/1", "b/1"), 1, "download of what the other delegator's keys have not signed")
    same(client.artifacts(), [b"1"], "artifacts")


def odd_role(name, index):
    def run(repository, client):
        repository.delegate(name)
        repository.add("x", b"content", name)
        repository.publish(name, "targets", "snapshot", "timestamp")
        client.init()
        client.expect(client.download("x"), 0, "download")
        from urllib import parse
        same(repository.requests[4], f"1.{parse.quote(name, '')}.json", "request")
        same(len(client.versions()), 5, "files of metadata")
        same(sorted(os.listdir(os.path.dirname(client.metadata))), ["metadata", "root.json", "targets"], "files beside")
    run.__name__ = f"odd_role_{index}"
    return scenario(run)


for number, odd in enumerate(["?", "#", "/role", "../role", "..", ".", "a b", "роль", "%2e", "a\\b", "Root"]):
    odd_role(odd, number)


@scenario
def artifacts(repository, client):
    client.init()
    repository.add("file", b"content")
    repository.add("path/to/a/file", b"other", algorithms=("sha512", "sha256"))
    repository.publish_all()
    client.expect(client.download("file", "path/to/a/file"), 0, "download")
    same(sorted(client.artifacts()), [b"content", b"other"], "artifacts")
    client.expect(client.download("file", "path/to/a/file"), 0, "download again")
    same(repository.requests, NOTHING_NEW, "requests")
    repository.artifacts["file"] = (repository.artifacts["file"][0], b"altered")
    repository.add("file", b"newer")
    repository.artifacts["file"] = (repository.artifacts["file"][0], b"evil!")
    repository.publish_all()
    client.expect(client.download("file"), 1, "download of other content")
    repository.artifacts["file"] = (repository.artifacts["file"][0], b"newer, and more than the metadata says")
    client.expect(client.download("file"), 1, "download of more content")
    same(sorted(client.artifacts()), [b"content", b"other"], "artifacts")


@scenario
def names_in_order(repository, client):
    client.init()
    for name in "abc":
        repository.add(name, name.encode())
    repository.artifacts.pop("b")
    repository.publish_all()
    client.expect(client.download("a", "b", "c"), 1, "download")
    same(client.artifacts(), [b"a"], "artifacts")
    same([name.partition(".")[2] for name in repository.requests[4:]], ["a", "b"], "requests")


@scenario
def many_roots(repository, client):
    client.init()
    for _ in range(100):
        repository.publish("root")
    client.expect(client.refresh(), 0, "refresh")
    same(client.versions()["root"], 101, "root")


def main():
    arguments = sys.argv[1:]
    word = ""
    if arguments[:1] == ["--only"]:
        word, arguments = arguments[1], arguments[2:]
    server = Server()
    failed = 0
    for function in SCENARIOS:
        name = function.__name__
        if word not in name:
            continue
        repository = Repository()
        server.repositories[name] = repository
        try:
            function(repository, Client(arguments, server, name, repository))
            print(f"ok {name}", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAILED {name}: {type(error).__name__}: {error}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
