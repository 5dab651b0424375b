#if os(macOS) || os(Linux)
package import Foundation

/// python-tuf, the reference implementation of The Update Framework, as a peer that shares no code with us.
package enum PythonTUF {
    /// The Python that `scripts/python tuf` made, or the one that `HOLDFAST_TUF_PYTHON` names. An empty name says that
    /// this machine cannot have one.
    package static let program: URL? = {
        guard !isOutOfReach else { return nil }
        let given = environment["HOLDFAST_TUF_PYTHON"].map { URL(filePath: $0) }
        let program = given ?? package.appending(path: ".build-tuf/bin/python")
        return FileManager.default.isExecutableFile(atPath: program.path) ? program : nil
    }()

    /// Whether tests that need it should run: it is there, or `HOLDFAST_REQUIRE_FOREIGN_PEERS` is 1. In the second case
    /// a test that does not find it fails instead of being skipped.
    package static let runs =
        program != nil || (environment["HOLDFAST_REQUIRE_FOREIGN_PEERS"] == "1" && !isOutOfReach)

    /// A script of the tests for it.
    package static func script(_ name: String) -> URL {
        package.appending(path: "Tests/HoldfastTUFTests/Support/Python/\(name)")
    }

    /// Runs a script of the tests.
    /// - Returns: the lines that it printed; nil if it failed.
    package static func lines(of name: String, _ arguments: [String]) throws -> [String]? {
        guard let program else { throw CocoaError(.featureUnsupported) }
        let process = try ChildProcess(program.path, ["-B", script(name).path] + arguments)
        var output = Data()
        while let octets = process.octets() { output += octets }
        guard process.wait() == 0 else { return nil }
        return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    private static let environment = ProcessInfo.processInfo.environment
    private static let isOutOfReach = environment["HOLDFAST_TUF_PYTHON"] == ""
    private static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}
#endif
