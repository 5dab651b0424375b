import Crypto
import Foundation
import FoundationNetworking
import HoldfastCompatibility
import HoldfastTesting
import Security
import Testing

@testable import Holdfast

/// WultraSSLPinning's evaluation of a challenge, in each of its forms.
@Suite("Challenges judged by a store")
struct StoreChallengeTests {
    private typealias Result = CertStore.ValidationResult

    /// Serves a list with one signed entry.
    private struct Server: RemoteDataProvider {
        let key = P256.Signing.PrivateKey()
        let list: Data

        init(pinning certificate: TestCertificate, of host: String) throws {
            let fingerprint = Data(Pin.certificate(certificate.der).digest).base64EncodedString()
            let expires = Int64(Date.now.timeIntervalSince1970) + 86_400
            let signature = try key.signature(for: Data("\(host)&\(fingerprint)&\(expires)".utf8)).derRepresentation
            let entry =
                #"{"name":"\#(host)","fingerprint":"\#(fingerprint)","expires":\#(expires),"#
                + #""signature":"\#(signature.base64EncodedString())"}"#
            list = Data(#"{"fingerprints":[\#(entry)]}"#.utf8)
        }

        func data(for request: RemoteDataRequest) async throws -> RemoteDataResponse { RemoteDataResponse(.body(list)) }
    }

    private func store(_ fixture: AppleFixture, clock: any WallClock = SystemWallClock()) throws -> CertStore {
        let server = try Server(pinning: fixture.leaf, of: fixture.host)
        let configuration = CertStoreConfiguration(
            serviceUrl: try #require(URL(string: "https://localhost/pins.json")),
            publicKey: server.key.publicKey.x963Representation.base64EncodedString())
        return CertStore(
            configuration: configuration, secureDataStore: InMemoryDataStore(), remoteDataProvider: server,
            clock: clock, logger: RecordingLog().logger)
    }

    /// The result for a completion handler, all of them should there be more than one.
    private func handed(_ store: CertStore, _ challenge: URLAuthenticationChallenge) async -> [Result] {
        let results = AsyncStream.makeStream(of: Result.self)
        final class Handler: Sendable {
            let results: AsyncStream<Result>.Continuation
            init(_ results: AsyncStream<Result>.Continuation) { self.results = results }
            deinit { results.finish() }
        }
        func ask() {
            let handler = Handler(results.continuation)
            store.validate(challenge: challenge) { handler.results.yield($0) }
        }
        ask()
        var all: [Result] = []
        for await result in results.stream { all.append(result) }
        return all
    }

    @Test("Both forms that need not block wait for a store's first pins; the one that may block does not")
    func waiting() async throws {
        let fixture = try AppleFixture()
        let challenge = fixture.challenge(fixture.secTrust())
        #expect(try store(fixture).validate(challenge: challenge) == .empty)
        #expect(try await store(fixture).validation(of: challenge) == .trusted)
        #expect(try await handed(store(fixture), challenge) == [.trusted])
    }

    @Test("No form trusts without a trust, for another method, or for what is no host")
    func refused() async throws {
        let fixture = try AppleFixture()
        let store = try store(fixture)
        try await store.update()
        for challenge in [
            fixture.challenge(nil), fixture.challenge(nil, method: NSURLAuthenticationMethodHTTPBasic),
            fixture.challenge(fixture.secTrust(), host: "a b"),
        ] {
            #expect(store.validate(challenge: challenge) == .untrusted)
            #expect(await store.validation(of: challenge) == .untrusted)
            #expect(await handed(store, challenge) == [.untrusted])
        }
    }

    @Test("The forms that need not block decide on the queue for evaluations")
    func queue() async throws {
        QueueMark.install()
        let fixture = try AppleFixture()
        let challenge = fixture.challenge(fixture.secTrust())
        for asks in [
            { store, challenge in [await store.validation(of: challenge)] },
            { store, challenge in await self.handed(store, challenge) },
        ] as [(CertStore, URLAuthenticationChallenge) async -> [Result]] {
            let clock = QueueMarkingClock()
            #expect(try await asks(store(fixture, clock: clock), challenge) == [.trusted])
            #expect(clock.marks.all.contains(true))
        }
    }

    @Test("The chain is validated for the time of the store's clock")
    func clock() async throws {
        let fixture = try AppleFixture()
        let clock = ManualClock(now: SystemWallClock().now)
        let store = try store(fixture, clock: clock)
        try await store.update()
        let challenge = fixture.challenge(fixture.secTrust())
        #expect(store.validate(challenge: challenge) == .trusted)
        clock.set(try #require(fixture.leaf.notAfter).addingTimeInterval(60))
        #expect(store.validate(challenge: challenge) != .trusted)
    }
}
