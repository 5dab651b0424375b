import Foundation
import Holdfast
import HoldfastPublishing
package import ServerFoundation
package import ServerModel

/// Makes the pin file of a content.
package struct PinFileMaker: Sendable {
    package let content: Content
    /// The requested format: it specifies the refresh interval of clients, and the application of the pins.
    package let format: ContentFormat

    package init(content: Content, format: ContentFormat) {
        self.content = content
        self.format = format
    }

    /// - Parameter now: when it is issued, in seconds since 1970.
    /// - Throws: ``ServerError`` `notPublishable`.
    package func pinFile(at now: Int64) throws(ServerError) -> [UInt8] {
        let export = PinExport(try file(at: now), as: .json)
        return try ServerError.translating(.notPublishable, of: "pin file") { () throws(PublishingError) in
            Array(try export.text().utf8)
        }
    }

    /// The pin file, whose pins end with the content.
    private func file(at now: Int64) throws(ServerError) -> PinFile {
        var entries: [(name: String, ports: [Int64], keys: [ContentHost.Key])] = []
        for host in content.hosts {
            if let last = entries.last, last.name.utf8.elementsEqual(host.name.utf8) {
                guard last.keys == host.keys else {
                    throw ServerError(
                        .notPublishable, of: "host \(host.name)", expected: "the same keys on all ports in a pin file",
                        found: "others on port \(host.port)")
                }
                entries[entries.count - 1].ports.append(host.port)
            } else {
                entries.append((host.name, [host.port], host.keys))
            }
        }
        let hosts: [[String: Any]] = entries.map { entry in
            [
                "host": entry.name, "ports": entry.ports,
                "pins": entry.keys.map { key in
                    [
                        "pin": "sha256/\(Base64.encode(key.pin.bytes))", "role": key.role.rawValue,
                        "state": key.state.rawValue,
                    ]
                },
            ]
        }
        var document: [String: Any] = [
            "schema": 1, "hosts": hosts, "app": format.application(of: content.app),
            "refresh": ["after": format.refresh],
        ]
        document["issuedAt"] = UTCText.encode(now)
        document["notAfter"] = UTCText.encode(content.end)
        guard let json = try? JSONSerialization.data(withJSONObject: document) else {
            throw ServerError(.notPublishable, of: "pin file", expected: "JSON", found: "what JSON cannot express")
        }
        return try ServerError.translating(.notPublishable, of: "pin file") { () throws(PinFileError) in
            try PinFile(json: json)
        }
    }
}
