import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastPublishing
import HoldfastSigning
import HoldfastTUF
import HoldfastTesting
import Testing

@testable import PinsFromRepository

/// The example whose pins come from a repository, which the test makes with the library behind `holdfastctl repository`.
@Suite("The example with pins from a repository", .timeLimit(.minutes(5)))
struct PinsFromRepositoryTests {
    private let stage: Stage
    /// The server after its next change of keys.
    private let next: TestCertificate

    init() throws {
        stage = try Stage()
        next = try stage.impostor()
    }

    @Test("It starts with what it shipped, takes the next pins from bundle.json, and refuses the key that they drop")
    func pins() async throws {
        try await Self.withFolder { folder in
            let repository = TUFRepositoryFolder(folder)
            let (offline, online) = (TUFSigningKey(), TUFSigningKey())
            let (rare, daily) = (TUFRoleKeys([offline.publicKey]), TUFRoleKeys([online.publicKey]))
            try await repository.writeDrafts(
                TUFRepositoryState(
                    roles: [.root: rare, .targets: rare, .snapshot: daily, .timestamp: daily], at: .now))
            func bundle(_ certificates: [TestCertificate]) async throws -> Data {
                var state = try await repository.state()
                try state.prepare(pins: pinFile(certificates), at: .now)
                _ = try state.sign(by: offline)
                try await repository.write(
                    try await TUFPublication.make(of: state, in: repository, onlineKeys: [online], at: .now))
                return try Data(contentsOf: repository.published.appending(path: "bundle.json"))
            }
            let first = try await bundle([stage.server, next])
            let shipped = PinsFromRepository.Shipped(
                root: try Data(contentsOf: repository.published.appending(path: "metadata/1.root.json")),
                bundle: first)
            // Whoever serves something else changes nothing.
            #expect(try await fetch(from: stage.server, shipped, serving: Data("{}".utf8)) == .fresh)

            let second = try await bundle([next, try stage.impostor()])
            #expect(try await fetch(from: next, shipped, serving: second) == .fresh)
            let failure = await #expect(throws: TrustFailure.self) {
                try await fetch(from: stage.server, shipped, serving: second)
            }
            #expect(failure?.code == .pinMismatch)
        }
    }

    /// The key in use first, its backup behind it.
    private func pinFile(_ certificates: [TestCertificate]) throws -> Data {
        let pins = try certificates.enumerated().map { index, certificate in
            #"{"pin": "\#(try Pin.publicKey(of: certificate.der))", "state": "\#(index == 0 ? "active" : "backup")"}"#
        }
        let (now, end) = (Date.now, Date.now.addingTimeInterval(90 * 86_400))
        return Data(
            """
            {"schema": 1, "issuedAt": "\(now.formatted(.iso8601))", "notAfter": "\(end.formatted(.iso8601))",
             "refresh": {"after": 21600}, "hosts": [{"host": "localhost", "pins": [\(pins.joined(separator: ", "))]}]}
            """.utf8)
    }

    /// Starts the example anew while a server has the bundle, updates, and fetches from another server.
    private func fetch(
        from certificate: TestCertificate, _ shipped: PinsFromRepository.Shipped, serving bundle: Data
    ) async throws -> StoreState {
        let body = String(decoding: bundle, as: UTF8.self)
        let options = LoopbackTLSServer.Options(behavior: .http(body: "pinned"))
        return try await withLoopbackTLSServer(serving: stage.server, options: .init(behavior: .http(body: body))) {
            files in
            try await withLoopbackTLSServer(serving: certificate, options: options) { server in
                let url = "https://localhost:\(server.port)/"
                let pins = try await PinsFromRepository.pins(
                    for: [url], from: #require(URL(string: "https://127.0.0.1:\(files.port)/bundle.json")),
                    shipped: shipped, anchors: stage.anchors, logger: Stage.logger, storage: InMemoryDataStore())
                _ = try? await pins.update(mode: .forced)
                do {
                    #expect(try await PinsFromRepository.fetch(url, pins: pins, anchors: stage.anchors) == "pinned")
                } catch {
                    #expect(server.statistics.plaintextBytesReceived == 0)
                    throw error
                }
                return pins.state
            }
        }
    }

    private static func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-example-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }
}
