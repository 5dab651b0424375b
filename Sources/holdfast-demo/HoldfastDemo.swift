import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import Logging

/// The program `holdfast-demo`.
@main
struct HoldfastDemo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "holdfast-demo",
        abstract: "Watch Holdfast decide about real TLS connections on loopback.",
        discussion: """
            Makes a throwaway authority and a dozen servers that cannot be reached from outside, connects to each, and \
            compares every verdict with the expected one. Then pins change in the field: a client takes them from a \
            signed list over HTTPS, from the keys that a trust server signed, or from a repository that cannot be \
            rolled back, and refuses what nobody should trust. Needs no network and changes nothing on this machine. \
            Takes a few seconds.

            EXAMPLES
              holdfast-demo
              holdfast-demo --verbose

            Exit codes: 0 every verdict as expected, 1 one was not, 3 the servers could not be started.
            """)

    @Flag(name: .shortAndLong, help: "Print every refusal in full.")
    var verbose = false

    func run() async throws {
        let output = Output.standard
        let isAsExpected: Bool
        do throws(DemoFailure) {
            isAsExpected = try await play(output)
            if let reason = Output.whatWasLost { throw DemoFailure("standard output cannot be written: \(reason)") }
        } catch {
            output.complainAsIs("holdfast-demo: \(error)")
            throw ExitCode(3)
        }
        guard isAsExpected else { throw ExitCode.failure }
    }

    /// - Returns: whether every verdict is the expected one.
    private func play(_ output: Output) async throws(DemoFailure) -> Bool {
        // The table shows everything that libraries would log.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        let clock = ContinuousClock()
        let start = clock.now
        let stage: DemoStage
        do {
            stage = try DemoStage()
        } catch {
            throw DemoFailure("the demo's certificates cannot be made: \(error)")
        }
        output.heading("Real TLS connections to \(stage.host), on loopback, under an authority made just now.")
        let count = DemoConnection.request.utf8.count
        output.line("Each client writes a request of \(count) bytes before its server is evaluated.")
        output.line()
        var results: [DemoResult] = []
        output.heading(DemoTable.title)
        for step in stage.steps {
            let result: DemoResult
            do {
                result = try await DemoConnection(stage: stage, step: step).run()
            } catch {
                throw DemoFailure("'\(step.server)' could not be tried: \(error)")
            }
            results.append(result)
            print(result, stage, output)
        }
        output.line()
        output.heading("Pins that change in the field: a store downloads a signed list over HTTPS.")
        var updates: [DemoUpdate] = []
        func note(_ event: DemoStory.Event) {
            switch event {
            case .connection(let result):
                results.append(result)
                print(result, stage, output)
            case .update(let update):
                updates.append(update)
                DemoTable.print(update, to: output)
                if verbose, let error = update.error { output.line("        \(error)", .faint) }
            }
        }
        do {
            try await DemoStory.tell(on: stage, note)
            output.line()
            output.heading("Online pinning: a trust server validates hosts and signs their keys (CMS).")
            try await DemoTrustServer.tell(on: stage, note)
            output.line()
            output.heading("Pins that cannot be rolled back: a repository (TUF) in one file, from any file server.")
            try await DemoRepository.tell(on: stage, note)
        } catch {
            throw DemoFailure("the pins of the demo could not be served: \(error)")
        }
        return summarize(results, updates, duration: start.duration(to: clock.now), output)
    }

    private func print(_ result: DemoResult, _ stage: DemoStage, _ output: Output) {
        DemoTable.print(result, at: stage.clock.now, to: output)
        guard verbose, let failure = result.decision.failure else { return }
        for line in failure.description.split(separator: "\n") { output.line("        \(line)", .faint) }
    }

    private func summarize(
        _ results: [DemoResult], _ updates: [DemoUpdate], duration: Duration, _ output: Output
    ) -> Bool {
        let wrong = results.count { !$0.isAsExpected } + updates.count { !$0.isAsExpected }
        let refused = results.filter { !$0.decision.isTrusted }
        let leaked = refused.reduce(0) { $0 + $1.bytesAtServer }
        let seconds = String(format: "%.1f s", duration / .seconds(1))
        output.line()
        output.line("\(results.count - refused.count) accepted: each request arrived whole and was answered.")
        output.line(
            leaked == 0
                ? .init("\(refused.count) refused: not one byte of a request reached a server.")
                : .init("\(refused.count) refused, but \(leaked) bytes reached a server.", .bad))
        let refusedDocuments = updates.count { $0.error != nil }
        output.line("\(refusedDocuments) documents refused: the last good pins stayed.")
        let count = results.count + updates.count
        if wrong == 0 {
            output.line(
                .init("All \(count) verdicts as expected", .good), .init(", in \(seconds)."))
        } else {
            output.line(.init("\(wrong) of \(count) not as expected.", .bad))
        }
        return wrong == 0
    }
}
