import Foundation
import Holdfast

/// Validates chains of stand-in authorities as clients do, and shows pins the certificates for which they stand.
///
/// Paths are built and verified among copies, whose keys we have: so a certificate can be judged that an authority has
/// yet to issue. What is matched against pins is the authority's own certificate.
struct StandInValidator: ChainValidator {
    /// Validates the copies.
    let base: PathValidator
    /// What each copy stands for.
    let originals: [X509Certificate: X509Certificate]

    var pathValidator: PathValidator? { base }

    func validate(
        _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date,
        accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome {
        let outcome = base.validate(chain, for: purpose, at: time) { accepting(original(of: $0)) }
        return ValidationOutcome(
            path: outcome.path.map(original), otherPaths: outcome.otherPaths.map(original), failure: outcome.failure,
            notices: outcome.notices)
    }

    private func original(of path: ValidatedPath) -> ValidatedPath {
        let certificates = path.certificates.map { originals[$0] ?? $0 }
        guard let leaf = certificates.first else { return path }
        return ValidatedPath(
            uncheckedLeaf: leaf, issuers: Array(certificates.dropFirst()), holdsUntil: path.holdsUntil)
    }
}
