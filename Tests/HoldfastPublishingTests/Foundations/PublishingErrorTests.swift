import Holdfast
import HoldfastPublishing
import Testing

@Suite("Errors of publishing")
struct PublishingErrorTests {
    @Test("An error names its subject, what was expected, what was found and what to do")
    func description() {
        let error = PublishingError(.unreadable, of: "bank.pins.json", expected: "a file", found: "no such file")
        #expect(
            error.description
                == "unreadable of bank.pins.json: expected a file, found no such file. Check the path and its permissions."
        )
        #expect(error.code.rawValue == "unreadable")
    }
}
