import Holdfast

/// The differences between two pin files. Their effect on clients depends on the chains that the hosts present:
/// ``PublicationOutlook`` evaluates it.
public struct PinFileComparison: Sendable, Hashable {
    /// One sentence for each difference, in the order of the new file; empty if clients read both in the same way.
    public let changes: [String]
    /// The shortages of the new file at hosts whose entries differ, one sentence each; see ``PinFileEdit/shortages``.
    public let shortages: [String]

    /// Compares two files.
    /// - Parameters:
    ///   - old: the file that clients have.
    ///   - new: the file that they get.
    public init(from old: PinFileDocument, to new: PinFileDocument) {
        changes = PinFileChanges.words(from: old.file, to: new.file) + Self.fields(old, new)
        shortages = PinFileChanges.shortages(from: old.file, to: new.file)
    }

    /// The differences in fields that this version does not know.
    private static func fields(_ old: PinFileDocument, _ new: PinFileDocument) -> [String] {
        func lines(_ document: PinFileDocument, _ other: PinFileDocument, _ what: String) -> [String] {
            document.fields.filter { !other.fields.contains($0) }
                .map { "\($0.path): a field that this version does not know \(what)" }
        }
        return lines(new, old, "is added, or differs") + lines(old, new, "was there before, or differs")
    }
}
