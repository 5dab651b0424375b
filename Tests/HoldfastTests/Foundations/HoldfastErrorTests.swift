import Foundation
import Testing

@testable import Holdfast

@Suite("Errors")
struct HoldfastErrorTests {
    @Test("What Foundation shows of an error says what is wrong, and what to do")
    func localized() {
        let errors: [any HoldfastError] = [
            PinError(.empty, expected: "a pin", found: "nothing", remedy: "Give a pin."),
            StoreError(.networkError, expected: "a document", found: "no answer", remedy: "Try again."),
            TrustFailure(.pinMismatch, expected: "a pin", found: "another", remedy: "Pin one of the keys."),
        ]
        for error in errors {
            #expect((error as any Error).localizedDescription == error.description)
            #expect(error.failureReason == "expected \(error.expected), found \(error.found)")
            #expect(error.recoverySuggestion == error.remedy && error.helpAnchor == nil)
        }
    }
}
