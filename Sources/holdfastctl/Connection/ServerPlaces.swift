import Holdfast
import NIOSSL

/// Finds the addresses at which a host is reached, and the kinds of keys with which it may answer. In a fleet, and
/// while certificates are being renewed, each address may show another certificate, and a server may have one for each
/// kind of key.
struct ServerPlaces: Sendable {
    let probe: ServerProbe
    let resolver: AddressResolver

    /// Each address of a host's name; a single nil if a proxy chooses the address.
    func places(of host: DialedHost) async throws(CommandFailure) -> [DialedHost?] {
        guard probe.proxy(for: host) == nil else { return [nil] }
        let target = probe.connectTo ?? host
        let port = target.port ?? host.port ?? ServerAddress.defaultPort
        let addresses = target.addressOctets == nil ? try await resolver.addresses(target.name) : [target.name]
        // An address with a zone belongs to this machine's own network, and nobody publishes it.
        let places = addresses.compactMap { try? DialedHost($0, port: port) }
        guard !places.isEmpty else { throw CommandFailure(.resolveFailed, "no address was found for \(target.name)") }
        return places
    }

    /// The signature algorithms that a server can use only with a key of another kind than this certificate's.
    static func algorithmsOfOtherKind(than leaf: X509Certificate) -> [SignatureAlgorithm] {
        leaf.keyKind?.isRSA == true
            ? [.ecdsaSecp256R1Sha256, .ecdsaSecp384R1Sha384, .ecdsaSecp521R1Sha512, .ed25519]
            : [
                .rsaPssRsaeSha256, .rsaPkcs1Sha256, .rsaPssRsaeSha384, .rsaPkcs1Sha384, .rsaPssRsaeSha512,
                .rsaPkcs1Sha512,
            ]
    }
}
