import Foundation
import Holdfast
import HoldfastSigning
import PinChanges
import ServerFoundation
import ServerModel
import Synchronization

/// Provides the documents of a release channel to clients that run in this process. Documents come from the public
/// address, or from the folder without one. Answers to challenges come from the address that apps query, or are made as
/// by the public listener. Records the results.
final class ReleaseChannelDocuments: RemoteDataProvider {
    /// The name that clients request.
    private let app: AppName
    /// The public address of the folder; nil if it is not configured.
    private let address: URL?
    /// The address below which challenges are sent; nil if no listener can be queried.
    private let answers: URL?
    /// Sends challenges to that address.
    private let asker: any RemoteDataProvider
    private let reader: any RemoteDataProvider
    private let folder: PublicFolder
    private let live: LiveSnapshot
    /// In seconds since 1970.
    private let now: Int64
    /// The digests of the found documents, by address.
    private let found = Mutex<[String: Digest]>([:])
    /// Whether a challenge got the current answer of the server.
    private let isAnswered = Mutex(false)

    /// - Parameters:
    ///   - app: the name that clients request.
    ///   - address: the public address of the folder and of challenge answers; nil if it is not configured.
    ///   - publisher: the publisher that serves.
    ///   - now: the time, in seconds since 1970.
    init(of app: AppName, at address: FolderAddress?, from publisher: Publisher, now: Int64) {
        let own = address?.answers == nil ? publisher.listener.way : nil
        (self.app, self.address, self.answers) = (app, address?.url, address?.answers ?? own?.url)
        asker = own?.reader ?? publisher.reader
        (reader, folder, live, self.now) = (publisher.reader, publisher.folder, publisher.live, now)
    }

    /// The address for clients; without a public one, an address that never leaves this process.
    var base: URL {
        var local = URLComponents()
        (local.scheme, local.host, local.path) = ("https", "localhost", "/")
        return address ?? local.url ?? folder.url
    }

    /// Whether a client has found the document that the server serves now, not an older one.
    func hasFound(_ client: DocumentClient) -> Bool {
        guard let path = client.path else { return isAnswered.withLock { $0 } }
        let digest = found.withLock { $0[base.appending(path: path).absoluteString] }
        return digest != nil && digest == live.current.document(at: path.utf8)?.digest
    }

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        if let header = request.headers[Challenge.header] {
            guard let answers else {
                guard let challenge = Challenge(header) else { throw RemoteDataError(status: 403) }
                return try await answer(to: challenge)
            }
            var request = request
            request.url = DocumentClient.challengeAddress(below: answers, of: "\(app)")
            let response = try await asker.data(for: request)
            if case .body(let body) = response.content { isAnswered.withLock { $0 = isCurrent(body) } }
            return response
        }
        let response = try await document(for: request)
        if case .body(let body) = response.content {
            found.withLock { $0[request.url.absoluteString] = Digest(of: body) }
        }
        return response
    }

    private func document(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        if address != nil { return try await reader.data(for: request) }
        guard let bytes = try folder.read(String(request.url.path.dropFirst())) else {
            throw RemoteDataError(status: 404)
        }
        guard bytes.count <= request.maximumBytes else {
            throw RemoteDataError(
                .tooLarge, expected: "at most \(request.maximumBytes) bytes", found: "\(bytes.count)")
        }
        return RemoteDataResponse(.body(Data(bytes)))
    }

    private func answer(to challenge: Challenge) async throws -> RemoteDataResponse {
        guard let app = live.current.apps[app] else { throw RemoteDataError(status: 404) }
        guard let key = app.key, now <= app.content.end else { throw RemoteDataError(status: 503) }
        let body = app.answer(at: now)
        // A program may sign it.
        let signature = await ProgramThreads.run { () -> [UInt8]? in
            try? key.signature(for: challenge.signedBytes(body))
        }
        guard let signature else { throw RemoteDataError(status: 503) }
        isAnswered.withLock { $0 = true }
        return RemoteDataResponse(
            .body(Data(body)), headers: [Challenge.signatureHeader: Base64.encode(signature)])
    }

    /// Whether an answer matches the current one, except for the time, which is its first member.
    private func isCurrent(_ body: Data) -> Bool {
        guard let app = live.current.apps[app] else { return false }
        let comma = UInt8(ascii: ",")
        return body.drop { $0 != comma }.elementsEqual(app.answer(at: now).drop { $0 != comma })
    }
}
