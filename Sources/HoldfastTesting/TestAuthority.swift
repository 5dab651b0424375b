public import Holdfast

/// A certificate authority in memory.
///
/// ```swift
/// let root = try TestAuthority.root()
/// let issuing = try root.intermediate()
/// let server = try issuing.leaf(names: ["www.example.com", "127.0.0.1"])
/// let expired = try issuing.leaf(names: ["www.example.com"]) { $0.notAfter = .hours(-1) }
/// ```
///
/// An authority consists of a certificate, its key and a clock; making certificates changes none of them. Every
/// function that makes a certificate throws `keyGenerationFailed`, `signatureDoesNotFitKey` or `signingFailed`.
public struct TestAuthority: Sendable {
    /// The certificate of the authority.
    public let certificate: TestCertificate
    /// The clock for validity periods.
    public let clock: any WallClock

    /// Makes an authority that signs with this certificate.
    public init(_ certificate: TestCertificate, clock: any WallClock = SystemWallClock()) {
        self.certificate = certificate
        self.clock = clock
    }

    /// The DER of the root above this authority, which a client has to trust.
    public var root: [UInt8] { certificate.root }

    /// Makes a root. Validities begin at the time of `clock`. The default is the system's clock, because other TLS
    /// libraries use it; pass a manual clock to tests in which time passes. `configure` may change anything before the
    /// certificate is signed.
    public static func root(
        name: TestName = "Test Root", key: TestKey.Choice = .p256, clock: any WallClock = SystemWallClock(),
        configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws(TestKitError) -> TestAuthority {
        var specification = CertificateSpecification.root(name)
        configure(&specification)
        return TestAuthority(try selfSigned(specification, key: key, clock: clock), clock: clock)
    }

    /// Makes a self-signed certificate for these names that is not an authority.
    public static func selfSigned(
        names: [TestGeneralName], key: TestKey.Choice = .p256, clock: any WallClock = SystemWallClock(),
        configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws(TestKitError) -> TestCertificate {
        var specification = CertificateSpecification.leaf(names: names)
        configure(&specification)
        return try selfSigned(specification, key: key, clock: clock)
    }

    /// Makes any self-signed certificate.
    public static func selfSigned(
        _ specification: CertificateSpecification, key: TestKey.Choice = .p256,
        clock: any WallClock = SystemWallClock()
    ) throws(TestKitError) -> TestCertificate {
        let key = try TestKey(key)
        let now = clock.now
        let writer = CertificateWriter(
            specification: specification, key: key, issuer: specification.subject, signer: key,
            signerKeyIdentifier: nil, now: now)
        return TestCertificate(
            der: try writer.write(), key: key, specification: specification, issuers: [], issuedAt: now)
    }

    /// Makes any certificate, signed by this authority.
    public func issue(
        _ specification: CertificateSpecification, key: TestKey.Choice = .p256
    ) throws(TestKitError) -> TestCertificate {
        let key = try TestKey(key)
        let now = clock.now
        let writer = CertificateWriter(
            specification: specification, key: key, issuer: certificate.specification.subject,
            signer: certificate.key, signerKeyIdentifier: certificate.keyIdentifier, now: now)
        return TestCertificate(
            der: try writer.write(), key: key, specification: specification,
            issuers: [certificate] + certificate.issuers, issuedAt: now)
    }

    /// Makes an authority below this one.
    public func intermediate(
        name: TestName = "Test Issuing CA", key: TestKey.Choice = .p256, pathLength: Int? = nil,
        configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws(TestKitError) -> TestAuthority {
        var specification = CertificateSpecification.intermediate(name, pathLength: pathLength)
        configure(&specification)
        return TestAuthority(try issue(specification, key: key), clock: clock)
    }

    /// Makes a certificate with these names for a server, or for a client if the purposes specify that.
    public func leaf(
        names: [TestGeneralName], key: TestKey.Choice = .p256,
        purposes: [TestObjectIdentifier] = [.serverAuthentication], subject: TestName? = nil,
        configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws(TestKitError) -> TestCertificate {
        var specification = CertificateSpecification.leaf(names: names, purposes: purposes, subject: subject)
        configure(&specification)
        return try issue(specification, key: key)
    }
}

/// Making a certificate again.
extension TestAuthority {
    /// Renews a certificate: the same specification and key, a new serial number, and a validity that begins now.
    public func renew(
        _ old: TestCertificate, configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws(TestKitError) -> TestCertificate {
        try again(old, key: .existing(old.key), configure: configure)
    }

    /// Makes the certificate that this authority would issue to a machine in the middle: with the same names and
    /// another key.
    public func impersonate(
        _ victim: TestCertificate, key: TestKey.Choice = .p256,
        configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws(TestKitError) -> TestCertificate {
        try again(victim, key: key, configure: configure)
    }

    /// Cross-signs another authority: it keeps its name and key but is signed by this one, so that its certificates
    /// lead to this authority too.
    public func crossSign(
        _ other: TestAuthority, configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws(TestKitError) -> TestAuthority {
        let key = TestKey.Choice.existing(other.certificate.key)
        return TestAuthority(try again(other.certificate, key: key, configure: configure), clock: clock)
    }

    private func again(
        _ old: TestCertificate, key: TestKey.Choice, configure: (inout CertificateSpecification) -> Void
    ) throws(TestKitError) -> TestCertificate {
        var specification = old.specification
        specification.serial = nil
        configure(&specification)
        return try issue(specification, key: key)
    }
}
