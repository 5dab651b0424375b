public import Foundation
import Holdfast

/// Trusted metadata as of the time at which its update began; use it to look up targets and download them.
public struct TUFUpdate: Sendable {
    let context: UpdateContext
    let root: RootMetadata
    let snapshot: SnapshotMetadata
    let targets: TargetsMetadata

    /// Looks up a target (section 5.6.7). The search downloads the metadata of delegated roles.
    /// - Parameter name: the target's name, exactly as the metadata lists it.
    /// - Throws: ``TUFError``; `unknownTarget` if no role that is responsible for the target lists it, `malformed` if the
    ///   role that lists it gives no SHA-256, SHA-384 or SHA-512.
    public func target(_ name: String) async throws(TUFError) -> TUFTarget {
        try await TargetSearch(update: self, name: try TargetName(name)).found(name)
    }

    /// Downloads a target into memory, and verifies its length and hashes (section 5.7).
    /// - Throws: ``TUFError``.
    public func data(of target: TUFTarget) async throws(TUFError) -> Data {
        let download = download(of: target)
        let file = try download.file()
        guard let data = try await context.fetch(file, of: target.quotedName, atMost: try download.limit()) else {
            throw TUFError(
                .unavailable, of: target.quotedName, section: "5.7", expected: "the file \(file.path)", found: "none")
        }
        try download.verify([UInt8](data))
        return data
    }

    /// Downloads a target into a folder, unless the folder already has it (section 5.7).
    /// - Parameters:
    ///   - target: the target. Its name, percent-encoded as one path component, becomes the name of the file.
    ///   - folder: created if it does not exist.
    /// - Returns: the URL of the file.
    /// - Throws: ``TUFError``. In that case the file that was there before is unchanged.
    @discardableResult
    public func download(_ target: TUFTarget, into folder: URL) async throws(TUFError) -> URL {
        let download = download(of: target)
        let file = folder.appending(path: QuotedName.file(Array(target.name.utf8)))
        if let kept = try? AtomicFile.readIfRegular(file, maximumBytes: try download.limit()),
            (try? download.verify([UInt8](kept))) != nil
        {
            return file
        }
        let data = try await data(of: target)
        do {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try AtomicFile.replace(
                file, with: data, temporaryName: ".tuf-\(ProcessInfo.processInfo.processIdentifier)-\(UUID()).new")
        } catch {
            throw TUFError(
                .storage, of: target.quotedName, expected: "a file that can be replaced",
                found: ForeignErrorText.found(error))
        }
        return file
    }

    private func download(of target: TUFTarget) -> TargetDownload {
        TargetDownload(
            target: target, consistentSnapshot: root.consistentSnapshot, settings: context.settings)
    }
}
