public import Foundation
import Holdfast

/// Support for repositories that are served from an object store or a CDN instead of the folder itself.
extension TUFRepositoryFolder {
    private var replacedFile: URL { folder.appending(path: "replaced.json") }

    /// Lists what an object store has to contain: everything that clients of any age need from the published
    /// repository. An upload skips what is there already.
    ///
    /// Objects are in the order of a publication. If the store has the publication before this one, it verifies after
    /// each object. Upload after each publication: a store that is several publications behind verifies only before and
    /// after the upload.
    /// - Parameter time: the current time.
    /// - Throws: ``TUFRepositoryError``; `refusedByClients` if clients would not accept the published repository,
    ///   `outOfStep` if the bundle and the files differ, `wrongPlace` if nothing is published, `damaged`, `storage`.
    public func uploadPlan(at time: Date) async throws(TUFRepositoryError) -> TUFUploadPlan {
        let state = try await state()
        guard let live = state.live else {
            throw TUFRepositoryError(
                .wrongPlace, expected: "a published repository in \(folder.path)", found: "nothing that is published",
                remedy: "Publish first.")
        }
        try await verify(at: time)
        guard let bundle = try read(published.appending(path: Self.bundleName), atMost: Self.maximumBundle) else {
            throw TUFRepositoryError(.refusedByClients, expected: Self.bundleName, found: "no \(Self.bundleName)")
        }
        let roots = live.roots.map { TUFPublication.Object.metadata("\($0.version).root.json", $0) }
        var objects = Array(roots.prefix(1))
        objects.append(.pins(live.pins))
        objects.append(.metadata("\(live.targets.version).targets.json", live.targets))
        objects.append(.metadata("\(live.snapshot.version).snapshot.json", live.snapshot))
        objects.append(.timestamp(live.timestamp))
        objects += roots.dropFirst()
        objects.append(TUFPublication.Object(path: Self.bundleName, data: bundle, isImmutable: false))
        return TUFUploadPlan(objects, replacing: try replaced())
    }

    /// Lists what a publication would write, with the headers and preconditions for an object store.
    /// - Throws: ``TUFRepositoryError`` `damaged`, `storage`.
    public func uploadPlan(of publication: TUFPublication) throws(TUFRepositoryError) -> TUFUploadPlan {
        TUFUploadPlan(publication.objects, replacing: try replaced(by: publication))
    }

    /// Remembers the files that a publication replaces. This happens first, so that nothing is forgotten if the process
    /// is killed.
    func writeReplaced(by publication: TUFPublication) throws(TUFRepositoryError) {
        let replaced = try replaced(by: publication)
        guard replaced != TUFReplacedFiles() else { return }
        do {
            try write(try replaced.json(), to: replacedFile)
        } catch let error as TUFRepositoryError {
            throw error
        } catch {
            throw Self.failure(error, replacedFile)
        }
    }

    private func replaced(by publication: TUFPublication) throws(TUFRepositoryError) -> TUFReplacedFiles {
        var replaced = try replaced()
        for object in publication.objects where !object.isImmutable {
            let file = published.appending(path: object.path)
            if let old = try read(file, atMost: Self.maximumBundle) { replaced.add(old, at: object.path) }
        }
        return replaced
    }

    private func replaced() throws(TUFRepositoryError) -> TUFReplacedFiles {
        guard let data = try read(replacedFile, atMost: TUFReplacedFiles.maximumBytes) else {
            return TUFReplacedFiles()
        }
        return try TUFReplacedFiles(data, named: replacedFile.lastPathComponent)
    }
}
