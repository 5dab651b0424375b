import Holdfast
import NIOSSL

/// Where a host is reached, and with which kinds of keys it may answer: in a fleet, and while certificates are being
/// renewed, each address may show another certificate, and a server one for each kind of key.
struct ServerPlaces: Sendable {
    let probe: ServerProbe
    let resolver: AddressResolver

    /// Each address of a host's name; nil for wherever a proxy goes.
    func places(of host: DialledHost) async throws(CommandFailure) -> [DialledHost?] {
        guard probe.proxy(for: host) == nil else { return [nil] }
        let target = probe.connectTo ?? host
        let port = target.port ?? host.port ?? ServerAddress.defaultPort
        let addresses = target.addressOctets == nil ? try await resolver.addresses(target.name) : [target.name]
        // An address with a zone is of this machine's own network, and nobody publishes it.
        let places = addresses.compactMap { try? DialledHost($0, port: port) }
        guard !places.isEmpty else { throw CommandFailure(.resolveFailed, "no address was found for \(target.name)") }
        return places
    }

    /// The signatures that a server can make only with a key of another kind than this certificate has.
    static func algorithmsOfOtherKind(than leaf: X509Certificate) -> [SignatureAlgorithm] {
        leaf.keyKind?.isRSA == true
            ? [.ecdsaSecp256R1Sha256, .ecdsaSecp384R1Sha384, .ecdsaSecp521R1Sha512, .ed25519]
            : [
                .rsaPssRsaeSha256, .rsaPkcs1Sha256, .rsaPssRsaeSha384, .rsaPkcs1Sha384, .rsaPssRsaeSha512,
                .rsaPkcs1Sha512,
            ]
    }
}
