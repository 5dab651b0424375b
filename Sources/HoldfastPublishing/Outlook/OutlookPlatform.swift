public import Foundation
package import Holdfast

extension PublicationOutlook {
    /// A platform of clients: the anchors that they trust, and how they validate.
    public struct Platform: Sendable, Hashable, Codable {
        /// The rules for a path.
        public enum Profile: String, Sendable, Hashable, Codable, CaseIterable {
            /// `ValidationProfile.standard`.
            case standard
            /// `ValidationProfile.strict`.
            case strict
        }

        /// Its name, such as `iOS 18` or `company root`.
        public var name: String
        /// DER of the trust anchors.
        public var anchors: [Data]
        /// The rules for a path.
        public var profile: Profile
        /// DER of the revocation lists of its clients; empty if they check none.
        public var revocationLists: [Data]
        /// Whether its clients refuse certificates without a revocation list.
        public var requiresRevocationLists: Bool

        /// Describes a platform.
        /// - Parameters:
        ///   - name: its name.
        ///   - anchors: DER of its anchors.
        ///   - profile: the rules for a path.
        ///   - revocationLists: DER of the lists of its clients.
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

        /// Describes clients with trusted authorities and revocation lists.
        package init(
            _ name: String, trusting anchors: TrustAnchors, revocationLists: [CertificateRevocationList] = []
        ) {
            self.init(
                name, anchors: anchors.certificates.map { Data($0.der) },
                revocationLists: revocationLists.map { Data($0.der) })
        }
    }
}
