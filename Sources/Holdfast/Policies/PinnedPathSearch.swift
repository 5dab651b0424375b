/// What came of looking for pins in the valid paths of a chain.
enum PinnedPathSearch {
    /// A valid path that holds pins, and which.
    case found(ValidatedPath, [Pin])
    /// Valid paths, none of which holds a pin, and the failure of the search where it was cut short.
    case withoutPins([ValidatedPath], TrustFailure?, [UnusableCertificate])
    /// No valid path.
    case noPath(TrustFailure)
}

extension DecisionDraft {
    /// Looks for a valid path that holds pins.
    /// - Parameter matches: the pins that count in a path.
    mutating func search(
        for purpose: ValidationPurpose, matches: (ValidatedPath) -> [Pin]
    ) -> PinnedPathSearch {
        var accepted: (path: ValidatedPath, pins: [Pin])?
        let outcome = trust.validate(for: purpose, at: time) { path in
            let pins = matches(path)
            if !pins.isEmpty { accepted = (path, pins) }
            return !pins.isEmpty
        }
        take(outcome)
        // Only the path that was shown to hold a pin counts, however a validator uses the closure.
        if let path = outcome.path, let accepted, accepted.path == path { return .found(path, accepted.pins) }
        let validPaths = [outcome.path].compactMap(\.self) + outcome.otherPaths
        guard !validPaths.isEmpty else { return .noPath(outcome.failure ?? Self.unexplained) }
        return .withoutPins(validPaths, outcome.failure, outcome.unusable)
    }
}
