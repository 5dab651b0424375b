import Foundation
import FoundationNetworking
import HoldfastCompatibility
import HoldfastTesting
import Security
import Testing

/// The delegates as GCXTrustPolicy and ISPCertificatePinning publish them, on URLSession's own types.
@Suite("Published delegates")
struct PublishedDelegateTests {
    private final class NewerDelegate: NSObject, URLSessionDelegate {
        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            // Published:
            let challengedHost = challenge.protectionSpace.host

            // Validate remote trust
            if let serverTrust = challenge.protectionSpace.serverTrust {
                var isTrusted = false

                // Retrieve a matching policy for the challenged host
                if let policy = TrustManager.shared.policy(for: challengedHost) {
                    isTrusted = policy.validate(trust: serverTrust)

                    if isTrusted {
                        // Success! Server trust has been established.
                        let credential = URLCredential(trust: serverTrust)
                        completionHandler(.useCredential, credential)
                        return
                    }
                }

                // Cancel the challenge
                completionHandler(.cancelAuthenticationChallenge, nil)
            }
            // End.
        }
    }

    @available(*, deprecated, message: "as published")
    private final class OlderDelegate: NSObject, URLSessionDelegate {
        func urlSession(
            _ session: URLSession, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            // Published:
            let challengedHost = challenge.protectionSpace.host
            if let trust = challenge.protectionSpace.serverTrust,
                let policy = TrustManager.sharedInstance.policy(forHost: challengedHost)
            {
                if policy.validate(with: trust) {
                    completionHandler(.useCredential, URLCredential(trust: trust))
                    return
                }
            }
            completionHandler(.cancelAuthenticationChallenge, nil)
            // End.
        }
    }

    private func answers(
        _ fixture: AppleFixture, _ delegate: any URLSessionDelegate
    ) async throws -> [Answer] {
        let session = URLSession(configuration: .ephemeral)
        let impostor = try fixture.issuing.impersonate(fixture.leaf)
        let challenges = [
            fixture.challenge(fixture.secTrust()), fixture.challenge(fixture.secTrust(impostor.chain)),
            fixture.challenge(fixture.secTrust(systemAnchors: [])),
            fixture.challenge(fixture.secTrust(), host: "unknown.example"),
        ]
        var answers: [Answer] = []
        for challenge in challenges {
            answers.append(await answer { delegate.urlSession(session, didReceive: challenge, completionHandler: $0) })
        }
        return answers
    }

    private func withPinnedKey(_ body: (AppleFixture) async throws -> Void) async throws {
        let fixture = try AppleFixture()
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try Data(fixture.leaf.der).write(to: folder.appending(path: "pinned.cer"))
        let settings = ValidationSettings.defaultSettings
        settings.certificateBundle = try #require(Bundle(path: folder.path))
        TrustManager.shared.add(
            policy: TrustManager.shared.create(type: .pinPublicKey, hostName: fixture.host, settings: settings))
        defer { TrustManager.shared.removePolicy(name: fixture.host) }
        try await body(fixture)
    }

    private let expected = [Answer.trusted, .cancelled, .cancelled, .cancelled]

    @Test("The newer generation's delegate trusts the pinned server alone")
    func newer() async throws {
        try await withPinnedKey { fixture in
            let given = try await answers(fixture, NewerDelegate())
            #expect(given == expected)
        }
    }

    @Test("The older generation's delegate trusts the pinned server alone")
    @available(*, deprecated, message: "as published")
    func older() async throws {
        try await withPinnedKey { fixture in
            let given = try await answers(fixture, OlderDelegate())
            #expect(given == expected)
        }
    }

    @Test("Pins alone trust a self-signed server that the system rejects, and no other key")
    func pinsAlone() async throws {
        let fixture = try AppleFixture()
        let leaf = try TestAuthority.selfSigned(names: [.dns(fixture.host)])
        let other = try TestAuthority.selfSigned(names: [.dns(fixture.host)])
        fixture.manager.add(
            policy: try PinnedPolicy(
                host: HostPattern(fixture.host), pins: PinSet(pins: [fixture.keyPin(leaf)]), certificatePinOnly: true))
        func verdict(_ certificate: TestCertificate) throws -> Bool {
            let trust = fixture.secTrust(certificate.chain)
            return fixture.manager.evaluate(ServerTrust(trust, host: try fixture.dialed())).isTrusted
        }
        #expect(try verdict(leaf))
        #expect(try !verdict(other))
    }
}
