package import Foundation
package import Holdfast
import HoldfastOutput
import HoldfastSigning

/// One certificate or key whose pins are printed. Its fields are those of the JSON objects.
package struct PinEntry: Sendable, Encodable {
    /// The source of the pin.
    package enum Kind: String, Sendable, Encodable {
        case certificate, privateKey, publicKey, certificateRequest
    }

    /// The position or file of the certificate or key: `leaf`, `issuer 1`, `anchor, not sent`, or a file.
    package let place: String
    package let kind: Kind
    /// The subject of a certificate or request.
    package let subject: String?
    /// The kind of the key, for example `P-256`.
    package let key: String
    package let keyPin: String
    /// Absent for anything other than a certificate, and for a Merkle Tree Certificate, which has several forms.
    package let certificatePin: String?
    /// ISO 8601.
    package let notAfter: String?
    /// Whether it is part of a valid path; absent for files.
    package var inValidPath: Bool?
    /// The names in the certificate or request; empty for a key alone.
    let dnsNames: [String]
    /// The certificate; nil for a key or a request.
    package let certificate: X509Certificate?
    /// Whether a request is signed with its key; nil for anything else.
    package var requestSignature: SignatureCheck?
    /// The key itself, in DER.
    package let subjectPublicKeyInfo: [UInt8]
    /// Whether it is a CA certificate, whose key signs server certificates.
    package let isIssuer: Bool
    /// A remark for operators, for example that a signature was not checked.
    package var remark: String?

    private enum CodingKeys: CodingKey {
        case place, kind, subject, key, keyPin, certificatePin, notAfter, inValidPath, isIssuer, remark
    }

    package init(_ certificate: X509Certificate, place: String, isIssuer: Bool, inValidPath: Bool? = nil) {
        self.place = place
        kind = .certificate
        subject = certificate.subject.description
        key = certificate.keyKind?.description ?? Self.unreadableKey
        keyPin = certificate.publicKeyPin.description
        subjectPublicKeyInfo = Array(certificate.subjectPublicKeyInfo)
        certificatePin = (try? certificate.pin(.certificate))?.description
        notAfter = certificate.notAfter.formatted(.iso8601)
        dnsNames = certificate.dnsNames
        self.certificate = certificate
        self.inValidPath = inValidPath
        self.isIssuer = isIssuer
        let remarks = [
            inValidPath == false ? "NOT in a valid path" : nil,
            certificate.isMerkleTreeCertificate ? "a Merkle Tree Certificate: only its key can be pinned" : nil,
        ].compactMap(\.self)
        remark = remarks.isEmpty ? nil : remarks.joined(separator: ", ")
    }

    package init(
        key: SubjectPublicKeyInfo, kind: Kind, subject: String? = nil, dnsNames: [String] = [], place: String
    ) {
        self.place = place
        self.kind = kind
        self.subject = subject
        self.dnsNames = dnsNames
        self.key = key.keyKind?.description ?? Self.unreadableKey
        keyPin = key.sha256Pin.description
        subjectPublicKeyInfo = Array(key.der)
        certificatePin = nil
        notAfter = nil
        certificate = nil
        isIssuer = false
    }

    /// The entries of a chain as the server presented it, and of its anchor. Each has its position.
    package static func entries(of decision: TrustDecision) -> [PinEntry] {
        let path = decision.path?.certificates ?? []
        let presented = (decision.chain?.certificates ?? []).compactMap { try? X509Certificate(der: $0) }
        var entries = presented.enumerated().map { position, certificate in
            PinEntry(
                certificate, place: position == 0 ? "leaf" : "issuer \(position)", isIssuer: position > 0,
                inValidPath: path.contains(certificate))
        }
        if let anchor = path.last, !presented.contains(anchor) {
            entries.append(PinEntry(anchor, place: "anchor, not sent", isIssuer: true, inValidPath: true))
        }
        return entries
    }

    /// The trusted authorities whose subject contains a name.
    package static func roots(named name: String, among anchors: TrustAnchors) -> [PinEntry] {
        let name = ASCIIText.folded(name)
        return anchors.certificates.filter { ASCIIText.folded($0.subject.description).contains(name) }
            .map { PinEntry($0, place: "anchor", isIssuer: true) }
    }

    /// The entries that apply to one of several hosts. A certificate or a request applies to the hosts that it names;
    /// if it names none of them, it applies to all, like a key alone.
    package static func entries(
        _ entries: [PinEntry], for host: DialedHost, among hosts: [DialedHost]
    ) -> [PinEntry] {
        guard hosts.count > 1 else { return entries }
        return entries.filter { entry in
            let patterns = entry.dnsNames.compactMap { try? HostPattern($0) }
            func isFor(_ host: DialedHost) -> Bool { patterns.contains { $0.matches(host) } }
            return isFor(host) || !hosts.contains(where: isFor)
        }
    }

    /// Checks that it is a host's own certificate, or a key that clients accept, before it is pinned as such. The pin
    /// of an issuer is requested explicitly, so only its key is checked.
    /// - Parameters:
    ///   - name: the host or pattern that it is pinned for; nil if it is unknown.
    ///   - others: the entries of the same file, in its order.
    ///   - anchors: the anchors of a valid chain; nil if none were given.
    ///   - now: the current time.
    /// - Throws: ``PublishingError`` `notTheHosts` with the position of the entry.
    package func checkHost(
        _ name: String?, among others: [PinEntry] = [], trusting anchors: TrustAnchors? = nil, at now: Date
    ) throws(PublishingError) {
        do throws(HostCheckError) {
            if let certificate, !isIssuer, let name {
                // A certificate before it in the file is not misplaced, but may be its issuer.
                let all = others.compactMap(\.certificate)
                let before = all.prefix { $0 != certificate }.filter(\.isAuthority)
                let rest = before + all.drop { $0 != certificate }.filter { $0 != certificate }
                _ = try HostCertificateCheck(validator: anchors.map { PathValidator(anchors: $0) })
                    .verify(PresentedChain([certificate.der] + rest.map(\.der)), for: name, at: now)
            } else {
                try HostKeyCheck.check(key: subjectPublicKeyInfo, named: place)
            }
            if let requestSignature { try HostKeyCheck.check(requestSignature, named: place) }
        } catch {
            throw PublishingError(error, of: place)
        }
    }

    private static let unreadableKey = "a key of an unknown kind"

    /// Whether it is a key without a certificate, which becomes a backup pin.
    package var isBackup: Bool { kind != .certificate }

    /// A description in one line. The time is in UTC.
    package var title: String {
        let what: String? =
            switch kind {
            case .certificate: nil
            case .privateKey: "private key"
            case .publicKey: "public key"
            case .certificateRequest: "certificate request"
            }
        let end = notAfter.map { "until \($0)" }
        let facts = [place, what, subject, key, end, remark].compactMap(\.self)
        return SafeText.escapedLine(facts.joined(separator: ", "))
    }
}

extension SubjectPublicKeyInfo {
    /// The kind of key; nil if it cannot be read.
    fileprivate var keyKind: CertificatePublicKey.Kind? {
        (try? CertificatePublicKey(0..<der.count, of: Array(der)))?.kind
    }
}
