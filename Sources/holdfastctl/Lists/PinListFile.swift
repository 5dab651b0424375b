import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// A signed list in a file. One command at a time changes it, and replaces it as a whole.
struct PinListFile {
    let path: String
    /// The file that is written; `-` for standard output.
    let destination: String

    /// The limits that clients have by default.
    private static let limits = DocumentLimits()

    /// - Parameter destination: where a changed list goes, if it does not replace the list itself.
    init(_ path: String, writing destination: String? = nil) {
        self.path = path
        self.destination = destination ?? path
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
    /// is. A list from standard input goes to standard output. What goes elsewhere is written in any case.
    /// - Parameters:
    ///   - key: the key that signed the existing list, and that signs the new one.
    ///   - creating: whether the file may be created.
    ///   - body: changes the entries and writes the document.
    func update(
        signedBy key: DocumentPublicKey, creating: Bool, _ body: (inout PinListDraft) throws -> Data
    ) throws -> ListChange {
        guard path != InputFile.standard, destination == path else {
            let change = try ListChange(of: try data(), named: path, signedBy: key, body)
            if destination == InputFile.standard {
                Output.standard.printAsIs(String(decoding: change.new, as: UTF8.self).trimmingCharacters(in: .newlines))
            } else {
                try WrittenFile.replace(LinkedFile.target(of: destination), with: change.new, path: destination)
            }
            return change
        }
        let file = try LinkedFile.target(of: path)
        let lock = try ChangeLock.on(file, for: path)
        defer { withExtendedLifetime(lock) {} }
        let isNew = !FileManager.default.fileExists(atPath: file.path)
        guard !isNew || creating else { throw CommandFailure(.unreadableFile, "\(path) cannot be read: no such file") }
        let old = isNew ? nil : try Self.data(of: file.path)
        let change = try ListChange(of: old, named: path, signedBy: key, body)
        if change.new != old { try WrittenFile.replace(file, with: change.new, path: path) }
        return change
    }

    /// What a change would make of the list, with nothing written.
    /// - Parameter creating: whether the file may be created.
    /// - Returns: the list as it is, or nil if there is none yet, and as it would be; nil if it may not be created.
    func preview(
        signedBy key: DocumentPublicKey, creating: Bool, at now: Date, _ body: (inout PinListDraft) throws -> Data
    ) throws -> (old: PublishedPins?, new: PublishedPins)? {
        let isThere = path == InputFile.standard || FileManager.default.fileExists(atPath: path)
        guard isThere || creating else { return nil }
        // What is not a list is refused as the change itself refuses it.
        let old = path == InputFile.standard ? try data() : isThere ? try Self.data(of: path) : nil
        return try ListChange(of: old, named: path, signedBy: key, body)
            .versions(named: path, signedBy: key, at: now)
    }

    /// Where to report what was done: on standard error if standard output gets the list.
    var tells: Output {
        destination == InputFile.standard ? Output(usesColor: false, isForErrors: true) : Output.standard
    }
}
