import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastTUF

@Suite("Keys and signatures (sections 4.2, 4.3)", .timeLimit(.minutes(15)))
struct KeyTests {
    @Test("Keys of every spelling sign, and sign nothing else", arguments: TestSigner.Spelling.allCases)
    func spellings(spelling: TestSigner.Spelling) async throws {
        var test = try TestClient()
        let key = try TestSigner(spelling)
        let old = try #require(test.repository.signers["root"])
        test.repository.setKeys(of: "root", old + [key], threshold: 2)
        try test.repository.publish("root", increment: true)
        try await test.refresh()
        #expect(try test.version(of: .root) == 2)
        // A signature of the right form, over something else.
        let other = try key.signature(of: [1])
        test.repository.change("root") { $0["version"] = 3 }
        let signed = try #require(test.repository.roles["root"])
        let data = try JSONSerialization.data(withJSONObject: [
            "signed": signed,
            "signatures": [
                ["keyid": old[0].id, "sig": try old[0].signature(of: try TestRepository.canonical(signed))],
                ["keyid": key.id, "sig": other],
            ],
        ])
        test.repository.serve("root", data)
        #expect(await test.refusal() == .notSigned)
        #expect(try test.version(of: .root) == 2)
    }

    @Test("RSA-PSS with the longest salt, as openssl signs by default, verifies too", .needs(.openSSL))
    func longestSalt() throws {
        let key = try TestKey(.sharedRSA(bits: 2_048, index: 0))
        let verification = try #require(VerificationKey(der: key.subjectPublicKeyInfoDER))
        let message = Array("message".utf8)
        for salt in ["max", "digest"] {
            let signature = try ForeignPeer.opensslPSS(message, key: key, salt: salt)
            #expect(verification.verifies(signature, over: message, by: .rsaPSS))
            #expect(!verification.verifies(signature, over: message + [0], by: .rsaPSS))
            #expect(!verification.verifies(signature, over: message, by: .rsaPKCS1))
        }
    }

    @Test("A key id twice among the signatures refuses the file, though the threshold is reached")
    func duplicateSignature() async throws {
        var test = try TestClient()
        let key = try #require(test.repository.signers["snapshot"]?.first)
        test.repository.signers["snapshot"] = [key, key]
        try test.repository.publish("snapshot")
        #expect(await test.refusal() == .duplicateSignature)
        #expect(try test.versions() == [1, 1, nil, nil])
    }

    @Test("One key under two ids counts once")
    func oneKeyTwoIDs() async throws {
        var test = try TestClient()
        let key = try TestKey(.p256)
        let keys = [TestSigner(key, .ecdsa), TestSigner(key, .ecdsaInHexadecimal), TestSigner(key, .ecdsaOfOldType)]
        test.repository.setKeys(of: "snapshot", keys, threshold: 2)
        try test.repository.publish("root", increment: true)
        try test.repository.publish("snapshot")
        #expect(await test.refusal() == .notSigned)
        test.repository.setKeys(of: "snapshot", keys + [try TestSigner()], threshold: 2)
        try test.repository.publish("root", increment: true)
        try test.repository.publish("snapshot")
        #expect(await test.refusal() == nil)
    }

    @Test("Key ids are names: any text will do (TAP 12)")
    func opaqueIDs() async throws {
        var test = try TestClient()
        for (role, id) in [("timestamp", "k"), ("snapshot", "ключ 🔑"), ("targets", "../x\u{0}")] {
            test.repository.setKeys(of: role, [try TestSigner(id: id)])
        }
        try test.repository.publish("root", increment: true)
        try test.repository.publishAll()
        #expect(await test.refusal() == nil)
    }

    @Test("Signatures that are wrong, empty or of strangers do no harm beside enough good ones")
    func strangers() async throws {
        var test = try TestClient()
        let keys = [try TestSigner(), try TestSigner(), try TestSigner()]
        test.repository.setKeys(of: "timestamp", keys)
        try test.repository.publish("root", increment: true)
        let signed = try #require(test.repository.roles["timestamp"])
        let octets = try TestRepository.canonical(signed)
        for bad in ["", "zz", "00", try keys[0].signature(of: [1]), String(repeating: "0", count: 100_000)] {
            var signatures = [["keyid": keys[2].id, "sig": try keys[2].signature(of: octets)]]
            signatures += [["keyid": keys[0].id, "sig": bad], ["keyid": "stranger", "sig": bad]]
            let data = try JSONSerialization.data(withJSONObject: ["signed": signed, "signatures": signatures])
            test.repository.serve("timestamp", data)
            #expect(await test.refusal() == (data.count > 8 << 10 ? .tooLarge : nil))
        }
    }

