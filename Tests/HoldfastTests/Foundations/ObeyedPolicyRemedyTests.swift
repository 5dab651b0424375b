import Foundation
import HoldfastCompatibility
import HoldfastTesting
import Testing

@testable import Holdfast

/// The same for policies and their decisions, and the list of what only a person can decide.
@Suite("Remedies of policies that are obeyed", .timeLimit(.minutes(15)))
struct ObeyedPolicyRemedyTests {
    // MARK: Policies

    private static func policy(
        _ code: String, says: String, _ refused: @escaping @Sendable (PolicyFixture) throws -> any TrustPolicy,
        _ obeyed: @escaping @Sendable (PolicyFixture) throws -> any TrustPolicy
    ) -> ObeyedRefusal {
        ObeyedRefusal("PolicyConfigurationError.\(code)", says: says) {
            _ = try refused(try PolicyFixture())
        } obeyed: { _ in
            let fixture = try PolicyFixture()
            #expect(try obeyed(fixture).evaluate(fixture.trust(), at: fixture.now).isTrusted)
        }
    }

    private static let name = PolicyFixture.host

    static let policies: [ObeyedRefusal] = [
        policy("noPins", says: "Add a certificate to pin") { _ in
            try PinnedPolicy(host: HostPattern(name), pinning: .publicKey, of: .der([]))
        } _: {
            try PinnedPolicy(host: HostPattern(name), pinning: .publicKey, of: .der([$0.leaf.der]))
        },
        policy("reportOnlyWithPinsOnly", says: "leave certificatePinOnly false") {
            try $0.pinned([$0.keyPin($0.leaf)], pinOnly: true, enforcement: .reportOnly)
        } _: {
            try $0.pinned([$0.keyPin($0.leaf)], pinOnly: false, enforcement: .reportOnly)
        },
        policy("reportOnlyWithPinsOnly", says: "enforcement .enforce") {
            try $0.pinned([$0.keyPin($0.leaf)], pinOnly: true, enforcement: .reportOnly)
        } _: {
            try $0.pinned([$0.keyPin($0.leaf)], pinOnly: true, enforcement: .enforce)
        },
        policy("reportOnlyWithoutHostCheck", says: "Leave validatesHostName true") {
            try $0.pinned([$0.keyPin($0.leaf)], validatesHostName: false, enforcement: .reportOnly)
        } _: {
            try $0.pinned([$0.keyPin($0.leaf)], validatesHostName: true, enforcement: .reportOnly)
        },
        policy("standardValidationWithoutHostCheck", says: "afterExpiry .reject") {
            try $0.pinned(
                [$0.keyPin($0.leaf)], validatesHostName: false, expires: $0.now.addingTimeInterval(60),
                afterExpiry: .standardValidation)
        } _: {
            try $0.pinned(
                [$0.keyPin($0.leaf)], validatesHostName: false, expires: $0.now.addingTimeInterval(60),
                afterExpiry: .reject)
        },
        policy("issuerPinWithoutHostCheck", says: "or pin the server's own certificate") {
            try PinnedPolicy(
                host: HostPattern(name), pinning: .publicKey, of: .der([$0.root.der]), validatesHostName: false)
        } _: {
            try PinnedPolicy(
                host: HostPattern(name), pinning: .publicKey, of: .der([$0.leaf.der]), validatesHostName: false)
        },
        policy("noMembers", says: "Give the policies to combine.") { _ in
            try CompositePolicy(host: HostPattern(name), allOf: [])
        } _: {
            try CompositePolicy(host: HostPattern(name), allOf: [$0.pinned([$0.keyPin($0.leaf)])])
        },
        policy("unacceptableMember", says: "Leave the member out") {
            try CompositePolicy(
                host: HostPattern(name),
                anyOf: [$0.pinned([$0.keyPin($0.leaf)]), DisabledPolicy(host: HostPattern(name))])
        } _: {
            try CompositePolicy(host: HostPattern(name), anyOf: [$0.pinned([$0.keyPin($0.leaf)])])
        },
        policy("unstableCertificate", says: "Pin its key: sha256/") { _ in
            try PinnedPolicy(
                host: HostPattern(name), pinning: .certificate,
                of: .der([ObeyedRemedyTests.merkleTreeCertificate().der]))
        } _: {
            try PinnedPolicy(host: HostPattern(name), pinning: .publicKey, of: .der([$0.leaf.der]))
        },
        policy("unreadableCertificates", says: "openssl x509 -in ") { _ in
            try PinnedPolicy(host: HostPattern(name), pinning: .publicKey, of: .der([[0x30, 1]]))
        } _: {
            try PinnedPolicy(host: HostPattern(name), pinning: .publicKey, of: .der([$0.leaf.der]))
        },
        policy("missingCustomValidation", says: "Set customValidation before the policy is made.") { _ in
            try TrustManager().makePolicy(
                type: .custom, hostName: name, settings: ValidationSettings.defaultSettings)
        } _: { _ in
            let settings = ValidationSettings.defaultSettings
            settings.customValidation = { _ in true }
            return try TrustManager().makePolicy(type: .custom, hostName: name, settings: settings)
        },
        policy("invalidHostName", says: "Remove the extra dot.") { _ in
            try TrustManager().makePolicy(
                type: .standard, hostName: "www..example.com", settings: ValidationSettings.defaultSettings)
        } _: { _ in
            try TrustManager().makePolicy(
                type: .standard, hostName: name, settings: ValidationSettings.defaultSettings)
        },
    ]

