import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastSigning
import HoldfastTesting
import NIOSSL

/// The demo's publisher of pins. It has a list that can be replaced, and answers challenges, optionally with an old
/// answer.
final class DemoPinService: Sendable {
    private struct State {
        var list = ""
        var entries: [FingerprintEntry] = []
        var answer: ChallengeSigner.Answer?
        var replays = false
    }

    private let key: SigningKey
    private let clock: any WallClock
    private let state = Lock(State())

    init(key: SigningKey, clock: any WallClock) {
        self.key = key
        self.clock = clock
    }

    func publish(_ list: String) { state.withLock { $0.list = list } }

    /// Sets the entries that it confirms when it is challenged.
    func vouch(for entries: [FingerprintEntry]) { state.withLock { $0.entries = entries } }

    /// From now on, every challenge gets the answer to an earlier one.
    func replay() { state.withLock { $0.replays = true } }

    /// Serves the list and the answers over HTTPS on loopback.
    func serving(_ certificate: TestCertificate, _ body: (ScriptedHTTPServer) async throws -> Void) async throws {
        let tls = try NIOSSLContext(configuration: .testServer(certificate))
        let script: ScriptedHTTPServer.HeadScript = { path, head in
            [.send(path == "/init" ? self.answer(to: head) : self.response(self.state.withLock { $0.list })), .close]
        }
        try await ScriptedHTTPServer.with(tls: tls, answering: script, body)
    }

    private func answer(to head: String) -> String {
        let header = "x-cert-pinning-challenge:"
        let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(header) }
        let challenge = line?.dropFirst(header.count).trimmingCharacters(in: .whitespaces)
        let (entries, old) = state.withLock { ($0.entries, $0.replays ? $0.answer : nil) }
        guard
            let answer = old ?? (try? ChallengeSigner(key: key).answer(to: challenge, entries: entries, at: clock.now))
        else { return "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" }
        state.withLock { $0.answer = answer }
        return response(
            String(decoding: answer.body, as: UTF8.self), "X-Cert-Pinning-Signature: \(answer.signature)\r\n")
    }

    private func response(_ body: String, _ header: String = "") -> String {
        "HTTP/1.1 200 OK\r\n\(header)Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)"
    }
}
