import Holdfast

/// What differs between two pin files. What that does to clients depends on the chains that the hosts show:
/// ``PublicationOutlook`` judges it.
public struct PinFileComparison: Sendable, Hashable {
    /// One sentence for each difference, in the order of the new file; empty if clients read both alike.
    public let changes: [String]
    /// What the new file lacks at hosts whose entries differ, one sentence each; see ``PinFileEdit/shortages``.
    public let shortages: [String]

    /// Compares two files.
    /// - Parameters:
    ///   - old: the file that clients have.
    ///   - new: the file that they get.
    public init(from old: PinFileDocument, to new: PinFileDocument) {
        changes = PinFileChanges.words(from: old.file, to: new.file) + Self.fields(old, new)
        shortages = PinFileChanges.shortages(from: old.file, to: new.file)
    }

    /// What differs in fields that this version does not know.
    private static func fields(_ old: PinFileDocument, _ new: PinFileDocument) -> [String] {
        func lines(_ document: PinFileDocument, _ other: PinFileDocument, _ what: String) -> [String] {
            document.fields.filter { !other.fields.contains($0) }
                .map { "\($0.path): a field that this version does not know \(what)" }
        }
        return lines(new, old, "is added, or differs") + lines(old, new, "was there before, or differs")
    }
}