    @Test("Keys of unknown kinds are no error; they verify nothing")
    func unknownKinds() async throws {
        var test = try TestClient()
        let good = try TestSigner()
        test.repository.setKeys(of: "targets", [good, try TestSigner(id: "odd")])
        test.repository.change("root") { root in
            var keys = root["keys"] as? [String: Any] ?? [:]
            keys["odd"] = ["keytype": "ml-dsa", "scheme": "ml-dsa-65/1", "keyval": ["public": 7]] as [String: Any]
            root["keys"] = keys
        }
        try test.repository.publish("root", increment: true)
        try test.repository.publish("targets")
        #expect(await test.refusal() == nil)
        test.repository.signers["targets"] = [TestSigner(good.key, id: "odd")]
        try test.repository.publish("targets")
        test.store.forget(.targets)
        test.hasTwin = false
        #expect(await test.refusal() == .unsupportedAlgorithm)
    }

    @Test("A file that only unsupported keys signed is not said to be altered, and the scheme is named")
    func unsupportedAlone() async throws {
        var test = try TestClient()
        let good = try TestSigner()
        test.repository.setKeys(of: "targets", [good, try TestSigner(id: "odd")], threshold: 2)
        test.repository.change("root") { root in
            var keys = root["keys"] as? [String: Any] ?? [:]
            keys["odd"] = ["keytype": "ml-dsa", "scheme": "ml-dsa-65", "keyval": ["public": "00"]] as [String: Any]
            root["keys"] = keys
        }
        try test.repository.publish("root", increment: true)
        test.repository.signers["targets"] = [good, TestSigner(good.key, id: "odd")]
        try test.repository.publish("targets")
        test.hasTwin = false
        let error = await #expect(throws: TUFError.self) { try await test.refresh() }
        #expect(error?.code == .unsupportedAlgorithm)
        #expect(error?.found.contains("ml-dsa-65") == true && error?.remedy.contains("altered") == false)
        // One that does not verify says more than one that cannot be verified.
        test.repository.signers["targets"] = [
            TestSigner(try TestKey(.ed25519), id: good.id), TestSigner(good.key, id: "odd"),
        ]
        try test.repository.publish("targets")
        #expect(await test.refusal() == .notSigned)
    }

    @Test("A root that lists a key of a role twice is refused, and the one before stays")
    func keyListedTwice() async throws {
        var test = try TestClient()
        let key = try TestSigner()
        test.repository.setKeys(of: "snapshot", [key, key, key], threshold: 2)
        try test.repository.publish("root", increment: true)
        try test.repository.publish("snapshot")
        #expect(await test.refusal() == .malformed)
        #expect(try test.versions() == [1, nil, nil, nil])
    }

    @Test("A threshold above the number of keys is never reached, and is no fault of root")
    func unreachableThreshold() async throws {
        var test = try TestClient()
        test.repository.setKeys(of: "snapshot", [try TestSigner()], threshold: 2)
        try test.repository.publish("root", increment: true)
        try test.repository.publish("snapshot")
        #expect(await test.refusal() == .notSigned)
        #expect(try test.versions() == [2, 1, nil, nil])
    }

    @Test("A key verifies at most once a file, and none beyond the threshold")
    func countedWork() async throws {
        var test = try TestClient()
        let keys = try (0..<100).map { _ in try TestSigner() }
        test.repository.setKeys(of: "timestamp", keys, threshold: 3)
        test.repository.signers["timestamp"] = keys.suffix(10)
        try test.repository.publish("root", increment: true)
        try test.repository.publish("timestamp")
        try await test.refresh()
        // Root signs itself when it is initialized, loaded, and new, where the keys before it count too.
        #expect(test.client.meter.total.verifications == 1 + 1 + 2 + 3 + 1 + 1)

        test.repository.setKeys(of: "timestamp", try (0..<200).map { _ in try TestSigner() })
        try test.repository.publish("root", increment: true)
        #expect(await test.refusal() == .malformed)
    }
}

extension MetadataMemory {
    func forget(_ role: RoleName) {
        let name = StoredMetadataName(role)
        _ = replace(name, data(of: name, atMost: .max), with: nil, atMost: .max)
    }
}
