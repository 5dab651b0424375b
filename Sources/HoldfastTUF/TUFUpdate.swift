public import Foundation
import Holdfast

/// Trusted metadata as of the time at which its update began; use it to look up targets and download them.
public struct TUFUpdate: Sendable {
    let context: UpdateContext
    let root: RootMetadata
    let snapshot: SnapshotMetadata
    let targets: TargetsMetadata

    /// Looks up a target (section 5.6.7), and downloads the metadata of the delegated roles on the way.
    /// - Throws: ``TUFError``; `unknownTarget` if no role that is responsible for it lists it.
    public func target(_ name: String) async throws(TUFError) -> TUFTarget {
        try await TargetSearch(update: self, name: try TargetName(name)).found(name)
    }

    /// Downloads a target (section 5.7).
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

    /// Downloads a target into a folder, unless the target is already there.
    /// - Parameters:
    ///   - target: whose name, percent-encoded as one component, becomes the name of the file.
    ///   - folder: created if it does not exist.
    /// - Returns: the file.
    /// - Throws: ``TUFError``; in that case what was there before stays.
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
