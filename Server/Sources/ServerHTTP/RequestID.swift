import HoldfastProbe
import NIOHTTP1
import ServerFoundation

/// The id of a request in the log, and in the header `X-Request-Id` of a response.
///
/// A proxy that is trusted to state a client's address may also set the ids of its requests, so that both logs use the
/// same ids. The header of any other client is untrusted and ignored.
struct RequestID: Sendable, Hashable {
    /// The id: 1 to 64 letters, digits, periods, hyphens and underscores.
    let text: String

    static let header = "X-Request-Id"

    /// Takes the id from a trusted proxy; nil if it is missing, invalid or repeated.
    init?(_ headers: HTTPHeaders, from peer: IPAddress?, trusting proxies: TrustedProxies) {
        guard !proxies.blocks.isEmpty, let peer, proxies.contains(peer) else { return nil }
        let values = headers[Self.header]
        guard values.count == 1, ASCIIText.isName(values[0].utf8, 1...64, others: ".-_") else { return nil }
        text = values[0]
    }

    /// Derives an id from the connection and the number of the request on it, which needs only one random value.
    init(_ connection: RandomID, _ number: Int) { text = "\(connection)-\(number)" }
}
