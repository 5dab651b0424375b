import Foundation
import HoldfastTesting

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerStore

extension World {
    /// The folder of another machine that serves from the same database, with what an operator copies to it.
    func machine(_ name: String, with files: [String] = ["configuration.json", "head"]) throws -> ServerFolder {
        let url = outside.appending(path: "\(folder.lastPathComponent)-\(name)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        for file in files {
            try FileManager.default.copyItem(at: folder.appending(path: file), to: url.appending(path: file))
        }
        var machine = ServerFolder(url)
        machine.databaseClock = clock
        return machine
    }

    /// Runs a test on a database of PostgreSQL, with a second machine.
    static func withMachines(
        _ kind: StorageKind, canary: Int64 = 0, _ body: (World, ServerFolder) async throws -> Void
    ) async throws {
        let address = try await kind.address()
        try await WorldDatabase.$current.withValue(address) {
            try await World.settled(canary: canary) { world in
                let second = try world.machine("second")
                defer { try? FileManager.default.removeItem(at: second.url) }
                try await body(world, second)
            }
        }
    }

    /// Works as a process on a machine.
    func working<Value>(
        on machine: ServerFolder, clock: ManualClock? = nil, _ body: (ServerFolder.Open) async throws -> Value
    ) async throws -> Value {
        let clock = clock ?? self.clock
        let steady = SteadyTime(boot: "another") { Int64(clock.now.timeIntervalSince1970) }
        let open = try await machine.open(clock: clock, steady: steady)
        let result: Result<Value, any Error>
        do { result = .success(try await body(open)) } catch { result = .failure(error) }
        await open.engine.close()
        return try result.get()
    }
}
