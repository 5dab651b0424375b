public import Foundation
public import Holdfast

/// A fingerprint list in the making: entries are added, replaced and pruned, and all of it is signed at the end.
///
/// No two entries are alike, and they are sorted by name, of one name the latest expiry first, so that the same entries
/// are always the same list. A value; safe to use from any thread.
public struct PinListDraft: Sendable, Hashable {
    /// The entries, sorted.
    public private(set) var entries: [FingerprintEntry]

    /// A draft of these entries; of two alike one stays.
    public init(_ entries: [FingerprintEntry] = []) {
        self.entries = []
        for entry in entries { add(entry) }
    }

    /// Adds an entry; one that is for the same name, certificate and depth gives way to it.
    public mutating func add(_ entry: FingerprintEntry) {
        entries.removeAll { $0.name == entry.name && $0.pin == entry.pin && $0.depth == entry.depth }
        let place = entries.firstIndex { Self.isBefore(entry, $0) } ?? entries.count
        entries.insert(entry, at: place)
    }

    /// Puts entries in the place of all of the same names.
    public mutating func replace(with new: [FingerprintEntry]) {
        let names = Set(new.map(\.name))
        entries.removeAll { names.contains($0.name) }
        for entry in new { add(entry) }
    }

    /// Removes entries that have expired; an entry counts to the second of its expiry.
    /// - Returns: what was removed.
    @discardableResult
    public mutating func prune(at time: Date) -> [FingerprintEntry] {
        let expired = entries.filter { !($0.expiryDate >= time) }
        entries.removeAll { !($0.expiryDate >= time) }
        return expired
    }

    /// Names with one entry that has not expired: when that certificate must be replaced at once, nothing else is
    /// trusted.
    public func namesWithoutBackup(at time: Date) -> [String] {
        let usable = entries.filter { $0.expiryDate >= time }
        let pins = Dictionary(grouping: usable, by: \.name).mapValues { Set($0.map(\.pin)) }
        return pins.filter { $0.value.count == 1 }.keys.sorted()
    }

    /// Signs every entry and writes the list: JSON in UTF-8, one entry a line, with a line break at the end.
    /// - Throws: ``SigningError`` `cryptographyFailed`.
    public func signed(by key: SigningKey) throws(SigningError) -> Data {
        var lines: [String] = []
        for entry in entries {
            let signature = Base64Text.encode(try key.signature(for: entry.signedBytes))
            var fields = [
                #""name":\#(Self.json(entry.name))"#, #""fingerprint":"\#(entry.fingerprint)""#,
                #""expires":\#(entry.expires)"#, #""signature":"\#(signature)""#,
            ]
            if entry.depth > 0 { fields.append(#""depth":\#(entry.depth)"#) }
            lines.append("{\(fields.joined(separator: ","))}")
        }
        let body = lines.isEmpty ? "" : "\n\(lines.joined(separator: ",\n"))\n"
        return Data(#"{"fingerprints":[\#(body)]}"#.utf8) + Data("\n".utf8)
    }

    /// By name as octets, then the latest expiry first, then by depth and fingerprint.
    private static func isBefore(_ left: FingerprintEntry, _ right: FingerprintEntry) -> Bool {
        if left.name != right.name { return left.name.utf8.lexicographicallyPrecedes(right.name.utf8) }
        if left.expires != right.expires { return left.expires > right.expires }
        if left.depth != right.depth { return left.depth < right.depth }
        return left.fingerprint < right.fingerprint
    }

    /// A JSON text. Names hold no control characters, so that only two are escaped.
    static func json(_ text: String) -> String {
        "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}
