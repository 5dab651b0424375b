import Foundation
import HoldfastTestSupport
import HoldfastTesting

/// What the command says of itself to other tools, for tests that look at every verb. A debug build takes a second to
/// collect it, so that is done once.
enum CommandHelp {
    private static let dump = Task { try await CommandRun.inProcess(["--experimental-dump-help"]).output }

    static func json<Value: Decodable>(_ type: Value.Type) async throws -> Value {
        try JSONDecoder().decode(type, from: Data(try await dump.value.utf8))
    }
}
