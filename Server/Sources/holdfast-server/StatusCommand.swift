import ArgumentParser
import HoldfastPublishing
import HoldfastServer

/// Says how each app stands.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Say whether everybody gets in, until when, and what waits for people.")

    @OptionGroup var server: ServerOptions

    func run() async throws {
        try await server.withServer { open in
            if let problem = open.secretProblem { Terminal.line("nothing can be signed: \(problem)") }
            if let problem = open.catalog.clockProblem {
                throw NegativeAnswer(words: "nothing is signed or judged: \(problem)")
            }
            var isGood = open.secretProblem == nil
            for app in open.catalog.apps {
                let standing = try await open.publisher.standing(of: app)
                let end =
                    standing.end.map { "documents may be signed until \(CommandValue.time($0))" }
                    ?? "nothing is published"
                Terminal.line("\(app)  generation \(standing.generation), \(end)")
                if let outlook = standing.outlook { Terminal.line("  clients: \(outlook.verdict.rawValue)") }
                for loss in standing.losses { Terminal.line("  \(loss)") }
                isGood = isGood && standing.losses.isEmpty
                for (change, state) in standing.open {
                    Terminal.line("  \(state.rawValue): change \(change.id), \(change.reason)")
                }
            }
            guard isGood else { throw NegativeAnswer(words: "not everybody gets in, or nothing can be signed") }
        }
    }
}

/// Examines everything.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examine everything: audit, approvers, approvals of what is published, keys, documents, folder.")

    @OptionGroup var server: ServerOptions

    func run() async throws {
        try await server.withServer { open in
            let problems = [open.secretProblem, open.catalog.clockProblem].compactMap(\.self)
            for problem in problems { Terminal.line("fault: \(problem)") }
            let findings = try await open.publisher.examine()
            for finding in findings { Terminal.line("\(finding.isFault ? "fault" : "note"): \(finding.words)") }
            guard problems.isEmpty, !findings.contains(where: \.isFault) else {
                throw NegativeAnswer(words: "something is broken")
            }
            Terminal.line(
                "\(open.catalog.ledger.chain.head.count) entries of the audit verify, and all that is published was approved"
            )
        }
    }
}
