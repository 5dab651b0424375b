import Foundation
import Holdfast
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("The grammar of a response")
struct ResponseGrammarTests {
    private func error(_ steps: (inout ResponseGrammar) throws -> Void) -> PinnedHTTPClientError? {
        var grammar = ResponseGrammar()
        do {
            try steps(&grammar)
            return nil
        } catch {
            return error as? PinnedHTTPClientError
        }
    }

    @Test("takes exactly three digits for a status: 100 and 102 to 199 before one of 200 to 599")
    func codes() throws {
        for code in 0...999 {
            let status = String(repeating: "0", count: 3 - "\(code)".count) + "\(code)"
            let error = error { try $0.head(status) }
            let isGood = code == 100 || (102..<600).contains(code)
            #expect((error == nil) == isGood, "\(status)")
            #expect(isGood || error?.code == .malformedResponse && error?.found.contains(status) == true)
        }
    }

    @Test(
        "takes nothing else for one",
        arguments: [
            "", " ", "2", "20", "2000", "0200", "-1", "-200", "+20", "+200", " 20", "20 ", " 200", "200 ", "2.0", "0x2",
            "\u{FF12}\u{FF10}\u{FF10}", "20\u{660}", "\u{B2}00", "2\u{0}0", "20\u{301}", "18446744073709551816",
        ])
    func noCodes(status: String) throws {
        let error = try #require(error { try $0.head(status) })
        #expect(error.code == .malformedResponse)
        #expect(error.description.unicodeScalars.allSatisfy { (0x20...0x7E).contains($0.value) || $0 == "…" })
    }

    @Test("quotes what came shortly, whatever it is")
    func quotes() throws {
        let long = String(repeating: "\u{202E}\n9", count: 100_000)
        let error = try #require(error { try $0.head(long) })
        #expect(error.found.utf8.count < 1_000 && !error.description.contains("\n"))
    }

    @Test("takes at most 16 informational heads, none of which is the end")
    func informational() {
        func heads(_ count: Int) -> PinnedHTTPClientError? {
            error { grammar in
                for _ in 0..<count { try grammar.head("103") }
                try grammar.head("200", ends: true)
            }
        }
        #expect(heads(0) == nil && heads(16) == nil)
        #expect(heads(17)?.code == .malformedResponse)
        #expect(error { try $0.head("100", ends: true) }?.code == .malformedResponse)
    }

    @Test("takes one final head, then a body, then trailers, then nothing")
    func order() {
        #expect(
            error {
                try $0.head("200")
                try $0.body()
                try $0.body()
                try $0.trailers(ends: true)
            } == nil)
        #expect(error { try $0.body() } != nil)
        #expect(error { try $0.end() } != nil)
        #expect(error { try $0.trailers(ends: true) } != nil)
        let begun: [(inout ResponseGrammar) throws -> Void] = [
            { try $0.head("200") }, { try $0.head("103") }, { try $0.trailers(ends: false) },
        ]
        for step in begun {
            #expect(
                error {
                    try $0.head("200")
                    try step(&$0)
                }?.code == .malformedResponse)
        }
        let ended: [(inout ResponseGrammar) throws -> Void] = [
            { try $0.head("200") }, { try $0.head("103") }, { try $0.body() }, { try $0.end() },
            { try $0.trailers(ends: true) },
        ]
        for step in ended {
            #expect(
                error {
                    try $0.head("204", ends: true)
                    try step(&$0)
                }?.code == .malformedResponse)
        }
    }
}

#if os(macOS) || os(Linux)
/// Each in a process of its own, `grammar-runner`: a server that gets past the guards stops it, and the signal is the
/// verdict. `scripts/nightly` runs the same as a release build.
@Suite("A server whose answer is none", .timeLimit(.minutes(30)))
struct MalformedResponseTests {
    private static let count =
        ProcessInfo.processInfo.environment["HOLDFAST_MUTANTS"].flatMap { Int($0) } ?? 10_000

    private static func expectAllRight(_ arguments: String...) async throws {
        let process = try GuardedProcess(
            URL(filePath: "/usr/bin/env"),
            ["SWIFT_BACKTRACE=enable=no", try #require(CommandRun.program("grammar-runner")).path] + arguments, in: nil,
            limit: .seconds(1_500))
        let status = await process.waitForEnd()
        #expect(status == 0, "\(process.output.suffix(4_000))")
        #expect(process.output.contains(" 0 otherwise than expected"))
    }

    @Test(
        "does not stop the process with a status, over HTTP/1.1 and HTTP/2: of all 1,000 codes and of what is no code")
    func statuses() async throws { try await Self.expectAllRight("statuses") }

    @Test("does not stop the process that downloads a revocation list from it over plain HTTP")
    func downloads() async throws { try await Self.expectAllRight("downloads") }

    @Test("does not stop the process with streams that it opens, or ends without having opened them")
    func pushes() async throws { try await Self.expectAllRight("pushes") }

    @Test("does not stop the process with heads, data and frames in any order, and each comes to what the rules say")
    func sequences() async throws {
        try await Self.expectAllRight("sequences", "--count", "\(Self.count / 2)")
    }

    @Test("does not stop the process with damaged answers, and the next good one is taken")
    func damaged() async throws {
        try await Self.expectAllRight("damaged", "--count", "\(Self.count / 2)")
    }
}
#endif
