public import Foundation
import Holdfast

/// Repositories that are not served from the folder itself, but from an object store or a CDN.
extension TUFRepositoryFolder {
    private var replacedFile: URL { folder.appending(path: "replaced.json") }

    /// Says how what is published gets to an object store: everything that clients of every age need of it. What is there
    /// already is not uploaded again.
    ///
    /// Objects are in the order of a publication, so that a store that holds the publication before verifies after each
    /// of them. Upload after each publication: a store that is several behind verifies before and after.
    /// - Parameter time: the current time.
    /// - Throws: ``TUFRepositoryError`` `refusedByClients` where clients would not take what is published, `wrongPlace`
    ///   where nothing is, `damaged`, `storage`.
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

    /// Says what a publication would write, with the headers and preconditions of an object store.
    /// - Throws: ``TUFRepositoryError`` `damaged`, `storage`.
    public func uploadPlan(of publication: TUFPublication) throws(TUFRepositoryError) -> TUFUploadPlan {
        TUFUploadPlan(publication.objects, replacing: try replaced(by: publication))
    }

    /// Remembers what a publication replaces, before it does: a process that is killed in between has forgotten nothing.
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
