import Foundation
import Holdfast
import HoldfastSigning
import Synchronization
import Testing

@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore

/// Servers and commands that are killed at any moment while they work: `HOLDFAST_KILLS`, or 8.
private let kills = Int(ProcessInfo.processInfo.environment["HOLDFAST_KILLS"] ?? "") ?? 8

@Suite("serve, killed", .timeLimit(.minutes(60)))
struct KilledServerTests {
    /// Documents that clients got, and results that were reported as done.
    private final class Witness: Sendable {
        private struct State {
            var served: [String: Set<ServerFoundation.Digest>] = [:]
            var count = 0
        }

        private let state = Mutex(State())

        var served: [String: Set<ServerFoundation.Digest>] { state.withLock { $0.served } }
        var count: Int { state.withLock { $0.count } }

        func note(_ body: String, at path: String) {
            state.withLock {
                $0.count += 1
                $0.served[path, default: []].insert(Digest(of: body.utf8))
            }
        }
    }

    private static let paths = ["/lists/bank.json", "/trust/\(World.customer).json.signed", "/pins/bank.pins.json"]

    /// Asks until no answer comes.
    /// - Parameter kills: what to kill after how many answers.
    private func ask(
        _ port: Int, _ site: ServeSite, _ witness: Witness, _ kills: [(after: Int, program: ServingProcess)]
    ) async throws {
        let key = try DocumentPublicKey(base64: site.publicKey)
        let client = RawClient(port: port)
        var count = 0
        while true {
            for path in Self.paths {
                count += 1
                for kill in kills where kill.after == count { kill.program.signal(SIGKILL) }
                guard let answer = try? await client.get(path), !answer.text.isEmpty else { return }
                // No client uses an answer that was cut off.
                guard answer.body.utf8.count == Int(answer.header("Content-Length") ?? "") else { continue }
                #expect(answer.status == 200, "\(answer.text)")
                witness.note(answer.body, at: String(path.dropFirst()))
                guard path == Self.paths[0] else { continue }
                #expect(throws: Never.self) { try FingerprintList(verifying: Data(answer.body.utf8), with: key) }
            }
        }
    }

    private func command(_ site: ServeSite, _ arguments: String...) throws -> ServingProcess {
        try ServingProcess([ServerProgram.url.path] + arguments + ["--data", site.data])
    }

    private func faults(_ site: ServeSite) async throws -> [String] {
        let (status, output) = try await ServerProgram.run(["doctor", "--data", site.data], in: site.folder)
        let faults = output.components(separatedBy: "\n").filter { $0.hasPrefix("fault:") }
        #expect(status == (faults.isEmpty ? 0 : 1), "\(output)")
        return faults
    }

    @Test("Killed at any moment under load, nothing that was acknowledged is lost, and clients refuse nothing")
    func killed() async throws {
        try await ServeSite.run { site in
            try await site.publish()
            var generator = SeededGenerator(seed: 0x516B1)
            let witness = Witness()
            var (generation, tokens): (Int64, [String]) = (1, [])
            var noted: [String: Set<String>] = [:]
            for round in 0..<kills {
                // An outlook takes the longer the more was published lately.
                let isPublished = round % max(1, kills / 16) == 0
                let change = isPublished ? try await site.approvedChange(until: 179 - Int64(round % 90)) : nil
                let server = try await ServingProcess.start(site)
                let publishing = try change.map { try command(site, "publish", "\($0)") }
                let adding = try command(site, "token", "add", "t\(round)", "--every-app", "--scope", "read")
                // A publication takes as long as some hundred answers.
                let moments = (0..<3).map { _ in Int.random(in: 1...1_200, using: &generator) }
                var doomed = [(after: moments[0], program: server), (after: moments[1], program: adding)]
                if let publishing { doomed.append((after: moments[2], program: publishing)) }
                try await ask(server.port, site, witness, doomed)
                if await adding.status() == 0 { tokens.append("t\(round)") }
                if let publishing, await publishing.status() == 0 {
                    try await publishing.says("published: generation \(generation + 1)")
                    generation += 1
                }
                _ = await server.status()

                // Documents that were not in the folder yet follow later.
                #expect(
                    try await faults(site).allSatisfy { $0.contains("the file in the folder differs or is missing") })
                _ = try await site.open.catalog.now()
                let ledger = site.open.catalog.ledger
                #expect(ledger.generation(of: site.app) >= generation)
                generation = ledger.generation(of: site.app)
                #expect(Set(ledger.tokens.values.map(\.name)).isSuperset(of: tokens))
                // Each file is one of those that were signed, and is what its version was the first time.
                for path in site.server.publicFolder.paths() {
                    let version = try #require(try site.server.publicFolder.version(of: path))
                    let bytes = try #require(try site.server.publicFolder.read(path))
                    noted["\(path) \(version)", default: []].insert("\(Digest(of: bytes))")
                }
            }
            let last = try await ServingProcess.start(site)
            try await last.says("signed again")
            #expect(try await site.clientsThatLetIn(site.shown, last.port) == World.everybody)
            // A killed server's deliveries stay reserved for a minute.
            var attempts = 0
            while case let left = try await faults(site), !left.isEmpty {
                attempts += 1
                try #require(attempts < 200, "\(left)")
            }
            #expect(await last.stop() == 0)

            var signed: [String: Set<ServerFoundation.Digest>] = [:]
            var versions: [String: String] = [:]
            var place: Int64 = -1
            while case let page = try await site.open.catalog.audit(after: place, limit: 1_000), !page.isEmpty {
                place += Int64(page.count)
                for entry in try page.map({ try AuditEntry($0) }) where entry.event == .signed {
                    let (path, digest) = (entry.facts["format"] ?? "", entry.facts["digest"] ?? "")
                    signed[path, default: []].insert(try #require(Digest(hex: digest.utf8)))
                    let other = versions.updateValue(digest, forKey: "\(path) \(entry.facts["version"] ?? "")")
                    #expect(other == nil, "\(path)")
                }
            }
            #expect(witness.count > kills)
            for (path, digests) in witness.served { #expect(digests.isSubset(of: signed[path] ?? []), "\(path)") }
            // The note of a version is written before the file.
            for (version, digests) in noted {
                let known = versions[version].map { [$0] } ?? []
                #expect(digests.count <= 2 && (digests.contains(known.first ?? "") || digests.count == 1), "\(version)")
            }
        }
    }
}
