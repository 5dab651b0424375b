public import Foundation
public import Holdfast

/// The answer of Holdfast to a case.
public struct LimboOutcome: Sendable {
    /// How the answer compares with the expected one.
    public enum Comparison: String, Sendable, CaseIterable {
        /// The same answer.
        case pass
        /// Accepted what should have been rejected.
        case falseAccept
        /// Rejected what should have been accepted.
        case falseReject
    }

    /// The case.
    public let testcase: LimboCase
    /// How the answer compares with the expected one.
    public let comparison: Comparison
    /// Why no path was found; nil when one was.
    public let failure: TrustFailure?
    /// The work it took.
    public let effort: ValidationEffort
}

/// A case that cannot be put to Holdfast at all.
public struct LimboCaseError: Error, CustomStringConvertible {
    /// The reason.
    public let description: String
}

extension LimboCase {
    /// Puts the case to Holdfast's path validator.
    /// - Parameters:
    ///   - profile: the rules to keep.
    ///   - publicSuffixes: the suffixes above which the strict profile allows no wildcard.
    ///   - requiresRevocation: whether a certificate is refused that no list speaks of.
    ///   - certificatePolicies: which certificate policies a path must have.
    ///   - defaultTime: the time of cases that name none.
    /// - Throws: ``LimboCaseError`` where the case itself cannot be read; an anchor, a leaf or a revocation list that is
    ///   none is an answer, not an error.
    public func run(
        profile: ValidationProfile = .standard, publicSuffixes: PublicSuffixList? = nil,
        requiresRevocation: Bool = false, certificatePolicies: CertificatePolicies = .any, defaultTime: Date
    ) throws -> LimboOutcome {
        var limits = ValidationLimits()
        if let maximumChainDepth { limits.intermediates = maximumChainDepth }
        let anchors = try trustedCertificates.map(Self.der).compactMap { try? X509Certificate(der: $0) }
        var lists: [CertificateRevocationList] = []
        for der in try revocationLists.map(Self.der) {
            do throws(CertificateError) {
                lists.append(try CertificateRevocationList(der: der))
            } catch {
                let failure = TrustFailure(
                    .revocationUnknown, expected: "revocation lists that can be read", found: error.found)
                return outcome(failure, ValidationEffort())
            }
        }
        let validator = PathValidator(
            anchors: TrustAnchors(anchors), profile: profile, limits: limits,
            revocation: .crls(lists, isRequired: requiresRevocation), certificatePolicies: certificatePolicies,
            publicSuffixes: publicSuffixes)
        let chain = PresentedChain(try ([peerCertificate] + untrustedIntermediates).map(Self.der))
        let time = try validationTime.map(Self.date) ?? defaultTime
        let purpose: ValidationPurpose
        switch validationKind {
        case .client:
            purpose = .client
        case .server:
            do throws(HostError) {
                purpose = .server(
                    identity: try expectedPeerName.map { name throws(HostError) in try DialedHost(name.value) })
            } catch {
                let failure = TrustFailure(
                    .hostNameMismatch, expected: "a host that can be dialed", found: error.found, chain: chain)
                return outcome(failure, ValidationEffort())
            }
        }
        let answer = validator.validate(chain, for: purpose, at: time) { _ in true }
        return outcome(answer.path == nil ? answer.failure : nil, answer.effort)
    }

    private func outcome(_ failure: TrustFailure?, _ effort: ValidationEffort) -> LimboOutcome {
        let comparison: LimboOutcome.Comparison =
            switch (expectedResult, failure) {
            case (.success, nil), (.failure, _?): .pass
            case (.success, _?): .falseReject
            case (.failure, nil): .falseAccept
            }
        return LimboOutcome(testcase: self, comparison: comparison, failure: failure, effort: effort)
    }

    /// Without the strictness of a PEM reader: some cases hold certificates that are not even DER.
    private static func der(_ pem: String) throws -> [UInt8] {
        let base64 = pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined()
        guard let data = Data(base64Encoded: base64) else {
            throw LimboCaseError(description: "a certificate that is not PEM")
        }
        return Array(data)
    }

    private static func date(_ text: String) throws -> Date {
        let styles = [
            Date.ISO8601FormatStyle(includingFractionalSeconds: false),
            Date.ISO8601FormatStyle(includingFractionalSeconds: true),
        ]
        for style in styles {
            if let date = try? style.parse(text) { return date }
        }
        throw LimboCaseError(description: "a time that is not ISO 8601: \(text)")
    }
}
