public import struct Foundation.Date

/// Trusts a server by the pins that a trust server's document has for it: `pinCertificateOnline` and
/// `pinPublicKeyOnline`.
///
/// It decides by the document that the store has at that moment, the host that was dialled, and its port if that is
/// known. Without a usable document it rejects with `noUsablePins`. It never waits for one, but asks the store to
/// update; ``prepare()`` waits. Otherwise it decides as ``PinnedPolicy`` does: standard validation, and a pin of any
/// certificate in a valid path.
public struct TrustServerPolicy: TrustPolicy {
    /// What the policy applies to.
    public let scope: PolicyScope
    /// Where the pins come from.
    public let store: TrustServerStore
    /// Whether keys are pinned, or certificates.
    public let pinning: Pin.Subject
    /// Whether the leaf must name the dialled host.
    public let validatesHostName: Bool
    /// Whether pins alone decide about trust and expiry.
    public let certificatePinOnly: Bool

    /// The host or pattern in canonical form (A-labels, lower case).
    public var hostName: String { scope.name }
    /// The store's clock.
    public var clock: any WallClock { store.clock }
    /// ``ValidationType/pinCertificateOnline`` or ``ValidationType/pinPublicKeyOnline``.
    public var validationType: ValidationType { pinning == .certificate ? .pinCertificateOnline : .pinPublicKeyOnline }

    /// As for standard validation; with ``certificatePinOnly`` the chain.
    public var evidence: PolicyEvidence {
        // The leaf alone could be enough, but a leaf without pins of its own has the store look for a newer document.
        if certificatePinOnly { return .chain }
        return validatesHostName ? .pathForHost : .path
    }

    /// Grows with every document that the store accepts, and with every reset.
    public var revision: UInt64 { store.documents.revision }

    /// nil: it validates by itself.
    public func objection(asMemberOf rule: CompositePolicy.Rule) -> String? { nil }

    /// Whether the store waits for a document.
    public var needsPreparation: Bool { store.needsPreparation }

    /// Waits for a document to decide by; see ``TrustServerStore/prepare()``.
    public func prepare() async throws { try await store.prepare() }

    /// Evaluates a trust for a time, or for the store's trusted time if that is later; see
    /// ``TrustPolicy/evaluate(_:at:)``.
    public func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        let snapshot = store.documents.snapshot
        var draft = DecisionDraft(
            hostName, validationType, trust, snapshot.trustedTime.time(asked: time, clock: store.clock.now))
        let host: DialledHost
        do throws(TrustFailure) {
            host = try scope.server(of: trust)
        } catch {
            return draft.rejected(error)
        }
        draft.host = host
        store.documents.updateIfDue()
        do throws(TrustFailure) {
            let pins = try pins(of: host, in: usable(snapshot.content, for: host, &draft))
            draft.pins = pins.all
            if let content = snapshot.content { draft.restsOnWhat(endsAt: store.documents.format.end(of: content)) }
            let validation = PinValidation(
                pins: pins, validatesHostName: validatesHostName, certificatePinOnly: certificatePinOnly)
            let decision = validation.decide(.server(identity: host), &draft)
            if decision.failure?.code == .pinMismatch { store.documents.updateAfterMismatch() }
            return decision
        } catch {
            return draft.rejected(error)
        }
    }

    /// The document, if it counts; what is past its time is noted in the decision and reported.
    private func usable(
        _ content: TrustServerTable?, for host: DialledHost, _ draft: inout DecisionDraft
    ) throws(TrustFailure) -> TrustServerTable {
        let format = store.documents.format
        if let obstacle = format.obstacle(to: content, at: draft.time) {
            let last = store.lastUpdate?.error.map { "; the last download failed: \($0.code.rawValue), \($0.found)" }
            throw TrustFailure(
                .noUsablePins, expected: obstacle.expected, found: obstacle.found + (last ?? ""),
                remedy: obstacle.remedy)
        }
        guard let content else { throw DecisionDraft.unexplained }
        guard format.isInGrace(content, at: draft.time) else { return content }
        let age = draft.time.timeIntervalSince(content.timestamp)
        let settings = store.configuration.settings
        draft.note(
            TrustFailure(
                .pinsPastTheirTime,
                expected: "a document at most \(TrustServerFormat.text(age: settings.maxAge.inSeconds)) old",
                found: "one that is \(TrustServerFormat.text(age: age)) old"))
        store.reportGrace(content, for: host, age: age)
        return content
    }

    private func pins(of host: DialledHost, in content: TrustServerTable) throws(TrustFailure) -> PinSet {
        let found: String
        switch content.answer(for: host, pinning) {
        case .pins(let pins): return pins
        case .unlisted:
            // Published a moment ago, perhaps.
            store.documents.updateAfterMismatch()
            found = "none in the document"
        case .otherKind:
            found = pinning == .certificate ? "pins of its keys only" : "pins of its certificates only"
        case .otherPorts(let ports):
            store.documents.updateAfterMismatch()
            found = "pins for \(Self.text(ports)) only"
        case .differentPorts(let ports):
            throw TrustFailure(
                .noUsablePins, expected: "the port of \(host.name), or the same pins for every port",
                found: "different pins for \(Self.text(ports))",
                remedy: "Say which port was dialled: DialledHost(_:port:).")
        }
        throw TrustFailure(
            .noUsablePins, expected: "pins for \(host)", found: found,
            remedy: "Have the host published by the trust server; a host without pins is not trusted.")
    }

    private static func text(_ ports: [Int]) -> String {
        (ports.count == 1 ? "port " : "ports ") + ports.prefix(8).map { "\($0)" }.joined(separator: ", ")
    }
}

extension TrustServerStore {
    /// A policy that trusts by the document's pins, for a ``TrustManager`` or any adapter.
    /// - Parameters:
    ///   - host: a host, a URL, which means its host, or a pattern; pins are looked up by the host that is dialled.
    ///   - pinning: whether keys are pinned, which survive a renewal, or certificates.
    ///   - validatesHostName: whether the leaf must name the dialled host; leave it true. If false, only a pin of the
    ///     server's own certificate counts.
    ///   - certificatePinOnly: whether pins alone decide about trust and expiry, self-signed certificates included.
    /// - Throws: ``PolicyConfigurationError`` `invalidHostName`.
    public func trustPolicy(
        forHost host: String, pinning: Pin.Subject = .publicKey, validatesHostName: Bool = true,
        certificatePinOnly: Bool = false
    ) throws(PolicyConfigurationError) -> TrustServerPolicy {
        do throws(HostPatternError) {
            return trustPolicy(
                for: try HostPattern(publishedName: host), pinning: pinning, validatesHostName: validatesHostName,
                certificatePinOnly: certificatePinOnly)
        } catch {
            throw PolicyConfigurationError(error, hostName: host)
        }
    }

    /// A policy for a host or a pattern that is known to be one.
    public func trustPolicy(
        for host: HostPattern, pinning: Pin.Subject = .publicKey, validatesHostName: Bool = true,
        certificatePinOnly: Bool = false
    ) -> TrustServerPolicy {
        TrustServerPolicy(
            scope: .hosts(host), store: self, pinning: pinning, validatesHostName: validatesHostName,
            certificatePinOnly: certificatePinOnly)
    }
}
