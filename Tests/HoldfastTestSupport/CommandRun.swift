#if os(macOS) || os(Linux)
package import Foundation
import HoldfastTesting

/// The result of a program that ran to its end.
package struct CommandRun {
    package let status: Int32
    /// Standard output alone.
    package let output: String
    /// Standard error alone.
    package let errors: String

    package init(status: Int32, output: String, errors: String) {
        self.status = status
        self.output = output
        self.errors = errors
    }

    package var lines: [Substring] { output.split(separator: "\n", omittingEmptySubsequences: false).dropLast() }

    /// Whether anything in it would act on a terminal.
    package var actsOnTerminal: Bool {
        (output + errors).unicodeScalars.contains { scalar in
            scalar != "\n" && [.control, .format].contains(scalar.properties.generalCategory)
        }
    }

    package func json<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(output.utf8))
    }

    /// Runs a program. Of the variables that the package's commands read, its environment has only those in
    /// `environment`.
    package static func run(
        _ program: URL, _ arguments: [String], environment: [String: String] = [:], in folder: URL? = nil,
        limit: Duration = .seconds(120)
    ) async throws -> CommandRun {
        try await withTemporaryFolder { scratch in
            let errors = scratch.appending(path: "errors")
            let settings = ["TERM": "xterm-256color", "LC_ALL": "C"].merging(environment) { $1 }
            let process = try GuardedProcess(
                URL(filePath: "/bin/sh"),
                ["-c", "exec \"$@\" 2>\"$0\"", errors.path, "/usr/bin/env"]
                    + [
                        "NO_COLOR", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "https_proxy", "NO_PROXY",
                        "no_proxy",
                    ].flatMap { ["-u", $0] }
                    + settings.map { "\($0)=\($1)" } + [program.path] + arguments,
                in: folder, limit: limit)
            let status = await process.waitForEnd()
            return CommandRun(
                status: status, output: process.output,
                errors: String(decoding: try Data(contentsOf: errors), as: UTF8.self))
        }
    }

    /// A program of this package, which is built beside the tests; nil if it is not there.
    package static func program(_ name: String) -> URL? {
        let places = [Bundle.main] + Bundle.allBundles
        return places.flatMap { [$0.bundleURL, $0.bundleURL.deletingLastPathComponent()] }
            .map { $0.appending(path: name) }
            .first { url in
                let isFolder = try? url.resourceValues(forKeys: [.isDirectoryKey]).isDirectory
                return isFolder == false && FileManager.default.isExecutableFile(atPath: url.path)
            }
    }
}
#endif
