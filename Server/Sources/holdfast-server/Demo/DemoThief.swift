import Foundation
import Holdfast
import HoldfastServer

/// Somebody who stole the folder of the server, and can write to it. They have neither the secret nor an approver's key.
struct DemoThief {
    private let stage: DemoStage

    init(_ stage: DemoStage) { self.stage = stage }

    /// Whether a key of the stolen database opens with a secret of their own.
    func opensKey() async throws -> Bool {
        guard let key = try await stage.open.catalog.key(.fingerprints, of: stage.app) else { return false }
        var generator = SystemRandomNumberGenerator()
        return (try? key.sealed?.opened(with: SigningSecret(using: &generator))) != nil
    }

    /// Says that a change was approved and published, moves others' approvals to it, puts another list in the place of
    /// the one that was signed, and cuts the end off the audit.
    func rewrite(_ change: RandomID) async throws {
        let engine = try SQLiteEngine(stage.folder.url.appending(path: "server.db"), clock: stage.clock)
        _ = try await engine.write { session throws(ServerError) in
            let id: [StorageValue] = [.octets(change.octets)]
            _ = try session.run("UPDATE change SET state = 'approved' WHERE id = $1", id)
            _ = try session.run("UPDATE approval SET change_id = $1", id)
            _ = try session.run("UPDATE app SET change_id = $1, generation = generation + 1", id)
            _ = try session.run(
                "UPDATE document SET octets = $1 WHERE format LIKE 'lists/%'", [.octets(Array("{}".utf8))])
            _ = try session.run("DELETE FROM audit WHERE place = (SELECT max(place) FROM audit)", [])
        }
        await engine.close()
    }
}
