public import Holdfast

#if canImport(Security)
public import Security
#endif

/// The published calls, which have no time parameter and give no reason; `evaluate` has both.
///
/// A bare `SecTrust` has no host: a policy for one exact name takes its own, every other rejects. On Apple's systems the
/// calls may block, as the system's evaluation may.
extension TrustPolicy {
    /// Whether a trust is trusted, at the time of the policy's clock.
    /// - Parameter trust: what the handshake presented; nil where there is nothing.
    /// - Returns: the verdict of `evaluate`, for nil that of `decisionWithoutTrust`.
    public func validate(trust: SecTrust?) -> Bool {
        guard let trust else { return decisionWithoutTrust(at: clock.now).isTrusted }
        #if canImport(Security)
        return validate(trust: ServerTrust(trust, host: nil))
        #else
        return decision(about: trust, at: clock.now).isTrusted
        #endif
    }

    #if canImport(Security)
    /// Whether a trust is trusted, at the time of the policy's clock.
    /// - Parameter trust: what the handshake presented.
    public func validate(trust: ServerTrust) -> Bool { decision(about: trust, at: clock.now).isTrusted }
    #endif

    /// Whether a trust is trusted; see `validate(trust:)`.
    @available(*, deprecated, renamed: "validate(trust:)")
    public func validate(with trust: SecTrust?) -> Bool { validate(trust: trust) }

    /// Whether a trust is trusted; see `validate(trust:)`.
    @available(*, deprecated, renamed: "validate(trust:)")
    public func validate(withTrust trust: SecTrust?) -> Bool { validate(trust: trust) }
}
