package import Foundation
package import Holdfast

extension InstallationGate.Next {
    /// Reads the chain of a file.
    /// - Throws: ``PublishingError`` `notTheHosts` if it does not begin with the host's own certificate. The outlook
    ///   evaluates for each platform if the chain validates.
    package init(
        _ file: ChainFile, named path: String, for host: DialedHost, at now: Date
    ) throws(PublishingError) {
        do throws(HostCheckError) {
            _ = try HostCertificateCheck(validator: nil)
                .verify(PresentedChain(file.certificates.map(\.der)), for: host.name, at: now)
        } catch {
            throw PublishingError(error, of: path)
        }
        self = .chain(file.octets)
    }

    /// A warning if a served certificate is valid for client authentication, and its replacement is not.
    /// - Parameter served: the decisions about each chain that the host presents now.
    package func lostClientUse(of served: [TrustDecision]) -> String? {
        guard case .chain(let data) = self, let next = data.first.flatMap({ ClientUse(der: Array($0)) }),
            !next.allowsClients,
            served.contains(where: { $0.chain?.leaf.flatMap { ClientUse(der: $0) }?.allowsClients == true })
        else { return nil }
        return
            "warning: what is served may authenticate a client, and the next certificate may not (public authorities "
            + "issue none for it from \(ClientUse.lastDay) on): mutual TLS in which the host itself is a client with it ends"
    }

    /// Whether it is a chain with the leaf's key and the issuers' keys of every chain that a host presents.
    /// - Parameter served: the decisions about each of them.
    package func keepsKeys(of served: [TrustDecision]) -> Bool {
        guard case .chain(let data) = self, !served.isEmpty else { return false }
        let next = data.compactMap { try? X509Certificate(der: Array($0)) }
        guard next.count == data.count, let leaf = next.first else { return false }
        let issuers = Set(next.dropFirst().map { Array($0.subjectPublicKeyInfo) })
        return served.allSatisfy { decision in
            guard let served = decision.chain?.leaf.flatMap({ try? X509Certificate(der: $0) }),
                served.subjectPublicKeyInfo == leaf.subjectPublicKeyInfo
            else {
                return false
            }
            // The last certificate is the anchor, which is not sent. An expired chain has no path, so use the issuers
            // that were presented.
            guard let path = decision.path?.certificates.dropLast() ?? decision.presentedIssuers else { return false }
            return path.dropFirst().allSatisfy { issuers.contains(Array($0.subjectPublicKeyInfo)) }
        }
    }
}

extension TrustDecision {
    /// The certificates of a chain that has expired, without a root; nil if it is refused for another reason, or if one
    /// of them cannot be read.
    fileprivate var presentedIssuers: ArraySlice<X509Certificate>? {
        guard failure?.code == .expired, let chain else { return nil }
        let certificates = chain.certificates.prefix(16).compactMap { try? X509Certificate(der: $0) }
        guard certificates.count == chain.certificates.count else { return nil }
        return certificates.filter { !$0.isSelfIssued }[...]
    }
}
