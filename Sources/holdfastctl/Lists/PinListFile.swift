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
        // One byte more than allowed, so that the reader of the list reports the error.
        try KeyFile.content(of: path, maximumBytes: limits.bytes + 1)
    }

    /// Reads the list, lets `body` change it, and writes it if it differs. If there is any error, the file stays as it
    /// is. A list from standard input goes to standard output. A list with another destination is always written.
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

    /// The result of a change of the list, without writing it.
    /// - Parameter creating: whether the file may be created.
    /// - Returns: the current list, or nil if it does not exist, and the changed one; nil if it may not be created.
    func preview(
        signedBy key: DocumentPublicKey, creating: Bool, at now: Date, _ body: (inout PinListDraft) throws -> Data
    ) throws -> (old: PublishedPins?, new: PublishedPins)? {
        let isThere = path == InputFile.standard || FileManager.default.fileExists(atPath: path)
        guard isThere || creating else { return nil }
        // Input that is not a list is refused in the same way as by the change itself.
        let old = path == InputFile.standard ? try data() : isThere ? try Self.data(of: path) : nil
        return try ListChange(of: old, named: path, signedBy: key, body)
            .versions(named: path, signedBy: key, at: now)
    }

    /// The output for reports: standard error if the list goes to standard output.
    var tells: Output {
        destination == InputFile.standard ? Output(usesColor: false, isForErrors: true) : Output.standard
    }
}
