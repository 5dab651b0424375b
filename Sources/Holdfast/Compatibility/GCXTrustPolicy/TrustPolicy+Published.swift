// Apple's SecTrust is a type of its own; its overloads are in Apple/TrustPolicy+SecTrust.swift.
#if !canImport(Security)
/// The published calls, which have no time parameter and give no reason. ``TrustPolicy/evaluate(_:at:)`` has both.
extension TrustPolicy {
    /// Whether a trust is trusted, at the time of the policy's clock.
    /// - Parameter trust: what the handshake presented; nil where there is nothing.
    /// - Returns: the verdict of ``TrustPolicy/evaluate(_:at:)``, for nil that of
    ///   ``TrustPolicy/decisionWithoutTrust(at:)``.
    public func validate(trust: SecTrust?) -> Bool {
        guard let trust else { return decisionWithoutTrust(at: clock.now).isTrusted }
        return decision(about: trust, at: clock.now).isTrusted
    }

    /// Whether a trust is trusted; see ``validate(trust:)``.
    @available(*, deprecated, renamed: "validate(trust:)")
    public func validate(with trust: SecTrust?) -> Bool { validate(trust: trust) }

    /// Whether a trust is trusted; see ``validate(trust:)``.
    @available(*, deprecated, renamed: "validate(trust:)")
    public func validate(withTrust trust: SecTrust?) -> Bool { validate(trust: trust) }
}
#endif
