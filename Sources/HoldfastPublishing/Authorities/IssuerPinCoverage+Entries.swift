package import Foundation
package import Holdfast
import HoldfastSigning

extension IssuerPinCoverage {
    /// Evaluates if unpublished pins match every certificate that an authority may issue for a host.
    /// - Parameters:
    ///   - entries: the pins.
    ///   - pattern: the hosts of the pins; nil for any host.
    ///   - hierarchy: the certificates of the authority, current and announced.
    ///   - anchors: the anchors that clients trust.
    ///   - name: the name of those anchors.
    package init(
        pinning entries: [PinEntry], for pattern: HostPattern?, issuedBy hierarchy: AuthorityHierarchy,
        trusting anchors: TrustAnchors, named name: String, at now: Date
    ) throws(PublishingError) {
        let host: HostPattern
        do throws(HostPatternError) {
            if let pattern { host = pattern } else { host = try HostPattern("host.invalid") }
        } catch {
            throw PublishingError(.invalidInput, expected: error.expected, found: error.found)
        }
        let file = try PinCollection([], and: entries, for: host, as: .json).file
        let base = host.base.name
        try self.init(
            judging: .init(
                documents: [
                    .init(
                        "the pins", kind: .shippedPins, octets: Data(file.json), published: now,
                        appVersions: ["the next"])
                ],
                hosts: [.init(host.scope == .oneLabel ? "any.\(base)" : base, shown: [])],
                platforms: [.init(name, trusting: anchors)], appVersions: .versions([.init("the next")]),
                span: .seconds(1), now: now),
            issuedBy: hierarchy)
    }
}
