import Foundation
import Holdfast

extension SeenHost: StoredValue {
    /// The name of the host in stored JSON.
    public static var storedName: String { "seenHost" }

    private enum CodingKeys: CodingKey {
        case hostname, port, validated, certificates, publicKeys
    }

    /// Reads a stored host. Its pins are published unchanged, so all of them must be valid.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            hostname: try container.decode(String.self, forKey: .hostname),
            port: try container.decode(Int.self, forKey: .port),
            validated: try container.decode(Date.self, forKey: .validated),
            certificates: try container.decode([SeenPin].self, forKey: .certificates),
            publicKeys: try container.decode([SeenPin].self, forKey: .publicKeys))
        guard hostname.utf8.count <= 253, let dialed = try? DialedHost(hostname, port: port), dialed.name == hostname
        else { throw PublishingError.contradiction(in: Self.storedName, "a host as it is dialed", found: "another") }
        try PublishingMemory.check(
            certificates.map(\.text), publicKeys.map(\.text), atMost: Self.maximumPins, of: "\(dialed)")
        guard (certificates + publicKeys).allSatisfy({ $0.unseen >= .zero }) else {
            throw PublishingError.contradiction(in: Self.storedName, "the age of each pin", found: "a negative one")
        }
    }

    /// Writes a host to storage.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(hostname, forKey: .hostname)
        try container.encode(port, forKey: .port)
        try container.encode(validated, forKey: .validated)
        try container.encode(certificates, forKey: .certificates)
        try container.encode(publicKeys, forKey: .publicKeys)
    }
}
