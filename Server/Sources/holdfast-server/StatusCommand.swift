import ArgumentParser
import HoldfastPublishing
import HoldfastServer

/// Says how each app stands.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Say whether everybody gets in, until when, and what waits for people.")

    @OptionGroup var server: ServerOptions
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        try await server.withReadableServer { open, unwritable in
            let outage = try await open.publisher.outage(isUnwritable: unwritable != nil)
            if answer.json { return try await printJSON(open, unwritable, outage) }
            if let unwritable { Terminal.line("nothing can be written: \(unwritable)") }
            if let outage {
                Terminal.line(
                    "the database was written last at \(CommandValue.time(outage.since)): \(outage.rounds) rounds are in the "
                        + "journal, and nothing is signed after \(CommandValue.time(outage.until)) without it")
            }
            if let problem = open.secretProblem { Terminal.line("nothing can be signed: \(problem)") }
            if let problem = open.catalog.clockProblem {
                throw NegativeAnswer(words: "nothing is signed or judged: \(problem)")
            }
            var isGood = open.secretProblem == nil && outage == nil
            for app in open.catalog.apps {
                let standing = try await open.publisher.standing(of: app, during: outage)
                let end =
                    standing.end.map { "documents may be signed until \(CommandValue.time($0))" }
                    ?? "nothing is published"
                Terminal.line("\(app)  generation \(standing.generation), \(end)")
                if let outlook = standing.outlook { Terminal.line("  clients: \(outlook.verdict.rawValue)") }
                if let time = standing.refusedFrom {
                    Terminal.line("  if nobody publishes, the first is refused at \(CommandValue.time(time))")
                }
                for loss in standing.losses { Terminal.line("  \(loss)") }
                for finding in try await open.publisher.placeFindings(of: app) { Terminal.line("  \(finding.words)") }
                if let deadline = standing.deadline {
                    let words = "publish until \(CommandValue.time(deadline.lastSafe)): \(deadline.words)"
                    Terminal.line("  \(standing.isPressing ? "ALARM: " : "")\(words)")
                }
                isGood = isGood && standing.losses.isEmpty && !standing.isPressing
                for warning in standing.plainTextKeys { Terminal.line("  \(warning)") }
                // Hearsay: it warns, and decides nothing.
                let reports = try await open.catalog.reportStanding(of: app)
                for line in reports.isEnabled ? reports.lines : [] { Terminal.line("  \(line)") }
                for (change, state) in standing.open {
                    Terminal.line("  \(state.rawValue): change \(change.id), \(change.reason)")
                }
            }
            guard isGood else { throw Self.isNotGood }
        }
    }

    private static let isNotGood = NegativeAnswer(
        words: "not everybody gets in, something has to be published soon, or nothing can be signed or written")

    private func printJSON(
        _ open: ServerFolder.Open, _ unwritable: ServerError?, _ outage: Publisher.Outage?
    ) async throws {
        let all = [open.secretProblem, open.catalog.clockProblem, unwritable]
        let problems = all.compactMap(\.self).map { "\($0)" }
        var (apps, isGood): ([CanonicalJSON], Bool) = ([], problems.isEmpty && outage == nil)
        // With a wrong clock nobody is judged.
        let judged = open.catalog.clockProblem == nil ? open.catalog.apps : []
        for app in judged {
            let standing = try await open.publisher.standing(of: app, during: outage)
            isGood = isGood && standing.losses.isEmpty && !standing.isPressing
            var members = Self.members(of: standing)
            let reports = try await open.catalog.reportStanding(of: app)
            if reports.isEnabled { members["reports"] = .object(AdministrationView.reports(reports)) }
            apps.append(.object(members))
        }
        var members: [String: CanonicalJSON] = [
            "isGood": .boolean(isGood), "problems": AdministrationView.texts(problems), "apps": .array(apps),
        ]
        if let outage {
            members["outage"] = .object([
                "rounds": .integer(Int64(outage.rounds)), "since": AdministrationView.time(outage.since),
                "until": AdministrationView.time(outage.until),
            ])
        }
        JSONAnswer.print(members)
        guard isGood else { throw Self.isNotGood }
    }

    private static func members(of standing: Publisher.Standing) -> [String: CanonicalJSON] {
        let open: [CanonicalJSON] = standing.open.map { change, state in
            .object(AdministrationView.summary(change, state))
        }
        var members: [String: CanonicalJSON] = [
            "name": .text("\(standing.app)"), "generation": .integer(standing.generation),
            "losses": AdministrationView.texts(standing.losses), "open": .array(open),
            "plainTextKeys": AdministrationView.texts(standing.plainTextKeys),
        ]
        if let time = standing.refusedFrom { members["refusedFrom"] = AdministrationView.time(time) }
        if let end = standing.end { members["end"] = AdministrationView.time(end) }
        if let deadline = standing.deadline {
            members["publishUntil"] = AdministrationView.time(deadline.lastSafe)
            members["publishBecause"] = .text(deadline.words)
        }
        if let outlook = standing.outlook { members["verdict"] = .text(outlook.verdict.rawValue) }
        return members
    }
}

/// Examines everything.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examine everything: audit, approvers, approvals of what is published, keys, documents, folder.")

    @OptionGroup var server: ServerOptions
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        try await server.withServer { open in
            let problems = [open.secretProblem, open.catalog.clockProblem].compactMap(\.self)
            var findings = problems.map { (isFault: true, words: "\($0)") }
            for finding in try await open.publisher.examine() {
                findings.append((isFault: finding.isFault, words: finding.words))
            }
            let isGood = !findings.contains { $0.isFault }
            if answer.json {
                let list: [CanonicalJSON] = findings.map { finding in
                    .object(["isFault": .boolean(finding.isFault), "words": .text(finding.words)])
                }
                JSONAnswer.print([
                    "isGood": .boolean(isGood), "findings": .array(list),
                    "entries": .integer(open.catalog.ledger.chain.head.count),
                ])
            } else {
                for finding in findings { Terminal.line("\(finding.isFault ? "fault" : "note"): \(finding.words)") }
            }
            guard isGood else { throw NegativeAnswer(words: "something is broken") }
            guard !answer.json else { return }
            Terminal.line(
                "\(open.catalog.ledger.chain.head.count) entries of the audit verify, and all that is published was approved"
            )
        }
    }
}
