/// Decides by pins in a validated path, or by pins alone: what every policy that pins any certificate of a path does.
struct PinValidation {
    let pins: PinSet
    /// The certificates that the pins were made from, where they are known.
    var certificates: [X509Certificate] = []
    let validatesHostName: Bool
    let certificatePinOnly: Bool

    func decide(_ purpose: ValidationPurpose, _ draft: inout DecisionDraft) -> TrustDecision {
        // Pins that are only reported on keep nobody out, so nothing rests on them.
        if let expires = pins.expires, pins.enforcement == .enforce { draft.restsOnWhat(endsAt: expires) }
        let matcher = PinMatcher(pins, leafOnly: purpose.host != nil && !validatesHostName)
        if certificatePinOnly {
            let validation = PinOnlyValidation(matcher: matcher, certificates: certificates, purpose: purpose)
            return validation.decide(&draft)
        }
        return decideByPath(for: purpose.checkingHost(validatesHostName), matcher, &draft)
    }

    private func decideByPath(
        for purpose: ValidationPurpose, _ matcher: PinMatcher, _ draft: inout DecisionDraft
    ) -> TrustDecision {
        switch draft.search(for: purpose, matches: matcher.matches) {
        case .found(let path, let pins):
            return draft.trusted(path: path, matching: pins)
        case .noPath(let failure):
            return draft.rejected(failure)
        case .withoutPins(let paths, let reason, let unusable):
            var failure = reason ?? matcher.mismatch(in: paths)
            failure.paths = paths
            failure.unusable = unusable
            guard pins.enforcement == .reportOnly else { return draft.rejected(failure) }
            draft.note(failure)
            return draft.trusted(path: paths.first)
        }
    }
}
