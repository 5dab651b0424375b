#if os(macOS) || os(Linux)
import Crypto
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastTUF

/// An attacker without a key can write to the folder that keyholders share: the keys they sign must be their own.
@Suite("Keys of a draft root", .timeLimit(.minutes(15)))
struct RepositoryDraftKeyTests {
    private let keys = [TUFSigningKey(.ed25519), TUFSigningKey(), TUFSigningKey(.ed25519)]
    private let online = TUFSigningKey()
    private let thief = HexText.text(of: Curve25519.Signing.PrivateKey().publicKey.rawRepresentation)

    /// A published repository whose next root is prepared and unsigned.
    private func scene(_ body: (RepositoryScene) async throws -> Void) async throws {
        try await RepositoryScene.published(
            root: keys, rootThreshold: 2, targets: Array(keys.prefix(1)), online: online
        ) { scene in
            try await scene.prepare(signedBy: []) { try $0.change(.root, at: scene.clock.now) }
            try await body(scene)
        }
    }

    private typealias Members = [String: Any]

    /// Changes the content of the draft.
    private func plant(_ scene: RepositoryScene, _ change: (inout Members) throws -> Void) throws {
        let file = scene.repository.folder.appending(path: "draft/root.json")
        var root = try #require(JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? Members)
        var signed = try #require(root["signed"] as? Members)
        try change(&signed)
        root["signed"] = signed
        root["signatures"] = [Any]()
        try JSONSerialization.data(withJSONObject: root).write(to: file)
    }

    private func changeKeys(_ scene: RepositoryScene, _ change: (inout Members) throws -> Void) throws {
        try plant(scene) { signed in
            var keys = try #require(signed["keys"] as? Members)
            try change(&keys)
            signed["keys"] = keys
        }
    }

    private func addToRoot(_ id: String, _ signed: inout Members) throws {
        var roles = try #require(signed["roles"] as? Members)
        var root = try #require(roles["root"] as? Members)
        root["keyids"] = try #require(root["keyids"] as? [String]) + [id]
        roles["root"] = root
        signed["roles"] = roles
    }

    private func ed25519(_ value: String) -> Members {
        ["keytype": "ed25519", "scheme": "ed25519", "keyval": ["public": value]]
    }

    /// Expects that the draft cannot be signed, shown, changed or published.
    private func expectRefused(
        _ scene: RepositoryScene, _ found: String, at line: SourceLocation = #_sourceLocation
    ) async throws {
        var state = try await scene.repository.state()
        let signing = #expect(throws: TUFRepositoryError.self, sourceLocation: line) {
            _ = try state.sign(by: keys[1])
        }
        #expect(
            signing?.code == .invalidKeys && signing?.found.contains(found) == true, "\(String(describing: signing))",
            sourceLocation: line)
        let shown = #expect(throws: TUFRepositoryError.self, sourceLocation: line) { _ = try state.changes() }
        #expect(shown?.code == .invalidKeys, sourceLocation: line)
        let rotated = #expect(throws: TUFRepositoryError.self, sourceLocation: line) {
            try state.change(.root, adding: [TUFSigningKey().publicKey], at: scene.clock.now)
        }
        #expect(rotated?.code == .invalidKeys, sourceLocation: line)
        let published = await #expect(throws: TUFRepositoryError.self, sourceLocation: line) {
            _ = try await scene.publication(online)
        }
        #expect(published?.code == .invalidKeys, sourceLocation: line)
    }

    @Test("An id that stands for another key than in the published root is not signed, and not built upon")
    func swapped() async throws {
        for id in [keys[2].publicKey.id, keys[0].publicKey.id, online.publicKey.id] {
            try await scene { scene in
                try changeKeys(scene) { keys in
                    #expect(keys[id] != nil)
                    keys[id] = ed25519(thief)
                }
                try await expectRefused(scene, "another under its id")
            }
        }
        try await scene { scene in
            try changeKeys(scene) { $0[keys[2].publicKey.id] = nil }
            try await expectRefused(scene, "none")
        }
    }

    @Test("A new key has the hash of itself for its id, also in a first root and in a key that signs nothing yet")
    func otherIDs() async throws {
        let id = String(repeating: "a", count: 64)
        try await scene { scene in
            try plant(scene) { signed in
                var keys = try #require(signed["keys"] as? Members)
                keys[id] = ed25519(thief)
                signed["keys"] = keys
                try addToRoot(id, &signed)
            }
            try await expectRefused(scene, "for another")
        }
        try await scene { scene in
            try plant(scene) { try addToRoot(id, &$0) }
            try await expectRefused(scene, "for no key")
        }
        try await scene { scene in
            try changeKeys(scene) { $0[id] = ed25519(thief) }
            try await expectRefused(scene, "for another")
        }
        try await withTemporaryFolder { folder in
            let scene = try RepositoryScene(folder)
            try await scene.begin(root: keys, rootThreshold: 2, targets: Array(keys.prefix(1)), online: online)
            try await scene.prepare(signedBy: [])
            try changeKeys(scene) { $0[keys[2].publicKey.id] = ed25519(thief) }
            try await expectRefused(scene, "for another")
        }
    }

    @Test("One key does not sign under two ids, however it is written")
    func oneKeyTwice() async throws {
        try await scene { scene in
            try plant(scene) { signed in
                var all = try #require(signed["keys"] as? Members)
                let key = try #require(all[keys[1].publicKey.id] as? Members)
                let pem = try #require((key["keyval"] as? [String: String])?["public"]) + "\n\n"
                let tree = JSONTree(fields: [
                    "keytype": JSONTree(text: "ecdsa"), "scheme": JSONTree(text: "ecdsa-sha2-nistp256"),
                    "keyval": JSONTree(fields: ["public": JSONTree(text: pem)]),
                ])
                let id = HexText.text(of: SHA256.hash(data: tree.canonical))
                all[id] = try JSONSerialization.jsonObject(with: Data(tree.json))
                signed["keys"] = all
                try addToRoot(id, &signed)
            }
            try await expectRefused(scene, "as well")
        }
    }

    @Test("Roles that nobody knows, and what else the known ones say, are named to whoever signs")
    func otherRoles() async throws {
        try await scene { scene in
            let honest = try await scene.repository.state().changes()
            #expect(honest.contains("root: the keys stay as they are"))
            #expect(!honest.contains { $0.hasPrefix("root: roles.") }, "\(honest)")
            try plant(scene) { signed in
                var roles = try #require(signed["roles"] as? Members)
                roles["mirrors"] = ["keyids": [keys[0].publicKey.id], "threshold": 1]
                var targets = try #require(roles["targets"] as? Members)
                targets["paths"] = ["*"]
                roles["targets"] = targets
                signed["roles"] = roles
            }
            let changes = try await scene.repository.state().changes()
            for line in ["root: roles.mirrors.threshold is 1", "root: roles.targets.paths[0] is \"*\""] {
                #expect(changes.contains(line), "\(changes)")
            }
        }
    }
}
#endif
