import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerStore
@testable import ServerWeb

@Suite(
    "Signer programs of a repository", .timeLimit(.minutes(10)),
    .needs(.verifyingSigner))
struct RepositorySignerTests {
    private static func key(
        _ id: String, _ purpose: SealedKey.Purpose, _ signer: VerifyingSigner, _ key: TUFSigningKey
    ) throws -> Catalog.Key {
        let text = try #require(key.publicKeyText)
        return Catalog.Key(
            program: signer.program, at: try SealedKeyTests.place(id, purpose),
            publicKey: try ApproverKey(printed: text).subjectPublicKeyInfo)
    }

    @Test("Programs sign snapshot and timestamp, and another key takes over once a root names it beside the old one")
    func overlap() async throws {
        try await World.run { world in
            let keys = [SealedKey.Purpose.snapshot: TUFSigningKey(), .timestamp: TUFSigningKey(.ed25519)]
            var signers: [VerifyingSigner] = []
            for (purpose, key) in keys {
                let signer = try VerifyingSigner(purpose.rawValue, in: world, key: key.pem ?? "")
                signers.append(signer)
                _ = try await world.publisher.addSigner(
                    try Self.key("\(purpose.rawValue)-1", purpose, signer, key), replacing: false, by: "operator")
            }
            let holders = RepositoryHolders()
            try await world.publishRepository(holders)
            let app = try world.repositoryApp(isBundle: false)
            #expect(try await app.letsIn(world.shown, trusting: world.root))
            try await world.pass(2 * 86_400)
            for signer in signers { try signer.setTime(world.now) }
            let round = try await world.publisher.renew()
            #expect(round.problems == [] && round.signed.contains("repo/bank/metadata/timestamp.json"))
            #expect(try await app.letsIn(world.shown, trusting: world.root))

            // Another key, before any root names it: apps would refuse it.
            let next = TUFSigningKey()
            let signer = try VerifyingSigner("next", in: world, key: next.pem ?? "")
            let successor = try Self.key("timestamp-2", .timestamp, signer, next)
            let early = await expectError(.constraint) {
                try await world.publisher.addSigner(successor, replacing: true, by: "operator")
            }
            #expect(early?.found.contains("apps would refuse") ?? false)
            try await world.publisher.pass(world.app, to: [holders.root], in: world.folder) { folder in
                var state = try await folder.state()
                try state.change(.timestamp, adding: [next.publicKey], at: world.clock.now)
                try await folder.writeDrafts(state)
            }
            // A draft does not count: apps have another root.
            await expectError(.constraint) {
                try await world.publisher.addSigner(successor, replacing: true, by: "operator")
            }
            try await world.publisher.publishRoot(of: world.app, by: "operator")
            #expect(try await app.letsIn(world.shown, trusting: world.root))
            _ = try await world.publisher.addSigner(successor, replacing: true, by: "operator")
            // A new program has to see approvals in time, so a change comes first.
            let change = try await world.approvedRepository(holders) { $0.lifetime = 100 * 86_400 }
            try await world.publisher.sign(change, holders, in: world.folder)
            try await world.publisher.publish(change)
            #expect(try await app.letsIn(world.shown, trusting: world.root), "\(signer.lastWords)")
            try await world.pass(2 * 86_400)
            for signer in signers + [signer] { try signer.setTime(world.now) }
            #expect(try await world.publisher.renew().problems == [])
            #expect(try await app.letsIn(world.shown, trusting: world.root))
            #expect(signer.lastWords.contains("timestamp"), "\(signer.lastWords)")
        }
    }
    @Test(
        "A token of SoftHSM has the keys of snapshot and timestamp, and apps that follow the repository get in",
        .needs(.softToken))
    func token() async throws {
        try await World.run { world in
            let token = try await SoftToken(in: world.folder)
            var signers: [VerifyingSigner] = []
            for (id, purpose) in [("01", SealedKey.Purpose.snapshot), ("02", .timestamp)] {
                let key = try await token.makeKey(id: id)
                let signer = try VerifyingSigner(purpose.rawValue, in: world, command: key.command)
                signers.append(signer)
                _ = try await world.publisher.addSigner(
                    Catalog.Key(
                        program: signer.program, at: try SealedKeyTests.place("\(purpose.rawValue)-1", purpose),
                        publicKey: key.publicKey), replacing: false, by: "operator")
            }
            try await world.publishRepository(RepositoryHolders())
            let app = try world.repositoryApp(isBundle: false)
            #expect(try await app.letsIn(world.shown, trusting: world.root))
            try await world.pass(2 * 86_400)
            for signer in signers { try signer.setTime(world.now) }
            let round = try await world.publisher.renew()
            #expect(round.problems == [] && round.signed.contains("repo/bank/metadata/timestamp.json"))
            #expect(try await app.letsIn(world.shown, trusting: world.root), "\(signers.map(\.lastWords))")
        }
    }
}
