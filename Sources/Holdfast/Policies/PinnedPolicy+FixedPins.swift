/// Fixed pins: the same requirement for every host, and for clients.
extension PinSet: PinSource {
    /// The pins themselves, for every question.
    public func answer(to question: PinQuestion) -> PinAnswer { .required(self, at: question.time) }

    /// Whether the pins are only reported on.
    public var mayAdmitWithoutPins: Bool { enforcement == .reportOnly }
}

extension PinnedPolicy {
    /// Makes a policy for servers from pins.
    /// - Parameters:
    ///   - host: the host, or the pattern of hosts, that it applies to.
    ///   - pins: the pins, their expiry, and whether they are enforced.
    ///   - validatesHostName: whether the leaf must name the dialed host; leave it true.
    ///   - certificatePinOnly: whether pins alone decide about trust and expiry, self-signed certificates included.
    /// - Throws: ``PolicyConfigurationError`` for settings that would require no proof.
    public init(
        host: HostPattern, pins: PinSet, validatesHostName: Bool = true, certificatePinOnly: Bool = false
    ) throws(PolicyConfigurationError) {
        try self.init(
            scope: .hosts(host), pins: pins, certificates: [], validatesHostName: validatesHostName,
            certificatePinOnly: certificatePinOnly)
    }

    /// Makes a policy for servers from certificates.
    /// - Parameters:
    ///   - host: the host, or the pattern of hosts, that it applies to.
    ///   - subject: whether their keys are pinned, which survive a renewal, or the certificates themselves.
    ///   - certificates: a bundle, a folder, files or data; all of them are pinned.
    ///   - validatesHostName: whether the leaf must name the dialed host; leave it true.
    ///   - certificatePinOnly: whether pins alone decide about trust and expiry, self-signed certificates included.
    /// - Throws: ``PolicyConfigurationError`` if a file cannot be read (it names the file), if there is no certificate,
    ///   and for settings that would require no proof.
    public init(
        host: HostPattern, pinning subject: Pin.Subject, of certificates: CertificateSource,
        validatesHostName: Bool = true, certificatePinOnly: Bool = false
    ) throws(PolicyConfigurationError) {
        let read: [X509Certificate]
        do throws(CertificateFileError) {
            read = try certificates.read()
        } catch {
            throw PolicyConfigurationError(error, hostName: host.description)
        }
        try self.init(
            scope: .hosts(host), pinning: subject, of: read, from: certificates.description,
            validatesHostName: validatesHostName, certificatePinOnly: certificatePinOnly)
    }

    /// Makes a policy for the clients of a mutual TLS server: a pin of a client's own certificate, or of the issuer of
    /// clients.
    /// - Parameters:
    ///   - name: the name of the policy in decisions and logs; it is not a host.
    ///   - pins: the pins, their expiry, and whether they are enforced.
    ///   - certificatePinOnly: whether pins alone decide about trust and expiry.
    /// - Throws: ``PolicyConfigurationError`` for settings that would require no proof.
    public init(clients name: String, pins: PinSet, certificatePinOnly: Bool = false) throws(PolicyConfigurationError) {
        try self.init(
            scope: .clients(name), pins: pins, certificates: [], validatesHostName: true,
            certificatePinOnly: certificatePinOnly)
    }

    package init(
        scope: PolicyScope, pinning subject: Pin.Subject, of certificates: [X509Certificate], from source: String,
        validatesHostName: Bool, certificatePinOnly: Bool, log: PolicyLog = .shared
    ) throws(PolicyConfigurationError) {
        let pins: PinSet
        do throws(PinError) {
            pins = try PinSet(subject, of: certificates)
        } catch {
            guard error.code == .merkleTreeCertificate else {
                throw .noPins(hostName: scope.name, found: "no certificate in \(source)")
            }
            throw PolicyConfigurationError(
                .unstableCertificate, hostName: scope.name, expected: error.expected, found: error.found,
                remedy: error.remedy)
        }
        try self.init(
            scope: scope, pins: pins, certificates: certificates, validatesHostName: validatesHostName,
            certificatePinOnly: certificatePinOnly, log: log)
    }

    private init(
        scope: PolicyScope, pins: PinSet, certificates: [X509Certificate], validatesHostName: Bool,
        certificatePinOnly: Bool, log: PolicyLog = .shared
    ) throws(PolicyConfigurationError) {
        self.init(
            scope: scope, source: pins, validatesHostName: validatesHostName, certificatePinOnly: certificatePinOnly,
            certificates: certificates, log: log)
        if let conflict = conflict(with: pins) { throw conflict }
        guard case .hosts = scope, !validatesHostName else { return }
        let issuers = certificates.filter(\.isIssuerOnly)
        // Pins without a known certificate may be a server's; that is known only when one matches.
        let known = issuers.flatMap { [$0.publicKeyPin, $0.certificatePin] }
        if Set(pins.pins).isSubset(of: known) {
            throw error(
                .issuerPinWithoutHostCheck,
                expected: "the server's own certificate or key where the host is not checked",
                found: "issuers only: \(issuers.map(\.subject.description).joined(separator: "; "))",
                remedy: "Leave validatesHostName true, or pin the server's own certificate.")
        }
        if !issuers.isEmpty {
            log.issuerPinsDoNotCount(for: hostName, certificates: issuers.map(\.subject.description))
        }
    }
}

extension X509Certificate {
    /// Whether it is a CA's certificate that is apparently not also a server's. A self-signed certificate may be both,
    /// because common tools mark server certificates as CAs.
    package var isIssuerOnly: Bool {
        guard (try? basicConstraints)?.isCertificateAuthority == true else { return false }
        if let usage = try? keyUsage, usage.isDisjoint(with: [.digitalSignature, .keyEncipherment, .keyAgreement]) {
            return true
        }
        return !isSelfIssued && value(of: .subjectAltName) == nil
    }

    /// Whether its key may certify others (RFC 5280 4.2.1.9, 4.2.1.3), or it cannot be read well enough to know.
    package var isAuthority: Bool {
        do {
            if try basicConstraints?.isCertificateAuthority == true { return true }
            guard let usage = try keyUsage else { return false }
            return usage.contains(.keyCertSign)
                && usage.isDisjoint(with: [.digitalSignature, .keyEncipherment, .keyAgreement])
        } catch {
            return true
        }
    }

    /// Whether it states the purposes of its key.
    package var hasKeyUsage: Bool { value(of: .keyUsage) != nil }
}

extension PinSet {
    /// Pins the keys of certificates, or the certificates themselves; equal pins are kept once.
    /// - Parameters:
    ///   - subject: the part to pin: their keys or the certificates.
    ///   - certificates: at least one.
    /// - Throws: ``PinError`` `noPins` if there are no certificates, and `merkleTreeCertificate`.
    public init(_ subject: Pin.Subject, of certificates: [X509Certificate]) throws(PinError) {
        try self.init(pins: certificates.map { certificate throws(PinError) in try certificate.pin(subject) }.distinct)
    }
}
