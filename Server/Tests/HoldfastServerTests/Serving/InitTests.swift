import Crypto
import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import Synchronization
import Testing

@testable import PinPublication
@testable import ServerModel

@Suite("/app/init", .timeLimit(.minutes(5)))
struct InitTests {
    private static let challenge = "AAECAwQFBgcICQoLDA0ODw=="
    private static var header: [String] { ["X-Cert-Pinning-Challenge: \(challenge)"] }

    /// Whether the signature of an answer is the key's, over this challenge and the body.
    private func isSigned(_ answer: RawAnswer, _ challenge: String = challenge, by site: ServingSite) throws -> Bool {
        guard let text = answer.header("X-Cert-Pinning-Signature"), let signature = Data(base64Encoded: text) else {
            return false
        }
        let point = try #require(Data(base64Encoded: try site.key.publicKey.base64))
        return try P256.Signing.PublicKey(x963Representation: point).isValidSignature(
            P256.Signing.ECDSASignature(derRepresentation: signature), for: Data("\(challenge)&\(answer.body)".utf8))
    }

    @Test("answers with the bytes of the published vector, signed for the challenge")
    func vector() async throws {
        let site = try ServingSite()
        site.publish(apps: [try site.app()])
        try await site.listening { port in
            let answer = try await RawClient(port: port).get("/app/init?appName=bank", Self.header)
            #expect(answer.status == 200, "\(answer.text)")
            #expect(
                answer.body
                    == #"{"timestamp":1604853448,"fingerprints":[{"name":"github.com","fingerprint":"kqN/vV4hpTqVxxbhFE9EL1grlND6/Gc+tnF6TrUaiKc=","expires":1710460799}]}"#
            )
            #expect(try isSigned(answer, by: site))
            #expect(answer.header("Cache-Control") == "no-store")
            #expect(answer.header("Content-Type") == "application/json")
            let head = try await RawClient(port: port).request("HEAD", "/app/init?appName=bank", Self.header)
            #expect(head.status == 200 && head.body.isEmpty)
            #expect(head.header("Content-Length") == "\(answer.body.utf8.count)")
        }
    }

    @Test(
        "takes a challenge of 16 to 32 bytes with or without padding, and signs it as it was sent",
        arguments: [
            ("AAECAwQFBgcICQoLDA0ODw", true), (Data(repeating: 7, count: 32).base64EncodedString(), true),
            (Data(repeating: 7, count: 31).base64EncodedString(), true),
            (Data(repeating: 7, count: 15).base64EncodedString(), false),
            (Data(repeating: 7, count: 33).base64EncodedString(), false), ("AAECAwQFBgcICQoLDA0ODw=", false),
            ("not base64 at all!", false), ("AAECAwQFBgcICQoLDA0ODx==", false), ("", false),
        ])
    func challenges(_ challenge: String, _ isGood: Bool) async throws {
        let site = try ServingSite()
        site.publish(apps: [try site.app()])
        try await site.listening { port in
            let answer = try await RawClient(port: port).get(
                "/app/init?appName=bank", ["X-Cert-Pinning-Challenge: \(challenge)"])
            #expect(answer.status == (isGood ? 200 : 403), "\(answer.text)")
            #expect(try isSigned(answer, challenge, by: site) == isGood)
            #expect(isGood || answer.body.contains(#"{"status":"ERROR","responseObject":{"code":"INVALID_CHALLENGE""#))
        }
    }

    @Test("looks at the fields first, then at the challenge, then for the app, and signs what it can")
    func order() async throws {
        let site = try ServingSite()
        site.publish(apps: [try site.app()])
        try await site.listening { port in
            let client = RawClient(port: port)
            let nobody = try await client.get("/app/init?appName=other", Self.header)
            #expect(nobody.status == 404 && nobody.body.contains(#""code":"APP_NOT_FOUND""#))
            #expect(nobody.header("X-Cert-Pinning-Signature") == nil)
            // Without a challenge, no client learns which apps there are.
            let unchallenged = try await client.get("/app/init?appName=other")
            #expect(unchallenged.status == 403 && unchallenged.body.contains(#""code":"INVALID_CHALLENGE""#))
            let wrong = try await client.get("/app/init?appName=bank&appVersion=1.x&platform=WEB", Self.header)
            #expect(wrong.status == 400)
            #expect(
                wrong.body
                    == #"{"status":"ERROR","responseObject":{"code":"ERROR_REQUEST","message":"The request is not valid.","violations":[{"fieldName":"appVersion","invalidValue":"1.x","hint":"A version such as 3.1.2."},{"fieldName":"platform","invalidValue":"WEB","hint":"ANDROID or IOS."}]}}"#
            )
            #expect(try isSigned(wrong, by: site))
            let nameless = try await client.get("/app/init", Self.header)
            #expect(
                nameless.body.contains(#""violations":[{"fieldName":"appName","hint":"The name of the app."}]"#),
                "\(nameless.body)")
            let twice = try await client.get("/app/init?appName=bank&appName=bank", Self.header)
            #expect(twice.status == 400)
            let twoChallenges = try await client.get("/app/init?appName=bank", Self.header + Self.header)
            #expect(twoChallenges.status == 403)
        }
    }

    @Test("says that no update is required to a client that says all three things about itself")
    func versionFields() async throws {
        let site = try ServingSite()
        let domains = try ContentDomains(
            unlistedNeedPins: true, domains: [.init(name: "static.example.com", needsPins: false)])
        site.publish(apps: [try site.app(domains: domains)])
        try await site.listening { port in
            let client = RawClient(port: port)
            for fields in ["", "&appVersion=1.0.0", "&appVersion=1.0.0&osVersion=17", "&platform=IOS&osVersion=17"] {
                let answer = try await client.get("/app/init?appName=bank\(fields)", Self.header)
                #expect(answer.status == 200 && !answer.body.contains("verifyVersionResult"))
            }
            for fields in ["1.0.0&osVersion=17&platform=IOS", "0.0.0-beta&osVersion=14.5.1&platform=ANDROID"] {
                let answer = try await client.get("/app/init?appName=bank&appVersion=\(fields)", Self.header)
                #expect(
                    answer.body.hasSuffix(
                        #"],"verifyVersionResult":{"update":"NOT_REQUIRED"},"domainsConfig":{"sslPinningRequiredForUnlisted":true,"domains":[{"name":"static.example.com","sslPinningRequired":false}]}}"#
                    ), "\(answer.body)")
                #expect(try isSigned(answer, by: site))
            }
            for wrong in [
                "appVersion=1.0", "appVersion=1.0.0.0", "appVersion=1.0.0000000001", "appVersion=1..0",
                "osVersion=17.0", "osVersion=x", "platform=ios", "platform=IOS&platform=IOS",
            ] {
                let answer = try await client.get("/app/init?appName=bank&\(wrong)", Self.header)
                #expect(answer.status == 400 && answer.body.contains("ERROR_REQUEST"), "\(wrong): \(answer.text)")
            }
        }
    }

    @Test("gives the public key, and signs it when it is challenged")
    func publicKey() async throws {
        let site = try ServingSite()
        site.publish(apps: [try site.app()])
        try await site.listening { port in
            let client = RawClient(port: port)
            let answer = try await client.get("/app/init/public-key?appName=bank", Self.header)
            #expect(answer.body == #"{"publicKey":"\#(try site.key.publicKey.base64)"}"#)
            #expect(try isSigned(answer, by: site))
            #expect(try await client.get("/app/init/public-key?appName=bank").status == 200)
            let nobody = try await client.get("/app/init/public-key?appName=other", Self.header)
            #expect(nobody.status == 404 && nobody.body.contains(#""code":"PUBLIC_KEY_NOT_FOUND""#))
        }
    }

    @Test("signs nothing without a key, after the end of the content, or when the clock is not to be trusted")
    func unavailable() async throws {
        let site = try ServingSite()
        site.publish(apps: [
            try site.app(), try site.app("shop", end: ServingSite.now - 1), try site.app("mute", hasKey: false),
        ])
        try await site.listening { port in
            let client = RawClient(port: port)
            for app in ["shop", "mute"] {
                let answer = try await client.get("/app/init?appName=\(app)", Self.header)
                #expect(answer.status == 503 && answer.header("Retry-After") != nil, "\(answer.text)")
                #expect(answer.header("X-Cert-Pinning-Signature") == nil)
            }
            #expect(try await client.get("/app/init?appName=bank", Self.header).status == 200)
            site.time.withLock { $0 = nil }
            let answer = try await client.get("/app/init?appName=bank", Self.header)
            #expect(answer.status == 503 && answer.header("X-Cert-Pinning-Signature") == nil)
            // An error has no time in it, but a clock in doubt is a server in doubt.
            let error = try await client.get("/app/init?appName=bank&platform=WEB", Self.header)
            #expect(error.status == 400 && error.header("X-Cert-Pinning-Signature") == nil)
        }
    }
}
