import ArgumentParser
import Foundation
import Holdfast
import PinChanges
import PinPublication
import ServerApprovals
import ServerFoundation
import ServerModel
import ServerStore
import ServerWeb

/// Proposes changes, and shows them.
struct ChangeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change", abstract: "Propose changes, and show them.",
        subcommands: [Propose.self, List.self, Show.self])

    struct Propose: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Propose what follows from what is published and announced.",
            discussion: "Nothing is signed: people approve first.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "The app.")
        var app: String
        @Option(
            help: "What to publish, such as list, challenge or trust-server=CUSTOMER. Repeat it; as before if absent.")
        var format: [String] = []
        @Option(help: "After how many seconds clients ask again.")
        var refresh: Int64 = 3_600
        @Flag(
            help:
                "Add unannounced keys that the servers present now, if two vantages saw them within the hour.")
        var includeSeen = false
        @Option(help: "The id of another change whose content to propose again.")
        var again: String?
        @Option(help: "Propose the hosts of this change of another app, for the repository of its canary.")
        var like: String?
        @Option(help: "Leave out a certificate or key: 64 hexadecimal digits. Repeat it.")
        var remove: [String] = []
        @Option(
            help:
                "A file that says which hosts need no pins, for answers to challenges, JSON; as before if absent.",
            completion: .file())
        var domains: String?
        @Option(help: "For how many days documents may be signed.")
        var lifetime: Int64 = 180
        @Option(help: "Let it pass a gate that it fails: lint, replay, outlook, canary or readback. Repeat it.")
        var force: [String] = []
        @Option(help: "For a stolen key or a distrusted CA: all clients get it at once, without the canary.")
        var emergency: String?
        @Option(help: "Why.")
        var reason: String?
        @OptionGroup var proposer: ProposerOptions

        func run() async throws {
            let wish = try wish()
            try await server.withServer { open in try await propose(wish, open) }
        }

        /// The parsed options.
        private struct Wish: Sendable {
            let reason: String
            let gates: Set<Gate>
            let earlier: RandomID?
            let content: Catalog.DraftOptions
        }

        private func wish() throws -> Wish {
            guard let reason = emergency.map({ "emergency: \($0)" }) ?? reason else {
                throw ValidationError("Say why with --reason, or --emergency.")
            }
            var gates = try CommandValue.gates(force)
            if emergency != nil { gates.insert(.canary) }
            guard (1...366).contains(lifetime) else { throw ValidationError("Give a --lifetime of 1 to 366 days.") }
            guard again == nil || format.isEmpty && remove.isEmpty && !includeSeen else {
                throw ValidationError("--again proposes what it was: leave out --format, --remove and --include-seen.")
            }
            var content = Catalog.DraftOptions(
                includesSeen: includeSeen, removed: Set(try remove.map(CommandValue.digest)),
                lifetime: lifetime * 86_400)
            content.domains = try domains.map { try ContentDomains(InputFile.bytes($0), named: $0) }
            return Wish(reason: reason, gates: gates, earlier: try again.map(CommandValue.id), content: content)
        }

        private func propose(_ wish: Wish, _ open: ServerFolder.Open) async throws {
            let name = try AppName(app)
            if let earlier = wish.earlier {
                return try await proposeAgain(earlier, of: name, forcing: wish.gates, because: wish.reason, open)
            }
            var wishes = wish.content
            if !format.isEmpty {
                let root = try await open.catalog.firstRoot(of: name)
                let known = try await open.publisher.published(name)?.formats ?? []
                wishes.formats = try format.map { text in try read(text, root, known) }
            }
            let content: Content
            if let like {
                let change = try CommandValue.id(like)
                content = try await open.catalog.content(of: name, like: change, formats: wishes.formats)
            } else {
                content = try await open.catalog.draft(of: name, wishes)
            }
            var generator = SystemRandomNumberGenerator()
            let proposal = try await open.publisher.propose(
                content, forcing: wish.gates, proposer: try await proposer.identity(open.catalog), reason: wish.reason,
                by: actor.actor, using: &generator)
            try await ChangeText.print(proposal, open)
        }

        private func proposeAgain(
            _ earlier: RandomID, of app: AppName, forcing gates: Set<Gate>, because reason: String,
            _ open: ServerFolder.Open
        ) async throws {
            guard try await open.catalog.change(earlier).content.app == app else {
                throw ValidationError(
                    "Change \(earlier) is of another app. Name one that `holdfast-server change list \(app) --data DIR` "
                        + "shows.")
            }
            let now = Int64(SystemWallClock().now.timeIntervalSince1970)
            var generator = SystemRandomNumberGenerator()
            let proposal = try await open.publisher.proposeAgain(
                earlier, until: now + lifetime * 86_400, forcing: gates,
                proposer: try await proposer.identity(open.catalog), reason: reason, by: actor.actor,
                using: &generator)
            try await ChangeText.print(proposal, open)
        }

        private func read(_ text: String, _ root: Digest?, _ known: [ContentFormat]) throws -> ContentFormat {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard let kind = ContentFormat.Kind(rawValue: parts.first ?? "") else {
                let known = ContentFormat.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("Give a --format: \(known).")
            }
            guard kind != .repository || root != nil else {
                throw ValidationError(
                    "The app has no repository. Begin one: `holdfast-server app repository init APP --root-key FILE "
                        + "--targets-key FILE --output FOLDER --data DIR`.")
            }
            let name = parts.count == 2 ? parts[1] : nil
            guard kind != .trustServer || name != nil else {
                throw ValidationError("Name the customer of the trust server: --format trust-server=CUSTOMER.")
            }
            guard kind == .repository || kind == .pinFile else {
                return try ContentFormat(kind, refresh: refresh, customer: name)
            }
            // Its clients are configured with the application, so keep it unless another one is named.
            return try ContentFormat(
                kind, refresh: refresh, root: kind == .repository ? root : nil,
                application: name ?? known.first { $0.kind == kind }?.application)
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the changes of an app, the newest first.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var answer: AnswerOptions
        @Argument(help: "The app.")
        var app: String

        func run() async throws {
            try await server.withServer { open in
                let app = try AppName(app)
                _ = try await open.catalog.app(app)
                let now = Int64(SystemWallClock().now.timeIntervalSince1970)
                let chain = try await open.catalog.approvers()
                for change in try await open.catalog.changes(of: app) {
                    let state = change.state(chain, generation: open.catalog.ledger.generation(of: app), at: now)
                    guard !answer.json else {
                        JSONAnswer.print(AdministrationView.summary(change, state))
                        continue
                    }
                    Terminal.line(
                        "\(change.id)  \(state.rawValue)  \(CommandValue.time(change.proposed))  "
                            + "\(change.isEmergency ? "EMERGENCY: " : "")\(change.reason)")
                }
            }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show a change, what the gates say, and who approved it.")
        @OptionGroup var server: ServerOptions
        @OptionGroup var answer: AnswerOptions
        @Argument(help: "The change.")
        var change: String
        @Option(help: "A file for the content, the bytes that approvals are about.", completion: .file())
        var content: String?
        @Option(help: "A file for the outlook, JSON.", completion: .file())
        var outlook: String?

        func run() async throws {
            let id = try CommandValue.id(change)
            try await server.withServer { open in
                let change = try await open.catalog.change(id)
                if let content { try InputFile.create(content, change.content.bytes) }
                if let outlook { try InputFile.create(outlook, change.outlook) }
                let report = try await open.publisher.rehearse(id)
                guard !answer.json else {
                    let members = try await AdministrationView.change(id, by: open.publisher)
                    let gates = Dictionary(uniqueKeysWithValues: AdministrationView.report(report))
                    return JSONAnswer.print(members.merging(gates) { first, _ in first })
                }
                try await ChangeText.print(change, open)
                ChangeText.print(report)
            }
        }
    }
}

