import Foundation
import Holdfast

/// A platform as its clients validate: with its own anchors and revocation lists, and a cache of verified paths.
struct ClientPlatform: Sendable {
    let name: String
    let validator: PathValidator
    /// The times at which its anchors and lists begin and end, independent of the chain.
    let boundaries: [Int64]

    init(_ platform: PublicationOutlook.Platform) throws(PublishingError) {
        name = platform.name
        let anchors: [X509Certificate]
        let lists: [CertificateRevocationList]
        do throws(CertificateError) {
            anchors = try platform.anchors.map { der throws(CertificateError) in
                try X509Certificate(der: [UInt8](der))
            }
            lists = try platform.revocationLists.map { der throws(CertificateError) in
                try CertificateRevocationList(der: [UInt8](der))
            }
        } catch {
            throw PublishingError(
                .invalidInput, of: platform.name.quoted, expected: error.expected, found: error.found)
        }
        let profile: ValidationProfile = platform.profile == .strict ? .strict : .standard
        let cache = VerifiedPathCache()
        if lists.isEmpty, !platform.requiresRevocationLists {
            validator = PathValidator(anchors: TrustAnchors(anchors), profile: profile, cache: cache)
        } else {
            validator = PathValidator(
                anchors: TrustAnchors(anchors), profile: profile,
                revocation: Revocation.crls(lists, isRequired: platform.requiresRevocationLists), cache: cache)
        }
        boundaries =
            Self.boundaries(of: anchors)
            + lists.flatMap { list in
                [list.thisUpdate.wholeSeconds] + (list.nextUpdate.map { [$0.wholeSeconds + 1] } ?? [])
            }
    }

    /// The first seconds at which certificates become valid, and at which they are no longer valid.
    static func boundaries(of certificates: [X509Certificate]) -> [Int64] {
        certificates.flatMap { [$0.notBefore.wholeSeconds, $0.notAfter.wholeSeconds + 1] }
    }
}
