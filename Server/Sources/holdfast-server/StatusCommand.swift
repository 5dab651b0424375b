import ArgumentParser
import Foundation
import HoldfastPublishing
import HostMonitoring
import PinChanges
import PinPublication
import ServerApprovals
import ServerFoundation
import ServerModel
import ServerStore
import ServerWeb

/// Reports the status of each app.
struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Report whether all clients can connect, until when, and what waits for people.")

    @OptionGroup var server: ServerOptions
    @OptionGroup var answer: AnswerOptions

    func run() async throws {
        try await server.withReadableServer { open, unwritable in
            let reserve = open.engine.reserve?.warning
            if answer.json { return try await printJSON(open, unwritable, reserve) }
            if let unwritable { Terminal.line("nothing can be written: \(unwritable)") }
            if let reserve { Terminal.line("ALARM: \(reserve)") }
            if let problem = open.secretProblem { Terminal.line("nothing can be signed: \(problem)") }
            if let problem = open.catalog.clockProblem {
                throw NegativeAnswer(words: "nothing is signed or evaluated: \(problem)")
            }
            var isGood = open.secretProblem == nil && unwritable == nil && reserve == nil
            for app in open.catalog.apps {
                let standing = try await open.publisher.standing(of: app)
                let now = standing.now
                Terminal.line("\(app)  generation \(standing.generation), \(standing.endWords(at: now))")
                if let verdict = standing.verdict { Terminal.line("  clients: \(verdict.rawValue)") }
                if let words = standing.refusalWords(at: now) { Terminal.line("  \(words)") }
                for loss in standing.losses + standing.expiredServers { Terminal.line("  \(loss)") }
                for words in standing.held { Terminal.line("  HELD: \(words)") }
                let places = try await open.publisher.placeStandings(of: app)
                for place in places {
                    for words in [place.words] + place.notes.map(\.words) { Terminal.line("  \(words)") }
                }
                if let deadline = standing.deadline {
                    Terminal.line("  \(standing.isPressing ? "ALARM: " : "")\(deadline.advice(at: now))")
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
            "some clients are or may be locked out, an app needs a publication soon, documents were not delivered, "
            + "or nothing can be signed or written: the lines that it printed name the cause")

    private func printJSON(
        _ open: ServerFolder.Open, _ unwritable: ServerError?, _ reserve: String?
    ) async throws {
        let all = [open.secretProblem, open.catalog.clockProblem, unwritable]
        let problems = all.compactMap(\.self).map { "\($0)" } + [reserve].compactMap(\.self)
        var (apps, isGood): ([CanonicalJSON], Bool) = ([], problems.isEmpty)
        // With a wrong clock, no app is evaluated.
        let judged = open.catalog.clockProblem == nil ? open.catalog.apps : []
        for app in judged {
            let standing = try await open.publisher.standing(of: app)
            let places = try await open.publisher.placeStandings(of: app)
            isGood = isGood && standing.isGood && !places.contains { $0.state == .failing }
            var members = AdministrationView.standing(standing)
            members["places"] = .array(places.map { .object(Self.members(of: $0)) })
            if let reports = try? await open.catalog.reportStanding(of: app), reports.isEnabled {
                members["reports"] = .object(AdministrationView.reports(reports))
            }
            apps.append(.object(members))
        }
        JSONAnswer.print([
            "isGood": .boolean(isGood), "problems": AdministrationView.texts(problems), "apps": .array(apps),
        ])
        guard isGood else { throw Self.isNotGood }
    }

    /// The client reports of an app. They are unverified, so they only warn, even if they are unreadable.
    private static func reported(of app: AppName, _ catalog: Catalog) async -> [String] {
        do throws(ServerError) {
            let reports = try await catalog.reportStanding(of: app)
            return reports.isEnabled ? reports.lines : []
        } catch {
            return ["reports cannot be read: \(error)"]
        }
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
    @Option(help: "The origin of the pages, https://NAME, if serve has not set it. Passkeys of another are errors.")
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
