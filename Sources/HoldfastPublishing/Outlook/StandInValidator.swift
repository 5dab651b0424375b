import Foundation
import Holdfast

/// Validates chains of stand-in authorities as clients do, and matches pins against the certificates that they replace.
///
/// Paths are built and verified with copies whose keys are available, so that a certificate can be evaluated before its
/// authority issues it. Pins are matched against the authority's own certificates.
struct StandInValidator: ChainValidator {
    /// Validates the copies.
    let base: PathValidator
    /// The original of each copy.
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
