import Crypto
import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTUF

/// Makes the metadata of all roles except root (sections 4.4 to 4.6), for a repository of pins.
enum TUFContents {
    static let specification = "1.0.34"
    /// The only target.
    static let target = "pins.json"

    static func targets(version: Int64, expires: Date, pins: Data) throws(TUFRepositoryError) -> TUFMetadataFile {
        let description = JSONTree(fields: [
            "length": .integer(Int64(pins.count)),
            "hashes": JSONTree(fields: ["sha256": JSONTree(text: digest(pins))]),
        ])
        return try file(
            common(.targets, version, expires).setting(["targets": JSONTree(fields: ["pins.json": description])]),
            of: .targets)
    }

    /// The same targets with a new version.
    static func targets(
        _ old: TUFMetadataFile, version: Int64, expires: Date
    ) throws(TUFRepositoryError) -> TUFMetadataFile {
        try file(
            old.signed.setting(["version": .integer(version), "expires": JSONTree(text: time(expires))]), of: .targets)
    }

    static func snapshot(
        version: Int64, expires: Date, targets: TUFMetadataFile
    ) throws(TUFRepositoryError) -> TUFMetadataFile {
        try file(
            common(.snapshot, version, expires).setting([
                "meta": JSONTree(fields: ["targets.json": description(of: targets)])
            ]), of: .snapshot)
    }

    static func timestamp(
        version: Int64, expires: Date, snapshot: TUFMetadataFile
    ) throws(TUFRepositoryError) -> TUFMetadataFile {
        try file(
            common(.timestamp, version, expires).setting([
                "meta": JSONTree(fields: ["snapshot.json": description(of: snapshot)])
            ]), of: .timestamp)
    }

    static func time(_ date: Date) -> String { Date(wholeSeconds: date.wholeSeconds).formatted(.iso8601) }

    static func digest(_ data: Data) -> String { HexText.text(of: SHA256.hash(data: data)) }

    /// With the length and the hash, so that exactly these bytes are valid, and no file with more signatures or white
    /// space.
    private static func description(of file: TUFMetadataFile) -> JSONTree {
        JSONTree(fields: [
            "version": .integer(file.version), "length": .integer(Int64(file.data.count)),
            "hashes": JSONTree(fields: ["sha256": JSONTree(text: digest(file.data))]),
        ])
    }

    private static func common(_ role: TUFRole, _ version: Int64, _ expires: Date) -> JSONTree {
        JSONTree(fields: [
            "_type": JSONTree(text: role.rawValue), "spec_version": JSONTree(text: specification),
            "version": .integer(version), "expires": JSONTree(text: time(expires)),
        ])
    }

    static func file(_ signed: JSONTree, of role: TUFRole) throws(TUFRepositoryError) -> TUFMetadataFile {
        do throws(TUFError) {
            return try TUFMetadataFile(signed)
        } catch {
            throw TUFRepositoryError(
                .cannotBeWritten, of: role.rawValue, expected: "metadata that clients can read",
                found: "\(error.code.rawValue): \(error.found)",
                remedy: error.code == .tooLarge ? "Publish fewer hosts in one repository." : nil)
        }
    }
}
