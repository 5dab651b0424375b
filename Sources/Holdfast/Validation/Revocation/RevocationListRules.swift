/// The certificate whose status is checked, read once for all lists of its issuer.
struct RevocationSubject {
    let serialNumber: ArraySlice<UInt8>
    let isAuthority: Bool
    let distributionPoints: CertificateDistributionPoints
    let time: Int64

    /// - Parameter work: increased by the cost of reading.
    init(_ certificate: X509Certificate, at time: Int64, work: inout Int) {
        serialNumber = certificate.serialNumber
        isAuthority = (try? certificate.basicConstraints)?.isCertificateAuthority ?? false
        distributionPoints = CertificateDistributionPoints(of: certificate, work: &work)
        self.time = time
    }
}

/// One rule about a list, named by its RFC section. Each function states why a list breaks its rule.
struct ListRule: Sendable {
    /// A short name for reports, for example `list validity`.
    let name: String
    /// The source of the rule, for example `RFC 5280 5.1.2.5`.
    let reference: String

    /// A list covers the certificates in its scope (RFC 5280 6.3.3 (b)).
    static let scope = ListRule(name: "list scope", reference: "RFC 5280 6.3.3 (b)")
    /// A list is of a kind that states the status of every certificate in its scope (RFC 5280 5.2.3 to 5.2.5).
    static let kind = ListRule(name: "list kind", reference: "RFC 5280 5.2")
    /// A list has begun to count and the next one is not due yet (RFC 5280 5.1.2.4, 5.1.2.5). Conforming lists state
    /// when the next one is due; otherwise a reader could not determine whether a list is too old.
    static let validity = ListRule(name: "list validity", reference: "RFC 5280 5.1.2.5")
    /// The signer of a list may sign lists: its keyUsage has cRLSign (RFC 5280 6.3.3 (f)).
    static let signer = ListRule(name: "list signer", reference: "RFC 5280 6.3.3 (f)")
    /// A list's signature verifies under its signer's key (RFC 5280 6.3.3 (g)).
    static let signature = ListRule(name: "list signature", reference: "RFC 5280 6.3.3 (g)")
    /// A list vouches only if no other list of the same key and scope contradicts it about which is newer. Two lists
    /// contradict each other if their numbers and their thisUpdate give different orders (RFC 5280 5.2.3).
    static let order = ListRule(name: "list order", reference: "RFC 5280 5.2.3")

    /// The rules in the order in which they are checked.
    static let all = [scope, kind, validity, signer, signature, order]

    // MARK: Why a list does not state a certificate's status; nil if it does

    static func scopeObjection(to list: CertificateRevocationList, about subject: RevocationSubject) -> String? {
        let scope = list.scope
        if scope.onlyEndEntities, subject.isAuthority { return "a list for end entities alone" }
        if scope.onlyAuthorities, !subject.isAuthority { return "a list for CAs alone" }
        let (listed, own) = (scope.distributionPoint, subject.distributionPoints)
        if listed.isEmpty || !listed.isDisjoint(with: own.names) { return nil }
        return listed.isDisjoint(with: own.namesForSomeReasons)
            ? "a list of another distribution point" : "a list of a distribution point for some reasons"
    }

    static func validityObjection(to list: CertificateRevocationList, at time: Int64) -> String? {
        if list.thisUpdateSeconds > time { return "a list of the future" }
        guard let end = list.endSecond else { return "a list without nextUpdate" }
        return time < end ? nil : "a list that is out of date"
    }

    /// - Parameter isIssuer: whether it is the very issuer of the certificate. Another signer that is not a CA must
    ///   have a keyUsage for lists, as RFC 5280 4.2.1.3 requires; otherwise a server whose subject is spelled like its
    ///   authority's could sign them.
    static func signerObjection(to signer: X509Certificate, isIssuer: Bool) -> String? {
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

    /// The reason why the algorithm of the signature is refused, no matter who signed; nil if it is supported.
    static func algorithmObjection(to list: RevocationListHeader) -> String? {
        list.signatureAlgorithm.unsupportedName.map { "a list that is signed with \($0), which is not supported" }
    }
}

extension ListRule {
    /// The reason why a signer's key cannot verify; nil for a supported key.
    static func keyObjection(to signer: X509Certificate) -> String? {
        let name: String?
        do throws(DERError) {
            name = try signer.publicKey.unsupportedName
        } catch {
            name = "an unreadable kind"
        }
        return name.map { "a list whose signer has a key of \($0), which is not supported" }
    }
}

extension RevocationListHeader {
    /// Verifies the signature under the key of a certificate.
    func signatureCheck(by signer: X509Certificate) -> SignatureCheck {
        signer.check(der[signature], over: der[toBeSigned], with: signatureAlgorithm)
    }
}

extension CertificateRevocationList {
    /// The algorithm of its signature.
    package var signatureAlgorithm: CertificateSignatureAlgorithm { header.signatureAlgorithm }

    /// Verifies the signature of the list under the key of a certificate, and nothing else: a valid signature
    /// identifies the signer, but does not show that the list counts.
    package func signatureCheck(by signer: X509Certificate) -> SignatureCheck { header.signatureCheck(by: signer) }
}
