import Foundation
import Holdfast
import PinChanges
import ServerModel
import ServerStore

/// The end of validity of the certificate that a host serves. A forgotten server with an expired certificate is ignored
/// while another presents a valid one: clients can connect there.
///
/// An attacker between the watcher and the host can present any certificate, and must not cause an early installation
/// of the next one. So only published and announced certificates are considered, and expired ones that clients once
/// accepted.
package struct ServedEnd {
    /// The first second at which it is no longer valid, in seconds since 1970; nil if unknown.
    let time: Int64?

    init(_ host: AppSnapshot.Host, in scene: AppSnapshot) {
        var known = host.next.digests
        for publication in scene.publications {
            for content in publication.content.hosts where content.covers(host.host) {
                known.formUnion(content.digests)
            }
        }
        let leaves = host.shown.compactMap { seen -> (chain: CertificateChain, end: Int64)? in
            seen.chain.flatMap { chain in chain.end.map { (chain, $0 + 1) } }
        }
        let valid = leaves.filter { $0.end > scene.now }
        guard valid.isEmpty else {
            time = valid.filter { !known.isDisjoint(with: $0.chain.digestsOfLeaf) }.map(\.end).min()
            return
        }
        time =
            leaves.filter { leaf in
                !known.isDisjoint(with: leaf.chain.digestsOfLeaf) || Self.wasAccepted(leaf.chain, of: host.host, scene)
            }
            .map(\.end).max()
    }

    /// Whether clients of the app accepted a chain when it began.
    private static func wasAccepted(_ chain: CertificateChain, of host: CatalogHost, _ scene: AppSnapshot) -> Bool {
        guard let leaf = chain.leaf else { return false }
        let check = AnnouncementCheck(
            trusting: scene.app.settings.anchors, at: Int64(leaf.notBefore.timeIntervalSince1970))
        return (try? check.check(chain, for: host)) != nil
    }
}
