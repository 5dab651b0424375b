import Testing

@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation

@Suite("Approval texts")
struct ApprovalTextTests {
    @Test("An approval has eleven lines in the order of the design, and reads as what was written")
    func lines() throws {
        let story = try Story()
        let subject = try Story.subject(story.chain, forced: [.lint, .canary])
        let text = try ApprovalText(.approve, subject, end: 1_795_086_400)
        let lines = String(decoding: text.bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        #expect(
            lines == [
                "holdfast-approval-v1", "a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0", "bank", "c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0",
                "approve", "41", "ed7002b439e9ac845f22357d822bac1444730fbdb6016d3ec9432297b9ec9f73",
                "\(Digest(of: "outlook".utf8))"[...], "canary,lint", "\(story.chain.head.digest)"[...],
                "2026-11-19T11:06:40Z"[...], "",
            ])
        #expect(try ApprovalText(text.bytes) == text)
    }

    @Test("An approval that is spelled in any other way is refused")
    func spellings() throws {
        let story = try Story()
        let text = String(
            decoding: try ApprovalText(.approve, story.subject, end: Story.end).bytes, as: UTF8.self)
        let replacements: [(String, String)] = [
            ("holdfast-approval-v1", "holdfast-approval-v2"), ("\n41\n", "\n041\n"), ("\n41\n", "\n+41\n"),
            ("\n41\n", "\n-1\n"), ("\n41\n", "\n9007199254740992\n"), ("\n41\n", "\n41 \n"),
            ("\napprove\n", "\nApprove\n"),
            ("\napprove\n", "\napprove\n\n"), ("\n-\n", "\n\n"), ("\n-\n", "\nlint,canary\n"),
            ("\n-\n", "\nlint,lint\n"),
            ("\n-\n", "\nvalidation\n"), ("\n-\n", "\nbase\n"), ("\n-\n", "\nlint,\n"), ("\n-\n", "\n-,lint\n"),
            ("\nbank\n", "\nb\n"), ("\nbank\n", "\n-bank\n"), ("\nbank\n", "\nbänk\n"), ("a0a0", "A0a0"), ("Z\n", "Z"),
            ("Z\n", "Z\r\n"), ("Z\n", "Z\n\n"), ("Z\n", "+00:00\n"), ("2026-11-19", "2026-11-31"),
            ("2026-11-19", "2026-02-30"), ("T11:", "T24:"), ("T11:", "t11:"), ("\n", "\r\n"), ("bank", "ba\0k"),
        ]
        for (part, other) in replacements {
            let damaged = text.replacing(part, with: other, maxReplacements: 1)
            #expect(damaged != text, "\(part)")
            expectError(.malformed) { try ApprovalText(Array(damaged.utf8)) }
        }
        expectError(.malformed) { try ApprovalText([]) }
        expectError(.malformed) { try ApprovalText([UInt8](repeating: 0x61, count: 10_000)) }
    }

    @Test("Gates without exception cannot be named in an approval")
    func unforceable() throws {
        let chain = try Story().chain
        for gate in [Gate.validation, .base] {
            expectError(.invalidValue) { try Story.subject(chain, forced: [gate]) }
        }
    }

    @Test("A damaged approval is refused, or is another approval in its one spelling")
    func campaign() throws {
        let story = try Story()
        let bytes = try ApprovalText(.approve, Story.subject(story.chain, forced: [.lint]), end: Story.end).bytes
        var generator = SeededGenerator(seed: 27)
        defer { noteCampaign(of: mutants) }
        for _ in 0..<mutants {
            let damaged = mutated(bytes, &generator)
            guard let read = try? ApprovalText(damaged) else { continue }
            #expect(read.bytes == damaged)
        }
    }
}
