#if os(macOS) || os(Linux)
package import Foundation
import Synchronization

/// The `openssl` command of this machine, as a judge that shares no code with us.
package enum OpenSSLProgram {
    /// What a finished command left.
    package struct Output: Sendable {
        /// The exit status; that of a killed command is its signal.
        package let status: Int32
        /// Standard output and standard error, in the order in which they were written.
        package let text: String
    }

    /// Where `openssl` is on the search path, if it is there and is OpenSSL 3 or newer; LibreSSL is not enough.
    package static let url: URL? = find()

    /// Whether commands can be run.
    package static var isAvailable: Bool { url != nil }

    /// Runs a command to its end, and kills it after `limit` seconds. It waits on a thread of its own.
    ///
    /// Throws `programMissing` or `programFailed` when it could not be started; its exit status is the caller's matter.
    package static func run(
        _ arguments: [String], in directory: URL? = nil, limit: Int = 60
    ) async throws(TestKitError) -> Output {
        guard let url else { throw missing }
        let result: Result<Output, TestKitError> = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: execute(url, arguments, in: directory, limit: limit))
            }
        }
        return try result.get()
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
            guard case .success(let output) = execute(url, ["version"], in: nil, limit: 10) else { continue }
            let words = output.text.split(separator: " ")
            if words.count > 1, words[0] == "OpenSSL",
                let major = words[1].split(separator: ".").first.flatMap({ Int($0) }),
                major >= 3
            {
                return url
            }
        }
        return nil
    }

    private static func execute(
        _ url: URL, _ arguments: [String], in directory: URL?, limit: Int
    ) -> Result<Output, TestKitError> {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = url
        process.arguments = arguments
        process.currentDirectoryURL = directory
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        do {
            try process.run()
            let timer = DispatchWorkItem { [process] in process.terminate() }
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(limit), execute: timer)
            let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            timer.cancel()
            return .success(
                Output(status: process.terminationStatus, text: String(decoding: data, as: UTF8.self)))
        } catch {
            return .failure(
                TestKitError(
                    .programFailed, expected: "openssl \(arguments.joined(separator: " "))", found: "\(error)",
                    remedy: "Run the command by hand to see what is wrong with it."))
        }
    }
}
#endif
