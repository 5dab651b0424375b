#if canImport(Security)
public import Security

/// The published calls, which have no time parameter and give no reason. ``TrustPolicy/evaluate(_:at:)`` has both.
///
/// A bare `SecTrust` has no host: a policy for one exact name takes its own, every other rejects. They may block, as
/// the system's evaluation may.
extension TrustPolicy {
    /// Whether a trust is trusted, at the time of the policy's clock.
    /// - Parameter trust: the trust that a connection handed out; nil where there is none.
    /// - Returns: the verdict of ``TrustPolicy/evaluate(_:at:)``, for nil that of
    ///   ``TrustPolicy/decisionWithoutTrust(at:)``.
    public func validate(trust: SecTrust?) -> Bool {
        guard let trust else { return decisionWithoutTrust(at: clock.now).isTrusted }
        return validate(trust: ServerTrust(trust, host: nil))
    }

    /// Whether a trust is trusted, at the time of the policy's clock.
    /// - Parameter trust: what the handshake presented.
    public func validate(trust: ServerTrust) -> Bool { decision(about: trust, at: clock.now).isTrusted }

    /// Whether a trust is trusted; see `validate(trust:)`.
    @available(*, deprecated, renamed: "validate(trust:)")
    public func validate(with trust: SecTrust?) -> Bool { validate(trust: trust) }

    /// Whether a trust is trusted; see `validate(trust:)`.
    @available(*, deprecated, renamed: "validate(trust:)")
    public func validate(withTrust trust: SecTrust?) -> Bool { validate(trust: trust) }
}
#endif
