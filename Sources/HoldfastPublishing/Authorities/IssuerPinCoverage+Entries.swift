package import Foundation
package import Holdfast
import HoldfastSigning

extension IssuerPinCoverage {
    /// Whether pins that nobody has published yet let in whatever an authority may issue for a host.
    /// - Parameters:
    ///   - entries: the pins.
    ///   - pattern: what they are for; nil for any host.
    ///   - hierarchy: the certificates of the authority, current and announced.
    ///   - anchors: what clients trust.
    ///   - name: what those anchors are called.
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
