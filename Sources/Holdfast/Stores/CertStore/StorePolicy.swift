public import struct Foundation.Date

/// Trusts a server whose chain validates for the dialled host and holds a pin of a ``CertStore`` in a valid path.
///
/// The store's content at the moment of the decision counts. A host without usable pins is rejected with
/// `noUsablePins`.
public struct StorePolicy: TrustPolicy {
    /// What the policy applies to.
    public let scope: PolicyScope
    private let store: CertStore
    /// Whether the store's observers learn of a decision when it is made, or from whoever asked, once it stands.
    private let tellsAtOnce: Bool

    init(scope: PolicyScope, store: CertStore) {
        self.init(scope: scope, store: store, tellsAtOnce: true)
    }

    private init(scope: PolicyScope, store: CertStore, tellsAtOnce: Bool) {
        self.scope = scope
        self.store = store
        self.tellsAtOnce = tellsAtOnce
    }

    /// The host or pattern in canonical form (A-labels, lower case).
    public var hostName: String { scope.name }
    /// The store's clock.
    public var clock: any WallClock { store.clock }

    /// ``PolicyEvidence/pathForHost``.
    public var evidence: PolicyEvidence { .pathForHost }
    /// Grows with every document that the store accepts, and with every reset.
    public var revision: UInt64 { store.documents.revision }

    /// The policy without its store's observers, who are told by ``TrustPolicy/tell(_:)`` then.
    public var unwrapped: any TrustPolicy { StorePolicy(scope: scope, store: store, tellsAtOnce: false) }

    /// nil: it validates by itself.
    public func objection(asMemberOf rule: CompositePolicy.Rule) -> String? { nil }

