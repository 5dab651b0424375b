import Foundation
import Holdfast
import HoldfastPublishing
import HostMonitoring
import PinChanges
import ServerFoundation
import ServerModel
import ServerStore

/// Reads documents back from the public address, as clients of each format find them. A program's claim to have
/// uploaded them is no evidence, and a web server may serve another folder.
struct PublicReader: Sendable {
    let app: AppName
    /// The address below which clients find documents.
    let url: URL
    let reader: any RemoteDataProvider
    /// The clients of the publication and of the canary.
    let clients: [DocumentClient]
    /// The build of the apps.
    let build: ClientBuild
    /// The first root that apps with the repository ship with; nil if it does not exist.
    let root: [UInt8]?
    /// The application whose pins clients accept; nil if no repository is published.
    let application: String?

    private static let patience: Duration = .seconds(20)

    private var place: PublicPlace { .address(url, reader) }

    /// Whether a document is a file of the repository, which clients follow as a whole.
    func isOfRepository(_ document: Catalog.StoredDocument) -> Bool {
        RepositoryPath.isServed(document.path, by: app) && !document.isWithdrawn
    }

    /// Requires that clients find a document, and accept it. ``readRepository()`` checks a repository as a whole.
    /// - Throws: ``ServerError`` `gate` for another or a missing document, and for one that clients refuse; `file` if
    ///   the address does not answer.
    func read(_ document: Catalog.StoredDocument) async throws(ServerError) {
        let found = try await inTime(document.path) { [place] () async throws(ServerError) in
            try await place.read(document.path)
        }
        let subject = self.subject(document.path)
        guard !document.isWithdrawn else {
            guard found == nil else {
                throw ServerError(
                    .gate, of: subject, expected: "nothing", found: "a document that is no longer published",
                    remedy: "Let what writes there remove what is no longer published.")
            }
            return
        }
        guard let found, found == document.bytes else {
            throw ServerError(
                .gate, of: subject, expected: "the document that was written", found: found == nil ? "none" : "another",
                remedy: "Look at what is written there, and at caches before the address.")
        }
        for client in clients where client.path?.utf8.elementsEqual(document.path.utf8) == true {
            try await start(client, subject)
        }
    }

    /// Requires that clients can follow the repository from its first root on, as a newly installed app does.
    /// - Throws: as ``read(_:)``.
    func readRepository() async throws(ServerError) {
        let repository = PublicRepositoryPlace(place: place, app: app)
        try await inTime(repository.name) { () async throws(ServerError) in
            try await RepositoryFiles.translating(.gate, of: repository.name) { () throws(TUFRepositoryError) in
                _ = try await repository.state(includingDrafts: false)
            }
        }
        guard let root else { return }
        let folder = "repo/\(app)"
        let client = DocumentClient(
            kind: .repository(folder: folder, root: root, application: application),
            name: "apps that follow the repository \(folder)")
        try await start(client, subject("\(folder)/\(RepositoryPath.bundle)"))
    }

    private func start(_ client: DocumentClient, _ subject: String) async throws(ServerError) {
        try await inTime(subject) { [build] () async throws(ServerError) in
            do throws(ClientFailure) {
                _ = try await client.started(build, dialing: [])
            } catch {
                throw ServerError(
                    .gate, of: subject, expected: "a document that clients take",
                    found: "that \(client.name) do not: \(error.words)",
                    remedy: "Look at what is written there, and at caches before the address.")
            }
        }
    }

    private func subject(_ path: String) -> String { "\(path) at \(url.absoluteString)" }

    /// A silent web server must not block other work.
    private func inTime<Value: Sendable>(
        _ subject: String, _ body: @escaping @Sendable () async throws(ServerError) -> Value
    ) async throws(ServerError) -> Value {
        let result = await Deadline.value(within: Self.patience) { () -> Result<Value, ServerError> in
            do throws(ServerError) { return .success(try await body()) } catch { return .failure(error) }
        }
        guard let result else {
            throw ServerError(
                .file, of: subject, expected: "an answer within \(Self.patience)", found: "none",
                remedy: "Try again when the address answers.")
        }
        return try result.get()
    }
}

extension Publisher {
    /// Makes the reader of an app's documents at an address.
    /// - Throws: ``ServerError``.
    func publicReader(of app: AppName, at url: URL) async throws(ServerError) -> PublicReader {
        let scene = try await catalog.scene(of: app)
        var clients = scene.published.map { DocumentClient.all(of: $0, for: .everybody) } ?? []
        let held: Content?
        if let canary = scene.canary {
            held = try await catalog.change(canary.change).content
        } else {
            held = scene.published
        }
        if let held { clients += DocumentClient.all(of: held, for: .canary) }
        let path = RepositoryPath.prefix(of: app) + RepositoryPath.firstRoot
        let root = try await catalog.look { session, ledger throws(ServerError) in
            try Catalog.document(path, of: app, session, ledger)
        }
        return PublicReader(
            app: app, url: url, reader: reader, clients: clients,
            build: ClientBuild(scene.keys, asking: url, reader, at: scene.now), root: root?.bytes,
            application: scene.published?.repository?.application(of: app))
    }
}
