#if os(macOS) || os(Linux)
import Holdfast
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import NIOCore
import NIOSSL
import Testing

@testable import HoldfastNIO

@Suite("OpenSSL's client", .needs(.openSSL), .timeLimit(.minutes(15)))
struct ResumedClientTests {
    private static let versions = TrustedClientTests.versions
    private static let line = "\(Answering.lastLine)\n"

    /// Runs a server and a client that has been trusted once, with a certificate under an intermediate.
    private func afterFirstConnection(
        _ server: PinnedTLSServer, _ version: TLSVersion, presenting device: TestCertificate,
        _ body: (OpenSSLClient, MutualServer) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await MutualServer.with(server) { running in
                let client = OpenSSLClient(folder: folder, port: running.port, version: version)
                let output = try await client.send(Self.line, presenting: device)
                #expect(output.isNew && output.isAnswered, "\(output.text)")
                let report = try await running.report()
                #expect(report.client?.isResumed == false)
                #expect(report.received == Self.line)
                try await body(client, running)
            }
        }
    }

    private func expectRefusal(
        _ code: TrustFailure.Code, _ output: OpenSSLClient.Output, _ report: ConnectionReport, resumed: Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(output.isResumed == resumed, "\(output.text)", sourceLocation: sourceLocation)
        #expect(!output.isAnswered, "\(output.text)", sourceLocation: sourceLocation)
        #expect(report.failure?.code == code, "\(String(describing: report.decision))", sourceLocation: sourceLocation)
        #expect(report.errors.map { ($0 as? TrustFailure)?.code } == [code], sourceLocation: sourceLocation)
        #expect(report.client == nil, sourceLocation: sourceLocation)
        #expect(report.received.isEmpty, sourceLocation: sourceLocation)
        #expect(!report.sawHandshake, sourceLocation: sourceLocation)
    }

    @Test("that resumes a session is judged again, and known by the same leaf, path and pin", arguments: versions)
    func resumed(version: TLSVersion) async throws {
        let setting = try MutualSetting()
        let device = try setting.device()
        let policy = ExchangeablePolicy(try setting.pinned(device))
        let server = try setting.server(policy, version)
        try await afterFirstConnection(server, version, presenting: device) { client, running in
            let evaluations = policy.evaluations
            let output = try await client.send(Self.line, presenting: nil, resuming: true)
            let report = try await running.report()
            #expect(output.isResumed && output.isAnswered, "\(output.text)")
            #expect(policy.evaluations == evaluations + 1)
            let identity = try #require(report.client)
            #expect(identity.isResumed)
            #expect(identity.leaf.der.elementsEqual(device.der))
            #expect(identity.path?.certificates.count == 3)
            #expect(identity.matchedPins == [try device.publicKeyPin()])
            #expect(report.received == Self.line)
            #expect(report.validatedChain == nil)
        }
    }

    @Test("that resumes a session is refused once the policy has become stricter", arguments: versions)
    func stricterPolicy(version: TLSVersion) async throws {
        let setting = try MutualSetting()
        let device = try setting.device()
        let policy = ExchangeablePolicy(StandardPolicy(clients: "devices"))
        let server = try setting.server(policy, version)
        try await afterFirstConnection(server, version, presenting: device) { client, running in
            policy.exchange(for: try setting.pinned(try setting.device("other")))
            let output = try await client.send(Self.line, presenting: device, resuming: true)
            expectRefusal(.pinMismatch, output, try await running.report(), resumed: true)
        }
    }

    @Test("that resumes a session is refused once its certificate has expired", arguments: versions)
    func expired(version: TLSVersion) async throws {
        let clock = ManualClock(now: SystemWallClock().now)
        let setting = try MutualSetting(clock: clock)
        let device = try setting.device()
        let server = try setting.server(try setting.pinned(device), version, clock: clock)
        try await afterFirstConnection(server, version, presenting: device) { client, running in
            clock.advance(by: .seconds(100 * 86_400))
            let output = try await client.send(Self.line, presenting: device, resuming: true)
            expectRefusal(.expired, output, try await running.report(), resumed: true)
        }
    }

    @Test("cannot resume a session of before a replaced policy", arguments: versions)
    func replacedPolicy(version: TLSVersion) async throws {
        let setting = try MutualSetting()
        let device = try setting.device()
        let server = try setting.server(StandardPolicy(clients: "devices"), version)
        try await afterFirstConnection(server, version, presenting: device) { client, running in
            try server.replacePolicy(try setting.pinned(device))
            let output = try await client.send(Self.line, presenting: device, resuming: true)
            #expect(output.isNew && output.isAnswered, "\(output.text)")
            let identity = try #require(try await running.report().client)
            #expect(!identity.isResumed)
            #expect(identity.matchedPins == [try device.publicKeyPin()])
            try server.replacePolicy(try setting.pinned(try setting.device("other")))
            _ = try await client.send(Self.line, presenting: device, resuming: true)
            let report = try await running.report()
            #expect(report.failure?.code == .pinMismatch)
            #expect(report.received.isEmpty)
        }
    }

    @Test("whose chain could not be remembered is not left with a session that is of no use", arguments: versions)
    func forgotten(version: TLSVersion) async throws {
        let setting = try MutualSetting()
        let device = try setting.device()
        let server = try setting.server(try setting.pinned(device), version, mostChains: 0)
        try await afterFirstConnection(server, version, presenting: device) { client, running in
            let output = try await client.send(Self.line, presenting: device, resuming: true)
            #expect(output.isNew && output.isAnswered, "\(output.text)")
            #expect(try await running.report().client?.isResumed == false)
        }
    }

    @Test("without a certificate is refused, and told so by TLS", arguments: versions)
    func noCertificate(version: TLSVersion) async throws {
        let setting = try MutualSetting()
        let server = try setting.server(try setting.pinned(setting.device()), version)
        try await withTemporaryFolder { folder in
            try await MutualServer.with(server) { running in
                let client = OpenSSLClient(folder: folder, port: running.port, version: version)
                let output = try await client.send(Self.line, presenting: nil)
                #expect(output.text.contains("alert"), "\(output.text)")
                #expect(!output.isAnswered)
                let report = try await running.report()
                #expect(report.failure?.code == .emptyChain)
                #expect(report.received.isEmpty)
            }
        }
    }

    @Test("is sent nothing before it is trusted, whatever the application has written by then", arguments: versions)
    func earlyWrites(version: TLSVersion) async throws {
        let setting = try MutualSetting()
        let device = try setting.device()
        let policy = ExchangeablePolicy(try setting.pinned(device))
        try await withTemporaryFolder { folder in
            try await MutualServer.with(try setting.server(policy, version), greeting: "welcome\n") { running in
                let client = OpenSSLClient(folder: folder, port: running.port, version: version)
                let trusted = try await client.send(Self.line, presenting: device)
                #expect(trusted.text.contains("welcome"), "\(trusted.text)")
                _ = try await running.report()
                policy.exchange(for: try setting.pinned(try setting.device("other")))
                for resuming in [true, false] {
                    let refused = try await client.send(Self.line, presenting: device, resuming: resuming)
                    #expect(refused.isResumed == resuming)
                    #expect(!refused.text.contains("welcome"), "\(refused.text)")
                    #expect(try await running.report().failure?.code == .pinMismatch)
                }
            }
        }
    }

    @Test("with a certificate that cannot be read is nobody, even when the policy accepts everybody")
    func unreadable() async throws {
        let setting = try MutualSetting()
        let device = try setting.device { $0.faults = [.duplicatedExtension(.keyUsage)] }
        let server = try setting.server(CustomPolicy(host: try HostPattern("everybody.example")) { _ in true }, .tlsv12)
        try await withTemporaryFolder { folder in
            try await MutualServer.with(server) { running in
                let client = OpenSSLClient(folder: folder, port: running.port, version: .tlsv12)
                let output = try await client.send(Self.line, presenting: device)
                #expect(!output.isAnswered, "\(output.text)")
                let report = try await running.report()
                #expect(report.failure?.code == .unreadableCertificate, "\(String(describing: report.decision))")
                #expect(report.client == nil)
                #expect(report.received.isEmpty)
            }
        }
    }

    @Test("with another key than the pinned one is refused, and told so by an alert", arguments: versions)
    func stranger(version: TLSVersion) async throws {
        let setting = try MutualSetting()
        let device = try setting.device()
        let server = try setting.server(try setting.pinned(device), version)
        try await withTemporaryFolder { folder in
            try await MutualServer.with(server) { running in
                let client = OpenSSLClient(folder: folder, port: running.port, version: version)
                let output = try await client.send(Self.line, presenting: try setting.issuing.impersonate(device))
                #expect(output.text.contains("alert certificate unknown"), "\(output.text)")
                #expect(!output.isAnswered)
                let report = try await running.report()
                #expect(report.failure?.code == .pinMismatch)
                #expect(report.received.isEmpty)
            }
        }
    }
}

extension OpenSSLClient.Output {
    fileprivate var isAnswered: Bool { text.contains("got \(Answering.lastLine)") }
}
#endif
