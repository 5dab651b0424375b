import Holdfast

/// Counts the work that a repository's metadata causes, and ends work that exceeds the settings.
final class WorkMeter: Sendable {
    struct Counts: Sendable, Equatable {
        /// The number of verified signatures.
        var verifications = 0
        /// The number of steps to match names with patterns in the current search.
        var patternSteps = 0
        /// The number of requested files.
        var requests = 0
    }

    private let counts = Lock(Counts())
    private let patternSteps: Int
    private let schemes: Set<TUFSettings.SignatureScheme>

    init(_ settings: TUFSettings) {
        patternSteps = settings.patternSteps
        schemes = settings.signatureSchemes
    }

    /// The name of a scheme that the settings exclude; nil for one that they allow.
    func forbiddenName(_ scheme: TUFSettings.SignatureScheme) -> String? {
        schemes.contains(scheme) ? nil : "\(scheme.rawValue), by the app's settings,"
    }

    var total: Counts { counts.withLock { $0 } }

    func verified() { counts.withLock { $0.verifications += 1 } }

    func requested() { counts.withLock { $0.requests += 1 } }

    func beginSearch() { counts.withLock { $0.patternSteps = 0 } }

    /// - Throws: ``TUFError`` `tooCostly`.
    func matched(steps: Int) throws(TUFError) {
        let spent = counts.withLock { counts in
            counts.patternSteps += steps
            return counts.patternSteps
        }
        guard spent <= patternSteps else {
            throw TUFError(
                .tooCostly, section: "5.6.7", expected: "at most \(patternSteps) steps of matching patterns",
                found: "more")
        }
    }
}
