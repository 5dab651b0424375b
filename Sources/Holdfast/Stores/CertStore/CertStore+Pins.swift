/// Pins by the dialed host, from the newest document.
extension CertStore: PinSource {
    /// Returns the requirement of the store's content for a host now; a host without usable entries has `noUsablePins`.
    public func answer(to question: PinQuestion) -> PinAnswer {
        let snapshot = snapshot
        let time = snapshot.trustedTime.time(asked: question.time, clock: clock.now)
        return PinAnswer(snapshot.content(for: question, under: configuration, at: time), at: time)
    }

    /// Whether a document may exempt hosts.
    public var mayAdmitWithoutPins: Bool { configuration.allowsDocumentsToDisablePinning }

    /// Whether ``prepare()`` would wait: no list is stored or shipped, and no attempt to download one has just failed;
    /// or a mismatch requires a newer list.
    public var needsPreparation: Bool {
        guard snapshot.hasUsableFallback(at: clock.now) else { return documents.needsPreparation }
        return documents.isAnsweringMismatch
    }

    /// Waits, for at most ``CertStoreConfiguration/preparationTimeout``, for a list to decide by.
    /// Concurrent calls share one download, which continues after they stop waiting.
    /// - Throws: ``StoreError`` if no usable list is available; `CancellationError` if the task is canceled.
    public func prepare() async throws {
        if let configurationError { throw configurationError }
        guard needsPreparation else { return }
        try await documents.prepare()
    }

    /// Notifies the observers of the validation. With ``CertStoreConfiguration/updatesOnMismatch`` a mismatch, and a
    /// host without usable pins, start an update.
    public func tell(_ decision: TrustDecision) {
        guard !decision.findings.contains(.exempt) else { return }
        if let host = decision.host {
            let result: ValidationResult =
                decision.isTrusted ? .trusted : decision.failure?.code == .noUsablePins ? .empty : .untrusted
            documents.tell(StoreEvent(.validated, name: host.name, result: result))
        }
        updateIfAsked(by: decision.findings)
    }

    func updateIfAsked(by findings: [PinFinding]) {
        guard configuration.updatesOnMismatch, configurationError == nil else { return }
        documents.updateIfAsked(by: findings)
    }
}

extension CertStore {
    /// A policy that trusts by standard validation and the store's pins; for a ``TrustManager`` and every adapter.
    /// - Parameter host: a host, a URL, of which only the host is used, or a pattern; pins are looked up by the host
    ///   that is dialed.
    /// - Throws: ``PolicyConfigurationError`` `invalidHostName`.
    public func policy(for host: String) throws(PolicyConfigurationError) -> PinnedPolicy {
        policy(for: try HostPattern(policyName: host))
    }

    /// A policy for a host or a pattern that was parsed before.
    public func policy(for host: HostPattern) -> PinnedPolicy {
        note(host)
        return PinnedPolicy(scope: .hosts(host), source: self)
    }
}

extension HostPattern {
    /// The host or pattern of a policy that is made from a text.
    package init(policyName text: String) throws(PolicyConfigurationError) {
        do throws(HostPatternError) {
            self = try HostPattern(publishedName: text)
        } catch {
            throw PolicyConfigurationError(error, hostName: text)
        }
    }
}
