package import Foundation
import Holdfast
package import HoldfastSigning

/// The entries that are removed from a list, and the effect on clients.
package struct ListRemoval: Sendable {
    /// The removed entries.
    package let removed: [FingerprintListReport.Entry]
    /// Names without a live entry after the removal. Clients that know one refuse such a list.
    package let orphans: [String]
    /// The names of removed live entries, apart from the orphans: hosts that can be probed.
    package let changedNames: [String]

    /// Removes the expired entries.
    package init(expiredOf draft: inout PinListDraft, at now: Date) {
        removed = draft.prune(at: Self.second(now)).map { .init($0, now: now) }
        (orphans, changedNames) = ([], [])
    }

    /// Removes the entries of names and of certificates.
    /// - Parameters:
    ///   - subjects: names as in the list, and fingerprints.
    ///   - draft: the list.
    ///   - name: its name for messages.
    ///   - retires: whether a name may lose its last live entry.
    /// - Throws: ``PublishingError`` `invalidDocument` if the list has no such entry, or if a name would lose its last
    ///   one.
    package init(
        of subjects: [String], from draft: inout PinListDraft, named name: String, retiring retires: Bool, at now: Date
    ) throws(PublishingError) {
        var gone: [FingerprintEntry] = []
        for subject in subjects {
            let fingerprint = try? ListFingerprint(subject)
            let found = draft.remove { entry in
                if let fingerprint { return entry.pin == fingerprint.pin }
                return ASCIIText.lowercased(entry.name) == ASCIIText.lowercased(subject)
            }
            guard !found.isEmpty else {
                throw PublishingError(
                    .invalidDocument, of: "\(name) is left as it is", expected: "an entry of \(subject)",
                    found: "that it has no entry of \(subject)", remedy: "holdfastctl list show prints its entries.")
            }
            gone += found
        }
        // An entry is valid up to and including the second of its expiration.
        let second = Self.second(now)
        let live = Set(draft.entries.filter { $0.expiryDate >= second }.map { Array($0.name.utf8) })
        let lost = gone.filter { $0.expiryDate >= second }
        let orphans = Set(lost.map { Array($0.name.utf8) }).subtracting(live)
            .sorted { $0.lexicographicallyPrecedes($1) }.map { String(decoding: $0, as: UTF8.self) }
        guard orphans.isEmpty || retires else {
            throw PublishingError(
                .invalidDocument, of: "\(name) is left as it is", expected: "a live entry of every name that has one",
                found:
                    "that \(orphans.joined(separator: ", ")) would have no live entry, and clients refuse such a list",
                remedy: "Sign what replaces it first; --retire is for a host that is gone.")
        }
        self.orphans = orphans
        removed = gone.map { .init($0, now: now) }
        changedNames = lost.map(\.name).filter { name in !orphans.contains { $0.utf8.elementsEqual(name.utf8) } }
    }

    private static func second(_ now: Date) -> Date { Date(wholeSeconds: now.wholeSeconds) }
}
