package import Foundation
package import Holdfast
package import HoldfastSigning

/// The effect of a change to a signed list. Its bytes come from a ``PinListDraft``, and are what clients accept.
package struct ListChange: Sendable {
    /// The list before the change; nil if it did not exist.
    package let old: Data?
    /// The list after the change.
    package let new: Data
    private let before: [FingerprintEntry]
    private let after: [FingerprintEntry]

    /// Changes a list and checks the result as clients do, so that a list that they would refuse is never published.
    /// - Parameters:
    ///   - old: the list; nil to begin a new one.
    ///   - name: its name for messages.
    ///   - key: the key that signed it, and that signs the new list.
    ///   - body: changes the entries and writes the document.
    /// - Throws: ``PublishingError``, or the error of `body`. Nothing was written.
    package init(
        of old: Data?, named name: String, signedBy key: DocumentPublicKey,
        _ body: (inout PinListDraft) throws -> Data
    ) throws {
        var draft = PinListDraft()
        if let old {
            do {
                draft = try PinListDraft(reading: old, signedBy: key)
            } catch let error as any HoldfastError {
                throw PublishingError(
                    .invalidDocument, of: "\(name) is left as it is", expected: "a list that can be changed",
                    found: "\(error)", remedy: "")
            }
        }
        self.old = old
        before = draft.entries
        new = try body(&draft)
        after = draft.entries
        let list: FingerprintList
        do throws(DocumentError) {
            list = try FingerprintList(verifying: new, with: key)
        } catch {
            throw PublishingError(
                .invalidDocument, of: "\(name) is left as it is", expected: "a list that clients accept",
                found: "one that clients would refuse: \(error)", remedy: "")
        }
        guard !list.entries.isEmpty else {
            throw PublishingError(
                .invalidDocument, of: "\(name) is left as it is", expected: "an entry that is left",
                found: "none, and clients refuse a list without entries", remedy: "Sign new ones first.")
        }
    }

    /// The number of entries after the change.
    package var count: Int { after.count }

    /// Both versions as clients read them; the old one is nil if the list did not exist.
    package func versions(
        named name: String, signedBy key: DocumentPublicKey, at now: Date
    ) throws(PublishingError) -> (old: PublishedPins?, new: PublishedPins) {
        (
            try old.map { data throws(PublishingError) in
                try PublishedPins(list: data, named: name, key: key, at: now)
            },
            try PublishedPins(list: new, named: "the new list", key: key, at: now)
        )
    }

    // MARK: Entries

    /// The result for signed entries, for people and for JSON.
    package struct Signed: Sendable, Encodable {
        package enum Change: String, Sendable, Encodable {
            case added, replaced, unchanged
        }

        package let change: Change
        package let entry: FingerprintListReport.Entry

        private enum Key: CodingKey {
            case change
        }

        package func encode(to encoder: any Encoder) throws {
            try entry.encode(to: encoder)
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(change, forKey: .change)
        }
    }

    /// The result for new entries.
    package func signed(_ entries: [FingerprintEntry], at now: Date) -> [Signed] {
        PinListDraft(entries).entries.map { entry in
            let change: Signed.Change =
                before.contains(entry)
                ? .unchanged : before.contains { Self.areAlike($0, entry) } ? .replaced : .added
            return Signed(change: change, entry: .init(entry, now: now))
        }
    }

    /// The removed entries.
    package func removed(at now: Date) -> [FingerprintListReport.Entry] {
        before.filter { old in !after.contains { Self.areAlike($0, old) && $0.depth == old.depth } }
            .map { .init($0, now: now) }
    }

    /// The names that have one fingerprint after the change.
    package func namesWithoutBackup(at now: Date) -> [String] {
        PinListDraft(after).namesWithoutBackup(at: now)
    }

    /// Names are compared byte by byte, as clients do.
    private static func areAlike(_ one: FingerprintEntry, _ other: FingerprintEntry) -> Bool {
        one.name.utf8.elementsEqual(other.name.utf8) && one.pin == other.pin
    }
}
