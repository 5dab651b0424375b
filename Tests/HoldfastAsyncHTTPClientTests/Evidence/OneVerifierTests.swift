import AsyncHTTPClient
import Foundation
import Holdfast
import HoldfastNIO
import HoldfastNIOTesting
import HoldfastTestSupport
import HoldfastTesting
import NIOCore
import NIOPosix
import Testing

@testable import HoldfastAsyncHTTPClient

/// Chains about which verifiers differ.
enum DisputedChain: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case plain
    case underscore, underscoreUnderStar, internationalUnderStar, threeHyphens, leadingDigit, trailingDot
    case anyPurpose, clientPurpose, pathLengthWithoutAuthority, otherIssuerKey, otherIssuerKeyAbove
    case policyTwice, noPolicies, criticalKeyIdentifiers, criticalUnknown
    case otherName, partialStar, commonNameOnly, expired, early, stranger, flippedSignature, excludedName, tooLong

    var testDescription: String { rawValue }

    var host: String {
        switch self {
        case .underscore, .underscoreUnderStar: "my_api.example.com"
        case .internationalUnderStar: "xn--mnchen-3ya.example.com"
        case .threeHyphens: "r3---sn-4g5e.example.com"
        case .leadingDigit: "1e100.example.com"
        default: "www.example.com"
        }
    }

    func leaf(_ setting: HTTPSetting) throws -> TestCertificate {
        let names: [TestGeneralName] =
            switch self {
            case .underscoreUnderStar, .internationalUnderStar, .threeHyphens, .leadingDigit: ["*.example.com"]
            case .otherName: ["other.example.net"]
            case .partialStar: ["w*.example.com"]
            case .trailingDot: ["www.example.com."]
            default: [.dns(host)]
            }
        return try issuer(setting).leaf(names: names, configure: configure)
    }

    private func issuer(_ setting: HTTPSetting) throws -> TestAuthority {
        switch self {
        case .stranger: try TestAuthority.root(name: "Stranger")
        case .otherIssuerKeyAbove:
            try setting.root.intermediate(name: "Another") { $0.authorityKeyIdentifier = .octets([1, 2, 3, 4]) }
        case .excludedName:
            try setting.root.intermediate(name: "Limited") {
                $0.nameConstraints = .init(excluded: ["www.example.com"])
            }
        case .tooLong:
            try setting.root.intermediate(name: "First") { $0.basicConstraints?.pathLength = 0 }
                .intermediate(name: "Second")
        default: setting.issuing
        }
    }

    private func configure(_ specification: inout CertificateSpecification) {
        switch self {
        case .anyPurpose: specification.extendedKeyUsage = [.anyExtendedKeyUsage]
        case .clientPurpose: specification.extendedKeyUsage = [.clientAuthentication]
        case .pathLengthWithoutAuthority:
            specification.basicConstraints = .init(isAuthority: false, pathLength: 1)
        case .otherIssuerKey: specification.authorityKeyIdentifier = .octets([1, 2, 3, 4])
        case .policyTwice: specification.certificatePolicies = [[1, 2, 3, 4], [1, 2, 3, 4]]
        case .noPolicies: specification.certificatePolicies = []
        case .criticalKeyIdentifiers:
            specification.faults = [
                .extensions { extensions in
                    for place in extensions.indices
                    where [.authorityKeyIdentifier, .subjectKeyIdentifier].contains(extensions[place].identifier) {
                        extensions[place].isCritical = true
                    }
                }
            ]
        case .criticalUnknown:
            specification.extensions = [TestExtension([1, 2, 3, 4], isCritical: true, value: [5, 0])]
        case .commonNameOnly: specification.subjectAltName = nil
        case .expired: (specification.notBefore, specification.notAfter) = (.hours(-48), .hours(-24))
        case .early: (specification.notBefore, specification.notAfter) = (.hours(24), .days(90))
        case .flippedSignature: specification.faults = [.flippedSignatureBit]
        default: break
        }
    }
}

#if os(macOS) || os(Linux)
@Suite("One verifier", .timeLimit(.minutes(15)))
struct OneVerifierTests {
    /// The code of a refusal, or that there is none.
    private func text(_ failure: TrustFailure?) -> String { failure?.code.rawValue ?? "trusted" }

    private func byLibrary(_ chain: DisputedChain, _ leaf: TestCertificate, _ setting: HTTPSetting) throws -> String {
        let trust = ServerTrust(
            certificates: leaf.chain, host: try DialedHost(chain.host), anchors: try setting.anchors())
        return text(setting.manager.evaluate(trust).failure)
    }

