import Foundation
import HoldfastProbe
import HoldfastTesting
import NIOCore

@testable import HostMonitoring
@testable import PinChanges
@testable import PublicAPI
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore

/// Reports of clients of a world's app, from their bodies to the rows.
struct ReportDesk: Sendable {
    let world: World
    let inbox = ReportInbox()
    let counting: ReportCounting

    /// Switches reports on for the app.
    /// - Parameter generator: draws what is kept as a sample.
    init(
        _ world: World, generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) async throws {
        self.world = world
        counting = ReportCounting(inbox, in: world.catalog, generator: generator)
        try await world.catalog.set(ReportSettings(isEnabled: true), of: world.app, by: "operator")
        try await refresh()
    }

    /// Reads again which apps take reports, and about which hosts.
    func refresh() async throws {
        inbox.intake.replace(with: try await world.catalog.reportHosts(remembering: [:]).apps)
    }

    /// Has bodies taken and counted, as many as there is room for, without a listener.
    func count(
        _ bodies: some Sequence<String>, of name: String = "bank", from source: SourcePrefix = .unknown
    ) throws {
        let name = try AppName(name)
        for body in bodies {
            _ = inbox.intake.take(ByteBuffer(string: body), for: name, from: source)
            while counting.countNext() {}
        }
    }

    /// Has bodies taken and counted, each from a source of its own.
    func countEach(_ bodies: some Sequence<String>, of name: String) throws {
        for (number, body) in bodies.enumerated() { try count([body], of: name, from: Self.source(number)) }
    }

    /// A network that is one source.
    static func source(_ number: Int) throws -> SourcePrefix {
        SourcePrefix(try IPAddress("10.\(number / 256).\(number % 256).1"))
    }

    /// The certificates of the samples that the app has.
    func kept() async throws -> Set<Digest> {
        try await counting.write()
        return Set(
            try await world.catalog.reportSamples(of: world.app, since: 0, limit: 1_000).map(\.certificate))
    }

    /// Every row of the app.
    func rows() async throws -> [ReportCount] {
        try await counting.write()
        return try await world.catalog.reportCounts(of: world.app, sinceHour: 0, limit: 1_000_000)
    }

    func standing() async throws -> ReportStanding {
        try await counting.write()
        return try await world.catalog.reportStanding(of: world.app)
    }

    // MARK: What clients send

    /// As browsers send it, with what would tell one client from another.
    static func networkError(
        _ type: String = "tls.cert.pinned_key_not_in_cert_chain", at address: String = "https://\(World.host)/path?q=1",
        fraction: String = "1.0", more: String = ""
    ) -> String {
        """
        [{"age": 20, "type": "network-error", "url": "\(address)", "user_agent": "Browser/1.0", "body": \
        {"elapsed_time": 18, "method": "GET", "phase": "connection", "protocol": "http/1.1", "referrer": \
        "https://www.example.com/secret", "sampling_fraction": \(fraction), "server_ip": "203.0.113.7", \
        "request_headers": {}, "response_headers": {"ETag": ["x"]}, "status_code": 0, "type": "\(type)"\(more)}}]
        """
    }

    /// The fields of RFC 7469 section 3, and those of TrustKit if a result is given.
    static func pinFailure(
        _ chain: [[UInt8]], host: String = World.host, result: Int? = nil, version: String? = nil, more: String = ""
    ) -> String {
        func text(_ text: String) -> String { String(decoding: CanonicalJSON.text(text).bytes, as: UTF8.self) }
        let certificates = chain.map { text(PEMText.block("CERTIFICATE", of: $0)) }.joined(separator: ", ")
        let trustKit = result.map {
            """
            , "app-bundle-id": "com.example.bank", "app-version": "7.4.1", "app-platform": "IOS", \
            "app-vendor-id": "599F9C00-92DC-4B5C-9464-7971F01F8370", "trustkit-version": "3.0.0", \
            "enforce-pinning": true, "known-pins-expiration-date": null, "validation-result": \($0)
            """
        }
        return """
            {"date-time": "2026-11-24T12:00:00Z", "hostname": "\(host)", "port": \(result == nil ? 443 : 0), \
            "include-subdomains": false, "noted-hostname": "\(host)", \
            "validated-certificate-chain": [\(certificates)], \
            "known-pins": ["pin-sha256=\\"d6qzRu9zOECb90Uez27xWltNsj0e1Md7GkYYkVoZWmM=\\""]\(trustKit ?? "")\
            \(version.map { ", \"document-version\": \"\($0)\"" } ?? "")\(more)}
            """
    }

    /// The summary of a day from Holdfast's clients, which report one of a hundred successes.
    /// - Parameter day: the day, as `date-range` has it; nil for a report that does not say.
    static func summary(
        successes: Int, failures: [String: Int], day: String? = "2026-11-23", version: String = "7"
    ) -> String {
        let details = failures.sorted { $0.key < $1.key }.map {
            #"{"result-type": "\#($0.key)", "outcome": "rejected", "failed-session-count": \#($0.value)}"#
        }
        let range =
            day.map {
                #""date-range": {"start-datetime": "\#($0)T00:00:00Z", "end-datetime": "\#($0)T23:59:59Z"}, "#
            } ?? ""
        return """
            {"app-bundle-id": "com.example.bank", "app-platform": "ios", "app-version": "7.4.1", \
            \(range)"policies": [{"policy": {"policy-type": "holdfast-pins", "policy-domain": "\(World.host)", \
            "document-version": "\(version)"}, "summary": \
            {"total-successful-session-count": \(successes), \
            "total-failure-session-count": \(failures.values.reduce(0, +))}, \
            "failure-details": [\(details.joined(separator: ", "))], \
            "sampling": {"failure-fraction": 1, "success-fraction": 0.01}}]}
            """
    }
}
