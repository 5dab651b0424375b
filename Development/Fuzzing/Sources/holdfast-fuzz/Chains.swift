import Foundation

@testable import Holdfast

/// A root, an authority with name constraints below it, and a server's certificate: only certificates that they signed
/// are ever accepted.
///
/// An input is a byte of options, then certificates, each after its length in two bytes.
struct ChainScene {
    static let shared = ChainScene()

    let root: X509Certificate
    let chain: [[UInt8]]
    let anchors: TrustAnchors
    let signed: Set<ArraySlice<UInt8>>
    let host: DialedHost
    let time = Date(timeIntervalSince1970: 1_800_000_000)

    /// The issuers that a list must name to apply to the chain.
    let issuers: [DistinguishedName]

    private init() {
        func certificate(_ base64: String) -> X509Certificate {
            guard let der = CanonicalBase64.decode(base64.utf8), let read = try? X509Certificate(der: der) else {
                require(false, "the fixture reads")
                exit(2)
            }
            return read
        }
        let all = [Fixture.leaf, Fixture.issuing, Fixture.root].map(certificate)
        root = all[2]
        issuers = all.dropFirst().map(\.subject)
        chain = all.prefix(2).map(\.der)
        anchors = TrustAnchors([root])
        signed = Set(all.map { $0.layout.der[$0.layout.toBeSigned] })
        guard let host = try? DialedHost("www.example.com") else {
            require(false, "the fixture's host reads")
            exit(2)
        }
        self.host = host
        require(isAccepted(with: .none), "the fixture is accepted")
    }

    func isAccepted(with revocation: Revocation) -> Bool {
        PathValidator(anchors: anchors, revocation: revocation)
            .validate(PresentedChain(chain), for: .server(identity: host), at: time) { _ in true }.path != nil
    }

    func examine(_ input: [UInt8]) {
        guard let options = input.first else { return }
        let certificates = split(input.dropFirst())
        let presented = PresentedChain(certificates)
        var limits = ValidationLimits()
        if options & 1 != 0 { (limits.signatures, limits.steps, limits.nameConstraintComparisons) = (3, 10, 200) }
        let purpose: ValidationPurpose =
            options & 2 != 0 ? .client : .server(identity: options & 4 != 0 ? nil : host)
        let profile: ValidationProfile = options & 8 != 0 ? .strict : .standard
        var trusted = anchors
        let isForeign = options & 16 != 0
        if isForeign, let last = certificates.last, let anchor = try? X509Certificate(der: last) {
            trusted = TrustAnchors([root, anchor])
        }
        let validator = PathValidator(anchors: trusted, profile: profile, limits: limits)
        judge(presented, by: validator, for: purpose, limits)
        if options & 32 != 0 { _ = validator.outcomes(of: presented, for: purpose, at: time).map { "\($0)" } }
        if options & 64 != 0 { judgePinned(presented) }
    }

    private func judge(
        _ presented: PresentedChain, by validator: PathValidator, for purpose: ValidationPurpose,
        _ limits: ValidationLimits
    ) {
        let outcome = validator.validate(presented, for: purpose, at: time) { _ in true }
        require((outcome.path == nil) == (outcome.failure != nil), "there is a path or a reason")
        require(
            outcome.effort.signatures <= limits.signatures && outcome.effort.steps <= limits.steps
                && outcome.effort.nameConstraintComparisons <= limits.nameConstraintComparisons
                && outcome.effort.signatureWork <= limits.signatureWork + 20, "the budget is kept")
        if let failure = outcome.failure { require(failure.description.utf8.count < 100_000, "a reason is readable") }
        guard let path = outcome.path, let anchor = path.anchor else { return }
        require(validator.anchors.contains(anchor), "a path ends in an anchor")
        require(path.certificates.count <= limits.intermediates + 2 + 8, "a path is bounded")
        guard validator.anchors == anchors else { return }
        for certificate in path.certificates {
            require(
                signed.contains(certificate.layout.der[certificate.layout.toBeSigned]),
                "only what was signed is accepted")
        }
    }

    /// Only pins are used: only the pinned leaf, or a certificate that the pinned authority signed, is trusted.
    private func judgePinned(_ presented: PresentedChain) {
        guard let pins = try? PinSet(pins: [Pin.publicKey(of: chain[1])]),
            let policy = try? PinnedPolicy(host: HostPattern(host), pins: pins, certificatePinOnly: true)
        else { return require(false, "the policy can be made") }
        let trust = ServerTrust(
            chain: presented, purpose: .server(identity: host), validator: PathValidator(anchors: TrustAnchors([])))
        let decision = policy.evaluate(trust, at: time)
        guard decision.isTrusted, let leaf = decision.path?.leaf else { return }
        require(
            signed.contains(leaf.layout.der[leaf.layout.toBeSigned]) || pins.contains(leaf.publicKeyPin),
            "only what a pinned key signed, or the pinned key itself, is trusted")
    }

    private func split(_ octets: ArraySlice<UInt8>) -> [[UInt8]] {
        var rest = octets
        var parts: [[UInt8]] = []
        while rest.count >= 2, parts.count < 200 {
            let length = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
            rest = rest.dropFirst(2)
            parts.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return parts
    }
}
