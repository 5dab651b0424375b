public import Foundation
import Holdfast

/// Support for repositories that are served from an object store or a CDN instead of the folder itself.
extension TUFRepositoryStorage {
    /// Lists the required content of an object store: everything that clients of any age need from the published
    /// repository. An upload skips objects that already exist.
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
                .wrongPlace, expected: "a published repository in \(name)", found: "nothing that is published",
                remedy: "Publish first.")
        }
        try await verify(at: time)
        guard let bundle = try await publishedBundle() else {
            throw TUFRepositoryError(
                .refusedByClients, expected: TUFStoragePath.bundleName, found: "no \(TUFStoragePath.bundleName)")
        }
        let roots = live.roots.map { TUFPublication.Object.metadata("\($0.version).root.json", $0) }
        var objects = Array(roots.prefix(1))
        objects.append(.pins(live.pins))
        objects.append(.metadata("\(live.targets.version).targets.json", live.targets))
        objects.append(.metadata("\(live.snapshot.version).snapshot.json", live.snapshot))
        objects.append(.timestamp(live.timestamp))
        objects += roots.dropFirst()
        objects.append(TUFPublication.Object(path: TUFStoragePath.bundleName, data: bundle, isImmutable: false))
        return TUFUploadPlan(objects, replacing: try await replaced().files)
    }

    /// Lists the objects that a publication would write, with the headers and preconditions for an object store.
    /// - Throws: ``TUFRepositoryError`` `damaged`, `storage`.
    public func uploadPlan(of publication: TUFPublication) async throws(TUFRepositoryError) -> TUFUploadPlan {
        TUFUploadPlan(publication.objects, replacing: try await replaced().files.replacing(publication))
    }

    /// Records the files that a publication replaces. This is done first, so that nothing is lost if the process is
    /// killed.
    func writeReplaced(by publication: TUFPublication) async throws(TUFRepositoryError) {
        let (before, data) = try await replaced()
        let after = before.replacing(publication)
        guard after != TUFReplacedFiles() else { return }
        try await write(try after.json(), to: TUFStoragePath.replaced, insteadOf: data)
    }

    private func replaced() async throws(TUFRepositoryError) -> (files: TUFReplacedFiles, data: Data?) {
        let path = TUFStoragePath.replaced
        guard let data = try await read(path, atMost: TUFReplacedFiles.maximumBytes) else {
            return (TUFReplacedFiles(), nil)
        }
        return (try TUFReplacedFiles(data, named: path), data)
    }
}

extension TUFReplacedFiles {
    fileprivate func replacing(_ publication: TUFPublication) -> TUFReplacedFiles {
        var all = self
        for object in publication.objects where !object.isImmutable {
            if let old = publication.replaced[object.path] { all.add(old, at: object.path) }
        }
        return all
    }
}
