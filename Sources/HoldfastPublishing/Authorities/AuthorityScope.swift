import Foundation
import Holdfast
import HoldfastSigning

/// An authority as clients of a platform see it, with copies of its certificates that can issue stand-in certificates.
struct AuthorityScope {
    /// A chain with a stand-in for a server certificate that has not been issued yet.
    struct Chain {
        /// The known issuers, lowest first.
        let issuers: [X509Certificate]
        /// The number of unknown authorities below these.
        let unknown: Int
        let presented: PresentedChain
    }

    /// The given certificates, and the platform's anchors that are among them or have signed one of them.
    let hierarchy: AuthorityHierarchy
    let validator: StandInValidator
    private let copies: [X509Certificate: StandInAuthority]
    private let begins: Date
    private let ends: Date

    init(
        _ certificates: [X509Certificate], on platform: ClientPlatform, at now: Date
    ) throws(PublishingError) {
        let anchors = platform.validator.anchors
        let names = Set(certificates.flatMap { [$0.subject, $0.issuer] })
        let hierarchy = try AuthorityHierarchy(
            certificates.filter(\.isAuthority)
                + anchors.certificates.filter { names.contains($0.subject) && $0.isAuthority })
        let all = hierarchy.certificates
        let copies: [StandInAuthority]
        var originals: [X509Certificate: X509Certificate] = [:]
        var anchorCopies: [X509Certificate] = []
        do {
            copies = try StandInAuthority.copies(of: all)
            for (original, copy) in zip(all, copies) {
                let certificate = try X509Certificate(der: copy.certificate)
                originals[certificate] = original
                if anchors.contains(original) { anchorCopies.append(certificate) }
            }
        } catch {
            throw Self.failed(error)
        }
        self.hierarchy = hierarchy
        self.copies = Dictionary(zip(all, copies)) { first, _ in first }
        validator = StandInValidator(
            base: PathValidator(anchors: TrustAnchors(anchorCopies)), originals: originals)
        begins = now.addingTimeInterval(-1)
        ends = now.addingTimeInterval((OutlookLimits.longest * 2).inSeconds)
    }

    /// The chain that a host would present if the first of these certificates, or an unknown authority below it, issued
    /// its certificate.
    /// - Parameters:
    ///   - issuers: the certificates that are presented above, the signer first.
    ///   - signer: the signer if it is not presented, such as a root.
    func chain(
        to host: DialedHost, through issuers: [X509Certificate], signedBy signer: X509Certificate? = nil, unknown: Int
    ) throws(PublishingError) -> Chain? {
        guard let first = signer ?? issuers.first, var issuer = copies[first] else { return nil }
        var presented = issuers.compactMap { copies[$0]?.certificate }
        do throws(SigningError) {
            for _ in 0..<unknown {
                issuer = try issuer.authority(from: begins, until: ends)
                presented.insert(issuer.certificate, at: 0)
            }
            presented.insert(try issuer.certificate(for: host, from: begins, until: ends), at: 0)
        } catch {
            throw Self.failed(error)
        }
        return Chain(issuers: issuers, unknown: unknown, presented: PresentedChain(presented))
    }

    /// Whether clients without pins would accept it at any instant of a span.
    func isTrusted(_ chain: Chain, of host: DialedHost, from first: Date, until last: Date) -> Bool {
        let instants = [first] + chain.issuers.map(\.notBefore).filter { first < $0 && $0 < last }
        return instants.contains { instant in
            validator.validate(chain.presented, for: .server(identity: host), at: instant) { _ in true }.path != nil
        }
    }

    private static func failed(_ error: any Error) -> PublishingError {
        let error = error as? any HoldfastError
        return PublishingError(
            .invalidInput, of: "the authority", expected: error?.expected ?? "certificates that can be copied",
            found: error?.found ?? "others")
    }
}
