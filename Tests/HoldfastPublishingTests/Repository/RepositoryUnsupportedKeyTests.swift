#if os(macOS) || os(Linux)
import Crypto
import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastPublishing
@testable import HoldfastTUF

/// Keys of other tools, in schemes that Holdfast does not verify.
@Suite("Repositories with keys that are not supported", .timeLimit(.minutes(15)))
struct RepositoryUnsupportedKeyTests {
    private let offline = TUFSigningKey()
    private let online = TUFSigningKey(.ed25519)

    private func scene(_ body: (RepositoryScene) async throws -> Void) async throws {
        try await RepositoryScene.published(root: [offline], targets: [offline], online: online, body)
    }

    /// A root that lists a key of Ed448 more, with its signature and these.
    private func adding(
        _ signatures: [[UInt8]: [UInt8]] = [:], to root: TUFMetadataFile
    ) throws -> TUFMetadataFile {
        let key = JSONTree(fields: [
            "keytype": JSONTree(text: "ed448"), "keyval": JSONTree(fields: ["public": JSONTree(text: "00")]),
            "scheme": JSONTree(text: "ed448"),
        ])
        let id = Array(HexText.text(of: SHA256.hash(data: key.canonical)).utf8)
        let (keys, roles) = (try #require(root.signed["keys"]), try #require(root.signed["roles"]))
        let role = try #require(roles["root"])
        guard case .array(let ids)? = role["keyids"] else { throw CancellationError() }
        let listed = role.setting(["keyids": .array(ids + [.text(id[...])])])
        let signed = root.signed.setting([
            "keys": JSONTree(members: keys.members + [(id, key)]), "roles": roles.setting(["root": listed]),
        ])
        var all = signatures
        all[id] = [UInt8](repeating: 7, count: 114)
        return try TUFMetadataFile(signed, signatures: all)
    }

    @Test("A signature of a scheme that is not supported is not called one that does not verify, and is named")
    func drafts() async throws {
        try await scene { scene in
            var state = try await scene.repository.state()
            try state.change(.root, at: scene.clock.now)
            let draft = try #require(state.draftRoot)
            state.draftRoot = try adding(to: draft)
            let error = #expect(throws: TUFRepositoryError.self) { try state.sign(by: offline) }
            #expect(error?.code == .unsupportedAlgorithm && error?.subject == "root", "\(error as Any)")
            #expect(error?.found.contains("ed448") == true && error?.remedy.contains("Do not sign") == false)
            // Next to one that does not verify it is the lesser evil.
            let own = Array(offline.publicKey.id.utf8)
            state.draftRoot = try adding([own: [1, 2, 3]], to: draft)
            let worse = #expect(throws: TUFRepositoryError.self) { try state.sign(by: offline) }
            #expect(worse?.code == .invalidSignature, "\(worse as Any)")
        }
    }

    @Test("A repository whose keys are not supported is refused by their name, and not as damaged")
    func published() async throws {
        try await scene { scene in
            let root = "metadata/1.root.json"
            let text = String(decoding: try scene.served(root), as: UTF8.self)
            let scheme = "\"scheme\":\"ecdsa-sha2-nistp256\""
            try #require(text.contains(scheme))
            try scene.serve(Data(text.replacing(scheme, with: "\"scheme\":\"ml-dsa-65\"").utf8), as: root)
            let error = await #expect(throws: TUFRepositoryError.self) { try await scene.repository.state() }
            #expect(error?.code == .unsupportedAlgorithm && error?.found.contains("ml-dsa-65") == true)
            #expect(error?.remedy.contains("copy") == false, "\(error as Any)")
        }
    }
}
#endif
