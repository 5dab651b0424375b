import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastTesting
import NIOCore
import NIOSSL
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("The first request to a server", .timeLimit(.minutes(15)))
struct RoundTripTests {
    private enum Pinning: String, CaseIterable {
        case standard, leafKey, issuerKey, pinOnlyIssuer
    }

    private func setUp(_ pinning: Pinning) throws -> (HTTPSetting, TestCertificate) {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf()
        let host = try HostPattern("www.example.com")
        let policy: any TrustPolicy =
            switch pinning {
            case .standard: StandardPolicy(host: host)
            case .leafKey: try PinnedPolicy(host: host, pins: PinSet(pins: [leaf.publicKeyPin()]))
            case .issuerKey:
                try PinnedPolicy(host: host, pins: PinSet(pins: [setting.issuing.certificate.publicKeyPin()]))
            case .pinOnlyIssuer:
                try PinnedPolicy(
                    host: host, pins: PinSet(pins: [setting.issuing.certificate.publicKeyPin()]),
                    certificatePinOnly: true)
            }
        setting.manager.add(policy: policy)
        return (setting, leaf)
    }

    @Test("has its evidence collected beside the connection, not after it", arguments: Pinning.allCases)
    private func concurrent(pinning: Pinning) async throws {
        let (setting, leaf) = try setUp(pinning)
        try await withOrigin(leaf) { origin in
            var options = DelayingRelay.Options()
            // The server's first word reaches the first connection only when the second one is under way.
            options.holdsFirst = true
            try await DelayingRelay.with(to: origin.port, options) { relay in
                try await setting.withClient { client in
                    let request = HTTPClientRequest(url: "https://www.example.com:\(relay.port)/")
                    let response = try await client.execute(request, timeout: .minutes(5))
                    #expect(String(buffer: try await response.body.collect(upTo: 100)) == "ok")
                    #expect(relay.connections == 2)
                    try await origin.expectHandshakes(1)
                }
            }
        }
    }

    /// Not a test: writes the figures of docs/performance.md into the file that the variable names.
    @Test(
        "is measured through a delaying relay, against AsyncHTTPClient's own",
        .enabled(if: ProcessInfo.processInfo.environment["HOLDFAST_ROUND_TRIPS"] != nil))
    private func measure() async throws {
        var lines: [String] = []
        for milliseconds in [20, 100] as [Int64] {
            for version in [TLSVersion.tlsv12, .tlsv13] {
                var options = DelayingRelay.Options()
                options.oneWay = .milliseconds(milliseconds / 2)
                var tls = TLSConfiguration.makeClientConfiguration()
                tls.maximumTLSVersion = version
                let (plainSetting, plainLeaf) = try setUp(.standard)
                let plain = try await withOrigin(plainLeaf) { origin in
                    try await DelayingRelay.with(to: origin.port, options) { relay in
                        var configuration = plainSetting.configuration
                        configuration.tlsConfiguration = tls
                        configuration.tlsConfiguration?.trustRoots = .certificates([
                            try NIOSSLCertificate(bytes: plainSetting.root.root, format: .der)
                        ])
                        let client = HTTPClient(configuration: configuration)
                        let url = "https://www.example.com:\(relay.port)/"
                        let times = try await [time(client, url), time(client, url)]
                        try await client.shutdown()
                        return times
                    }
                }
                lines.append(line("HTTPClient", milliseconds, version, plain))
                for pinning in Pinning.allCases {
                    let (setting, leaf) = try setUp(pinning)
                    let pinned = try await withOrigin(leaf) { origin in
                        try await DelayingRelay.with(to: origin.port, options) { relay in
                            try await setting.withClient({ $0.tlsConfiguration = tls }) { client in
                                let url = "https://www.example.com:\(relay.port)/"
                                return try await [time(client, url), time(client, url)]
                            }
                        }
                    }
                    lines.append(line("PinnedHTTPClient, \(pinning.rawValue)", milliseconds, version, pinned))
                }
            }
        }
        let path = ProcessInfo.processInfo.environment["HOLDFAST_ROUND_TRIPS"] ?? "/dev/null"
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
    }

    private func line(_ name: String, _ milliseconds: Int64, _ version: TLSVersion, _ times: [Duration]) -> String {
        let trips = times.map {
            ($0 / Duration.milliseconds(milliseconds)).formatted(.number.precision(.fractionLength(2)))
        }
        return "| \(milliseconds) ms | \(version) | \(name) | \(trips.joined(separator: " | ")) |"
    }

    private func time(_ client: HTTPClient, _ url: String) async throws -> Duration {
        try await ContinuousClock().measure {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .minutes(5))
            _ = try await response.body.collect(upTo: 100)
        }
    }

    private func time(_ client: PinnedHTTPClient, _ url: String) async throws -> Duration {
        try await ContinuousClock().measure {
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: .minutes(5))
            _ = try await response.body.collect(upTo: 100)
        }
    }
}
