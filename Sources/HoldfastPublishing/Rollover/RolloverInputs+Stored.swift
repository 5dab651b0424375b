import Foundation
import Holdfast

extension RolloverInputs: StoredValue {
    /// The name of the inputs in stored JSON.
    public static var storedName: String { "rolloverInputs" }

    private enum CodingKeys: CodingKey {
        case host, port, documents, hasEarlierDocuments, servers, candidates, retiring, platforms, appVersions,
            staleness
        case lead, now
    }

    /// Reads stored inputs.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            host: try container.decode(String.self, forKey: .host),
            port: try container.decodeIfPresent(Int.self, forKey: .port),
            documents: try container.decode([PublicationOutlook.Document].self, forKey: .documents),
            hasEarlierDocuments: try container.decode(Bool.self, forKey: .hasEarlierDocuments),
            servers: try container.decode([PublicationOutlook.Presentation].self, forKey: .servers),
            candidates: try container.decode([Candidate].self, forKey: .candidates),
            retiring: Set(try container.decode([StoredPin].self, forKey: .retiring).map(\.pin)),
            platforms: try container.decode([PublicationOutlook.Platform].self, forKey: .platforms),
            appVersions: try container.decode(PublicationOutlook.AppVersions.self, forKey: .appVersions),
            staleness: try container.decodeIfPresent(Duration.self, forKey: .staleness),
            lead: try container.decode(Duration.self, forKey: .lead), now: try container.decode(Date.self, forKey: .now)
        )
    }

    /// Writes inputs to storage.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(host, forKey: .host)
        try container.encodeIfPresent(port, forKey: .port)
        try container.encode(documents, forKey: .documents)
        try container.encode(hasEarlierDocuments, forKey: .hasEarlierDocuments)
        try container.encode(servers, forKey: .servers)
        try container.encode(candidates, forKey: .candidates)
        // A set has no defined order.
        let sorted = retiring.sorted { $0.description.utf8.lexicographicallyPrecedes($1.description.utf8) }
        try container.encode(sorted.map(StoredPin.init), forKey: .retiring)
        try container.encode(platforms, forKey: .platforms)
        try container.encode(appVersions, forKey: .appVersions)
        try container.encodeIfPresent(staleness, forKey: .staleness)
        try container.encode(lead, forKey: .lead)
        try container.encode(now, forKey: .now)
    }
}

extension RolloverInputs.Candidate: Codable {
    private enum CodingKeys: CodingKey {
        case name, chain, keyPin, isNext, isBackup
    }

    /// Reads a stored candidate.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            try container.decode(String.self, forKey: .name), chain: try container.decode([Data].self, forKey: .chain),
            isNext: try container.decode(Bool.self, forKey: .isNext),
            isBackup: try container.decode(Bool.self, forKey: .isBackup))
        keyPin = try container.decodeIfPresent(StoredPin.self, forKey: .keyPin)?.pin
    }

    /// Writes a candidate to storage.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(chain, forKey: .chain)
        try container.encodeIfPresent(keyPin.map(StoredPin.init), forKey: .keyPin)
        try container.encode(isNext, forKey: .isNext)
        try container.encode(isBackup, forKey: .isBackup)
    }
}
