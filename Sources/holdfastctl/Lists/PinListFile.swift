import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// A signed list in a file. One command at a time changes it, and replaces it as a whole.
struct PinListFile {
    /// What a change did.
    struct Change {
        let before: [FingerprintEntry]
        let after: [FingerprintEntry]
        /// Whether there was no file before.
        let isNew: Bool
    }

    let path: String

    /// The limits that clients have by default.
    private static let limits = DocumentLimits()

    init(_ path: String) {
        self.path = path
    }

    /// The content of the file, which need not be a list.
    func data() throws(CommandFailure) -> Data {
        let data = try Self.data(of: path)
        try ForeignFile(data, path: path).refuse(wanting: .certificate)
        return data
    }

    private static func data(of path: String) throws(CommandFailure) -> Data {
        // One byte more than allowed, so that the reader of the list reports what is wrong.
        try KeyFile.content(of: path, maximumBytes: limits.bytes + 1)
    }

    /// Reads the list, lets `body` change it, and writes it if it differs. If there is any error, the file stays as it
    /// is.
    /// - Parameters:
    ///   - key: the key that signed the existing list, and that signs the new one.
    ///   - creating: whether the file may be created.
    ///   - body: changes the entries and writes the document.
    func update(
        signedBy key: DocumentPublicKey, creating: Bool, _ body: (inout PinListDraft) throws -> Data
    ) throws -> Change {
        guard path != InputFile.standard else { return try filter(signedBy: key, body) }
        let file = try LinkedFile.target(of: path)
        let lock = try ChangeLock.on(file, for: path)
        defer { withExtendedLifetime(lock) {} }
        let isNew = !FileManager.default.fileExists(atPath: file.path)
        guard !isNew || creating else { throw CommandFailure(.unreadableFile, "\(path) is not there") }
        let old = isNew ? nil : try Self.data(of: file.path)
        var draft = PinListDraft()
        if let old { draft = try read(old, signedBy: key) }
        let before = draft.entries
        let document = try body(&draft)
        try check(document, key)
        if document != old { try WrittenFile.replace(file, with: document, path: path) }
        return Change(before: before, after: draft.entries, isNew: isNew)
    }

    /// What a change would make of the list, with nothing written.
    /// - Returns: the list as it is, and as it would be; nil if there is none yet.
    func preview(
        signedBy key: DocumentPublicKey, at now: Date, _ body: (inout PinListDraft) throws -> Data
    ) throws -> (old: PublishedPins, new: PublishedPins)? {
        guard path == InputFile.standard || FileManager.default.fileExists(atPath: path) else { return nil }
        let old = try data()
        var draft = try read(old, signedBy: key)
        let new = try body(&draft)
        try check(new, key)
        return try CommandFailure.rethrowing { () throws(PublishingError) in
            (
                try PublishedPins(list: old, named: path, key: key, at: now),
                try PublishedPins(list: new, named: "the new list", key: key, at: now)
            )
        }
    }

    /// Changes a list from standard input, and writes it to standard output.
    private func filter(
        signedBy key: DocumentPublicKey, _ body: (inout PinListDraft) throws -> Data
    ) throws -> Change {
        var draft = try read(try data(), signedBy: key)
        let before = draft.entries
        let document = try body(&draft)
        try check(document, key)
        Output.standard.printAsIs(String(decoding: document, as: UTF8.self).trimmingCharacters(in: .newlines))
        return Change(before: before, after: draft.entries, isNew: false)
    }

    /// Where to report what was done: on standard error if standard output gets the list.
    var tells: Output { path == InputFile.standard ? Output(usesColor: false, isForErrors: true) : Output.standard }

    private func read(_ data: Data, signedBy key: DocumentPublicKey) throws -> PinListDraft {
        do {
            return try PinListDraft(reading: data, signedBy: key)
        } catch let error as DocumentError {
            throw CommandFailure(.invalidList, "\(path) is left as it is: \(error)")
        } catch let error as SigningError {
            throw CommandFailure(.invalidList, "\(path) is left as it is: \(error)")
        }
    }

    /// Checks the list as a client does, so that no list is published that clients would refuse.
    private func check(_ document: Data, _ key: DocumentPublicKey) throws {
        let list: FingerprintList
        do throws(DocumentError) {
            list = try FingerprintList(verifying: document, with: key, limits: Self.limits)
        } catch {
            throw CommandFailure(.invalidList, "\(path) is left as it is: clients would refuse it: \(error)")
        }
        guard !list.entries.isEmpty else {
            throw CommandFailure(
                .invalidList, "\(path) is left as it is: clients refuse a list without entries. Sign new ones first.")
        }
    }
}
