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
/// An authority is a value: the certificate, its key and a clock; making certificates changes nothing in it, and it may
/// be used from any thread. Every function that makes a certificate throws `keyGenerationFailed`,
/// `signatureDoesNotFitKey` or `signingFailed`.
public struct TestAuthority: Sendable {
    /// The certificate of the authority.
    public let certificate: TestCertificate
    /// Says from when on certificates are valid.
    public let clock: any WallClock

    /// An authority that signs with this certificate.
    public init(_ certificate: TestCertificate, clock: any WallClock = SystemWallClock()) {
        self.certificate = certificate
        self.clock = clock
    }

    /// The root above this authority, what a client has to trust.
    public var root: [UInt8] { certificate.root }

    /// A root. Validities count from `clock`: the system's by default, since other TLS libraries go by that; a manual
    /// one for tests of what happens with time. `configure` may change anything before it is signed.
    public static func root(
        name: TestName = "Test Root", key: TestKey.Choice = .p256, clock: any WallClock = SystemWallClock(),
        configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws(TestKitError) -> TestAuthority {
        var specification = CertificateSpecification.root(name)
        configure(&specification)
        return TestAuthority(try selfSigned(specification, key: key, clock: clock), clock: clock)
    }

    /// A certificate for these names that signed itself and is no authority.
    public static func selfSigned(
        names: [TestGeneralName], key: TestKey.Choice = .p256, clock: any WallClock = SystemWallClock(),
        configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws(TestKitError) -> TestCertificate {
        var specification = CertificateSpecification.leaf(names: names)
        configure(&specification)
        return try selfSigned(specification, key: key, clock: clock)
    }

    /// Any certificate that signs itself.
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

    /// Any certificate, signed by this authority.
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

    /// An authority below this one.
    public func intermediate(
        name: TestName = "Test Issuing CA", key: TestKey.Choice = .p256, pathLength: Int? = nil,
        configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws(TestKitError) -> TestAuthority {
        var specification = CertificateSpecification.intermediate(name, pathLength: pathLength)
        configure(&specification)
        return TestAuthority(try issue(specification, key: key), clock: clock)
    }

    /// The certificate of a server, or with other purposes of a client, with these names.
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
    /// A renewed certificate: the same specification and key, a new serial number, a validity that counts from now.
    public func renew(
        _ old: TestCertificate, configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws(TestKitError) -> TestCertificate {
        try again(old, key: .existing(old.key), configure: configure)
    }

    /// What a machine in the middle would get out of this authority: the same names, another key.
    public func impersonate(
        _ victim: TestCertificate, key: TestKey.Choice = .p256,
        configure: (inout CertificateSpecification) -> Void = { _ in }
    ) throws(TestKitError) -> TestCertificate {
        try again(victim, key: key, configure: configure)
    }

    /// The other authority with the same name and key, signed by this one: its certificates lead here as well.
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
