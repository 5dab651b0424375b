#if Services && (os(macOS) || os(Linux))
package import Foundation
package import HoldfastTesting
package import NIOSSL

/// `openssl s_client`, a TLS client that shares no code with us. It sends some text, keeps the session that the server
/// gives it, and can resume that session.
package struct OpenSSLClient: Sendable {
    /// The program's output: its report on the handshake, and the data that the server sent.
    package struct Output: Sendable {
        package let text: String
        /// Whether the server resumed the session, according to the client.
        package var isResumed: Bool { text.contains("Reused, TLSv1") }
        /// Whether the handshake was a full one, according to the client.
        package var isNew: Bool { text.contains("New, TLSv1") }
    }

    private let folder: URL
    private let port: Int
    private let version: TLSVersion

    /// - Parameters:
    ///   - folder: the folder for its files, which nothing else may use.
    ///   - port: the port of a server on 127.0.0.1.
    ///   - version: TLS 1.2 or 1.3.
    package init(folder: URL, port: Int, version: TLSVersion) {
        self.folder = folder
        self.port = port
        self.version = version
    }

    /// Connects, sends, and reads until the server ends the connection. It does not verify the server.
    ///
    /// Throws `programMissing`, and Foundation's errors for files.
    /// - Parameters:
    ///   - text: what it sends as soon as its side of the handshake is done.
    ///   - certificate: the certificate that it presents if the server asks, with its chain.
    ///   - resuming: whether it resumes the last session. If the server agrees, no certificate is presented.
    package func send(
        _ text: String, presenting certificate: TestCertificate?, resuming: Bool = false
    ) async throws -> Output {
        guard let program = OpenSSLProgram.url else { throw OpenSSLProgram.missing }
        func write(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: folder.appending(path: name))
        }
        try write("input", text)
        var arguments = [
            program.path, "s_client", "-connect", "127.0.0.1:\(port)", "-servername", "localhost", "-ign_eof",
            "-sess_out", "session.pem", version == .tlsv12 ? "-tls1_2" : "-tls1_3",
        ]
        if let certificate {
            try write("client.pem", certificate.pem)
            try write("client.key", certificate.key.privateKeyPEM)
            arguments += ["-cert", "client.pem", "-key", "client.key"]
            let above = certificate.chain.dropFirst()
            if !above.isEmpty {
                try write("above.pem", above.map(TestCertificate.pem).joined())
                arguments += ["-cert_chain", "above.pem"]
            }
        }
        if resuming { arguments += ["-sess_in", "session.pem"] }
        // GuardedProcess gives its program no input, so a shell redirects it and then becomes the program.
        let process = try GuardedProcess(
            URL(filePath: "/bin/sh"), ["-c", #"exec "$@" <input"#, "s_client"] + arguments, in: folder,
            limit: .seconds(100))
        _ = await process.waitForEnd()
        return Output(text: process.output)
    }
}
#endif
