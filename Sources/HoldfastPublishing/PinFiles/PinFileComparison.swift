public import Foundation
import Holdfast

/// What differs between two pin files, and what that does to clients.
public struct PinFileComparison: Sendable, Hashable {
    /// One sentence for each difference, in the order of the new file; empty if clients read both alike.
    public let changes: [String]
    /// What may go wrong for clients, those risks that lock them out first.
    public let risks: [PinFileRisk]

    /// Compares two files.
    /// - Parameters:
    ///   - old: the file that clients have.
    ///   - new: the file that they get.
    ///   - now: the time from which on they use it.
    public init(from old: PinFileDocument, to new: PinFileDocument, at now: Date) {
        changes = PinFileChanges.words(from: old.file, to: new.file) + Self.fields(old, new)
        risks = PinFileRisk.risks(from: old.file, to: new.file, at: now)
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
