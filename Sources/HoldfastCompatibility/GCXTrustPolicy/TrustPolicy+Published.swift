public import Holdfast

#if canImport(Security)
public import Security
#endif

/// The published calls, which give no reason; `evaluate` does.
///
/// A bare `SecTrust` has no host: a policy for one exact name uses that name, and every other policy rejects it. On
/// Apple's systems the calls may block, because the system's evaluation may.
extension TrustPolicy {
    /// Whether a trust is trusted.
    /// - Parameters:
    ///   - trust: the trust of the handshake; nil if it has none.
    ///   - clock: the time of the decision; the published call uses the system's clock.
    /// - Returns: the verdict of `evaluate`, or for nil that of `decisionWithoutTrust`.
    public func validate(trust: SecTrust?, clock: any WallClock = SystemWallClock()) -> Bool {
        guard let trust else { return decisionWithoutTrust(at: clock.now).isTrusted }
        #if canImport(Security)
        return decision(about: ServerTrust(trust, host: nil), at: clock.now).isTrusted
        #else
        return decision(about: trust, at: clock.now).isTrusted
        #endif
    }

    /// Whether a trust is trusted; see `validate(trust:clock:)`.
    @available(*, deprecated, renamed: "validate(trust:)")
    public func validate(with trust: SecTrust?) -> Bool { validate(trust: trust) }

    /// Whether a trust is trusted; see `validate(trust:clock:)`.
    @available(*, deprecated, renamed: "validate(trust:)")
    public func validate(withTrust trust: SecTrust?) -> Bool { validate(trust: trust) }
}
