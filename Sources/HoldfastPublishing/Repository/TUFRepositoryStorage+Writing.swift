import Foundation
import Holdfast

/// Writing a repository to any storage.
extension TUFRepositoryStorage {
    /// Writes the drafts of a state, and removes drafts that it no longer has.
    /// - Throws: ``TUFRepositoryError`` `storage`, `changedMeanwhile`.
    public func writeDrafts(_ state: TUFRepositoryState) async throws(TUFRepositoryError) {
        // Write the pin file first: targets that do not list the pin file next to them are refused.
        try await write(state.draftPins, to: TUFStoragePath.draftPins)
        try await write(state.draftTargets?.data, to: TUFStoragePath.draftTargets)
        try await write(state.draftRoot?.data, to: TUFStoragePath.draftRoot)
    }

    /// Writes a publication. Each object is written atomically and in order, so that clients find a repository that
    /// verifies at every moment. If the process is killed halfway, publish again: the next publication starts from the
    /// state that clients then get.
    ///
    /// Of two publications that were made from the same state, one is written; the other fails before clients notice
    /// it.
    /// - Throws: ``TUFRepositoryError`` `changedMeanwhile` if something else was published since the publication was
    ///   made; `storage`.
    public func write(_ publication: TUFPublication) async throws(TUFRepositoryError) {
        try await requireUnchanged(publication)
        try await writeReplaced(by: publication)
        for object in publication.objects {
            try await write(
                object.data, to: TUFStoragePath.served(object.path), insteadOf: publication.replaced[object.path])
        }
        if publication.includesDrafts { try await writeDrafts(publication.state) }
    }

    /// Writes an object, regardless of its current content.
    package func write(_ object: TUFPublication.Object) async throws(TUFRepositoryError) {
        try await write(object.data, to: TUFStoragePath.served(object.path))
    }

    /// Checks before the first write that no other publication took place.
    private func requireUnchanged(_ publication: TUFPublication) async throws(TUFRepositoryError) {
        let name = TUFStoragePath.timestampName
        let now = try await read(TUFStoragePath.timestamp, atMost: TUFMetadataFile.maximumBytes)
        guard now != publication.replaced[name], now != publication.objects.first(where: { $0.path == name })?.data
        else { return }
        throw TUFRepositoryError(
            .changedMeanwhile, of: "timestamp.json", expected: "the timestamp that was published before",
            found: "another: somebody else has published")
    }
}
