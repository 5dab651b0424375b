import ArgumentParser
import Foundation
import Holdfast

/// Meets servers whose answers are none, over HTTP/1.1 and HTTP/2, and says what came of each. A server that gets past
/// the guards stops this process, which is why it is one of its own. For Holdfast's own developers.
@main
struct GrammarRunner: AsyncParsableCommand {
    enum Part: String, ExpressibleByArgument, CaseIterable {
        case statuses
        case downloads
        case pushes
        case sequences
        case damaged
        /// Only with servers that another process runs.
        case silent
    }

    static let configuration = CommandConfiguration(
        commandName: "grammar-runner",
        abstract: "Meet servers whose answers break the grammar of HTTP.",
        discussion: "Exits with 1 if something came otherwise than expected. A trap of a library ends it with a signal."
    )

    @Argument(help: "What to do: \(Part.allCases.map(\.rawValue).joined(separator: ", ")); all but silent by default.")
    var parts = Part.allCases.filter { $0 != .silent }

    @Option(help: "How many seeded sequences, and how many damaged answers, of both protocols together.")
    var count = 5_000

    @Option(help: "The first seed.")
    var seed: UInt64 = 1

    @Option(help: "How many servers at once for each protocol.")
    var lanes = 4

    @Flag(help: "Name each answer before it is met.")
    var verbose = false

    @OptionGroup var silentHosts: SilentHosts.Options

    func run() async throws {
        var findings: [String] = []
        var met = 0
        if parts.contains(.silent) {
            findings += try await SilentHosts(options: silentHosts).run(Self.say)
            met += SilentHosts.requests
        }
        for part in parts {
            for (speech, share) in shares(of: part) {
                let number = share.count
                try await withThrowingTaskGroup(of: [String].self) { group in
                    for first in 0..<min(lanes, number) {
                        group.addTask { [verbose, lanes] in
                            let places = stride(from: first, to: number, by: lanes)
                            let lane = try await Lane(speech, part == .downloads ? .provider : .client)
                            return try await Self.meet(places.map { $0 }, of: share, on: lane, verbose)
                        }
                    }
                    for try await more in group { findings += more }
                }
                met += number
                Self.say("\(part.rawValue) over \(speech.rawValue): \(number)")
            }
        }
        for finding in findings.prefix(20) { Self.say("FINDING \(finding.prefix(1_000))") }
        Self.say("\(met) answers met, \(findings.count) otherwise than expected")
        if !findings.isEmpty { throw ExitCode(1) }
    }

    /// Answers by their number, made when they are met.
    struct Share: Sendable {
        let count: Int
        let answer: @Sendable (Int) -> Answer
    }

    private func shares(of part: Part) -> [(AnsweringPeer.Speech, Share)] {
        switch part {
        case .silent: return []
        case .statuses:
            return AnsweringPeer.Speech.allCases.map { speech in
                let answers = StatusAnswers.answers(speech)
                return (speech, Share(count: answers.count) { answers[$0] })
            }
        case .downloads:
            let answers = StatusAnswers.answers(.plain)
            return [(.plain, Share(count: answers.count) { answers[$0] })]
        case .pushes:
            let answers = PushAnswers.answers
            return [(.http2, Share(count: answers.count) { answers[$0] })]
        case .sequences, .damaged:
            let isSequence = part == .sequences
            let count = self.count / 2
            return [AnsweringPeer.Speech.plain, .http2].map { speech in
                let share = Share(count: count) { [seed] number in
                    let own = seed &+ UInt64(number)
                    return isSequence
                        ? SequenceAnswers.answer(speech, seed: own) : DamagedAnswers.answer(speech, seed: own)
                }
                return (speech, share)
            }
        }
    }

    private static func meet(
        _ places: [Int], of share: Share, on lane: Lane, _ isVerbose: Bool
    ) async throws -> [String] {
        var findings: [String] = []
        for place in places {
            let answer = share.answer(place)
            if isVerbose { say(answer.name) }
            if let finding = try await lane.meet(answer) { findings.append(finding) }
        }
        await lane.shutdown()
        return findings
    }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
