public import Foundation
package import Holdfast

extension PublicationOutlook {
    /// Where clients run: the anchors that they trust, and how they validate.
    public struct Platform: Sendable, Hashable, Codable {
        /// Which rules a path must keep.
        public enum Profile: String, Sendable, Hashable, Codable, CaseIterable {
            /// `ValidationProfile.standard`.
            case standard
            /// `ValidationProfile.strict`.
            case strict
        }

        /// Its name, such as `iOS 18` or `company root`.
        public var name: String
        /// DER of the certificates that it trusts to begin with.
        public var anchors: [Data]
        /// Which rules a path must keep.
        public var profile: Profile
        /// DER of the revocation lists that its clients have; empty if they check none.
        public var revocationLists: [Data]
        /// Whether its clients refuse certificates for which they have no list.
        public var requiresRevocationLists: Bool

        /// Describes a platform.
        /// - Parameters:
        ///   - name: its name.
        ///   - anchors: DER of its anchors.
        ///   - profile: which rules a path must keep.
        ///   - revocationLists: DER of the lists that its clients have.
        ///   - requiresRevocationLists: whether certificates without a list are refused.
        public init(
            _ name: String, anchors: [Data], profile: Profile = .standard, revocationLists: [Data] = [],
            requiresRevocationLists: Bool = false
        ) {
            self.name = name
            self.anchors = anchors
            self.profile = profile
            self.revocationLists = revocationLists
            self.requiresRevocationLists = requiresRevocationLists
        }

        /// Describes clients that trust authorities, and have revocation lists.
        package init(
            _ name: String, trusting anchors: TrustAnchors, revocationLists: [CertificateRevocationList] = []
        ) {
            self.init(
                name, anchors: anchors.certificates.map { Data($0.der) },
                revocationLists: revocationLists.map { Data($0.der) })
        }
    }
}
