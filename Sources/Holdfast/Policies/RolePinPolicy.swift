import struct Foundation.Date

/// Trusts a server whose chain validates for the dialled host and holds pinned keys in their roles.
///
/// Pins on trial are reported on and never accepted. Anchors for debugging count where nothing else does, without a pin,
/// as those of Android's debug-overrides do.
struct RolePinPolicy: TrustPolicy {
    let scope: PolicyScope
    let pins: RolePins
    /// Pins on trial.
    var candidates = RolePins(pins: [], requiresBothRoles: false)
    /// The ports that it is for; empty for any.
    var ports: [Int] = []
    /// Whether a connection without the pins is rejected or only reported.
    var isEnforced = true
    /// Whether standard validation decides once the pins have run out.
    var fallsBackToStandard = false
    /// The anchors of a debug build that asked for them.
    var debugAnchors: TrustAnchors?
    let clock: any WallClock
    let log: PolicyLog

    var hostName: String { scope.name }

    var evidence: PolicyEvidence { .pathForHost }

    /// Pins that are only reported on keep nobody out.
    func objection(asMemberOf rule: CompositePolicy.Rule) -> String? {
        rule == .any && !isEnforced ? "pins that are only reported on" : nil
    }

    func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        let counting = pins.counting(at: time)
        var draft = DecisionDraft(hostName, .pinPublicKey, trust, time)
        draft.pins = (counting.isSatisfiable ? counting : pins).all
        let host: DialledHost
        do throws(TrustFailure) {
            host = try dialled(trust)
        } catch {
            return draft.rejected(error)
        }
        draft.host = host
        let decision =
            counting.isSatisfiable ? judged(counting, host, &draft) : expired(host, &draft)
        guard !decision.isTrusted, let debugAnchors else { return decision }
        return debugDecision(by: debugAnchors, host, &draft) ?? decision
    }

    private func dialled(_ trust: ServerTrust) throws(TrustFailure) -> DialledHost {
        guard let host = try scope.host(of: trust) else {
            throw TrustFailure(.hostNotCovered, expected: "a server", found: "a client")
        }
        // Where the port is not known the pins are asked for: that keeps out no less than a rejection would.
        if let port = host.port, !ports.isEmpty, !ports.contains(port) {
            throw TrustFailure(
                .hostNotCovered, expected: "port \(ports.map(String.init).joined(separator: " or ")) of \(host.name)",
                found: "port \(port)", remedy: "Add the port to the host's entry, or dial one that it has.")
        }
        return host
    }

    private func judged(_ pins: RolePins, _ host: DialledHost, _ draft: inout DecisionDraft) -> TrustDecision {
        let search = draft.search(for: .server(identity: host)) { pins.match(in: $0)?.pins ?? [] }
        let onTrial = candidates.counting(at: draft.time)
        switch search {
        case .noPath(let failure):
            return draft.rejected(failure)
        case .found(let path, let found):
            // Pins that are only reported on keep nobody out, so nothing rests on them.
            if isEnforced { draft.restsOnWhat(endsAt: pins.match(in: path)?.end ?? .distantPast) }
            note(onTrial, in: path, &draft)
            return draft.trusted(path: path, matching: found)
        case .withoutPins(let paths, let reason, let unusable):
            var failure = reason ?? mismatch(of: pins, onTrial, in: paths)
            failure.paths = paths
            failure.unusable = unusable
            guard !isEnforced, let first = paths.first else { return draft.rejected(failure) }
            draft.note(failure)
            note(onTrial, in: first, &draft)
            return draft.trusted(path: first)
        }
    }

    private func mismatch(of pins: RolePins, _ onTrial: RolePins, in paths: [ValidatedPath]) -> TrustFailure {
        let failure = pins.mismatch(in: paths)
        guard paths.contains(where: { onTrial.match(in: $0) != nil }) else { return failure }
        return TrustFailure(
            failure.code, expected: failure.expected, found: "a candidate alone, which is never accepted",
            remedy: "Make the candidate an active pin once it is to be accepted.")
    }

    private func note(_ onTrial: RolePins, in path: ValidatedPath, _ draft: inout DecisionDraft) {
        guard !onTrial.pins.isEmpty, onTrial.match(in: path) == nil else { return }
        var notice = TrustFailure(
            .candidatePinMismatch, expected: "a pin on trial in the path", found: "a path without one")
        notice.pins = onTrial.all
        draft.note(notice)
    }

    private func expired(_ host: DialledHost, _ draft: inout DecisionDraft) -> TrustDecision {
        let last = pins.pins.map(\.end).max()
        let failure = TrustFailure(
            .pinsExpired, expected: "pins that still hold",
            found: last.map { "pins that ran out at \($0.formatted(.iso8601))" } ?? "none")
        guard fallsBackToStandard || !isEnforced else {
            log.pinsExpired(for: hostName, outcome: "connections are rejected")
            return draft.rejected(failure)
        }
        log.pinsExpired(for: hostName, outcome: "standard validation alone decides")
        draft.note(failure)
        return draft.standardDecision(for: .server(identity: host))
    }

    /// nil where the debug anchors do not trust the chain either.
    private func debugDecision(
        by anchors: TrustAnchors, _ host: DialledHost, _ draft: inout DecisionDraft
    ) -> TrustDecision? {
        // Made for this build alone, so that there is no list of what they revoked.
        let own = draft.trust.validator.pathValidator
        let validator = PathValidator(
            anchors: anchors, profile: own?.profile ?? .standard, limits: own?.limits ?? ValidationLimits())
        let outcome = validator.validate(
            draft.trust.chain, for: .server(identity: host), at: draft.time
        ) { _ in true }
        draft.effort += outcome.effort
        guard let path = outcome.path, let anchor = path.anchor else { return nil }
        let name = anchor.subject.description
        log.debugAnchorUsed(for: host.name, anchor: name)
        draft.note(
            TrustFailure(
                .debugAnchorUsed, expected: "the pins of a release build", found: "the debug anchor \(name.quoted)"))
        return draft.trusted(path: path)
    }
}
