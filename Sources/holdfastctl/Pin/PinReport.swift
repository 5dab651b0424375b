import Holdfast
import HoldfastPublishing

/// The output of `pin`. Its fields are those of the JSON object.
struct PinReport: Encodable {
    /// The host that was dialed.
    var host: String?
    /// Whether the pins are those of a valid path; absent for files.
    var validated: Bool?
    var failure: CheckReport.Failure?
    var pins: [PinEntry] = []

    var dialed: DialedHost?
    /// Whether the port was named explicitly.
    var namesPort = false
    var warning: String?

    private enum CodingKeys: CodingKey {
        case host, validated, failure, pins
    }

    init() {}

    /// Reports the presented chains, and the anchors above them. Each certificate is listed once, with its position.
    /// - Parameter decisions: one for each kind of key that the server has, at least one.
    init(host: DialedHost, decisions: [TrustDecision]) {
        self.host = host.name
        dialed = host
        validated = decisions.allSatisfy(\.isTrusted)
        failure = decisions.lazy.compactMap(\.failure).first.map(CheckReport.Failure.init)
        var seen: Set<String> = []
        for decision in decisions {
            pins += PinEntry.entries(of: decision).filter { seen.insert($0.certificatePin ?? $0.keyPin).inserted }
        }
    }
}
