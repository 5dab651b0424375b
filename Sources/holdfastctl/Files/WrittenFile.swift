import Foundation
import Holdfast
import HoldfastOutput

/// Writes documents to files that arguments name: whole, or not at all.
enum WrittenFile {
    /// Replaces a file, or creates it. The links of its path stay. An existing file keeps its mode and owner, so that a
    /// web server that reads it through its group can still do so. A new one is world-readable, because documents are
    /// public.
    /// - Parameters:
    ///   - file: where the links of `path` lead to.
    ///   - path: the file's name for messages.
    static func replace(_ file: URL, with document: Data, path: String) throws(CommandFailure) {
        let old = try? FileManager.default.attributesOfItem(atPath: file.path)
        let isFile = old?[.type] as? FileAttributeType == .typeRegular
        guard old == nil || isFile else {
            throw CommandFailure(.unwritableFile, "\(path) cannot be written: it is no regular file")
        }
        let mode = isFile ? (old?[.posixPermissions] as? NSNumber)?.intValue : nil
        var owner: (user: UInt32, group: UInt32)?
        if isFile, let user = old?[.ownerAccountID] as? NSNumber, let group = old?[.groupOwnerAccountID] as? NSNumber {
            owner = (user.uint32Value, group.uint32Value)
        }
        do {
            // Two programs that write the same file without a lock need two names.
            try AtomicFile.replace(
                file, with: document, temporaryName: ".\(file.lastPathComponent).\(getpid()).new",
                permissions: mode ?? 0o644, owner: owner)
        } catch {
            let folder = file.deletingLastPathComponent().path
            let reason =
                FileManager.default.fileExists(atPath: folder)
                ? AtomicFile.reason(error, at: path) : "there is no folder \(folder)"
            throw CommandFailure(.unwritableFile, "\(path) cannot be written: \(reason)")
        }
    }
}
