import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// Proves, before issuer pins are published, that they accept every chain the authority may issue.
struct IssuerPinProof {
    private let authority: AuthorityHierarchy
    private let host: HostPattern?

    /// - Parameters:
    ///   - authority: its certificates, current and announced.
    ///   - host: the host of the pins; nil for any host.
    init(of authority: AuthorityHierarchy, for host: HostPattern?) {
        self.authority = authority
        self.host = host
    }

    /// Reports for how many chains the pins are complete.
    /// - Throws: `notTrusted` with the missing pins, if clients would refuse a chain.
    func prove(_ pins: [PinEntry], by connection: ConnectionOptions) async throws {
        let anchors = try await connection.anchors()
        let now = SystemWallClock().now
        let coverage = try CommandFailure.rethrowing { () throws(PublishingError) -> IssuerPinCoverage in
            try IssuerPinCoverage(
                pinning: pins, for: host, issuedBy: authority, trusting: anchors,
                named: connection.ca ?? "this machine's anchors", at: now)
        }
        guard let report = IssuerPinReport(coverage, ofHost: nil, isGiven: true) else { return }
        let lines = report.lines(isGiven: true).map { SafeText.escapedLine($0) }
        guard report.isComplete else {
            throw CommandFailure(
                .notTrusted, "no pins are printed, since those of issuers have gaps\n" + lines.joined(separator: "\n"))
        }
        for line in lines { Output.standard.remark(line) }
    }
}
