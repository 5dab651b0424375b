import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("What a store of revocation lists takes from the network", .timeLimit(.minutes(15)))
struct RevocationListProofTests {
    private let fixture: RevocationStoreFixture

    init() throws { fixture = try RevocationStoreFixture() }

    private func publish(_ list: [UInt8]) { fixture.publish([RevocationStoreFixture.issuingURL: list]) }

    /// The list with noise in the place of its entries, which are as long as before.
    private func withoutReadableEntries(_ list: [UInt8]) throws -> [UInt8] {
        var damaged = list
        let entries = try #require(try RevocationListHeader(der: list).entries)
        for place in entries { damaged[place] = 0xFF }
        return damaged
    }

    @Test("A list is verified before its entries are read", arguments: [true, false])
    func verifiedFirst(isOfStranger: Bool) async throws {
        let serials = (0..<200).map { [UInt8(1), UInt8($0)] }
        let stranger = try TestKey()
        let list = try fixture.list {
            $0.serialNumbers = serials
            if isOfStranger { $0.signer = stranger }
        }
        // Unreadable entries are not read yet, so they are not the reason for the refusal.
        publish(try withoutReadableEntries(list))
        let store = try fixture.store()
        let error = await store.updateError()
        #expect(error?.code == .invalidSignature)
        #expect((error?.underlying as? DocumentError)?.code == .invalidSignature)
        // With the authority's own signature it is said what cannot be read.
        #expect(throws: CertificateError.self) { try CertificateRevocationList(der: withoutReadableEntries(list)) }
    }

    @Test("A list of the same key and scope with a lower number is refused, however late it was made")
    func lowerNumber() async throws {
        let store = try fixture.store()
        publish(
            try fixture.list(fixture.leaf) {
                $0.number = 5; $0.thisUpdate = .hours(-2)
            })
        try await store.update()
        publish(
            try fixture.list {
                $0.number = 4; $0.thisUpdate = .hours(-1)
            })
        let error = await store.updateError()
        #expect((error?.underlying as? DocumentError)?.code == .issuedBeforeNewest)
        #expect((error?.underlying as? DocumentError)?.field == "cRLNumber")
        #expect(error?.remedy.contains("reset") == true)
        #expect(try fixture.code(store) == .revoked)
        publish(
            try fixture.list {
                $0.number = 6; $0.thisUpdate = .hours(-1)
            })
        try await store.refresh()
        #expect(try fixture.code(store) == nil)
    }

    @Test("Of two places the one that was blocked while the other replays an older list does not bring anybody back")
    func replayed() async throws {
        let urls = ["http://lists.example.com/1.crl", "http://lists.example.com/2.crl"]
        let store = try fixture.store(configured: urls)
        let older = try fixture.list {
            $0.number = 5; $0.nextUpdate = .days(7)
        }
        fixture.clock.advance(by: .seconds(3_600))
        let newer = try fixture.list(fixture.leaf) {
            $0.number = 6; $0.nextUpdate = .hours(1)
        }
        fixture.publish([urls[0]: newer, urls[1]: older])
        try await store.update()
        #expect(try fixture.code(store) == .revoked)
        fixture.publish([urls[1]: older])
        fixture.clock.advance(by: .seconds(2 * 3_600))
        _ = await store.updateError()
        #expect(try fixture.code(store) == .revoked)
        #expect(try fixture.code(fixture.store(configured: urls)) == .revoked)
    }
}
