import ArgumentParser
import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastAsyncHTTPClient
import HoldfastTesting
import NIOCore

/// Sends requests to hosts that accept connections and say nothing, while another host is asked again and again. What
/// counts is how many descriptors this process has, which is why it is one of its own, and the servers are not in it.
struct SilentHosts: Sendable {
    struct Options: ParsableArguments {
        @Option(
            help: .init(
                "For silent: the port of a server that says nothing after its TLS handshake.", visibility: .hidden))
        var silentPort = 0

        @Option(help: .init("For silent: the port of a server that says nothing at all.", visibility: .hidden))
        var mutePort = 0

        @Option(help: .init("For silent: the port of a server that answers.", visibility: .hidden))
        var answeringPort = 0

        @Option(help: .init("For silent: the root of that server, as base64.", visibility: .hidden))
        var root = ""
    }

    static let requests = 1_000
    private static let perHost = 4
    private static let perWave = 200
    private static let timeout = TimeAmount.seconds(1)

    let options: Options

    /// - Returns: what was otherwise than expected.
    func run(_ say: @Sendable (String) -> Void) async throws -> [String] {
        let urls = (0..<Self.requests).map { number in
            let host = number / Self.perHost
            return "https://h\(host).silent.example:\(host.isMultiple(of: 2) ? options.silentPort : options.mutePort)/"
        }
        // Descriptors that the process opens once and keeps do not count.
        let first = try client(for: urls)
        try await ask(first)
        try await first.shutdown()
        let before = try await settledDescriptors()
        let client = try client(for: urls)
        let seen = Lock(0)
        // A request of its own that is canceled would fail.
        let isOver = Lock(false)
        let other = Task {
            var failures: [String] = []
            var asked = 0
            while !isOver.withLock({ $0 }) {
                do { try await ask(client) } catch { failures.append("the other host: \(error)") }
                asked += 1
                seen.withLock { $0 = max($0, Self.descriptors ?? .max) }
                try? await Task.sleep(for: .seconds(1))
            }
            return (asked, failures)
        }
        var findings: [String] = []
        for wave in stride(from: 0, to: urls.count, by: Self.perWave) {
            findings += await withTaskGroup(of: String?.self) { group in
                for url in urls[wave..<min(wave + Self.perWave, urls.count)] {
                    group.addTask { await complaint(about: url, client) }
                }
                var complaints: [String] = []
                for await complaint in group { complaints += complaint.map { [$0] } ?? [] }
                return complaints
            }
        }
        isOver.withLock { $0 = true }
        let (asked, failures) = await other.value
        findings += failures
        try await client.shutdown()
        let end = NIODeadline.now()
        while let count = Self.descriptors, count > before, NIODeadline.now() - end < .seconds(60) {
            try await Task.sleep(for: .milliseconds(50))
        }
        let after = Self.descriptors ?? .max
        if after > before { findings.append("\(before) descriptors before, \(after) a minute after the end") }
        let milliseconds = (NIODeadline.now() - end).nanoseconds / 1_000_000
        say(
            "\(urls.count) requests, \(asked) to the other host; \(before) descriptors before, at most \(seen.withLock { $0 })"
                + " each second, \(after) \(milliseconds) ms after the end")
        return findings
    }

    private func client(for urls: [String]) throws -> PinnedHTTPClient {
        guard let root = Data(base64Encoded: options.root) else { throw ValidationError("no root") }
        // Any but the server's.
        let stranger = try TestAuthority.root().leaf(names: ["stranger.example"])
        let pins = try PinSet(pins: [X509Certificate(der: stranger.der).publicKeyPin])
        let manager = TrustManager(policies: [
            StandardPolicy(host: try HostPattern("www.example.com")),
            try PinnedPolicy(host: try HostPattern("*.silent.example"), pins: pins),
        ])
        var configuration = HTTPClient.Configuration()
        configuration.timeout.connect = Self.timeout
        configuration.dnsOverride["www.example.com"] = "127.0.0.1"
        for url in urls {
            if let host = URL(string: url)?.host { configuration.dnsOverride[host] = "127.0.0.1" }
        }
        return try PinnedHTTPClient(
            manager: manager, validator: PathValidator(anchors: TrustAnchors(der: [[UInt8](root)])),
            configuration: configuration)
    }

    private func ask(_ client: PinnedHTTPClient) async throws {
        let request = HTTPClientRequest(url: "https://www.example.com:\(options.answeringPort)/")
        let response = try await client.execute(request, timeout: .seconds(30))
        _ = try await response.body.collect(upTo: 1 << 20)
    }

    private func complaint(about url: String, _ client: PinnedHTTPClient) async -> String? {
        do {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(5))
            return "\(url): answered with \(response.status)"
        } catch let error as PinnedHTTPClientError {
            return error.code == .silentPeer ? nil : "\(url): \(error)"
        } catch let error as HTTPClientError {
            let isExpected = [.connectTimeout, .tlsHandshakeTimeout, .deadlineExceeded].contains(error)
            return isExpected ? nil : "\(url): \(error)"
        } catch {
            return "\(url): \(error)"
        }
    }

    /// Nil when there is none left to look with.
    private static var descriptors: Int? {
        try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count
    }

    /// Once the count has not changed for a second.
    private func settledDescriptors() async throws -> Int {
        var (count, since) = (Self.descriptors ?? .max, NIODeadline.now())
        while NIODeadline.now() - since < .seconds(1) {
            try await Task.sleep(for: .milliseconds(50))
            let now = Self.descriptors ?? .max
            if now != count { (count, since) = (now, NIODeadline.now()) }
        }
        return count
    }
}
