public import struct Foundation.Date

/// Trusts a server whose chain validates and holds a pinned key or certificate in a valid path.
///
/// ```swift
/// let policy = try PinnedPolicy(
///     host: HostPattern("**.example.com"),
///     pins: PinSet(pins: [Pin("sha256/TwyNzy19zZi7cKfPsucs1E+h8ODOCPMrT8681sFWJvw=")]))
/// ```
/// Pins are matched against validated paths, never against what was merely presented: a pinned certificate that
/// strangers append to their chain is not on a valid path. Where several paths are valid, as with cross-signed roots,
/// one with a pin is looked for within the budget of the validation.
///
/// With `certificatePinOnly` the pins are the only anchors, and no certificate's validity matters. A pinned leaf is
/// enough, since the handshake proves its key. A pin above the leaf counts only if every signer from the leaf up to it
/// keeps the rules for issuers (version 3, a CA with keyCertSign, path length, name constraints; RFC 5280 6.1.4) and
/// the leaf names the dialled host: otherwise anyone with an ordinary certificate of that issuer could sign one of
/// their own. Revocation lists of the trust's ``PathValidator`` are still checked; the issuer of a pinned leaf must
/// then be presented, an anchor, or given with the pins. Someone who holds a pinned key can wrap it in another
/// certificate, which no list mentions: where a key is pinned, only required lists or removing the pin help against its
/// theft. A key pin above the leaf trusts that key alone; what the certificate around it says is then only the peer's
/// claim. A certificate pin fixes that too.
///
/// With `validatesHostName` false a pin counts only for the server's own certificate, for the same reason.
public struct PinnedPolicy: TrustPolicy {
    /// What the policy applies to.
    public let scope: PolicyScope
    /// The pins, until when they hold, and what happens then.
    public let pins: PinSet
    /// Whether the leaf must name the dialled host.
    public let validatesHostName: Bool
    /// Whether pins alone decide about trust and expiry.
    public let certificatePinOnly: Bool
    /// The clock of the published calls that have no time parameter.
    public let clock: any WallClock
    /// The certificates that the pins were made from, where they are known: with `certificatePinOnly`, issuers that the
    /// server need not send.
    private let certificates: [X509Certificate]
    private let log: PolicyLog

    /// Makes a policy for servers from pins.
    /// - Parameters:
    ///   - host: the host, or the pattern of hosts, that it applies to.
    ///   - pins: the pins, their expiry, and whether they are enforced.
    ///   - validatesHostName: whether the leaf must name the dialled host; leave it true.
    ///   - certificatePinOnly: whether pins alone decide about trust and expiry, self-signed certificates included.
    ///   - clock: the clock of the published calls that have no time parameter.
    /// - Throws: ``PolicyConfigurationError`` for settings under which nothing would have to be proved.
    public init(
        host: HostPattern, pins: PinSet, validatesHostName: Bool = true, certificatePinOnly: Bool = false,
        clock: any WallClock = SystemWallClock()
    ) throws(PolicyConfigurationError) {
        try self.init(
            scope: .hosts(host), pins: pins, certificates: [], validatesHostName: validatesHostName,
            certificatePinOnly: certificatePinOnly, clock: clock)
    }

    /// Makes a policy for servers from certificates.
    /// - Parameters:
    ///   - host: the host, or the pattern of hosts, that it applies to.
    ///   - subject: whether their keys are pinned, which survive a renewal, or the certificates themselves.
    ///   - certificates: a bundle, a folder, files or data; all of them are pinned.
    ///   - validatesHostName: whether the leaf must name the dialled host; leave it true.
    ///   - certificatePinOnly: whether pins alone decide about trust and expiry, self-signed certificates included.
    ///   - clock: the clock of the published calls that have no time parameter.
    /// - Throws: ``PolicyConfigurationError`` naming the file that cannot be read, when there is no certificate, and
    ///   for settings under which nothing would have to be proved.
    public init(
        host: HostPattern, pinning subject: Pin.Subject, of certificates: CertificateSource,
        validatesHostName: Bool = true, certificatePinOnly: Bool = false, clock: any WallClock = SystemWallClock()
    ) throws(PolicyConfigurationError) {
        let read: [X509Certificate]
        do throws(CertificateFileError) {
            read = try certificates.read()
        } catch {
            throw PolicyConfigurationError(error, hostName: host.description)
        }
        try self.init(
            scope: .hosts(host), pinning: subject, of: read, from: certificates.description,
            validatesHostName: validatesHostName, certificatePinOnly: certificatePinOnly, clock: clock)
    }

