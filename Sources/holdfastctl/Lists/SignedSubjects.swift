import Foundation
import Holdfast
import HoldfastOutput
import HoldfastProbe
import HoldfastPublishing
import HoldfastSigning

/// Finds the certificates to sign for, and checks each before it becomes an entry.
struct SignedSubjects {
    /// The names to sign for; if empty, they come from the host or the certificate.
    let names: [String]
    let connection: ConnectionOptions
    let allowsUntrusted: Bool
    /// How far above the server's own certificate the certificate is that is signed for.
    let depth: Int
    /// For how long clients may use an older list.
    let staleness: Duration
    let now: Date

    /// A certificate with the issuers that came with it.
    private struct Subject {
        let source: String
        let chain: PresentedChain
        let names: [String]
    }

    /// Makes entries for all sources, or throws an error that names everything that is wrong.
    func entries(of sources: [String]) async throws -> [FingerprintEntry] {
        let hosts = sources.filter { !PinInput.isFile($0) }
        let validator = try await validator(asksHosts: !hosts.isEmpty)
        let probe = hosts.isEmpty ? nil : try await connection.probe(validator)
        let check = CertificateCheck(validator: validator, allowsUntrusted: allowsUntrusted)
        var subjects: [Subject] = []
        for source in sources {
            if let probe, !PinInput.isFile(source) {
                subjects += try await self.subjects(ofServer: source, probe)
            } else {
                subjects.append(try subject(ofFile: source))
            }
        }
        var entries: [FingerprintEntry] = []
        var problems: [String] = []
        for subject in subjects {
            for name in subject.names {
                let name = Self.listed(name)
                do {
                    let passed = try check.verify(subject.chain, for: name, at: now)
                    if let failure = passed.untrusted {
                        Output.standard.remark(
                            "warning: the chain of \(subject.source) does not validate (\(failure.code.rawValue)): "
                                + "make sure in another way whose it is")
                    }
                    guard let certificate = depth == 0 ? passed.certificate : passed.path?.certificate(above: depth)
                    else {
                        problems.append("\(subject.source): no certificate stands \(depth) above it in a valid path")
                        continue
                    }
                    if let problem = Self.shortLife(of: certificate, name, staleness) {
                        problems.append("\(subject.source): \(problem)")
                        continue
                    }
                    // Both chains of a server may have the same issuer, which needs only one entry.
                    let entry = try Self.entry(name, certificate, depth)
                    if !entries.contains(entry) { entries.append(entry) }
                } catch let error as CertificateCheckError {
                    problems.append("\(subject.source): \(error)\(hint(for: error))")
                }
            }
        }
        guard problems.isEmpty else {
            throw CommandFailure(.notSigned, "nothing was signed\n" + problems.joined(separator: "\n"))
        }
        return entries
    }

    /// Why clients cannot follow the renewals of a certificate; nil if they can.
    private static func shortLife(of certificate: X509Certificate, _ name: String, _ staleness: Duration)
        -> PublishingError?
    {
        do throws(PublishingError) {
            try CertificateRenewal(of: certificate).check(SafeText.escapedLine(name), staleness: staleness)
            return nil
        } catch {
            return error
        }
    }

    /// Makes entries for a certificate of which only the fingerprint is known.
    static func entries(
        for names: [String], fingerprint: Pin, expires: Int64, depth: Int, now: Date
    ) throws -> [FingerprintEntry] {
        guard expires >= now.wholeSeconds else {
            throw CommandFailure(
                .notSigned,
                "nothing was signed: it has expired, at \(Date(wholeSeconds: expires).formatted(.iso8601))"
            )
        }
        do {
            return try names.map {
                try FingerprintEntry(name: listed($0), pin: fingerprint, expires: expires, depth: depth)
            }
        } catch {
            throw CommandFailure(.wrongUsage, "\(error)")
        }
    }

