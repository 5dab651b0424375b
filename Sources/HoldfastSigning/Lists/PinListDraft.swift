public import Foundation
public import Holdfast

/// A draft of a fingerprint list. Add, replace and prune entries, then sign the whole list.
///
/// No two entries have the same name, certificate and depth. Entries are sorted by name, and within a name by
/// expiration time, latest first, so that the same entries always give the same list.
public struct PinListDraft: Sendable, Hashable {
    /// The entries, sorted.
    public private(set) var entries: [FingerprintEntry]
    /// The configuration for hosts without pins in a list that was read. It is kept unchanged and is not signed.
    package private(set) var domainsConfiguration: DomainsConfiguration?
    /// The signatures of entries that were read. An unchanged entry keeps its signature, so that only the changed parts
    /// of a list differ.
    private var signatures: [FingerprintEntry: String] = [:]

    /// Makes a draft of these entries. If some have the same name, certificate and depth, the last one is kept.
    public init(_ entries: [FingerprintEntry] = []) {
        var last: [Place: FingerprintEntry] = [:]
        for entry in entries { last[Place(entry)] = entry }
        // The order is total: no two entries have the same name, certificate and depth, and all of these are compared.
        self.entries = last.values.sorted(by: Self.isBefore)
    }

    /// The combination that is unique to each entry.
    private struct Place: Hashable {
        let name: [UInt8]
        let pin: Pin
        let depth: Int

        init(_ entry: FingerprintEntry) {
            name = Array(entry.name.utf8)
            pin = entry.pin
            depth = entry.depth
        }
    }

    /// Makes a draft with the entries of a list, after verifying all their signatures with a key.
    /// - Throws: `DocumentError` if the list does not verify; ``SigningError`` `unknownField` if it has fields that
    ///   would be lost.
    public init(
        reading list: Data, signedBy key: DocumentPublicKey, limits: DocumentLimits = DocumentLimits()
    ) throws {
        let verified = try FingerprintList(verifying: list, with: key, limits: limits)
        try Self.refuseUnknownFields(of: list)
        // The strict reader has accepted the list already, so this decoder cannot read it differently.
        let texts = try JSONDecoder().decode(Signatures.self, from: list).fingerprints.map(\.signature)
        self.init(verified.entries)
        domainsConfiguration = verified.unsignedDomainsConfiguration
        for (entry, text) in zip(verified.entries, texts) { signatures[entry] = text }
    }

    /// Adds an entry. It replaces one with the same name, certificate and depth.
    public mutating func add(_ entry: FingerprintEntry) {
        let name = Array(entry.name.utf8)
        entries.removeAll { $0.pin == entry.pin && $0.depth == entry.depth && $0.name.utf8.elementsEqual(name) }
        let place = entries.firstIndex { Self.isBefore(entry, $0) } ?? entries.count
        entries.insert(entry, at: place)
    }

    /// Removes all entries that have the names of these, and adds these.
    public mutating func replace(with new: [FingerprintEntry]) {
        let names = Set(new.map { Array($0.name.utf8) })
        entries.removeAll { names.contains(Array($0.name.utf8)) }
        for entry in new { add(entry) }
    }

    /// Removes expired entries. An entry is valid up to and including the second of its expiration.
    /// - Returns: the removed entries.
    @discardableResult
    public mutating func prune(at time: Date) -> [FingerprintEntry] { remove { !($0.expiryDate >= time) } }

    /// Removes entries, even the last one of a name.
    /// - Returns: the removed entries.
    @discardableResult
    public mutating func remove(where isRemoved: (FingerprintEntry) -> Bool) -> [FingerprintEntry] {
        let removed = entries.filter(isRemoved)
        entries.removeAll(where: isRemoved)
        return removed
    }

