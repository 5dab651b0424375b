#if os(macOS) || os(Linux)
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastTUF

@Suite("Drafts of a repository of pins", .timeLimit(.minutes(15)))
struct RepositoryDraftTests {
    private let keys = [TUFSigningKey(), TUFSigningKey(.ed25519), TUFSigningKey()]
    private let online = TUFSigningKey()

    private func scene(_ body: (RepositoryScene) async throws -> Void) async throws {
        try await RepositoryScene.published(
            root: keys, rootThreshold: 2, targets: Array(keys.prefix(2)), online: online, body)
    }

    private func code(_ body: () throws -> Void) -> TUFRepositoryError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? TUFRepositoryError)?.code
        }
    }

    @Test("Signatures are added one by one to files that are passed around, and counted for the old root and the new")
    func progress() async throws {
        try await scene { scene in
            let new = TUFSigningKey()
            try await scene.prepare(signedBy: []) {
                try $0.change(
                    .root, adding: [new.publicKey], removing: [keys[0].publicKey.id], threshold: 3, at: scene.clock.now)
            }
            var counts: [[Int]] = []
            for key in [keys[0], new, keys[1], keys[1], keys[2]] {
                // Each keyholder has a copy of the folder.
                try await scene.prepare(signedBy: [key]) { _ in }
                let progress = try await scene.repository.state().progress()
                #expect(progress.map(\.threshold) == [2, 3] && progress.map(\.root) == [1, 2])
                counts.append(progress.map(\.signed.count))
            }
            #expect(counts == [[1, 0], [1, 1], [2, 2], [2, 2], [3, 3]])
            try await scene.publish(online)
            #expect(await scene.refusing(try scene.newDevices()).isEmpty)
        }
    }

    @Test("What does not verify is not signed: other signatures, other pins, other versions, and drafts of other keys")
    func refused() async throws {
        try await scene { scene in
            let site = scene.repository.folder
            try await scene.prepare(signedBy: [keys[0]])
            let draft = site.appending(path: "draft/targets.json")
            let good = try Data(contentsOf: draft)
            func refusal(by key: TUFSigningKey? = nil) async throws -> TUFRepositoryError.Code? {
                var state = try await scene.repository.state()
                return code { _ = try state.sign(by: key ?? keys[1]) }
            }
            #expect(try await refusal() == nil)
            #expect(try await refusal(by: online) == .otherKey)
            #expect(try await refusal(by: keys[2]) == .otherKey)
            // Changed after it was signed.
            let text = String(decoding: good, as: UTF8.self)
            try Data(text.replacing("\"length\":", with: "\"length\":1").utf8).write(to: draft)
            #expect(try await refusal() == .invalidSignature)
            try Data(text.replacing("\"version\":2", with: "\"version\":3").utf8).write(to: draft)
            #expect(try await refusal() == .wrongVersion)
            try good.write(to: draft)
            let pins = site.appending(path: "draft/pins.json")
            let pinned = try Data(contentsOf: pins)
            try (pinned + Data("\n".utf8)).write(to: pins)
            #expect(try await refusal() == .damaged)
            try pinned.write(to: pins)
            #expect(try await refusal() == nil)
            // Version 2 was published meanwhile.
            try await scene.publish(online)
            try good.write(to: draft)
            try Data(contentsOf: scene.repository.published.appending(path: "metadata/2.targets.json")).write(to: draft)
            #expect(try await refusal() == .nothingToSign)
        }
    }

    @Test("Pins that no client takes are not prepared", arguments: ["", "{}", "[]"])
    func otherPins(text: String) async throws {
        try await scene { scene in
            var state = try await scene.repository.state()
            #expect(code { try state.prepare(pins: Data(text.utf8), at: scene.clock.now) } == .invalidPins)
            let shipped = try PinFile(hosts: scene.pinFile().hosts)
            #expect(code { try state.prepare(pins: shipped.json, at: scene.clock.now) } == .invalidPins)
            let old = try scene.pinFile(days: 1).json
            #expect(
                code { try state.prepare(pins: old, at: scene.clock.now.addingTimeInterval(20 * 86_400)) }
                    == .invalidPins)
            #expect(code { try state.prepare(pins: old, at: scene.clock.now) } == nil)
        }
    }

    @Test("Roles need keys of their own, reachable thresholds, and nothing that is online signs root or targets")
    func roles() async throws {
        let (a, b) = (TUFRoleKeys([keys[0].publicKey]), TUFRoleKeys([online.publicKey]))
        func begin(_ change: (inout [TUFRole: TUFRoleKeys]) -> Void) -> TUFRepositoryError.Code? {
            var roles: [TUFRole: TUFRoleKeys] = [.root: a, .targets: a, .snapshot: b, .timestamp: b]
            change(&roles)
            return code { _ = try TUFRepositoryState(roles: roles, at: RepositoryScene.start) }
        }
        #expect(begin { _ in } == nil)
        #expect(begin { $0[.root] = nil } == .invalidRoles)
        #expect(begin { $0[.targets]?.keys = [] } == .invalidRoles)
        #expect(begin { $0[.root]?.threshold = 2 } == .invalidRoles)
        #expect(begin { $0[.root]?.threshold = 0 } == .invalidRoles)
        #expect(begin { $0[.timestamp]?.keys += [online.publicKey] } == .invalidRoles)
        #expect(begin { $0[.targets]?.keys += [online.publicKey] } == .invalidRoles)
        try await scene { scene in
            var state = try await scene.repository.state()
            #expect(
                code { try state.change(.timestamp, removing: [online.publicKey.id], at: scene.clock.now) }
                    == .invalidRoles)
            #expect(
                code { try state.change(.root, removing: [online.publicKey.id], at: scene.clock.now) } == .otherKey)
        }
    }

    @Test("Whoever signs reads in words what changes: keys, thresholds, hosts, pins, ends, and fields nobody knows")
    func words() async throws {
        try await scene { scene in
            let new = TUFSigningKey()
            try await scene.prepare(signedBy: []) { state in
                try state.change(
                    .targets, adding: [new.publicKey], removing: [keys[0].publicKey.id], threshold: 2,
                    at: scene.clock.now)
                let leaf = try scene.authority.leaf(names: [.dns(RepositoryScene.host)])
                let file = try scene.pinFile(days: 60, active: leaf)
                let other = try PinFile(
                    issuedAt: file.issuedAt, notAfter: file.notAfter, refresh: file.refresh,
                    hosts: file.hosts + [try .retired(HostPattern("old.example.com"))])
                try state.prepare(pins: other.json, at: scene.clock.now)
            }
            let changes = try await scene.repository.state().changes()
            let oldPin = try Pin.publicKey(of: scene.leaf.der).description
            for line in [
                "targets: key \(keys[0].publicKey.id) no longer signs",
                "targets: key \(new.publicKey.id) signs from now on",
                "targets: 2 of 2 keys must sign, before 1",
                "api.example.com: \(oldPin) is no longer accepted (leaf, active)",
                "old.example.com: retired: clients refuse to connect",
            ] { #expect(changes.contains(line), "\(changes)") }
            #expect(changes.contains { $0.hasPrefix("root: version 2 after version 1, until ") })
            #expect(changes.contains { $0.hasPrefix("pins: valid until ") && $0.contains(", before ") })
            #expect(changes.count { $0.contains("is added (leaf, active)") } == 1)
            #expect(changes.contains("targets: spec_version is \"1.0.34\", as before"), "\(changes)")
            // Members that an attacker adds to a draft are shown.
            let draft = scene.repository.folder.appending(path: "draft/targets.json")
            let text = String(decoding: try Data(contentsOf: draft), as: UTF8.self)
            try Data(
                text.replacing(
                    "\"version\":2", with: "\"version\":2,\"delegations\":{\"keys\":{},\"roles\":[]}"
                ).utf8
            ).write(to: draft)
            let hostile = try await scene.repository.state().changes()
            #expect(hostile.contains("targets: delegations.roles is []"), "\(hostile)")
        }
    }

    @Test("Keys are read from the files of keygen and openssl, and say nothing of themselves")
    func keyFiles() throws {
        let password = Array("correct horse".utf8)
        let key = SigningKey()
        let read = try TUFSigningKey(pem: try key.pem(password: password, rounds: 1_000), password: password)
        #expect(read.publicKey == (try TUFSigningKey(pem: key.pem)).publicKey && read.publicKey.kind == .p256)
        #expect(try TUFPublicKey(Data(try key.publicKey.base64.utf8)) == read.publicKey)
        #expect(read.publicKey.id.utf8.count == 64 && "\(read)" == "a private key of a role")
        for (choice, kind) in [
            (.p256, .p256), (.ed25519, .ed25519), (.p384, .p384), (.sharedRSA(bits: 2_048, index: 0), .rsaPSS),
        ] as [(TestKey.Choice, TUFPublicKey.Kind)] {
            let foreign = try TestKey(choice)
            let key = try TUFSigningKey(pem: foreign.privateKeyPEM)
            #expect(try TUFPublicKey(Data(foreign.publicKeyPEM.utf8)) == key.publicKey)
            #expect(key.publicKey.kind == kind)
            let locked = try key.pem(password: password, rounds: 1_000)
            #expect(try TUFSigningKey(pem: locked, password: password).publicKey == key.publicKey)
            #expect(try TUFSigningKey(pem: try #require(key.pem)).publicKey == key.publicKey)
        }
        for kind in TUFSigningKey.Kind.allCases {
            let key = TUFSigningKey(kind)
            let plain = try TUFSigningKey(pem: try #require(key.pem))
            let locked = try TUFSigningKey(pem: try key.pem(password: password, rounds: 1_000), password: password)
            let text = try TUFPublicKey(Data(try #require(key.publicKeyText).utf8))
            #expect([plain.publicKey, locked.publicKey, text].allSatisfy { $0 == key.publicKey })
        }
        func code(_ body: () throws(SigningError) -> Void) -> SigningError.Code? {
            do throws(SigningError) {
                try body()
                return nil
            } catch {
                return error.code
            }
        }
        for choice in [TestKey.Choice.p521, .sharedRSA(bits: 1_024, index: 0)] {
            let (secret, other) = (try TestKey(choice).privateKeyPEM, Data(try TestKey(choice).publicKeyPEM.utf8))
            #expect(code { () throws(SigningError) in _ = try TUFSigningKey(pem: secret) } == .unsupportedKey)
            #expect(code { () throws(SigningError) in _ = try TUFPublicKey(other) } == .unsupportedKey)
        }
        #expect(code { () throws(SigningError) in _ = try TUFPublicKey(Data(key.pem.utf8)) } == .notAKeyFile)
        #expect(code { () throws(SigningError) in _ = try TUFPublicKey(Data()) } == .notAKeyFile)
        let encrypted = try key.pem(password: password, rounds: 1_000)
        #expect(code { () throws(SigningError) in _ = try TUFSigningKey(pem: encrypted) } == .passwordNeeded)
    }
}
#endif