    /// Evaluates a trust for a time, or for the store's trusted time if that is later; see
    /// ``TrustPolicy/evaluate(_:at:)``.
    public func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        let decision = judgment(of: trust, at: time)
        return tellsAtOnce ? decision.announced() : decision
    }

    private func judgment(of trust: ServerTrust, at time: Date) -> TrustDecision {
        let snapshot = store.snapshot
        let time = snapshot.trustedTime.time(asked: time, clock: store.clock.now)
        var draft = DecisionDraft(hostName, nil, trust, time)
        let host: DialledHost
        do throws(TrustFailure) {
            host = try scope.server(of: trust)
        } catch {
            return draft.rejected(error)
        }
        draft.host = host
        if store.configuration.allowsDocumentsToDisablePinning, snapshot.isExempt(host) {
            draft.note(
                TrustFailure(
                    .validationDisabled, expected: "pins for \(host.name)",
                    found: "a signed document that asks for none",
                    remedy: "Do not allow documents to disable pinning, if this is not meant."))
            return draft.standardDecision(for: .server(identity: host))
        }
        var decision = decide(host, snapshot, &draft)
        let result: CertStore.ValidationResult =
            decision.isTrusted ? .trusted : decision.failure?.code == .noUsablePins ? .empty : .untrusted
        decision.announcements.append { [store] in store.tell(.validated(name: host.name, result)) }
        if decision.failure?.code == .pinMismatch { store.updateAfterMismatch() }
        return decision
    }

    private func decide(_ host: DialledHost, _ snapshot: StoreSnapshot, _ draft: inout DecisionDraft) -> TrustDecision {
        let seconds = draft.time.wholeSeconds
        var name = host.name
        var entries = snapshot.entries(for: host, at: seconds)
        if entries.isEmpty, let common = commonName(draft.trust, unlessListed: host, in: snapshot) {
            name = common
            entries = snapshot.table.entries(named: common).filter {
                $0.isUsable(at: seconds) && snapshot.table.isLiteralName($0, common)
            }
        }
        if let first = entries.first { name = snapshot.table.name(of: first) }
        guard store.configuration.expects(name) || store.configuration.expects(host.name) else {
            return draft.rejected(
                TrustFailure(
                    .hostNotCovered, expected: "one of the store's expected names", found: name.quotedAddress,
                    remedy: "Add the name to expectedCommonNames, if the store is for it."))
        }
        draft.pins = entries.map(\.pin)
        guard !entries.isEmpty else {
            return draft.rejected(
                TrustFailure(
                    .noUsablePins, expected: "an unexpired pin for \(host.name)",
                    found: snapshot.table.count == 0 ? "an empty store" : "none in the store"))
        }
        return match(entries, host, &draft)
    }

    /// The common name of the leaf, where the configuration asks for it and the host has no entries of any kind.
    private func commonName(_ trust: ServerTrust, unlessListed host: DialledHost, in snapshot: StoreSnapshot) -> String?
    {
        guard store.configuration.commonNameMatching == .whenHostIsUnlisted,
            FingerprintEntry.names(for: host).allSatisfy({ snapshot.table.entries(named: $0).isEmpty }),
            let leaf = trust.chain.leaf
        else { return nil }
        return try? X509Certificate(der: leaf).subject.commonName
    }

    private func match(
        _ entries: [PinTable.Entry], _ host: DialledHost, _ draft: inout DecisionDraft
    ) -> TrustDecision {
        var accepted: (path: ValidatedPath, entry: PinTable.Entry)?
        let trust = draft.trust
        let outcome = trust.validate(for: .server(identity: host), at: draft.time) { path in
            guard let entry = Self.entry(of: entries, in: path) else { return false }
            accepted = (path, entry)
            return true
        }
        draft.take(outcome)
        // Only the path that was shown to hold a pin counts, however a validator uses the closure.
        if let path = outcome.path, let accepted, accepted.path == path {
            draft.restsOnWhat(endsAt: Date(end: accepted.entry.expires))
            return draft.trusted(path: path, matching: [accepted.entry.pin])
        }
        let paths = [outcome.path].compactMap(\.self) + outcome.otherPaths
        guard !paths.isEmpty else { return draft.rejected(outcome.failure ?? DecisionDraft.unexplained) }
        var failure =
            outcome.failure
            ?? TrustFailure(
                .pinMismatch, expected: "one of the store's pins in a valid path",
                found: paths.count == 1 ? "a valid path without one" : "\(paths.count) valid paths without one",
                remedy: "Update the store; if the pins are the newest, someone is in the middle.")
        failure.paths = paths
        failure.unusable = outcome.unusable
        return draft.rejected(failure)
    }

    /// An entry counts for the certificate at its depth. The depth of a static list is not signed: above the leaf only
    /// a certificate authority counts, so that no leaf passes for an issuer.
    private static func entry(of entries: [PinTable.Entry], in path: ValidatedPath) -> PinTable.Entry? {
        for entry in entries {
            let depth = Int(entry.depth)
            guard depth < path.certificates.count else { continue }
            let certificate = path.certificates[depth]
            if depth > 0 {
                guard (try? certificate.basicConstraints)?.isCertificateAuthority == true else { continue }
            }
            let pin = entry.pin.subject == .certificate ? certificate.certificatePin : certificate.publicKeyPin
            if pin == entry.pin { return entry }
        }
        return nil
    }
}

extension CertStore {
    /// A policy that trusts by standard validation and the store's pins; for a ``TrustManager`` and every adapter.
    /// - Parameter host: a host, a URL, which means its host, or a pattern; pins are looked up by the host that is
    ///   dialled.
    /// - Throws: ``PolicyConfigurationError`` `invalidHostName`.
    public func trustPolicy(forHost host: String) throws(PolicyConfigurationError) -> StorePolicy {
        do throws(HostPatternError) {
            return trustPolicy(for: try HostPattern(publishedName: host))
        } catch {
            throw PolicyConfigurationError(error, hostName: host)
        }
    }

    /// A policy for a host or a pattern that is known to be one.
    public func trustPolicy(for host: HostPattern) -> StorePolicy {
        note(host)
        return StorePolicy(scope: .hosts(host), store: self)
    }
}
