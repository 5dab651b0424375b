/// Pins by the dialed host and its port, from the newest document.
extension TrustServerStore: PinSource {
    /// Returns the requirement of the document for a host now. Without a valid document, and for a host that is not in
    /// it, the result is `noUsablePins`.
    public func answer(to question: PinQuestion) -> PinAnswer {
        let snapshot = documents.snapshot
        let time = snapshot.trustedTime.time(asked: question.time, clock: clock.now)
        return documents.format.answer(
            to: question, from: snapshot.content, at: time, lastFailure: { self.lastUpdate?.error })
    }

    /// False: a document cannot switch pinning off.
    public var mayAdmitWithoutPins: Bool { false }
}

extension TrustServerStore {
    /// A policy that trusts by the document's pins, for a ``TrustManager`` or any adapter.
    /// - Parameters:
    ///   - host: a host, a URL, of which only the host is used, or a pattern; pins are looked up by the host that is
    ///     dialed.
    ///   - pinning: whether keys are pinned, which may stay the same when a certificate is renewed, or certificates.
    ///   - validatesHostName: whether the leaf must name the dialed host; leave it true. If false, only a pin of the
    ///     server's own certificate counts.
    ///   - certificatePinOnly: whether pins alone decide about trust and expiry, self-signed certificates included.
    /// - Throws: ``PolicyConfigurationError`` `invalidHostName`.
    public func policy(
        for host: String, pinning: Pin.Subject = .publicKey, validatesHostName: Bool = true,
        certificatePinOnly: Bool = false
    ) throws(PolicyConfigurationError) -> PinnedPolicy {
        policy(
            for: try HostPattern(policyName: host), pinning: pinning, validatesHostName: validatesHostName,
            certificatePinOnly: certificatePinOnly)
    }

    /// A policy for a host or a pattern that was parsed before.
    public func policy(
        for host: HostPattern, pinning: Pin.Subject = .publicKey, validatesHostName: Bool = true,
        certificatePinOnly: Bool = false
    ) -> PinnedPolicy {
        PinnedPolicy(
            scope: .hosts(host), source: self, pinning: pinning, validatesHostName: validatesHostName,
            certificatePinOnly: certificatePinOnly)
    }
}
