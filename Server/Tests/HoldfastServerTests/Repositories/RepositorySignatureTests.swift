import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerFoundation

@Suite("Signatures that holders bring back")
struct RepositorySignatureTests {
    private typealias Signatures = [[String: Any]]

    /// Changes the signatures of the targets in a folder.
    private static func edit(
        _ folder: TUFRepositoryFolder, _ body: (inout Signatures) throws -> Void
    ) throws {
        let old = try #require(try folder.data(at: "draft/targets.json", atMost: 1 << 20))
        var object = try #require(try JSONSerialization.jsonObject(with: old) as? [String: Any])
        var signatures = try #require(object["signatures"] as? Signatures)
        try body(&signatures)
        object["signatures"] = signatures
        let new = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        #expect(try folder.replace("draft/targets.json", old, with: new))
    }

    @Test("One that is wrong, a stranger's, or there twice is refused with the reason; what came before stays")
    func refused() async throws {
        try await World.run { world in
            let holders = RepositoryHolders()
            try await world.publisher.begin(world.app, holders, in: world.folder)
            let change = try await world.approvedRepository(holders)
            try await world.publisher.draftRepository(change, by: "operator")
            try await world.publisher.pass(world.app, to: [holders.targets[0]], in: world.folder)
            let stranger = TUFSigningKey()
            let cases: [(words: String, edit: (inout Signatures) throws -> Void)] = [
                (
                    "that does not",
                    { signatures in
                        let text = try #require(signatures[0]["sig"] as? String)
                        signatures[0]["sig"] = String(text.dropLast()) + (text.hasSuffix("0") ? "1" : "0")
                    }
                ),
                ("that does not", { $0.append(["keyid": stranger.publicKey.id, "sig": $0[0]["sig"] ?? ""]) }),
                ("twice", { $0.append($0[0]) }),
            ]
            for (index, (words, edit)) in cases.enumerated() {
                let folder = TUFRepositoryFolder(world.folder.appending(path: "edited-\(index)"))
                try await world.publisher.exportRepository(of: world.app, to: folder)
                try Self.edit(folder, edit)
                do {
                    try await world.publisher.importRepository(of: world.app, from: folder, by: "operator")
                    Issue.record("taken: \(words)")
                } catch let error as ServerError {
                    #expect(error.found.contains(words), "\(error)")
                }
            }
            // The first holder's signature is there still, and the second makes it enough.
            let done = try await world.publisher.pass(world.app, to: [holders.targets[1]], in: world.folder)
            #expect(done.isEnough)
            #expect(try await world.publisher.publish(change) == .published(generation: 1))
            try await world.everybodyFollows(isThorough: false)
        }
    }
}
