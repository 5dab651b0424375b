#if os(macOS) || os(Linux)
package import Foundation
package import HoldfastTesting

/// The `openssl` command of this machine, as a peer that shares no code with us.
package enum OpenSSLProgram {
    /// The outcome of a command that has ended.
    package struct Output: Sendable {
        /// The exit status, or the number of the signal that ended it.
        package let status: Int32
        /// Standard output and standard error, in the order in which they were written.
        package let text: String
    }

    /// The first OpenSSL 3 or newer on the search path; nil if there is none. LibreSSL is not enough.
    package static let url: URL? = find()

    /// Whether tests that need it should run: it is there, or `HOLDFAST_REQUIRE_FOREIGN_PEERS` is 1. In the second case
    /// a test that does not find it fails instead of being skipped.
    package static var isAvailable: Bool {
        url != nil || ProcessInfo.processInfo.environment["HOLDFAST_REQUIRE_FOREIGN_PEERS"] == "1"
    }

    /// Runs a command to its end, and kills it after `limit`.
    ///
    /// Throws `programMissing` or `programFailed` if it cannot be started. A non-zero exit status is not an error here.
    package static func run(
        _ arguments: [String], in directory: URL? = nil, limit: Duration = .seconds(600)
    ) async throws(TestKitError) -> Output {
        guard let url else { throw missing }
        let process: GuardedProcess
        do {
            process = try GuardedProcess(url, arguments, in: directory, limit: limit)
        } catch {
            throw TestKitError(
                .programFailed, expected: "openssl \(arguments.joined(separator: " "))", found: "\(error)",
                remedy: "Run the command by hand to see what is wrong with it.")
        }
        let status = await process.waitForEnd()
        return Output(status: status, text: process.output)
    }

    /// The error for a machine without OpenSSL 3.
    package static var missing: TestKitError {
        TestKitError(
            .programMissing, expected: "OpenSSL 3 or newer as openssl on the search path", found: "none",
            remedy: "Install it, or make the test depend on OpenSSLServer.isAvailable.")
    }

    private static func find() -> URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        for folder in path.split(separator: ":") {
            let url = URL(filePath: String(folder)).appending(path: "openssl")
            guard FileManager.default.isExecutableFile(atPath: url.path) else { continue }
            let words = version(of: url).split(separator: " ")
            guard words.count > 1, words[0] == "OpenSSL" else { continue }
            if let major = words[1].split(separator: ".").first.flatMap({ Int($0) }), major >= 3 { return url }
        }
        return nil
    }

    private static func version(of program: URL) -> String {
        do {
            let child = try ChildProcess(program.path, ["version"])
            try child.input.close()
            var data = Data()
            while let more = child.octets() { data += more }
            _ = child.wait()
            return String(decoding: data, as: UTF8.self)
        } catch {
            return ""
        }
    }
}
#endif
