import Crypto
import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// Each field of what a signer program is asked to sign, altered: nothing that approvers did not agree to is signed.
@Suite(
    "A signer program compares each field that it signs", .timeLimit(.minutes(10)),
    .needs(.verifyingSigner))
struct VerifyingSignerFieldTests {
    private typealias Object = [String: Any]

    /// Requests with what was approved in a world, to a program with a key.
    private struct Stage {
        let signer: VerifyingSigner
        let permit: SigningPermit
        let purpose: SealedKey.Purpose

        init(_ world: World, _ permit: SigningPermit, _ purpose: SealedKey.Purpose) throws {
            signer = try VerifyingSigner("fields", in: world, key: SigningKey().pem)
            (self.permit, self.purpose) = (permit, purpose)
        }

        func answer(_ use: SigningRequest.Use, _ message: [UInt8], _ document: [UInt8]? = nil) async throws -> Int32 {
            let request = SigningRequest(
                key: try SealedKeyTests.place("fields", purpose), publicKey: try SigningKey().subjectPublicKeyInfo,
                use: use, content: permit.content, approved: permit.approved, message: message, document: document)
            return try await signer.answers(request.bytes)
        }

        /// Requires that something is signed, and that nothing is that differs in one place.
        func compares(
            _ good: Object, _ changes: [(String, (inout Object) -> Void)], _ answer: (Object) async throws -> Int32
        ) async throws {
            #expect(try await answer(good) == 0, "\(signer.lastWords)")
            for (words, change) in changes {
                var altered = good
                change(&altered)
                #expect(try await answer(altered) == 1, "\(words): \(signer.lastWords)")
                #expect(signer.lastWords.contains("refused: "), "\(words): \(signer.lastWords)")
            }
            #expect(try await answer(good) == 0, "\(signer.lastWords)")
        }
    }

    private static func bytes(_ object: Object) throws -> [UInt8] {
        Array(try JSONSerialization.data(withJSONObject: object))
    }

    /// Changes a member of the first object of a list.
    private static func first(_ list: String, _ name: String, _ value: Any?) -> (inout Object) -> Void {
        { object in
            var all = object[list] as? [Object] ?? []
            if !all.isEmpty { all[0][name] = value }
            object[list] = all
        }
    }

    private static func inner(_ member: String, _ name: String, _ value: Any?) -> (inout Object) -> Void {
        { object in
            var inner = object[member] as? Object ?? [:]
            inner[name] = value
            object[member] = inner
        }
    }

    @Test("An answer to a challenge: time, entries, verdict on the version, and errors")
    func challenge() async throws {
        try await World.run { world in
            let change = try await world.approved(World.formats.filter { $0.kind == .challenge }).change
            let permit = try await world.publisher.permit(for: try await world.catalog.change(change))
            let stage = try Stage(world, permit, .fingerprints)
            let entries = permit.content.hosts.flatMap { host in
                host.certificates.map { one -> Object in
                    [
                        "name": host.name, "fingerprint": Base64.encode(one.fingerprint.bytes),
                        "expires": min(one.expires, permit.content.end),
                    ]
                }
            }
            let good: Object = [
                "timestamp": world.now, "fingerprints": entries,
                "verifyVersionResult": ["update": "NOT_REQUIRED"],
            ]
            func answer(_ body: Object) async throws -> Int32 {
                try await stage.answer(.challenge, Array("AAAAAAAAAAAAAAAAAAAAAA==&".utf8) + Self.bytes(body))
            }
            let result = "verifyVersionResult"
            try await stage.compares(
                good,
                [
                    ("timestamp", { $0["timestamp"] = world.now + 3_600 }),
                    ("name", Self.first("fingerprints", "name", "www.example.com")),
                    ("fingerprint", Self.first("fingerprints", "fingerprint", Data(count: 32).base64EncodedString())),
                    ("expires", Self.first("fingerprints", "expires", world.now + 9_999)),
                    ("depth", Self.first("fingerprints", "depth", 1)), ("field", Self.first("fingerprints", "x", 1)),
                    ("fewer", { $0["fingerprints"] = Array(entries.dropFirst()) }),
                    ("twice", { $0["fingerprints"] = entries + entries.prefix(1) }),
                    ("update", Self.inner(result, "update", "SUGGESTED")),
                    ("forced", Self.inner(result, "update", "FORCED")),
                    ("unknown", Self.inner(result, "update", "NEVER")),
                    ("message", Self.inner(result, "message", "Call this number")),
                    ("more", Self.inner(result, "url", "https://x")),
                    (
                        "domains",
                        { $0["domainsConfig"] = ["sslPinningRequiredForUnlisted": false, "domains": [Any]()] }
                    ),
                    ("another", { $0["status"] = "OK" }), ("nothing", { $0[result] = NSNull() }),
                ], answer)
            let violation: Object = ["fieldName": "platform", "invalidValue": "x", "hint": "ANDROID or IOS."]
            let error: Object = [
                "code": "ERROR_REQUEST", "message": "The request is not valid.", "violations": [violation],
            ]
            try await stage.compares(
                error,
                [
                    ("code", { $0["code"] = "OK" }), ("message", { $0["message"] = "Call this number" }),
                    ("field", Self.first("violations", "fieldName", "customer")),
                    ("hint", Self.first("violations", "hint", "Call this number")),
                    ("more", Self.first("violations", "url", "https://x")),
                    ("another", { $0["fingerprints"] = entries }),
                    ("long", Self.first("violations", "invalidValue", String(repeating: "x", count: 300))),
                ]
            ) { try await answer(["status": "ERROR", "responseObject": $0]) }
        }
    }