/// The proposer of a change. It must be specified, because approvers cannot approve their own changes.
struct ProposerOptions: ParsableArguments {
    @Option(help: "The approver who proposes it. Their own approval is not valid.")
    var proposer: String?
    @Flag(help: "The proposer is no approver, so every approval is valid.")
    var noProposer = false

    func validate() throws {
        guard (proposer == nil) == noProposer else {
            throw ValidationError("Say which approver proposes it with --proposer, or --no-proposer.")
        }
    }

    /// The digest of the proposer's key; nil if the proposer is no approver.
    func identity(_ catalog: Catalog) async throws -> Digest? {
        guard let proposer else { return nil }
        return try await Self.identity(proposer, catalog)
    }

    /// The digest of an approver's key.
    static func identity(_ name: String, _ catalog: Catalog) async throws -> Digest {
        let members = try await catalog.approvers().head.approvers.members
        guard let member = members.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
            throw ValidationError(
                "No approver is called \(name). Name one that `holdfast-server approvers --data DIR` shows.")
        }
        return member.key.identity
    }
}

/// A change as text.
enum ChangeText {
    static func print(_ proposal: Publisher.Proposal, _ open: ServerFolder.Open) async throws {
        Terminal.line("change \(proposal.change)")
        for line in proposal.difference.lines { Terminal.line("  \(line)") }
        let content = try await open.catalog.change(proposal.change).content
        for line in try await open.catalog.unannounced(in: content) { Terminal.line("  \(line)") }
        for line in try await open.catalog.origins(of: content) { Terminal.line("  origin: \(line)") }
        print(proposal.report)
        try await printOthers(than: proposal.change, open)
    }

