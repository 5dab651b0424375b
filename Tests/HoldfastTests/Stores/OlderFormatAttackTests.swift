import Crypto
import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// Statements of the threat model about lists, answers to challenges and a trust server's documents that no test of
/// a part shows.
@Suite("Attacks on the older formats of pins", .timeLimit(.minutes(15)))
struct OlderFormatAttackTests {
    private let pki: PolicyFixture

    init() throws { pki = try PolicyFixture() }

    @Test("Older entries of a static list count until they expire, also among newer ones, and bring a pin back")
    func olderEntries() async throws {
        let fixture = try StoreFixture()
        let store = fixture.store()
        let end = StoreFixture.start + 10 * StoreFixture.day
        let old = try fixture.signer.entry(StoreFixture.name, .fingerprint(1), end)
        let new = try fixture.signer.entry(StoreFixture.name, .fingerprint(2), end + 90 * StoreFixture.day)
        func update(_ entries: [String]) async -> StoreError? {
            fixture.provider.answer(fixture.signer.list(entries))
            return await store.updateError()
        }
        #expect(await update([old]) == nil)
        for replay in [[old], [old, new]] {
            #expect(await update([new]) == nil)
            #expect(store.judge(1) == .untrusted && store.judge(2) == .trusted)
            #expect(await update(replay) == nil)
            #expect(store.judge(1) == .trusted)
        }
        fixture.clock.set(Date(timeIntervalSince1970: Double(end + 1)))
        #expect(store.judge(1) == .untrusted && store.judge(2) == .trusted)
        let refusal = await update([old])
        #expect((refusal?.underlying as? DocumentError)?.code == .losesPins)
        #expect(await update([old, new]) == nil)
        #expect(store.judge(1) == .untrusted && store.judge(2) == .trusted)
    }

    @Test(
        "A list or an answer that is served for ever ends with its entries: the update fails, and nobody is trusted",
        arguments: [false, true])
    func frozen(useChallenge: Bool) async throws {
        let fixture = try StoreFixture(useChallenge: useChallenge)
        let entry = (
            name: PolicyFixture.host, fingerprint: Data(SHA256.hash(data: pki.leaf.der)),
            expires: StoreFixture.start + StoreFixture.day
        )
        let signer = fixture.signer
        let list = signer.list([try signer.entry(entry.name, entry.fingerprint, entry.expires)])
        let body = DocumentSigner.body([entry], at: StoreFixture.start)
        let first = Lock<String?>(nil)
        fixture.provider.answer { request in
            guard useChallenge else { return RemoteDataResponse(.body(list)) }
            let challenge = first.withLock { first in
                if first == nil { first = request.headers["X-Cert-Pinning-Challenge"] }
                return first ?? ""
            }
            return RemoteDataResponse(
                .body(body), headers: ["X-Cert-Pinning-Signature": try signer.answer(to: challenge, body)])
        }
        let store = fixture.store()
        try await store.update()
        let policy = try store.policy(for: PolicyFixture.host)
        let trust = try pki.trust()
        #expect(policy.evaluate(trust, at: fixture.clock.now).isTrusted)
        fixture.clock.advance(by: .seconds(86_401))
        #expect(await store.updateError()?.code == (useChallenge ? .invalidSignature : .storeIsEmpty))
        #expect(policy.evaluate(trust, at: fixture.clock.now).failure?.code == .noUsablePins)
    }

    @Test("A pin that left a trust server's document counts no longer, and an older document does not bring it back")
    func withdrawn() async throws {
        let fixture = try TrustServerStoreFixture()
        let renewed = try fixture.pki.issuing.impersonate(fixture.pki.leaf)
        let (old, new) = (try fixture.pki.trust(), try fixture.pki.trust(renewed.chain))
        let before = try fixture.document()
        fixture.provider.answer(before)
        let policy = try fixture.store().policy(for: PolicyFixture.host)
        try await policy.prepare()
        #expect(policy.evaluate(old, at: fixture.clock.now).isTrusted)
        fixture.clock.advance(by: .seconds(60))
        try fixture.publish([.init(PolicyFixture.host, [renewed])])
        try await policy.trustServerStore().update(mode: .forced)
        fixture.provider.answer(before)
        for policy in [policy, try fixture.store().policy(for: PolicyFixture.host)] {
            #expect(try await policy.trustServerStore().updateError()?.documentCode == .issuedBeforeNewest)
            #expect(policy.evaluate(old, at: fixture.clock.now).failure?.code == .pinMismatch)
            #expect(policy.evaluate(new, at: fixture.clock.now).isTrusted)
            try await policy.trustServerStore().settle()
        }
    }