    /// The names whose unexpired entries all pin the same certificate, sorted. If that certificate must be replaced at
    /// once, clients trust no other.
    public func namesWithoutBackup(at time: Date) -> [String] {
        let usable = entries.filter { $0.expiryDate >= time }
        let pins = Dictionary(grouping: usable) { Array($0.name.utf8) }.mapValues { Set($0.map(\.pin)) }
        return pins.filter { $0.value.count == 1 }.keys.sorted { $0.lexicographicallyPrecedes($1) }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    /// Signs every entry and writes the list: JSON in UTF-8, one entry per line, with a line break at the end.
    /// - Throws: ``SigningError`` `cryptographyFailed`.
    public func signed(by key: some DocumentSigner) throws(SigningError) -> Data {
        let publicKey = try key.publicKey
        var signatures: [FingerprintEntry: String] = [:]
        for entry in entries {
            if let old = self.signatures[entry], publicKey.isSignature(old, of: entry) {
                signatures[entry] = old
            } else {
                signatures[entry] = CanonicalBase64.encode(try key.signature(for: entry.signedBytes))
            }
        }
        return try written(with: signatures)
    }

    /// Writes the list with the signatures that were read, for callers that have removed entries but have no key.
    /// - Throws: ``SigningError`` `unsignedEntry` if an entry was added.
    public func withItsSignatures() throws(SigningError) -> Data { try written(with: signatures) }

    private func written(with signatures: [FingerprintEntry: String]) throws(SigningError) -> Data {
        var lines: [String] = []
        for entry in entries {
            guard let signature = signatures[entry] else {
                throw SigningError(.unsignedEntry, expected: "a signature for \(entry.name)", found: "none")
            }
            var fields = [
                #""name":\#(Self.json(entry.name))"#, #""fingerprint":"\#(entry.fingerprint)""#,
                #""expires":\#(entry.expires)"#, #""signature":"\#(signature)""#,
            ]
            if entry.depth > 0 { fields.append(#""depth":\#(entry.depth)"#) }
            lines.append("{\(fields.joined(separator: ","))}")
        }
        let body = lines.isEmpty ? "" : "\n\(lines.joined(separator: ",\n"))\n"
        let domains = domainsConfiguration.map { ",\n\"domainsConfig\":\(Self.json($0))" } ?? ""
        return Data((#"{"fingerprints":[\#(body)]\#(domains)}"# + "\n").utf8)
    }

    private static func json(_ domains: DomainsConfiguration) -> String {
        let list = domains.pinningRequired.sorted { $0.key < $1.key }.map { name, isRequired in
            #"{"name":\#(json(name)),"sslPinningRequired":\#(isRequired)}"#
        }
        return #"{"sslPinningRequiredForUnlisted":\#(domains.pinningRequiredForUnlisted),"#
            + #""domains":[\#(list.joined(separator: ","))]}"#
    }

    private struct Signatures: Decodable {
        struct Entry: Decodable {
            let signature: String
        }
        let fingerprints: [Entry]
    }

    /// Refuses a list with unknown fields, because this type could not write them again.
    private static func refuseUnknownFields(of list: Data) throws {
        func check(_ value: Any?, _ known: Set<String>, in place: String) throws {
            guard let object = value as? [String: Any] else { return }
            if let field = object.keys.sorted().first(where: { !known.contains($0) }) {
                throw SigningError(
                    .unknownField, expected: known.sorted().joined(separator: ", ") + " in \(place)",
                    found: "\(field) as well")
            }
        }
        let document = try JSONSerialization.jsonObject(with: list) as? [String: Any]
        try check(document, ["fingerprints", "domainsConfig"], in: "the list")
        for entry in document?["fingerprints"] as? [Any] ?? [] {
            try check(entry, ["name", "fingerprint", "expires", "signature", "depth"], in: "an entry")
        }
        let domains = document?["domainsConfig"] as? [String: Any]
        try check(domains, ["sslPinningRequiredForUnlisted", "domains"], in: "domainsConfig")
        for domain in domains?["domains"] as? [Any] ?? [] {
            try check(domain, ["name", "sslPinningRequired"], in: "an entry of domainsConfig")
        }
    }

    /// Sorts by the bytes of the name, then by expiration with the latest first, then by depth and fingerprint.
    private static func isBefore(_ left: FingerprintEntry, _ right: FingerprintEntry) -> Bool {
        if !left.name.utf8.elementsEqual(right.name.utf8) {
            return left.name.utf8.lexicographicallyPrecedes(right.name.utf8)
        }
        if left.expires != right.expires { return left.expires > right.expires }
        if left.depth != right.depth { return left.depth < right.depth }
        return left.fingerprint < right.fingerprint
    }

    /// Writes a JSON string. Names have no control characters, so only the quotation mark and the backslash are
    /// escaped. It works on bytes, because a quotation mark with a combining character is one `Character` that is not
    /// equal to the mark.
    static func json(_ text: String) -> String {
        let escaped = text.utf8.flatMap { octet in
            octet == UInt8(ascii: "\\") || octet == UInt8(ascii: "\"") ? [UInt8(ascii: "\\"), octet] : [octet]
        }
        return "\"\(String(decoding: escaped, as: UTF8.self))\""
    }
}

extension DocumentPublicKey {
    fileprivate func isSignature(_ text: String, of entry: FingerprintEntry) -> Bool {
        CanonicalBase64.decode(text.utf8).map { isValid(signature: $0, for: entry.signedBytes) } ?? false
    }
}
