import Foundation
import Holdfast

extension PublicationOutlook.Row: Codable {
    private enum CodingKeys: CodingKey {
        case host, hostIndex, place, presentation, document, client, holders, appVersions, platform, spans, verdict
        case verdictEnd, cause
    }

    /// Reads a stored row.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        host = try container.decodeIfPresent(String.self, forKey: .host)
        hostIndex = try container.decodeIfPresent(Int.self, forKey: .hostIndex)
        place = try container.decodeIfPresent(String.self, forKey: .place)
        presentation = try container.decodeIfPresent(Int.self, forKey: .presentation)
        document = try container.decodeIfPresent(Int.self, forKey: .document)
        client = try container.decodeIfPresent(String.self, forKey: .client)
            .map(PublicationOutlook.Client.init(rawValue:))
        holders = try container.decode(PublicationOutlook.Holders.self, forKey: .holders)
        appVersions = try container.decode([String].self, forKey: .appVersions)
        platform = try container.decodeIfPresent(String.self, forKey: .platform)
        spans = try container.decode([PublicationOutlook.Span].self, forKey: .spans)
        verdict = try container.decode(PublicationOutlook.Verdict.self, forKey: .verdict)
        verdictEnd = try container.decodeIfPresent(Date.self, forKey: .verdictEnd)
        cause = try container.decodeIfPresent(PublicationOutlook.Cause.self, forKey: .cause)
    }

    /// Writes a row to storage.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(host, forKey: .host)
        try container.encodeIfPresent(hostIndex, forKey: .hostIndex)
        try container.encodeIfPresent(place, forKey: .place)
        try container.encodeIfPresent(presentation, forKey: .presentation)
        try container.encodeIfPresent(document, forKey: .document)
        try container.encodeIfPresent(client?.rawValue, forKey: .client)
        try container.encode(holders, forKey: .holders)
        try container.encode(appVersions, forKey: .appVersions)
        try container.encodeIfPresent(platform, forKey: .platform)
        try container.encode(spans, forKey: .spans)
        try container.encode(verdict, forKey: .verdict)
        try container.encodeIfPresent(verdictEnd, forKey: .verdictEnd)
        try container.encodeIfPresent(cause, forKey: .cause)
    }

    /// Whether its indices are valid for the inputs.
    func isAbout(_ inputs: PublicationOutlook.Inputs) -> Bool {
        guard document.map(inputs.documents.indices.contains) ?? true else { return false }
        guard let hostIndex else { return presentation == nil }
        guard inputs.hosts.indices.contains(hostIndex) else { return false }
        return presentation.map(inputs.hosts[hostIndex].shown.indices.contains) ?? true
    }
}