    /// Makes a policy for the clients of a mutual TLS server: a pin of a client's own certificate, or of the issuer of
    /// clients.
    /// - Parameters:
    ///   - name: what decisions and logs call the policy; it is not a host.
    ///   - pins: the pins, their expiry, and whether they are enforced.
    ///   - certificatePinOnly: whether pins alone decide about trust and expiry.
    ///   - clock: the clock of the published calls that have no time parameter.
    /// - Throws: ``PolicyConfigurationError`` for settings under which nothing would have to be proved.
    public init(
        clients name: String, pins: PinSet, certificatePinOnly: Bool = false, clock: any WallClock = SystemWallClock()
    ) throws(PolicyConfigurationError) {
        try self.init(
            scope: .clients(name), pins: pins, certificates: [], validatesHostName: true,
            certificatePinOnly: certificatePinOnly, clock: clock)
    }

    init(
        scope: PolicyScope, pinning subject: Pin.Subject, of certificates: [X509Certificate], from source: String,
        validatesHostName: Bool, certificatePinOnly: Bool, clock: any WallClock, log: PolicyLog = .shared
    ) throws(PolicyConfigurationError) {
        let pins: PinSet
        do throws(PinError) {
            pins = try PinSet(subject, of: certificates)
        } catch {
            throw .noPins(hostName: scope.name, found: "no certificate in \(source)")
        }
        try self.init(
            scope: scope, pins: pins, certificates: certificates, validatesHostName: validatesHostName,
            certificatePinOnly: certificatePinOnly, clock: clock, log: log)
    }

    init(
        scope: PolicyScope, pins: PinSet, certificates: [X509Certificate], validatesHostName: Bool,
        certificatePinOnly: Bool, clock: any WallClock, log: PolicyLog = .shared
    ) throws(PolicyConfigurationError) {
        self.scope = scope
        self.pins = pins
        self.certificates = certificates
        self.validatesHostName = validatesHostName
        self.certificatePinOnly = certificatePinOnly
        self.clock = clock
        self.log = log
        try checkConfiguration()
    }

    /// The host or pattern in canonical form (A-labels, lower case), or the name of a policy for clients.
    public var hostName: String { scope.name }

    /// ``ValidationType/pinCertificate`` or ``ValidationType/pinPublicKey``; nil when the set has pins of both kinds.
    public var validationType: ValidationType? {
        switch (pins.hasCertificatePins, pins.hasPublicKeyPins) {
        case (true, false): .pinCertificate
        case (false, true): .pinPublicKey
        default: nil
        }
    }

    /// As for standard validation; with ``certificatePinOnly`` the leaf, whose own pin is enough.
    public var evidence: PolicyEvidence {
        if certificatePinOnly { return .leaf }
        return validatesHostName ? .pathForHost : .path
    }

    /// Report-only pins are not allowed in any-of: they keep nobody out.
    public func objection(asMemberOf rule: CompositePolicy.Rule) -> String? {
        rule == .any && pins.enforcement == .reportOnly ? "pins that are only reported on" : nil
    }

    /// Evaluates a trust for a time; see ``TrustPolicy/evaluate(_:at:)``.
    public func evaluate(_ trust: ServerTrust, at time: Date) -> TrustDecision {
        var draft = DecisionDraft(hostName, validationType, trust, time)
        draft.pins = pins.all
        let purpose: ValidationPurpose
        do throws(TrustFailure) {
            purpose = try scope.purpose(of: trust)
        } catch {
            return draft.rejected(error)
        }
        draft.host = purpose.host
        if pins.state(at: time) == .expired { return expired(purpose, &draft) }
        let validation = PinValidation(
            pins: pins, certificates: certificates, validatesHostName: validatesHostName,
            certificatePinOnly: certificatePinOnly)
        return validation.decide(purpose, &draft)
    }