    /// Prints the other open changes of the app.
    private static func printOthers(than change: RandomID, _ open: ServerFolder.Open) async throws {
        let others = try await open.publisher.otherOpenChanges(than: change)
        for other in others {
            Terminal.line(
                "  still open: change \(other.id), \(other.state.rawValue) since "
                    + "\(CommandValue.time(other.proposed)), \(other.reason)")
        }
        if !others.isEmpty { Terminal.line("  \(OtherOpenChange.advice)") }
    }

    static func print(_ change: Change, _ open: ServerFolder.Open) async throws {
        let published = try await open.publisher.published(change.content.app)
        Terminal.line("change \(change.id) of \(change.content.app), proposed \(CommandValue.time(change.proposed))")
        let chain = try await open.catalog.approvers()
        let members = chain.head.approvers
        if change.isEmergency {
            Terminal.line("  EMERGENCY: it skips the canary, and all clients get it at once")
            let silent = change.silentApprovers(of: chain).map(\.name).joined(separator: ", ")
            if !silent.isEmpty { Terminal.line("  no word yet from \(silent)") }
        }
        let proposer = change.proposer.map { members.member($0)?.name ?? "\($0)" }
        Terminal.line("  proposed by \(proposer ?? "a person who is not an approver: every approval is valid")")
        Terminal.line("  reason: \(change.reason)")
        if !change.forced.isEmpty {
            Terminal.line("  FORCED: \(change.forced.map(\.rawValue).sorted().joined(separator: ", "))")
        }
        for line in ContentDifference(from: published, to: change.content).lines { Terminal.line("  \(line)") }
        for line in try await open.catalog.unannounced(in: change.content) { Terminal.line("  \(line)") }
        for line in try await open.catalog.origins(of: change.content) { Terminal.line("  origin: \(line)") }
        try await printOthers(than: change.id, open)
        Terminal.line("  content \(change.content.digest)")
        Terminal.line("  outlook \(Digest(of: change.outlook))")
        for approval in change.approvals {
            let name = members.member(approval.signature.identity)?.name ?? "\(approval.signature.identity)"
            let verdict = (try? ApprovalText(approval.text))?.verdict.rawValue ?? "unreadable"
            Terminal.line("  \(verdict): \(name)")
        }
    }

    static func print(_ report: GateReport) {
        for result in report.results {
            Terminal.line(
                "  gate \(result.gate.rawValue): \(result.refusals.isEmpty ? "passed" : result.isForced ? "FORCED" : "refused")"
            )
            for refusal in result.refusals { Terminal.line("    \(refusal)") }
        }
    }
}
