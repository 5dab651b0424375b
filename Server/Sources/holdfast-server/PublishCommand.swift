import ArgumentParser
import Foundation
import Holdfast
import PinChanges
import PinPublication
import ServerApprovals
import ServerFoundation
import ServerModel
import ServerStore

/// Publishes an approved change.
struct PublishCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish", abstract: "Publish a change that enough people approved.")

    @OptionGroup var server: ServerOptions
    @Argument(help: "The change.")
    var change: String
    @Flag(help: "Ask the gates only, and sign nothing.")
    var dryRun = false

    func run() async throws {
        let id = try CommandValue.id(change)
        try await server.withServer { open in
            let report = try await open.publisher.rehearse(id)
            ChangeText.print(report)
            guard !dryRun else {
                let change = try await open.catalog.change(id)
                let now = Int64(SystemWallClock().now.timeIntervalSince1970)
                let chain = try await open.catalog.approvers()
                _ = try change.approved(by: chain, at: now)
                let generation = open.catalog.ledger.generation(of: change.content.app)
                let state = change.state(chain, generation: generation, at: now)
                guard state == .approved else {
                    throw NegativeAnswer(
                        words: "it cannot be published anymore: it is \(state.rawValue). `holdfast-server change list "
                            + "\(change.content.app) --data DIR` shows what is open")
                }
                Terminal.line("approved")
                guard report.isPassed else {
                    throw NegativeAnswer(
                        words: "a gate refuses: correct what it names, and propose the change again")
                }
                return
            }
            let outcome = try await open.publisher.publish(id)
            switch outcome.stage {
            case .published(let generation): Terminal.line("published: generation \(generation)")
            case .canary(let until):
                Terminal.line("the canary has it; publish it again from \(CommandValue.time(until)) on")
            }
            var delivery = await open.publisher.readBack()
            delivery.add(try await open.publisher.deliverToPlaces())
            for words in delivery.confirmed { Terminal.line("clients find it at \(words)") }
            for words in delivery.forced { Terminal.complain("readback was forced: \(words)") }
            for problem in outcome.problems + delivery.problems {
                Terminal.complain("not there yet, and renew tries again: \(problem)")
            }
        }
    }
}

/// Signs documents again that need it.
struct RenewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew", abstract: "Sign trust-server documents again, and write what waits to the folder.")

    @OptionGroup var server: ServerOptions

    func run() async throws {
        let lock = try server.folder.lock()
        defer { withExtendedLifetime(lock) {} }
        try await server.withServer { open in
            let round = try await open.publisher.renew()
            // Pending documents for the folder and other destinations are in the database.
            let delivered = try await open.publisher.deliver()
            let mended = try await open.publisher.mendFolder()
            var undelivered = delivered.problems + mended.problems
            for path in delivered.confirmed + mended.confirmed where !round.signed.contains(path) {
                Terminal.line("written again: \(path)")
            }
            var places = await open.publisher.readBack()
            places.add(try await open.publisher.deliverToPlaces())
            undelivered += places.problems
            for words in places.confirmed { Terminal.line("clients find it at \(words)") }
            for words in places.forced { Terminal.complain("readback was forced: \(words)") }
            undelivered += await open.publisher.probeCanaries()
            for path in round.signed { Terminal.line("signed \(path)") }
            for words in round.settled { Terminal.line(words) }
            for problem in round.problems + undelivered { Terminal.complain(problem) }
            guard round.problems.isEmpty, undelivered.isEmpty else {
                throw NegativeAnswer(words: "not everything could be signed and written")
            }
        }
    }
}

/// Proposes the content of an earlier generation.
struct RevertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revert",
        abstract: "Propose what an earlier generation published. It needs approvals like any change.")

    @OptionGroup var server: ServerOptions
    @OptionGroup var actor: ActorOption
    @Argument(help: "The app.")
    var app: String
    @Option(help: "The generation to return to.")
    var to: Int64
    @Option(help: "For how many days documents may be signed; as in that generation if absent.")
    var lifetime: Int64?
    @Option(help: "Why.")
    var reason: String?
    @Option(help: "Why it skips the canary, so that all clients get it at once. Every approver sees this text.")
    var emergency: String?
    @OptionGroup var proposer: ProposerOptions

    func run() async throws {
        guard let reason = emergency.map({ "emergency: \($0)" }) ?? reason else {
            throw ValidationError("Say why with --reason, or --emergency.")
        }
        let now = Int64(SystemWallClock().now.timeIntervalSince1970)
        guard lifetime.map({ (1...366).contains($0) }) ?? true else {
            throw ValidationError("Give a --lifetime of 1 to 366 days.")
        }
        try await server.withServer { open in
            var generator = SystemRandomNumberGenerator()
            let proposal = try await open.publisher.proposeReverting(
                AppName(app), to: to, until: lifetime.map { now + $0 * 86_400 },
                forcing: emergency == nil ? [] : [.canary], proposer: try await proposer.identity(open.catalog),
                reason: reason, by: actor.actor,
                using: &generator)
            try await ChangeText.print(proposal, open)
        }
    }
}
