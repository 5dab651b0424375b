// Apple's SecTrust is a type of its own; its overloads come with the Apple integration.
#if !canImport(Security)
/// The published calls: they take no time and say no reason. ``TrustPolicy/evaluate(_:at:)`` does both.
extension TrustPolicy {
    /// Whether a trust is trusted, at the time of the policy's clock.
    /// - Parameter trust: what the handshake presented; where it is nil, the answer is no, unless the policy asks for
    ///   nothing.
    public func validate(trust: SecTrust?) -> Bool {
        guard let trust else { return decisionWithoutTrust(at: clock.now).isTrusted }
        return evaluate(trust, at: clock.now).isTrusted
    }

    /// Whether a trust is trusted; see ``validate(trust:)``.
    @available(*, deprecated, renamed: "validate(trust:)")
    public func validate(with trust: SecTrust?) -> Bool { validate(trust: trust) }

    /// Whether a trust is trusted; see ``validate(trust:)``.
    @available(*, deprecated, renamed: "validate(trust:)")
    public func validate(withTrust trust: SecTrust?) -> Bool { validate(trust: trust) }
}
#endif