    private func byNIO(_ host: String, _ setting: HTTPSetting, port: Int) async throws -> String {
        let client = try PinnedTLSClient(
            trust: .manager(setting.manager), host: DialedHost(host),
            validator: PathValidator(anchors: setting.anchors()), clock: setting.clock)
        do {
            try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connect(to: client, at: SocketAddress(ipAddress: "127.0.0.1", port: port)) { $0.close(promise: nil) }
            return text(nil)
        } catch let failure as TrustFailure {
            return text(failure)
        }
    }

    private func byHTTP(_ url: String, host: String, _ setting: HTTPSetting) async throws -> String {
        try await setting.withClient({ $0.dnsOverride[host] = "127.0.0.1" }) { client in
            do {
                _ = try await client.text(url)
                return text(nil)
            } catch let failure as TrustFailure {
                return text(failure)
            }
        }
    }

    /// The command's exit code.
    private func byCommand(
        _ host: String, _ leaf: TestCertificate, _ setting: HTTPSetting, port: Int
    ) async throws -> Int32 {
        let program = try #require(CommandRun.program("holdfastctl"))
        return try await withTemporaryFolder { folder in
            let (pins, anchors) = (folder.appending(path: "app.pins.json"), folder.appending(path: "ca.pem"))
            let (own, backup) = (try leaf.publicKeyPin(), try setting.leaf().publicKeyPin())
            let entries = #"[{"pin":"\#(own)"},{"pin":"\#(backup)","state":"backup"}]"#
            try Data(#"{"schema":1,"hosts":[{"host":"\#(host)","pins":\#(entries)}]}"#.utf8).write(to: pins)
            try Data(TestCertificate.pem(setting.root.root).utf8).write(to: anchors)
            let run = try await CommandRun.run(
                program,
                [
                    "check", "--pins", pins.path, "--ca", anchors.path, "--connect-to", "127.0.0.1:\(port)",
                    "--one-key-kind", "--brief",
                ])
            return run.status
        }
    }

    @Test("decides in the command, the NIO client and the HTTP client", arguments: DisputedChain.allCases)
    func matrix(chain: DisputedChain) async throws {
        let setting = try HTTPSetting()
        try setting.trust(chain.host)
        let leaf = try chain.leaf(setting)
        let expected = try byLibrary(chain, leaf, setting)
        try await withOrigin(leaf) { origin in
            #expect(try await byNIO(chain.host, setting, port: origin.port) == expected)
            #expect(try await byHTTP(origin.url(host: chain.host), host: chain.host, setting) == expected)
            let status = try await byCommand(chain.host, leaf, setting, port: origin.port)
            #expect(status == (expected == "trusted" ? 0 : 1), "\(expected)")
        }
    }

    @Test("reports a keyUsage that TLS itself refuses as a refusal too")
    func keyUsage() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        let leaf = try setting.issuing.leaf(
            names: ["www.example.com"], key: .sharedRSA(bits: 2_048, index: 0)
        ) { $0.keyUsage = [.keyEncipherment] }
        let (nio, http) = try await withOrigin(leaf) { origin in
            (
                try await byNIO("www.example.com", setting, port: origin.port),
                try await byHTTP(origin.url(), host: "www.example.com", setting)
            )
        }
        #expect(nio == "keyUsageForbidsTLS" && http == "keyUsageForbidsTLS", "\(nio) \(http)")
    }

    @Test("accepts what the chains are about, so that the comparison compares something")
    func sides() throws {
        let setting = try HTTPSetting()
        let trusted = try DisputedChain.allCases.filter { chain in
            try setting.trust(chain.host)
            return try byLibrary(chain, try chain.leaf(setting), setting) == "trusted"
        }
        #expect(trusted.count >= 8 && trusted.contains(.underscoreUnderStar))
        #expect(DisputedChain.allCases.count - trusted.count >= 8)
    }

    @Test("goes by the client's clock, in both directions", arguments: [-400, 0, 400])
    func clock(days: Double) async throws {
        for start in [-400.0, 0, 400] {
            let setting = try HTTPSetting()
            try setting.trust("www.example.com")
            // As long as all of the times, so that the leaf alone counts.
            let root = try TestAuthority.root {
                ($0.notBefore, $0.notAfter) = (.days(-1_000), .days(1_000))
            }
            let leaf = try root.leaf(names: ["www.example.com"]) {
                ($0.notBefore, $0.notAfter) = (.days(start - 10), .days(start + 10))
            }
            setting.clock.set(setting.clock.now.addingTimeInterval(days * 86_400))
            let expected = start == days ? "trusted" : days < start ? "notYetValid" : "expired"
            let validator = try PathValidator(anchors: TrustAnchors(der: [root.root]))
            try await withOrigin(leaf) { origin in
                try await setting.withClient(validator: validator) { client in
                    if expected == "trusted" {
                        try await client.expectAnswer(origin.url())
                    } else {
                        #expect(text(await client.refusal(origin.url())) == expected)
                    }
                }
            }
        }
    }
}
#endif
