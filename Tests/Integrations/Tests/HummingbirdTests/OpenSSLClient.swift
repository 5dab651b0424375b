import Foundation
import HoldfastTesting
import NIOSSL

/// `openssl s_client`, a TLS client that shares no code with Holdfast. It sends some text, keeps the session that the
/// server gives it, and can resume that session.
struct OpenSSLClient {
    /// The report on the handshake, and the server's answer.
    struct Output {
        let text: String
        var isResumed: Bool { text.contains("Reused, TLSv1") }
        /// Whether the handshake was a full one.
        var isNew: Bool { text.contains("New, TLSv1") }
    }

    /// Whether this machine has OpenSSL 3.
    static let isAvailable: Bool = {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["openssl", "version"]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil, let text = try? output.fileHandleForReading.readToEnd() else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0 && text.starts(with: Array("OpenSSL 3".utf8))
    }()

    /// The folder for its files, which nothing else uses.
    let folder: URL
    /// A port of 127.0.0.1.
    let port: Int
    let version: TLSVersion

    /// Connects without verifying the server, sends `text`, and reads until the server ends the connection. A resumed
    /// session presents no certificate.
    func send(
        _ text: String, presenting certificate: TestCertificate, resuming: Bool = false
    ) async throws -> Output {
        try write(text, to: "input")
        try write(certificate.pem, to: "client.pem")
        try write(certificate.key.privateKeyPEM, to: "client.key")
        var arguments = [
            "openssl", "s_client", "-connect", "127.0.0.1:\(port)", "-servername", "localhost", "-ign_eof",
            "-sess_out", "session.pem", version == .tlsv12 ? "-tls1_2" : "-tls1_3", "-cert", "client.pem", "-key",
            "client.key",
        ]
        let above = certificate.chain.dropFirst()
        if !above.isEmpty {
            try write(above.map(TestCertificate.pem).joined(), to: "above.pem")
            arguments += ["-cert_chain", "above.pem"]
        }
        if resuming { arguments += ["-sess_in", "session.pem"] }
        return Output(text: try await run(arguments))
    }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: folder.appending(path: name))
    }

    /// Runs a program on `input`, and ends it if the test is canceled.
    private func run(_ arguments: [String]) async throws -> String {
        let output = folder.appending(path: "output")
        try Data().write(to: output)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.standardInput = try FileHandle(forReadingFrom: folder.appending(path: "input"))
        let handle = try FileHandle(forWritingTo: output)
        process.standardOutput = handle
        process.standardError = handle
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in continuation.finish() }
        try process.run()
        for await _ in ends {}
        if process.isRunning { process.terminate() }
        return String(decoding: try Data(contentsOf: output), as: UTF8.self)
    }
}

/// Makes a new folder for `body`, and removes it afterward.
func withTemporaryFolder(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder)
}
