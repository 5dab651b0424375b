import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// Proves that pins of issuers let in whatever an authority may issue, before anybody ships them.
struct IssuerPinProof {
    private let authority: AuthorityHierarchy
    private let host: HostPattern?

    /// - Parameters:
    ///   - authority: its certificates, current and announced.
    ///   - host: what the pins are for; nil for any host.
    init(of authority: AuthorityHierarchy, for host: HostPattern?) {
        self.authority = authority
        self.host = host
    }

    /// Says for how many chains the pins are complete.
    /// - Throws: `notTrusted` with what is missing, if clients would refuse a chain.
    func prove(_ pins: [PinEntry], by connection: ConnectionOptions) async throws {
        let anchors = try await connection.anchors()
        let now = SystemWallClock().now
        let coverage = try CommandFailure.rethrowing { () throws(PublishingError) -> IssuerPinCoverage in
            try self.coverage(of: pins, on: anchors, named: connection.ca ?? "this machine's anchors", at: now)
        }
        guard let report = IssuerPinReport(coverage, ofHost: nil, isGiven: true) else { return }
        let lines = report.lines(isGiven: true).map { SafeText.escapedLine($0) }
        guard report.isComplete else {
            throw CommandFailure(
                .notTrusted, "no pins are printed, since those of issuers have gaps\n" + lines.joined(separator: "\n"))
        }
        for line in lines { Output.standard.remark(line) }
    }

    private func coverage(
        of pins: [PinEntry], on anchors: TrustAnchors, named name: String, at now: Date
    ) throws(PublishingError) -> IssuerPinCoverage {
        let pattern: HostPattern
        do throws(HostPatternError) {
            if let host { pattern = host } else { pattern = try HostPattern("host.invalid") }
        } catch {
            throw PublishingError(.invalidInput, expected: error.expected, found: error.found)
        }
        let file = try PinCollection([], and: pins, for: pattern, as: .json).file
        let base = pattern.base.name
        return try IssuerPinCoverage(
            judging: .init(
                documents: [
                    .init(
                        "the pins", kind: .shippedPins, octets: Data(file.json), published: now,
                        appVersions: ["the next"])
                ],
                hosts: [.init(pattern.scope == .oneLabel ? "any.\(base)" : base, shown: [])],
                platforms: [.init(name, anchors: anchors.certificates.map { Data($0.der) })],
                appVersions: .versions([.init("the next")]), span: .seconds(1), now: now),
            issuedBy: authority)
    }
}