    private func expired(_ purpose: ValidationPurpose, _ draft: inout DecisionDraft) -> TrustDecision {
        let failure = TrustFailure(
            .pinsExpired, expected: "pins that still hold",
            found: pins.expires.map { "pins that expired at \($0.formatted(.iso8601))" } ?? "expired pins")
        guard pins.afterExpiry == .standardValidation || pins.enforcement == .reportOnly else {
            log.pinsExpired(for: hostName, outcome: "connections are rejected")
            return draft.rejected(failure)
        }
        log.pinsExpired(for: hostName, outcome: "standard validation alone decides")
        draft.note(failure)
        return draft.standardDecision(for: purpose.checkingHost(validatesHostName))
    }
}

extension PinnedPolicy {
    private func checkConfiguration() throws(PolicyConfigurationError) {
        if pins.enforcement == .reportOnly, certificatePinOnly {
            throw error(
                .reportOnlyWithPinsOnly, expected: "enforced pins where pins alone decide",
                found: "pins in report-only",
                remedy: "Enforce the pins, or leave standard validation on.")
        }
        guard case .hosts = scope, !validatesHostName else { return }
        if pins.enforcement == .reportOnly {
            throw error(
                .reportOnlyWithoutHostCheck, expected: "host checking where pins are only reported on",
                found: "host checking off", remedy: "Check the host, or enforce the pins.")
        }
        if pins.expires != nil, pins.afterExpiry == .standardValidation {
            throw error(
                .standardValidationWithoutHostCheck,
                expected: "host checking where standard validation follows the expiry of the pins",
                found: "host checking off", remedy: "Check the host, or let the expired set reject.")
        }
        let issuers = certificates.filter(\.isIssuerOnly)
        // Pins that no known certificate stands for may be a server's: whether they are shows when one matches.
        let known = Set(issuers.flatMap { [$0.publicKeyPin, $0.certificatePin] })
        if pins.all.allSatisfy(known.contains) {
            throw error(
                .issuerPinWithoutHostCheck,
                expected: "the server's own certificate or key where the host is not checked",
                found: "issuers only: \(issuers.map(\.subject.description).joined(separator: "; "))",
                remedy: "Check the host, or pin the server's own certificate.")
        }
        if !issuers.isEmpty {
            log.issuerPinsDoNotCount(for: hostName, certificates: issuers.map(\.subject.description))
        }
    }

    private func error(
        _ code: PolicyConfigurationError.Code, expected: String, found: String, remedy: String
    ) -> PolicyConfigurationError {
        PolicyConfigurationError(code, hostName: hostName, expected: expected, found: found, remedy: remedy)
    }
}

extension X509Certificate {
    /// A CA's certificate that is no server's own, as far as it shows. A self-signed one may be both: common tools make a
    /// CA's certificate where a server's was asked for.
    package var isIssuerOnly: Bool {
        guard (try? basicConstraints)?.isCertificateAuthority == true else { return false }
        if let usage = try? keyUsage, usage.isDisjoint(with: [.digitalSignature, .keyEncipherment, .keyAgreement]) {
            return true
        }
        return !isSelfIssued && value(of: .subjectAltName) == nil
    }
}

extension PinSet {
    /// Pins the keys of certificates, or the certificates themselves; equal pins are kept once.
    /// - Parameters:
    ///   - subject: what of them is pinned.
    ///   - certificates: at least one.
    /// - Throws: ``PinError`` `noPins` when there is none.
    public init(_ subject: Pin.Subject, of certificates: [X509Certificate]) throws(PinError) {
        var seen: Set<Pin> = []
        let pins = certificates.map { subject == .publicKey ? $0.publicKeyPin : $0.certificatePin }
        try self.init(pins: pins.filter { seen.insert($0).inserted })
    }
}
