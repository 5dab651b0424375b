import Foundation
import Holdfast
import HoldfastSigning
import Synchronization

/// What clients of an audience get, for clients that run in this process: documents at the public address, or from the
/// folder where there is none, and answers to challenges as the public listener gives them. It remembers what they got.
final class AudienceDocuments: RemoteDataProvider {
    /// The name under which they ask.
    private let app: AppName
    /// The address below which everybody finds the folder; nil if nobody has said.
    private let address: URL?
    private let reader: any RemoteDataProvider
    private let folder: PublicFolder
    private let live: LiveSnapshot
    /// In seconds since 1970.
    private let now: Int64
    /// What was found, by its address.
    private let found = Mutex<[String: Digest]>([:])

    init(
        of app: AppName, at address: URL?, _ reader: any RemoteDataProvider, or folder: PublicFolder,
        _ live: LiveSnapshot, now: Int64
    ) {
        (self.app, self.address, self.reader, self.folder) = (app, address, reader, folder)
        (self.live, self.now) = (live, now)
    }

    /// The address to give clients: without a public one, one that never leaves this process.
    var base: URL {
        var local = URLComponents()
        (local.scheme, local.host, local.path) = ("https", "localhost", "/")
        return address ?? local.url ?? folder.url
    }

    /// Whether clients have found what the server serves now at a path, and not something that was there before.
    func haveFound(_ path: String) -> Bool {
        let digest = found.withLock { $0[base.appending(path: path).absoluteString] }
        return digest != nil && digest == live.current.document(at: path.utf8)?.digest
    }

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        if let header = request.headers[Challenge.header] {
            guard let challenge = Challenge(header) else { throw RemoteDataError(status: 403) }
            return try await answer(to: challenge)
        }
        let response = try await document(for: request)
        if case .body(let body) = response.content {
            found.withLock { $0[request.url.absoluteString] = Digest(of: body) }
        }
        return response
    }

    private func document(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        if address != nil { return try await reader.data(for: request) }
        guard let octets = try folder.read(String(request.url.path.dropFirst())) else {
            throw RemoteDataError(status: 404)
        }
        guard octets.count <= request.maximumBytes else {
            throw RemoteDataError(
                .tooLarge, expected: "at most \(request.maximumBytes) bytes", found: "\(octets.count)")
        }
        return RemoteDataResponse(.body(Data(octets)))
    }

    private func answer(to challenge: Challenge) async throws -> RemoteDataResponse {
        guard let app = live.current.apps[app] else { throw RemoteDataError(status: 404) }
        guard let key = app.key, now <= app.content.end else { throw RemoteDataError(status: 503) }
        let body = app.answer(at: now)
        // A program may sign it.
        let signature = await ProgramThreads.run { () -> [UInt8]? in
            try? key.signature(for: challenge.signedOctets(body))
        }
        guard let signature else { throw RemoteDataError(status: 503) }
        return RemoteDataResponse(
            .body(Data(body)), headers: [Challenge.signatureHeader: Base64.encode(signature)])
    }
}