    private func validator(asksHosts: Bool) async throws(CommandFailure) -> PathValidator {
        do throws(CommandFailure) {
            return PathValidator(anchors: try await connection.anchors())
        } catch {
            guard allowsUntrusted, !asksHosts, error.code == .noAnchors else { throw error }
            return PathValidator(anchors: TrustAnchors([]))
        }
    }

    /// Makes a subject for each chain that the host shows, at each address and for each kind of key. Different clients
    /// see different ones, and a list with only one of them locks the other clients out.
    private func subjects(ofServer source: String, _ probe: HostProbe) async throws -> [Subject] {
        let host = try connection.dialed(try ServerAddress.hostWithOptionalPort(source))
        // The decision does not matter here: what was presented is checked name by name afterward.
        let findings = await probe.ask(host, policy: StandardPolicy(host: HostPattern(host)))
        if let failure = findings.commandFailure { throw PinInput.noFile(failure, host.name) }
        if let remark = findings.remark { Output.standard.remark("\(source): \(remark)") }
        var known: Set<PresentedChain> = []
        return findings.shown.map { $0.decision.chain ?? PresentedChain([]) }.filter { known.insert($0).inserted }
            .map { Subject(source: source, chain: $0, names: names.isEmpty ? [host.name] : names) }
    }

    private func subject(ofFile path: String) throws -> Subject {
        let certificates = try InputFile.certificates(of: path)
        guard let leaf = certificates.first else {
            throw CommandFailure(.unreadableFile, "\(path) holds no certificate")
        }
        return Subject(
            source: path, chain: PresentedChain(certificates.map(\.der)),
            names: names.isEmpty ? [try Self.name(of: leaf, in: path)] : names)
    }

    /// The default name: the common name if subjectAltName has it too, else the only DNS name; and if there is no DNS
    /// name, a common name that is not a wildcard.
    private static func name(of certificate: X509Certificate, in path: String) throws(CommandFailure) -> String {
        let (common, names) = (certificate.subject.commonName, certificate.dnsNames)
        if let common {
            let folded = ASCIIText.lowercased(common)
            if names.contains(where: { ASCIIText.lowercased($0) == folded }) { return ASCIIText.folded(common) }
            if names.isEmpty, !folded.contains(UInt8(ascii: "*")) { return common }
        }
        if names.count == 1 { return ASCIIText.folded(names[0]) }
        let choice = names.isEmpty ? "and has no DNS name" : "and has \(names.prefix(10).joined(separator: ", "))"
        throw CommandFailure(
            .wrongUsage,
            "say with --name what \(path) is to be signed for: it has no common name among its DNS names, \(choice)")
    }

    /// The name as it is listed: a host in the canonical form in which clients look it up. If only the case of letters
    /// differs, which clients ignore, it stays as the operator wrote it. So does a name that is not a host.
    private static func listed(_ name: String) -> String {
        let isWildcard = name.utf8.starts(with: "*.".utf8)
        let rest = isWildcard ? String(decoding: name.utf8.dropFirst(2), as: UTF8.self) : name
        guard let host = (try? DialedHost(rest))?.name, !host.utf8.elementsEqual(ASCIIText.lowercased(rest)) else {
            return name
        }
        return isWildcard ? "*." + host : host
    }

    private static func entry(
        _ name: String, _ certificate: X509Certificate, _ depth: Int
    ) throws(CommandFailure) -> FingerprintEntry {
        do throws(DocumentError) {
            return try FingerprintEntry(
                name: name, pin: certificate.certificatePin,
                expires: Int64(certificate.notAfter.timeIntervalSince1970), depth: depth)
        } catch {
            throw CommandFailure(.wrongUsage, "\(error)")
        }
    }

    private func hint(for error: CertificateCheckError) -> String {
        error.code == .untrusted ? " The options: --ca FILE, --allow-untrusted." : ""
    }
}

extension ValidatedPath {
    fileprivate func certificate(above depth: Int) -> X509Certificate? {
        certificates.indices.contains(depth) ? certificates[depth] : nil
    }
}
