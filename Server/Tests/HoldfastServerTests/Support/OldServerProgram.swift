import Foundation

/// A mobile utility server in Python, which reads its tables by itself and shares no code with this server.
enum OldServerProgram {
    private static let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Python/old_server.py")

    /// Runs it on tables, and gives its port.
    static func listening<Value>(
        with old: OldUtilityServer, in world: World, _ body: (Int) async throws -> Value
    ) async throws -> Value {
        let folder = world.folder.appending(path: "tables-\(UUID().uuidString)")
        try old.write(to: folder)
        let server = try ServingProcess(["python3", "-B", script.path, folder.path, "\(world.now)"])
        defer { server.signal(SIGKILL) }
        try await server.says("listening for apps on")
        return try await body(server.port)
    }
}
