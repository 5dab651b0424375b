import PinChanges
import ServerApprovals
import ServerFoundation
import ServerModel
import ServerStore

/// A proposed change: the options of `holdfast-server change propose`, as JSON.
struct ProposalBody: Sendable {
    let app: AppName
    let wishes: Catalog.DraftOptions
    let forced: Set<Gate>
    /// The digest of the proposer's key; nil if the proposer is no approver.
    let proposer: Digest?
    let reason: String

    private static let nobody = "nobody"

    /// - Throws: ``ServerError`` `malformed` or `invalidValue`, naming the field.
    init(_ fields: inout JSONFields) throws(ServerError) {
        app = try fields.text("app", "2 to 255 letters, digits, hyphens and underscores") { AppName(bytes: $0) }
        let words = String(decoding: try fields.text("reason"), as: UTF8.self)
        let isEmergency = try fields.optionalBoolean("emergency") ?? false
        let who = try fields.text("proposer")
        let identity = Digest(hex: who)
        guard identity != nil || who.elementsEqual(Self.nobody.utf8) else {
            throw fields.invalid(
                "proposer", "the digest of an approver's key, or \"\(Self.nobody)\" if the proposer is no approver")
        }
        var gates = Set(try fields.optionalArray("force", atMost: Gate.allCases.count, Self.gate) ?? [])
        // An emergency skips the canary and nothing else.
        if isEmergency { gates.insert(.canary) }
        var wishes = Catalog.DraftOptions()
        wishes.formats = try fields.optionalArray("formats", atMost: 64, ContentFormat.init(reading:_:))
        wishes.domains = try fields.optional("domains").map { value throws(ServerError) in
            try ContentDomains(reading: value, "domains")
        }
        wishes.includesSeen = try fields.optionalBoolean("includeSeen") ?? false
        wishes.removed = Set(try fields.optionalArray("remove", atMost: 1_000, Self.digest) ?? [])
        if let days = try fields.optionalInteger("lifetimeDays", in: 1...366) { wishes.lifetime = days * 86_400 }
        try fields.finish()
        self.wishes = wishes
        forced = gates
        proposer = identity
        reason = isEmergency ? "emergency: \(words)" : words
    }

    private static func gate(_ value: CanonicalJSON, _ path: String) throws(ServerError) -> Gate {
        guard case .text(let name) = value, let gate = Gate(bytes: name), gate.canBeForced else {
            throw ServerError(.invalidValue, of: path, expected: "a gate that can be forced", found: "another value")
        }
        return gate
    }

    private static func digest(_ value: CanonicalJSON, _ path: String) throws(ServerError) -> Digest {
        guard case .text(let text) = value, let digest = Digest(hex: text) else {
            throw ServerError(
                .invalidValue, of: path, expected: "64 lower-case hexadecimal digits", found: "another value")
        }
        return digest
    }
}
