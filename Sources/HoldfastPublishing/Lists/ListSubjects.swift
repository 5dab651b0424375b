package import Foundation
package import Holdfast
import HoldfastSigning

/// The certificates for which entries of a list are made, each with the names that it is listed for. A certificate is
/// not listed only because a server presents it: every certificate is checked first.
package struct ListSubjects: Sendable {
    /// A certificate with the issuers that came with it.
    private struct Subject {
        let source: String
        let chain: PresentedChain
        let names: [String]
    }

    /// The requirements for certificates.
    package struct Rules: Sendable {
        /// Whether chains that do not validate are accepted.
        package var allowsUntrusted = false
        /// How far the listed certificate is above the server's own certificate.
        package var depth = 0
        /// Maximum time for which clients may use an older list.
        package var staleness: Duration

        package init(staleness: Duration) { self.staleness = staleness }
    }

    /// The entries of certificates that passed.
    package struct Passed: Sendable {
        package let entries: [FingerprintEntry]
        /// The facts that the operator has to verify in another way.
        package var warnings: [String] = []
        /// Why certificates must not be listed; sign only if this is empty.
        package var problems: [String] = []

        /// The names of the entries.
        package var names: [String] { entries.map(\.name) }
    }

    /// The names to list for; if empty, they come from the host or the certificate.
    private let names: [String]
    private let rules: Rules
    private let now: Date
    private var subjects: [Subject] = []

    package init(names: [String], rules: Rules, at now: Date) {
        self.names = names
        self.rules = rules
        self.now = now
    }

    /// Adds each chain that a host presents, at each address and for each kind of key. Different clients see different
    /// chains, and a list with only one of them locks the other clients out.
    package mutating func add(_ chains: [PresentedChain], of host: DialedHost, named source: String) {
        var known: Set<PresentedChain> = []
        for chain in chains where known.insert(chain).inserted {
            subjects.append(Subject(source: source, chain: chain, names: names.isEmpty ? [host.name] : names))
        }
    }

    /// Adds the first certificate of a file, with its issuers behind it.
    /// - Throws: ``PublishingError`` `invalidInput` if the name to list it for is unknown.
    package mutating func add(_ certificates: [X509Certificate], ofFile path: String) throws(PublishingError) {
        guard let leaf = certificates.first else {
            throw PublishingError(.unreadable, of: path, expected: "a certificate", found: "none")
        }
        if names.isEmpty {
            do throws(HostCheckError) {
                try HostCertificateCheck(validator: nil).verifyEndEntity(certificates, named: path)
            } catch {
                throw PublishingError(error, of: path)
            }
        }
        let names = names.isEmpty ? [try Self.name(of: leaf, in: path)] : names
        subjects.append(Subject(source: path, chain: PresentedChain(certificates.map(\.der)), names: names))
    }

    /// Makes an entry for each certificate and name.
    /// - Parameter anchors: the trusted authorities.
    package func passed(trusting anchors: TrustAnchors) -> Passed {
        let check = HostCertificateCheck(
            validator: PathValidator(anchors: anchors), allowsUntrusted: rules.allowsUntrusted)
        var entries: [FingerprintEntry] = []
        var warnings: [String] = []
        var problems: [String] = []
        for subject in subjects {
            for name in subject.names.map(Self.listed) {
                do throws(HostCheckError) {
                    let passed = try check.verify(subject.chain, for: name, at: now)
                    if let failure = passed.untrusted {
                        warnings.append(
                            "the chain of \(subject.source) does not validate (\(failure.code.rawValue)): make sure in "
                                + "another way whose it is")
                    }
                    switch entry(name, passed) {
                    // Both chains of a server may have the same issuer, which needs only one entry.
                    case .success(let entry): if !entries.contains(entry) { entries.append(entry) }
                    case .failure(let problem): problems.append("\(subject.source): \(problem.text)")
                    }
                } catch {
                    let hint = error.code == .untrusted ? " The options: --ca FILE, --allow-untrusted." : ""
                    problems.append("\(subject.source): \(error)\(hint)")
                }
            }
        }
        return Passed(entries: entries, warnings: warnings, problems: problems)
    }

    private struct Problem: Error {
        let text: String
    }

    private func entry(_ name: String, _ passed: HostCertificateCheck.Passed) -> Result<FingerprintEntry, Problem> {
        let path = passed.path?.certificates ?? []
        let above = path.indices.contains(rules.depth) ? path[rules.depth] : nil
        guard let certificate = rules.depth == 0 ? passed.certificate : above else {
            return .failure(Problem(text: "no certificate stands \(rules.depth) above it in a valid path"))
        }
        if let objection = FingerprintEntry.objection(toName: name) {
            return .failure(Problem(text: "no client asks for \(name.quoted): \(objection)"))
        }
        do throws(PublishingError) {
            try CertificateRenewal(of: certificate).check(name, staleness: rules.staleness)
        } catch {
            return .failure(Problem(text: "\(error)"))
        }
        let pin: Pin
        do throws(PinError) {
            pin = try certificate.pin(.certificate)
        } catch {
            return .failure(Problem(text: "\(error)"))
        }
        do throws(DocumentError) {
            return .success(
                try FingerprintEntry(
                    name: name, pin: pin,
                    expires: Int64(certificate.notAfter.timeIntervalSince1970), depth: rules.depth))
        } catch {
            return .failure(Problem(text: "\(error)"))
        }
    }

    /// Makes entries for a certificate whose fingerprint alone is known.
    package static func passed(
        _ fingerprint: ListFingerprint, for names: [String], expires: Int64, depth: Int, at now: Date
    ) throws(PublishingError) -> Passed {
        guard expires >= now.wholeSeconds else {
            return Passed(
                entries: [], problems: ["it has expired, at \(Date(wholeSeconds: expires).formatted(.iso8601))"])
        }
        for name in names.map(listed) {
            guard let objection = FingerprintEntry.objection(toName: name) else { continue }
            throw PublishingError(
                .invalidInput, expected: "a name that clients look up", found: "\(name.quoted): \(objection)",
                remedy: "Give the name of the host alone.")
        }
        do throws(HostCheckError) {
            try HostKeyCheck.check(fingerprint.pin)
        } catch {
            throw PublishingError(error)
        }
        do throws(DocumentError) {
            return Passed(
                entries: try names.map { name throws(DocumentError) in
                    try FingerprintEntry(name: listed(name), pin: fingerprint.pin, expires: expires, depth: depth)
                })
        } catch {
            throw PublishingError(.invalidInput, expected: error.expected, found: error.found, remedy: error.remedy)
        }
    }

    // MARK: Names

    /// The default name: the common name if subjectAltName has it too, else the only DNS name; and if there is no DNS
    /// name, a common name that is not a wildcard.
    private static func name(of certificate: X509Certificate, in path: String) throws(PublishingError) -> String {
        let (common, names) = (certificate.subject.commonName, certificate.dnsNames)
        if let common {
            let folded = ASCIIText.lowercased(common)
            if names.contains(where: { ASCIIText.lowercased($0) == folded }) { return ASCIIText.folded(common) }
            if names.isEmpty, !folded.contains(UInt8(ascii: "*")) { return common }
        }
        if names.count == 1 { return ASCIIText.folded(names[0]) }
        throw PublishingError(
            .invalidInput, of: path, expected: "a common name among its DNS names",
            found: names.isEmpty
                ? "none, and no DNS name" : "none, and \(names.prefix(10).map(\.quoted).joined(separator: ", "))",
            remedy: "Say with --name what it is to be signed for.")
    }

    /// The name as it is listed: a host in the canonical form in which clients look it up. If only the case of letters
    /// differs, which clients ignore, the operator's form is kept. A name that is not a host is kept as well.
    private static func listed(_ name: String) -> String {
        let isWildcard = name.utf8.starts(with: "*.".utf8)
        let rest = isWildcard ? String(decoding: name.utf8.dropFirst(2), as: UTF8.self) : name
        guard let host = (try? DialedHost(rest))?.name, !host.utf8.elementsEqual(ASCIIText.lowercased(rest)) else {
            return name
        }
        return isWildcard ? "*." + host : host
    }
}
