import Foundation
import Testing

@testable import ServerFoundation
@testable import ServerStore

/// Helpers for tests of an engine on PostgreSQL.
protocol PostgreSQLCases {}

extension PostgreSQLCases {
    func add(_ name: String, to engine: PostgreSQLEngine) async throws(ServerError) {
        try await engine.write { session throws(ServerError) in
            _ = try session.run(StorageSuite.insert, [.text(name), .text(name)])
        }
    }

    func names(in engine: PostgreSQLEngine) async throws -> [String] {
        try await engine.read { session throws(ServerError) in try session.run(StorageSuite.names) }.map {
            try $0.text(0)
        }
    }

    func withEngine(
        _ address: PostgreSQLAddress, limits: PostgreSQLLimits = .usual,
        _ body: (PostgreSQLEngine) async throws -> Void
    ) async throws {
        let engine = try await PostgreSQLEngine.open(address, clock: nil, limits: limits)
        let result: Result<Void, any Error>
        do { result = .success(try await body(engine)) } catch { result = .failure(error) }
        await engine.close()
        try result.get()
    }
}
