import Foundation
import Holdfast
import HoldfastPublishing

/// Reads back what a program says it has uploaded, as clients of each format find it at the public address: what a
/// program says is no evidence.
struct PlaceReader: Sendable {
    private let place: Place
    private let address: PublicPlace
    /// What clients verify a list with; nil if the app has none.
    private let key: Catalog.Key?

    init(_ place: Place, _ reader: any RemoteDataProvider, _ key: Catalog.Key?) {
        self.place = place
        address = .address(place.url, reader)
        self.key = key
    }

    /// Requires that clients find everything.
    /// - Throws: ``ServerError`` `gate` for another document, for none, and for one that clients refuse; `file` if the
    ///   address does not answer.
    func read(_ plan: PlacePlan, of app: AppName) async throws(ServerError) {
        for item in plan.items { try await read(item.document) }
        let hasRepository = plan.items.contains { item in
            RepositoryPath.isServed(item.document.path, by: app) && !item.document.isWithdrawn
        }
        guard hasRepository else { return }
        let repository = PublicRepositoryPlace(place: address, app: app)
        try await RepositoryFiles.translating(.gate, of: repository.name) { () throws(TUFRepositoryError) in
            // From the first root on, as an app that was just installed.
            _ = try await repository.state(includingDrafts: false)
        }
    }

    private func read(_ document: Catalog.StoredDocument) async throws(ServerError) {
        let found = try await address.read(document.path)
        let subject = "\(document.path) at \(place.url.absoluteString)"
        guard !document.isWithdrawn else {
            guard found == nil else {
                throw ServerError(
                    .gate, of: subject, expected: "nothing", found: "a document that is no longer published",
                    remedy: "Let the program remove what the plan lists as removed.")
            }
            return
        }
        guard let found, found == document.octets else {
            throw ServerError(
                .gate, of: subject, expected: "the document that was uploaded",
                found: found == nil ? "none" : "another",
                remedy: "Look at what the program uploads, and at caches before the address.")
        }
        guard document.path.utf8.starts(with: "lists/".utf8), let key else { return }
        _ = try ServerError.translating(.gate, of: subject) { () throws(DocumentError) in
            try FingerprintList(
                verifying: Data(found), with: DocumentPublicKey(base64: Base64.encode(key.publicKey.suffix(65))))
        }
    }
}
