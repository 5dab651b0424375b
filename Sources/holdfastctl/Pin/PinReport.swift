import Holdfast

/// What `pin` prints; its fields are those of the JSON object.
struct PinReport: Encodable {
    /// The host that was dialled.
    var host: String?
    /// Whether the pins are those of a valid path; absent for files.
    var validated: Bool?
    var failure: CheckReport.Failure?
    var pins: [PinEntry] = []

    var dialled: DialledHost?
    var warning: String?

    private enum CodingKeys: CodingKey {
        case host, validated, failure, pins
    }

    init() {}

    /// The chain as the server presented it, and the anchor above it; each certificate with its place.
    init(host: DialledHost, decision: TrustDecision) {
        self.host = host.name
        dialled = host
        validated = decision.isTrusted
        failure = decision.failure.map(CheckReport.Failure.init)
        let path = decision.path?.certificates ?? []
        let presented = (decision.chain?.certificates ?? []).compactMap { try? X509Certificate(der: $0) }
        pins = presented.enumerated().map { position, certificate in
            PinEntry(
                certificate, place: position == 0 ? "leaf" : "issuer \(position)", isIssuer: position > 0,
                inValidPath: path.contains(certificate))
        }
        if let anchor = path.last, !presented.contains(anchor) {
            pins.append(PinEntry(anchor, place: "anchor, not sent", isIssuer: true, inValidPath: true))
        }
    }
}