    /// The signed attributes of CMS: contentType, signingTime, messageDigest (RFC 5652 5.4, 11).
    private static func attributes(of document: [UInt8], at time: String) -> [UInt8] {
        func tlv(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] { [tag, UInt8(content.count)] + content }
        func attribute(_ last: UInt8, _ value: [UInt8]) -> [UInt8] {
            let name: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, last]
            return tlv(0x30, tlv(0x06, name) + tlv(0x31, value))
        }
        let data: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07, 0x01]
        return tlv(
            0x31,
            attribute(3, tlv(0x06, data)) + attribute(5, tlv(0x17, Array(time.utf8)))
                + attribute(4, tlv(0x04, Array(SHA256.hash(data: document)))))
    }

    @Test("A trust server's document: customer, time, hosts, each fingerprint and key, and the time of the signature")
    func trustServer() async throws {
        try await World.run { world in
            let change = try await world.approved(World.formats.filter { $0.kind == .trustServer }).change
            let permit = try await world.publisher.permit(for: try await world.catalog.change(change))
            let stage = try Stage(world, permit, .trustServer)
            let known = try await world.catalog.scene(of: world.app).publicKeys
            let host = try #require(permit.content.hosts.first)
            let fingerprints = host.certificates.map { "\($0.fingerprint)" }
            let keys = try host.keys.map { Base64.encode(try #require(known[$0.pin])) }
            #expect(fingerprints.count > 1 && keys.count > 1)
            let good: Object = [
                "customer": World.customer, "timestamp": world.now,
                "hashes": [["hostname": host.name, "port": "\(host.port)", "fp": fingerprints, "pk": keys] as Object],
            ]
            func utcTime(_ seconds: Int64) throws -> String {
                let text = try #require(UTCText.encode(seconds))
                return String(text.filter(\.isNumber).dropFirst(2)) + "Z"
            }
            let now = try utcTime(world.now)
            try await stage.compares(
                good,
                [
                    ("customer", { $0["customer"] = "other" }), ("timestamp", { $0["timestamp"] = world.now - 3_600 }),
                    ("host", Self.first("hashes", "hostname", "www.example.com")),
                    ("port", Self.first("hashes", "port", "444")), ("no host", { $0["hashes"] = [Any]() }),
                    ("fewer", Self.first("hashes", "fp", Array(fingerprints.dropLast()))),
                    ("none", Self.first("hashes", "fp", [String]())),
                    ("more", Self.first("hashes", "fp", fingerprints + [String(repeating: "a", count: 64)])),
                    ("twice", Self.first("hashes", "fp", fingerprints + fingerprints)),
                    ("fewer keys", Self.first("hashes", "pk", Array(keys.dropLast()))),
                    ("key twice", Self.first("hashes", "pk", keys + keys.prefix(1))),
                    ("field", Self.first("hashes", "x", 1)), ("another", { $0["x"] = 1 }),
                ]
            ) { document in
                let bytes = try Self.bytes(document)
                return try await stage.answer(.trustServer, Self.attributes(of: bytes, at: now), bytes)
            }
            let bytes = try Self.bytes(good)
            for time in [try utcTime(world.now - 86_400), "tomorrow"] {
                let late = Self.attributes(of: bytes, at: time)
                #expect(try await stage.answer(.trustServer, late, bytes) == 1, "\(stage.signer.lastWords)")
            }
            let other = Self.attributes(of: bytes + [0x20], at: now)
            #expect(try await stage.answer(.trustServer, other, bytes) == 1)
        }
    }

    @Test("Metadata of a repository: specification, version, end, and the one file that it names")
    func metadata() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            try await world.publishRepository(holders)
            let change = try await world.approvedRepository(holders) { $0.lifetime = 100 * 86_400 }
            let permit = try await world.publisher.permit(for: try await world.catalog.change(change))
            for (purpose, use, file) in [
                (SealedKey.Purpose.snapshot, SigningRequest.Use.snapshot, "targets.json"),
                (.timestamp, .timestamp, "snapshot.json"),
            ] {
                let stage = try Stage(world, permit, purpose)
                try? stage.signer.forget()
                let named: Object = [
                    "version": 3, "length": 700, "hashes": ["sha256": String(repeating: "ab", count: 32)],
                ]
                let good: Object = [
                    "_type": use.rawValue, "spec_version": "1.0.34", "version": 5,
                    "expires": try #require(UTCText.encode(world.now + 86_400)), "meta": [file: named],
                ]
                func meta(_ name: String, _ value: Any?) -> (inout Object) -> Void {
                    var facts = named
                    facts[name] = value
                    return { $0["meta"] = [file: facts] }
                }
                try await stage.compares(
                    good,
                    [
                        ("type", { $0["_type"] = "targets" }), ("specification", { $0["spec_version"] = "2.0.0" }),
                        ("older", { $0["version"] = 4 }), ("no version", { $0["version"] = "6" }),
                        ("expired", { $0["expires"] = "2001-01-01T00:00:00Z" }),
                        ("too long", { $0["expires"] = "2099-01-01T00:00:00Z" }),
                        ("other file", { $0["meta"] = ["root.json": named] }),
                        ("more files", { $0["meta"] = [file: named, "role.json": named] }),
                        ("older file", meta("version", 2)), ("length", meta("length", "700")),
                        ("hash", meta("hashes", ["sha256": "ab"])), ("no hash", meta("hashes", nil)),
                        ("sha1", meta("hashes", ["sha1": "ab"])), ("another", { $0["x"] = 1 }),
                    ]
                ) { try await stage.answer(use, try Self.bytes($0)) }
            }
        }
    }
}
