import Foundation
import HoldfastTestSupport
import HoldfastTesting

/// The command's description of itself for other tools, for tests of every verb. A debug build takes a second to
/// collect it, so that is done once.
enum CommandHelp {
    private static let dump = Task { try await CommandRun.inProcess(["--experimental-dump-help"]).output }

    static func json<Value: Decodable>(_ type: Value.Type) async throws -> Value {
        try JSONDecoder().decode(type, from: Data(try await dump.value.utf8))
    }
}
