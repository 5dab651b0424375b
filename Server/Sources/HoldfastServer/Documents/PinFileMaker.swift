import Foundation
import Holdfast
import HoldfastPublishing

/// Makes the pin file of a content, and what other systems read instead of it.
struct PinFileMaker: Sendable {
    let content: Content
    /// The format that is asked for: it says after how many seconds clients ask again, and whose pins these are.
    let format: ContentFormat
    /// DER of every SubjectPublicKeyInfo that is known, by its SHA-256.
    let publicKeys: [Digest: [UInt8]]

    /// The pin file, or the format that another system reads.
    /// - Throws: ``ServerError`` `notPublishable`, also for what the other system would do differently.
    func octets(of kind: ContentFormat.Kind, at now: Int64) throws(ServerError) -> [UInt8] {
        guard kind != .pinFile else { return try pinFile(at: now) }
        let file = try file(at: nil)
        let known = content.hosts.flatMap(\.keys).compactMap { publicKeys[$0.pin] }
            .compactMap { try? SubjectPublicKeyInfo(der: $0) }
        let export = PinExport(file, as: Self.format(of: kind), keys: known)
        let subject = "\(kind.rawValue) of \(content.app)"
        if let loss = export.losses.first {
            throw ServerError(
                .notPublishable, of: subject, expected: "pins that \(export.format.reader) can express",
                found: loss.text, remedy: "Leave the format out, or change the content.")
        }
        return try ServerError.translating(.notPublishable, of: subject) { () throws(PublishingError) in
            Array(try export.text().utf8)
        }
    }

    private static func format(of kind: ContentFormat.Kind) -> ExportFormat {
        switch kind {
        case .android: .android
        case .apple: .ats
        case .trustKit: .trustkit
        case .alamofire: .alamofire
        case .okhttp: .okhttp
        default: .json
        }
    }

    /// The pin file itself.
    /// - Parameter now: when it is issued; nil for one without times, as other systems' configurations are.
    func pinFile(at now: Int64?) throws(ServerError) -> [UInt8] {
        let export = PinExport(try file(at: now), as: .json)
        return try ServerError.translating(.notPublishable, of: "pin file") { () throws(PublishingError) in
            Array(try export.text().utf8)
        }
    }

    /// The pin file, whose pins end with the content. What builds carry for other systems has neither an end nor ports:
    /// most of those systems cannot say ports, and trust anybody after an end.
    /// - Parameter now: when it is issued; nil for other systems.
    private func file(at now: Int64?) throws(ServerError) -> PinFile {
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
            var host: [String: Any] = [
                "host": entry.name,
                "pins": entry.keys.map { key in
                    [
                        "pin": "sha256/\(Base64.encode(key.pin.octets))", "role": key.role.rawValue,
                        "state": key.state.rawValue,
                    ]
                },
            ]
            if now != nil { host["ports"] = entry.ports }
            return host
        }
        var document: [String: Any] = ["schema": 1, "hosts": hosts]
        if let now {
            document["app"] = format.application(of: content.app)
            document["issuedAt"] = UTCText.encode(now)
            document["notAfter"] = UTCText.encode(content.end)
            document["refresh"] = ["after": format.refresh]
        }
        guard let json = try? JSONSerialization.data(withJSONObject: document) else {
            throw ServerError(.notPublishable, of: "pin file", expected: "JSON", found: "what JSON cannot express")
        }
        return try ServerError.translating(.notPublishable, of: "pin file") { () throws(PinFileError) in
            try PinFile(json: json)
        }
    }
}
