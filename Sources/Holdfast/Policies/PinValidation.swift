/// Decides by pins in a validated path, or by pins alone: what every policy that pins any certificate of a path does.
struct PinValidation {
    let pins: PinSet
    /// The certificates that the pins were made from, where they are known.
    var certificates: [X509Certificate] = []
    let validatesHostName: Bool
    let certificatePinOnly: Bool

    func decide(_ subject: PolicySubject, _ draft: inout DecisionDraft) -> TrustDecision {
        // Pins that are only reported on keep nobody out, so nothing rests on them.
        if let expires = pins.expires, pins.enforcement == .enforce { draft.restsOnWhat(endsAt: expires) }
        let matcher = PinMatcher(pins, leafOnly: subject.host != nil && !validatesHostName)
        if certificatePinOnly {
            let validation = PinOnlyValidation(matcher: matcher, certificates: certificates, subject: subject)
            return validation.decide(&draft)
        }
        return decide(subject.purpose(checkingHost: validatesHostName), matcher, &draft)
    }

    private func decide(
        _ purpose: ValidationPurpose, _ matcher: PinMatcher, _ draft: inout DecisionDraft
    ) -> TrustDecision {
        let trust = draft.trust
        var accepted: (path: ValidatedPath, pins: [Pin])?
        let outcome = trust.validate(for: purpose, at: draft.time) { path in
            let pins = matcher.matches(in: path)
            if !pins.isEmpty { accepted = (path, pins) }
            return !pins.isEmpty
        }
        draft.effort += outcome.effort
        // Only the path that was shown to hold a pin counts, however a validator uses the closure.
        if let path = outcome.path, let accepted, accepted.path == path {
            return draft.trusted(path: path, matching: accepted.pins)
        }
        let validPaths = [outcome.path].compactMap(\.self) + outcome.otherPaths
        guard let first = validPaths.first else { return draft.rejected(outcome.failure ?? DecisionDraft.unexplained) }
        var failure = outcome.failure ?? matcher.mismatch(in: validPaths)
        failure.paths = validPaths
        failure.unusable = outcome.unusable
        guard pins.enforcement == .reportOnly else { return draft.rejected(failure) }
        draft.note(failure)
        return draft.trusted(path: first)
    }
}
