import HoldfastProbe
import NIOHTTP1

/// What a request is called in the log, and in the header `X-Request-Id` of an answer that somebody may ask about.
///
/// A proxy that is trusted to state a client's address is trusted to name its requests as well, so that its log and ours
/// name them alike. From everybody else the header is something that an attacker wrote.
struct RequestID: Sendable, Hashable {
    /// 1 to 64 letters, digits, periods, hyphens and underscores.
    let text: String

    static let header = "X-Request-Id"

    /// Takes what a trusted proxy says; nil if it says nothing that can be a name, or says it twice.
    init?(_ headers: HTTPHeaders, from peer: IPAddress?, trusting proxies: TrustedProxies) {
        guard !proxies.blocks.isEmpty, let peer, proxies.contains(peer) else { return nil }
        let values = headers[Self.header]
        guard values.count == 1, ASCIIText.isName(values[0].utf8, 1...64, others: ".-_") else { return nil }
        text = values[0]
    }

    /// Names a request by its connection and its place on it: one draw of chance is enough for both.
    init(_ connection: RandomID, _ number: Int) { text = "\(connection)-\(number)" }
}
