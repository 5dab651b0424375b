/// The certificate whose status is asked, read once for all lists of its issuer.
struct RevocationSubject {
    let serialNumber: ArraySlice<UInt8>
    let isAuthority: Bool
    let distributionPoints: CertificateDistributionPoints
    let time: Int64

    /// - Parameter work: grows by what reading costs.
    init(_ certificate: X509Certificate, at time: Int64, work: inout Int) {
        serialNumber = certificate.serialNumber
        isAuthority = (try? certificate.basicConstraints)?.isCertificateAuthority ?? false
        distributionPoints = CertificateDistributionPoints(of: certificate, work: &work)
        self.time = time
    }
}

/// One rule about a list, for one certificate: a small value, tested alone, named by its RFC section.
protocol RevocationListRule: Sendable {
    /// A short name for reports, for example `list validity`.
    var name: String { get }
    /// Where the rule comes from, for example `RFC 5280 5.1.2.5`.
    var reference: String { get }

    /// Why the list does not tell the certificate's status; nil if it does.
    func objection(to list: CertificateRevocationList, about subject: RevocationSubject) -> String?
}

/// A list covers the certificates in its scope (RFC 5280 6.3.3 (b)).
struct ListScopeRule: RevocationListRule {
    let name = "list scope"
    let reference = "RFC 5280 6.3.3 (b)"

    func objection(to list: CertificateRevocationList, about subject: RevocationSubject) -> String? {
        let scope = list.scope
        if scope.onlyEndEntities, subject.isAuthority { return "a list for end entities alone" }
        if scope.onlyAuthorities, !subject.isAuthority { return "a list for CAs alone" }
        let (listed, own) = (scope.distributionPoint, subject.distributionPoints)
        if listed.isEmpty || !listed.isDisjoint(with: own.names) { return nil }
        return listed.isDisjoint(with: own.namesForSomeReasons)
            ? "a list of another distribution point" : "a list of a distribution point for some reasons"
    }
}

/// A list is of a kind that tells every certificate in its scope (RFC 5280 5.2.3 to 5.2.5).
struct ListKindRule: RevocationListRule {
    let name = "list kind"
    let reference = "RFC 5280 5.2"

    func objection(to list: CertificateRevocationList, about subject: RevocationSubject) -> String? { list.unsupported }
}

/// A list has begun to count and the next one is not due (RFC 5280 5.1.2.4, 5.1.2.5). Conforming lists say when the
/// next one is; otherwise nobody can tell when a list is too old.
struct ListValidityRule: RevocationListRule {
    let name = "list validity"
    let reference = "RFC 5280 5.1.2.5"

    func objection(to list: CertificateRevocationList, about subject: RevocationSubject) -> String? {
        Self.objection(to: list, at: subject.time)
    }

    static func objection(to list: CertificateRevocationList, at time: Int64) -> String? {
        if list.thisUpdateSeconds > time { return "a list of the future" }
        guard let end = list.endSecond else { return "a list without nextUpdate" }
        return time < end ? nil : "a list that is out of date"
    }
}

/// The signer of a list may sign lists: its keyUsage has cRLSign (RFC 5280 6.3.3 (f)).
enum ListSignerRule {
    static let name = "list signer"
    static let reference = "RFC 5280 6.3.3 (f)"

    /// - Parameter isIssuer: whether it is the very issuer of the certificate. Another that is no CA must say that it is
    ///   for lists, as RFC 5280 4.2.1.3 asks: a server whose subject is spelled like its authority's would be one.
    static func objection(to signer: X509Certificate, isIssuer: Bool) -> String? {
        do throws(DERError) {
            if let usage = try signer.keyUsage {
                return usage.contains(.cRLSign) ? nil : "a list of a signer whose keyUsage lacks cRLSign"
            }
            if isIssuer { return nil }
            let isAuthority = try signer.basicConstraints?.isCertificateAuthority ?? false
            return isAuthority ? nil : "a list of a signer that is no CA and has no keyUsage"
        } catch {
            return "a list of a signer whose keyUsage cannot be read"
        }
    }
}

/// A list's signature verifies under its signer's key (RFC 5280 6.3.3 (g)).
enum ListSignatureRule {
    static let name = "list signature"
    static let reference = "RFC 5280 6.3.3 (g)"

    /// What is wrong with the algorithm, whoever signed.
    static func algorithmObjection(to list: RevocationListHeader) -> String? {
        switch list.signatureAlgorithm {
        case .weak(let name), .unsupported(let name): "a list that is signed with \(name)"
        case .rsaPKCS1, .rsaPSS, .ecdsa, .ed25519: nil
        }
    }

    static func verifies(_ list: RevocationListHeader, by signer: X509Certificate) -> Bool {
        SignatureRule.verifies(
            list.der[list.signature], over: list.der[list.toBeSigned], with: list.signatureAlgorithm, by: signer)
    }
}

/// A list vouches only where no other of the same key and scope says that it is newer and older at once: its number
/// says one thing, its thisUpdate the other (RFC 5280 5.2.3).
enum ListOrderRule {
    static let name = "list order"
    static let reference = "RFC 5280 5.2.3"
    static let found = "a list that is newer than another by its number or its thisUpdate, and older by the other"
}

extension CertificateRevocationList {
    /// Whether the key of a certificate verifies the signature of the list. Nothing else is checked, so it says who
    /// signed and not whether the list counts.
    package func isSigned(by signer: X509Certificate) -> Bool { ListSignatureRule.verifies(header, by: signer) }
}
