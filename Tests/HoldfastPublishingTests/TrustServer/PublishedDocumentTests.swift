#if os(macOS) || os(Linux)
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("Reading the document that a trust server has published")
struct PublishedDocumentTests {
    private let clock = ManualClock(now: Date(timeIntervalSince1970: 1_900_000_000))
    private let key: TrustServerKey

    init() throws {
        key = try TrustServerKey(customer: "acme", kind: .p256, at: clock.now)
    }

    private func document(aged seconds: Double) throws -> Data {
        try TrustServerDraft(customer: "acme", hosts: [], timestamp: clock.now.addingTimeInterval(-seconds))
            .signed(by: key)
    }

    @Test("A document that is dated ahead of the clock is refused by the operator's checks, in seconds or milliseconds")
    func aheadOfClock() throws {
        for seconds in [-86_401, -30 * 365 * 86_400] as [Double] {
            let document = try document(aged: seconds)
            let error = #expect(throws: PublishingError.self) {
                try PublishedPins(
                    trustServerDocument: document, named: "acme.signed", signer: key.certificate, customer: nil,
                    at: clock.now)
            }
            #expect(error?.code == .invalidDocument && error?.found.contains("ahead of the clock") == true)
        }
        _ = try PublishedPins(
            trustServerDocument: document(aged: -86_400), named: "acme.signed", signer: key.certificate, customer: nil,
            at: clock.now)
        let milliseconds = clock.now.timeIntervalSince1970 * 999
        #expect(throws: SigningError.self) { try document(aged: -milliseconds) }
    }

    @Test("The signed JSON is read as clients read it, and not from another signer or for another customer")
    func signedContent() throws {
        func read(_ customer: String, by key: TrustServerKey) throws -> PublishedDocument {
            try PublishedDocument(
                reading: document(aged: 60), signedBy: key.certificate, customer: customer, at: clock.now)
        }
        let published = try read("acme", by: key)
        #expect(published.timestamp == clock.now.addingTimeInterval(-60))
        #expect(String(decoding: published.signedContent, as: UTF8.self).contains("\"customer\":\"acme\""))
        #expect(throws: DocumentError.self) { try read("other", by: key) }
        let other = try TrustServerKey(customer: "acme", kind: .p256, at: clock.now)
        #expect(throws: DocumentError.self) { try read("acme", by: other) }
    }
}
#endif