    // MARK: Decisions

    private static func standard(
        _ fixture: PolicyFixture, _ trust: ServerTrust, at time: Date? = nil
    ) throws -> TrustDecision {
        try StandardPolicy(host: HostPattern(name)).evaluate(trust, at: time ?? fixture.now)
    }

    static let decisions: [ObeyedRefusal] = [
        ObeyedRefusal(decision: "unknownIssuer", says: "Have the server send its intermediates") {
            try standard($0, $0.trust([$0.leaf.der]))
        } obeyed: {
            try standard($0, $0.trust($0.leaf.chain))
        },
        ObeyedRefusal(decision: "unknownIssuer", says: "or add its root to the anchors") {
            try standard($0, $0.untrusted())
        } obeyed: {
            try standard($0, $0.trust(anchors: [$0.root.root]))
        },
        ObeyedRefusal(decision: "noAnchors", says: "Give the anchors to trust") {
            try standard($0, $0.trust(anchors: []))
        } obeyed: {
            try standard($0, $0.trust())
        },
        ObeyedRefusal(decision: "pathTooLong", says: "Raise ValidationLimits.intermediates") {
            try deep($0, ValidationLimits())
        } obeyed: {
            var limits = ValidationLimits()
            limits.intermediates = 12
            return try deep($0, limits)
        },
        ObeyedRefusal(decision: "expired", says: "Renew the certificate") {
            try standard($0, $0.trust(), at: $0.now.addingTimeInterval(400 * 86_400))
        } obeyed: {
            $0.clock.advance(by: .seconds(80 * 86_400))
            return try standard($0, $0.trust($0.issuing.renew($0.leaf).chain))
        },
        ObeyedRefusal(decision: "notYetValid", says: "wait until the certificate becomes valid") {
            try standard($0, $0.trust(), at: $0.now.addingTimeInterval(-86_400))
        } obeyed: {
            try standard($0, $0.trust(), at: $0.now)
        },
        ObeyedRefusal(decision: "hostNameMismatch", says: "Dial a name that the certificate is for") {
            try StandardPolicy(host: HostPattern("api.example.com")).evaluate(
                $0.trust(host: "api.example.com"), at: $0.now)
        } obeyed: {
            try standard($0, $0.trust())
        },
        ObeyedRefusal(decision: "noSubjectAlternativeName", says: "issued with the host as subjectAltName") {
            try standard($0, $0.trust($0.issuing.leaf(names: [.dns(name)]) { $0.subjectAltName = nil }.chain))
        } obeyed: {
            try standard($0, $0.trust($0.issuing.leaf(names: [.dns(name)]).chain))
        },
        ObeyedRefusal(decision: "pinMismatch", says: "pin one of the keys above") {
            try $0.pinned([.certificate([1])]).evaluate($0.trust(), at: $0.now)
        } obeyed: { fixture in
            let text = try #require(
                fixture.pinned([.certificate([1])]).evaluate(fixture.trust(), at: fixture.now).failure)
            let shown = try #require("\(text)".firstMatch(of: #/presented chain:\n\s+(sha256/\S+): /#))
            return try fixture.pinned([Pin(String(shown.1))]).evaluate(fixture.trust(), at: fixture.now)
        },
        ObeyedRefusal(decision: "pinsExpired", says: "Ship pins with a later expiry") {
            try $0.pinned([$0.keyPin($0.leaf)], expires: $0.now).evaluate($0.trust(), at: $0.now)
        } obeyed: {
            try $0.pinned([$0.keyPin($0.leaf)], expires: $0.now.addingTimeInterval(60)).evaluate($0.trust(), at: $0.now)
        },
        ObeyedRefusal(decision: "pinsExpired", says: "or choose standard validation after it") {
            try $0.pinned([$0.keyPin($0.leaf)], expires: $0.now).evaluate($0.trust(), at: $0.now)
        } obeyed: {
            try $0.pinned([$0.keyPin($0.leaf)], expires: $0.now, afterExpiry: .standardValidation).evaluate(
                $0.trust(), at: $0.now)
        },
        ObeyedRefusal(decision: "hostNotCovered", says: "Ask the policy of this host, or one whose pattern covers it.")
        {
            try StandardPolicy(host: HostPattern("api.example.com")).evaluate($0.trust(), at: $0.now)
        } obeyed: {
            try StandardPolicy(host: HostPattern("**.example.com")).evaluate($0.trust(), at: $0.now)
        },
        ObeyedRefusal(decision: "hostUnknown", says: "evaluate(ServerTrust(…, host:), at:)") {
            try StandardPolicy(host: HostPattern("**.example.com")).evaluate($0.trust(host: nil), at: $0.now)
        } obeyed: {
            try StandardPolicy(host: HostPattern("**.example.com")).evaluate($0.trust(host: name), at: $0.now)
        },
        ObeyedRefusal(decision: "noPolicyForHost", says: "Add a policy for the host") {
            TrustManager(clock: $0.clock).evaluate(try $0.trust(), at: $0.now)
        } obeyed: {
            TrustManager(policies: [try StandardPolicy(host: HostPattern(name))]).evaluate(try $0.trust(), at: $0.now)
        },
        ObeyedRefusal(decision: "noPolicyForHost", says: "or say what happens to unknown hosts") {
            TrustManager(clock: $0.clock).evaluate(try $0.trust(), at: $0.now)
        } obeyed: {
            TrustManager(unknownHosts: .standardValidation).evaluate(try $0.trust(), at: $0.now)
        },
    ]

    /// A chain with more intermediates than usual.
    private static func deep(_ fixture: PolicyFixture, _ limits: ValidationLimits) throws -> TrustDecision {
        var authority = fixture.issuing
        for level in 0..<10 { authority = try authority.intermediate(name: TestName(stringLiteral: "Level \(level)")) }
        let validator = PathValidator(
            anchors: try TrustAnchors(der: [fixture.root.root]), profile: .standard, limits: limits)
        let chain = PresentedChain(try authority.leaf(names: [.dns(name)]).chain)
        return try standard(
            fixture, ServerTrust(chain: chain, purpose: .server(identity: DialedHost(name)), validator: validator))
    }

    @Test("Each remedy is obeyed literally", arguments: policies + decisions)
    func obeyed(_ refusal: ObeyedRefusal) async throws { try await refusal.check() }

    // MARK: Completeness

    /// Codes that need a decision of an authority, a publisher or the owner of an app; no call fixes them.
    private static let decidedByPeople: [String: Set<String>] = [
        "PinError": [], "HostPatternError": [],
        "HostError": ["tooLong", "labelTooLong", "invalidUnicodeName"],
        // The backup's commands are obeyed in the tests of holdfastctl.
        "PinFileError": ["tooLarge", "tooMany", "unknownCriticalField", "missingBackup", "debugAnchorsInSignedFile"],
        "PolicyConfigurationError": ["missingParameter", "invalidParameter"],
        "TrustFailure": [
            "emptyChain", "unreadableCertificate", "chainTooLarge", "budgetExceeded", "invalidSignature",
            "unsupportedSignatureAlgorithm", "weakSignatureAlgorithm", "unsupportedKey", "weakKey",
            "unsupportedVersion",
            "notACertificateAuthority", "pathLengthExceeded", "keyUsageForbidsSigning", "keyUsageForbidsTLS",
            "wrongExtendedKeyUsage", "nameConstraintViolated", "unsupportedNameConstraint", "policyConstraintViolated",
            "unknownCriticalExtension", "malformedExtension", "emptyName", "revoked", "revocationUnknown",
            "notTransparent", "transparencyNotEnforced", "profileViolation", "candidatePinMismatch", "noUsablePins",
            "pinsPastTheirTime", "hostRetired", "debugAnchorUsed", "noTrust", "customValidationRejected",
            "invalidConfiguration", "validationDisabled", "rejectedBySystem",
        ],
    ]

    private static let sources = [
        "Pins/PinError", "Hosts/HostError", "Hosts/HostPatternError", "Documents/PinFile/PinFileError",
        "Policies/PolicyConfigurationError", "Trust/TrustFailureCode",
    ]

    @Test("Each code of an error that developers see is obeyed above, or is left to a person", arguments: sources)
    func complete(_ source: String) throws {
        var root = URL(filePath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let text = try String(contentsOf: root.appending(path: "Sources/Holdfast/\(source).swift"), encoding: .utf8)
        let type = String(try #require(text.firstMatch(of: /extension (\w+)\.Code \{/)).1)
        let codes = Set(text.matches(of: /public static var (\w+): Self/).map { String($0.1) })
        let all =
            ObeyedRemedyTests.pins + ObeyedRemedyTests.hosts + ObeyedRemedyTests.pinFiles + Self.policies
            + Self.decisions
        let obeyed = Set(
            all.map(\.code).filter { $0.hasPrefix("\(type).") }.map { String($0.dropFirst(type.utf8.count + 1)) })
        let people = try #require(Self.decidedByPeople[type])
        #expect(
            codes == obeyed.union(people) && obeyed.isDisjoint(with: people),
            "\(codes.symmetricDifference(obeyed.union(people)))")
    }
}
