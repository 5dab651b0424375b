import Foundation
import Holdfast

extension RolloverSituation: StoredValue {
    /// The name of the situation in stored JSON.
    public static var storedName: String { "rolloverSituation" }

    private enum CodingKeys: CodingKey {
        case time, pinned, staleness, lead, identities, servers, clients, next, unknownUntil
    }

    /// Reads a stored situation. Its indices must refer to its own parts.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let word = try container.decode(String.self, forKey: .pinned)
        guard let pinned = Pin.Subject(rawValue: word) else {
            throw PublishingError.contradiction(in: Self.storedName, "what documents pin", found: word.quoted)
        }
        self.init(
            at: try container.decode(Date.self, forKey: .time), pinned: pinned,
            staleness: try container.decodeIfPresent(Duration.self, forKey: .staleness),
            lead: try container.decode(Duration.self, forKey: .lead),
            identities: try container.decode([Identity].self, forKey: .identities),
            servers: try container.decode([Server].self, forKey: .servers),
            clients: try container.decode([Clients].self, forKey: .clients),
            next: try container.decodeIfPresent(Int.self, forKey: .next),
            unknownUntil: try container.decodeIfPresent(Date.self, forKey: .unknownUntil))
        let shown = servers.map(\.shows) + [next].compactMap(\.self)
        guard shown.allSatisfy(identities.indices.contains),
            clients.allSatisfy({ $0.admissions.count == identities.count })
        else {
            throw PublishingError.contradiction(
                in: Self.storedName, "indices of its \(identities.count) identities", found: "others")
        }
    }

    /// Writes a situation to storage.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(time, forKey: .time)
        try container.encode(pinned.rawValue, forKey: .pinned)
        try container.encodeIfPresent(staleness, forKey: .staleness)
        try container.encode(lead, forKey: .lead)
        try container.encode(identities, forKey: .identities)
        try container.encode(servers, forKey: .servers)
        try container.encode(clients, forKey: .clients)
        try container.encodeIfPresent(next, forKey: .next)
        try container.encodeIfPresent(unknownUntil, forKey: .unknownUntil)
    }
}

extension RolloverSituation.Identity: Codable {
    private enum CodingKeys: CodingKey {
        case name, pin, validity, certificateEnd, isDeployable, isBackup, isRetiring, isPublished
    }

    /// Reads a stored key or certificate.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode(String.self, forKey: .name),
            pin: try container.decode(StoredPin.self, forKey: .pin).pin,
            validity: try container.decode([Range<Date>].self, forKey: .validity),
            certificateEnd: try container.decodeIfPresent(Date.self, forKey: .certificateEnd),
            isDeployable: try container.decode(Bool.self, forKey: .isDeployable),
            isBackup: try container.decode(Bool.self, forKey: .isBackup),
            isRetiring: try container.decode(Bool.self, forKey: .isRetiring),
            isPublished: try container.decode(Bool.self, forKey: .isPublished))
    }

    /// Writes a key or certificate to storage.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(StoredPin(pin), forKey: .pin)
        try container.encode(validity, forKey: .validity)
        try container.encodeIfPresent(certificateEnd, forKey: .certificateEnd)
        try container.encode(isDeployable, forKey: .isDeployable)
        try container.encode(isBackup, forKey: .isBackup)
        try container.encode(isRetiring, forKey: .isRetiring)
        try container.encode(isPublished, forKey: .isPublished)
    }
}