    @Test("ECDSA on P-256 with SHA-256 signs lists and answers: no key of another kind, and no other digest")
    func oneAlgorithm() throws {
        let signer = DocumentSigner()
        for key in [
            P384.Signing.PrivateKey().publicKey.x963Representation, signer.key.publicKey.derRepresentation,
            signer.key.publicKey.rawRepresentation, Curve25519.Signing.PrivateKey().publicKey.rawRepresentation,
        ] {
            #expect(throws: DocumentError(.invalidPublicKey, expected: "", found: "")) {
                try DocumentPublicKey(base64: key.base64EncodedString())
            }
        }
        let fingerprint = Data.fingerprint(1).base64EncodedString()
        let message = Data("a&\(fingerprint)&5".utf8)
        let body = DocumentSigner.body([("a", .fingerprint(1), 5)], at: 1)
        let answered = Data("AAAA&".utf8) + body
        func entry(_ signature: P256.Signing.ECDSASignature) -> Data {
            let text = signature.derRepresentation.base64EncodedString()
            return signer.list([
                #"{"name":"a","fingerprint":"\#(fingerprint)","expires":5,"signature":"\#(text)"}"#
            ])
        }
        func answer(_ signature: P256.Signing.ECDSASignature) throws -> ChallengeResponse {
            try ChallengeResponse(
                verifying: body, signature: signature.derRepresentation.base64EncodedString(), challenge: "AAAA",
                by: signer.publicKey)
        }
        #expect(
            try FingerprintList(
                verifying: entry(signer.key.signature(for: SHA256.hash(data: message))), with: signer.publicKey
            ).entries.count == 1)
        #expect(try answer(signer.key.signature(for: SHA256.hash(data: answered))).entries.count == 1)
        let invalid = DocumentError(.invalidSignature, expected: "", found: "")
        for (list, answered) in [
            (
                try signer.key.signature(for: SHA384.hash(data: message)),
                try signer.key.signature(for: SHA384.hash(data: answered))
            ),
            (
                try signer.key.signature(for: Insecure.SHA1.hash(data: message)),
                try signer.key.signature(for: Insecure.SHA1.hash(data: answered))
            ),
        ] {
            #expect(throws: invalid) { try FingerprintList(verifying: entry(list), with: signer.publicKey) }
            #expect(throws: invalid) { try answer(answered) }
        }
    }

    enum Format: String, Sendable, CaseIterable {
        case list, challenge, trustServer
    }

    /// A policy for the fixture's host alone, of a document that pins other hosts as well.
    private func policy(_ format: Format, naming other: String) async throws -> any TrustPolicy {
        let fingerprint = Data(SHA256.hash(data: pki.leaf.der))
        let end = StoreFixture.start + 10 * StoreFixture.day
        switch format {
        case .list, .challenge:
            let fixture = try StoreFixture(useChallenge: format == .challenge)
            let names = [PolicyFixture.host, other, "*.example.com"]
            if format == .challenge {
                fixture.publishSigned(
                    body: DocumentSigner.body(names.map { ($0, fingerprint, end) }, at: StoreFixture.start))
            } else {
                fixture.provider.answer(
                    fixture.signer.list(try names.map { try fixture.signer.entry($0, fingerprint, end) }))
            }
            let store = fixture.store()
            try await store.update()
            return try store.policy(for: PolicyFixture.host)
        case .trustServer:
            let fixture = try TrustServerStoreFixture()
            try fixture.publish([.init(PolicyFixture.host, [pki.leaf]), .init(other, [pki.leaf])])
            let policy = try fixture.store().policy(for: PolicyFixture.host)
            try await policy.prepare()
            return policy
        }
    }

    @Test(
        "What a document says of hosts that the app does not ask for decides nothing about them",
        arguments: Format.allCases)
    func unaskedHosts(format: Format) async throws {
        let other = "other.example.com"
        let manager = TrustManager(policies: [try await policy(format, naming: other)], clock: pki.clock)
        let pinned = try pki.issuing.leaf(names: [.dns(PolicyFixture.host), .dns(other)])
        let trust = try pki.trust(pinned.chain, host: other)
        #expect(manager.evaluate(trust).failure?.code == .noPolicyForHost)
        manager.unknownHosts = .standardValidation
        // The document's own pin for that host is another.
        #expect(manager.evaluate(trust).isTrusted)
        #expect(manager.evaluate(try pki.trust()).isTrusted)
        #expect(manager.evaluate(try pki.trust(pinned.chain)).failure?.code == .pinMismatch)
    }
}
