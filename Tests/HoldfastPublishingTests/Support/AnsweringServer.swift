import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting

/// Answers challenges of clients with the same entries, signed as a whole.
struct AnsweringServer: RemoteDataProvider {
    let key: SigningKey
    let entries: [FingerprintEntry]
    let time: Date

    func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse {
        let answer = try ChallengeSigner(key: key).answer(
            to: request.headers["X-Cert-Pinning-Challenge"], entries: entries, at: time)
        return RemoteDataResponse(.body(answer.body), headers: ["X-Cert-Pinning-Signature": answer.signature])
    }

    /// The answer that clients would get now, as a document of an outlook.
    func document(published: Date) throws -> PublicationOutlook.Document {
        let challenge = Data(repeating: 7, count: 16).base64EncodedString()
        let answer = try ChallengeSigner(key: key).answer(to: challenge, entries: entries, at: time)
        return .init(
            "answer",
            kind: .challengedList(
                publicKey: try key.publicKey.base64, challenge: challenge, signature: answer.signature),
            octets: answer.body, published: published)
    }

    /// A client that sends challenges.
    func client(clock: ManualClock) throws -> CertStore {
        var configuration = CertStoreConfiguration(
            serviceURL: URL(filePath: "/").appending(path: "document"), publicKey: try key.publicKey.base64)
        configuration.useChallenge = true
        return try CertStore(
            checking: configuration, secureDataStore: InMemoryDataStore(), remoteDataProvider: self, clock: clock,
            logger: RecordingLog().logger)
    }
}
