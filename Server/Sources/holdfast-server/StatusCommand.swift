import ArgumentParser
import Foundation
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
                if let verdict = standing.verdict { Terminal.line("  clients: \(verdict.rawValue)") }
                if let time = standing.refusedFrom {
                    Terminal.line("  if nobody publishes, the first is refused at \(CommandValue.time(time))")
                }
                for loss in standing.losses + standing.expiredServers { Terminal.line("  \(loss)") }
                for words in standing.held { Terminal.line("  HELD: \(words)") }
                let places = try await open.publisher.placeStandings(of: app)
                for place in places {
                    for words in [place.words] + place.notes.map(\.words) { Terminal.line("  \(words)") }
                }
                if let deadline = standing.deadline {
                    Terminal.line("  \(standing.isPressing ? "ALARM: " : "")\(deadline.advice(at: standing.now))")
                }
                isGood = isGood && standing.isGood && !places.contains { $0.state == .failing }
                for warning in standing.plainTextKeys { Terminal.line("  \(warning)") }
                for line in standing.canary?.lines ?? [] { Terminal.line("  \(line)") }
                for line in await Self.reported(of: app, open.catalog) { Terminal.line("  \(line)") }
                for (change, state) in standing.open {
                    let words = "\(state.rawValue): change \(change.id), \(change.reason)"
                    guard change.isEmergency else {
                        Terminal.line("  \(words)")
                        continue
                    }
                    let silent = change.silentApprovers(of: try await open.catalog.approvers()).map(\.name)
                    Terminal.line("  EMERGENCY, \(words)")
                    if !silent.isEmpty {
                        Terminal.line("    no word yet from \(silent.joined(separator: ", "))")
                    }
                }
            }
            guard isGood else { throw Self.isNotGood }
        }
    }

    private static let isNotGood = NegativeAnswer(
        words:
            "not everybody gets in, something has to be published soon or does not arrive, or nothing can be signed or written"
    )

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
            let places = try await open.publisher.placeStandings(of: app)
            isGood = isGood && standing.isGood && !places.contains { $0.state == .failing }
            var members = Self.members(of: standing, places)
            if let reports = try? await open.catalog.reportStanding(of: app), reports.isEnabled {
                members["reports"] = .object(AdministrationView.reports(reports))
            }
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

    /// What clients say. It is hearsay: it warns, and decides nothing, even if it cannot be read.
    private static func reported(of app: AppName, _ catalog: Catalog) async -> [String] {
        do throws(ServerError) {
            let reports = try await catalog.reportStanding(of: app)
            return reports.isEnabled ? reports.lines : []
        } catch {
            return ["reports cannot be read: \(error)"]
        }
    }

    private static func members(
        of standing: Publisher.Standing, _ places: [PlaceStanding]
    ) -> [String: CanonicalJSON] {
        let open: [CanonicalJSON] = standing.open.map { change, state in
            .object(AdministrationView.summary(change, state))
        }
        var members: [String: CanonicalJSON] = [
            "name": .text("\(standing.app)"), "generation": .integer(standing.generation),
            "losses": AdministrationView.texts(standing.losses), "open": .array(open),
            "plainTextKeys": AdministrationView.texts(standing.plainTextKeys),
            "expiredServers": AdministrationView.texts(standing.expiredServers),
            "held": AdministrationView.texts(standing.held),
            "places": .array(places.map { .object(Self.members(of: $0)) }),
        ]
        if let time = standing.refusedFrom { members["refusedFrom"] = AdministrationView.time(time) }
        if let end = standing.end { members["end"] = AdministrationView.time(end) }
        if let deadline = standing.deadline {
            members["publishUntil"] = AdministrationView.time(deadline.lastSafe)
            members["publishBecause"] = .text(deadline.words)
        }
        if let canary = standing.canary {
            members["canary"] = .object(Self.members(of: canary))
        }
        if let verdict = standing.verdict { members["verdict"] = .text(verdict.rawValue) }
        return members
    }

    private static func members(of canary: Publisher.CanaryStanding) -> [String: CanonicalJSON] {
        var members: [String: CanonicalJSON] = [
            "change": .text("\(canary.change)"), "began": AdministrationView.time(canary.began),
            "end": AdministrationView.time(canary.end), "followed": .integer(canary.followed),
            "refusals": AdministrationView.texts(canary.refusals),
            "reported": AdministrationView.texts(canary.reported),
        ]
        if let since = canary.heldSince { members["heldSince"] = AdministrationView.time(since) }
        return members
    }

    private static func members(of place: PlaceStanding) -> [String: CanonicalJSON] {
        var members: [String: CanonicalJSON] = [
            "name": .text(place.name), "url": .text(place.url.absoluteString),
            "state": .text(place.state.rawValue), "waiting": .integer(place.waiting),
            "failures": .integer(place.failures), "lag": .integer(place.lag),
        ]
        if let time = place.delivered { members["delivered"] = AdministrationView.time(time) }
        if let time = place.behindSince { members["behindSince"] = AdministrationView.time(time) }
        if let only = place.place?.onlyPublisher { members["onlyPublisher"] = .text(only) }
        return members
    }
}

/// Examines everything.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Examine everything: audit, approvers, approvals of what is published, keys, documents, folder.")

    @OptionGroup var server: ServerOptions
    @Option(help: "Where the pages are: https://NAME, if not where serve was told. Passkeys of another are a fault.")
    var adminOrigin: String?
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        let pages = try adminOrigin.map { try RelyingParty(origin: $0) }
        try await server.withServer { open in
            let problems = [open.secretProblem, open.catalog.clockProblem].compactMap(\.self)
            var findings = problems.map { (isFault: true, words: "\($0)") }
            let folder = ServerFolder(open.folder)
            findings += folder.permissions().findings.map { (isFault: $0.isOpenToAll, words: $0.words) }
            for finding in try await open.publisher.examine(pages: pages) {
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
