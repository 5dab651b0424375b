import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// `holdfastctl repository status`
struct RepositoryStatusCommand: AsyncParsableCommand, ChoosesClients {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show whether clients accept what is published, until when, and what is prepared.",
        usage: """
            holdfastctl repository status <folder> [<options>]
            holdfastctl repository status [<folder>] --app-root <file> --url <url>
            """,
        discussion: """
            Lets clients with the first root update from what is published, both from bundle.json and file by file. \
            Then it prints each role with its version, end and keys, which of them have signed it, and which \
            signatures the drafts lack.

            With --app-root it proves that the oldest supported build of the app can still update. Give the root that \
            this build shipped with: a client goes from there through every root to the newest pins, in both ways. \
            With --url it tests from outside what a server or a CDN serves. A file that the server refuses with 403 \
            counts as absent, as for clients, and is named. If the folder is given as well, the command also says what \
            the server does not serve yet.

            EXAMPLES
              holdfastctl repository status site --no-shipped-pins
              holdfastctl repository status site --shipped 7.4=app-7.4.pins.json \\
                --watch 10d
              holdfastctl repository status site --app-root app-2024/root.json \\
                --no-shipped-pins
              holdfastctl repository status --app-root app-2024/root.json \\
                --url https://pins.example.com --no-shipped-pins --watch 5d

            Pins end when the pin file says, whatever is renewed: only the offline key can sign new ones. So this also \
            says whether the published pins still let clients in, and warns 45 days before they, root or targets end. \
            The grace after their end is for accidents.

            Every host of the pins is asked at every address, as check --repository does, because pins that no server shows \
            let nobody in. A host that could not be asked makes the answer unknown (3). It is also unknown until you say which \
            versions of the app are in the field: name them with --shipped, each with the pin file or the bundle that it \
            carries, or give --no-shipped-pins. With --offline no host is asked. What the files alone prove is said, and \
            since nobody knows then whether clients get in, the exit code is at best 3.

            Clients that have not asked for a while still have earlier pins. The folder keeps those, and they are judged \
            too, for as long as --staleness says; the premises name them. If the folder does not have them anymore, the \
            answer is unknown (3) until you name the bundle of that time with --replaced. Without a folder nothing earlier \
            is known, and a premise says so.

            Exit codes: 0 clients accept it and get in, 1 they do not, the pins have run out, or nothing is published, 2 \
            wrong usage, 3 a file could not be read, the server or a host could not be asked, or the app versions are \
            unknown, also with --offline, 4 clients get in now, but only by grace, or with --watch something ends too soon.
            """)

    @Argument(help: ArgumentHelp("The folder of the repository.", valueName: "folder"), completion: .directory)
    var path: String?

    @OptionGroup
    var app: RepositoryAppOptions

    @OptionGroup
    var asking: OfflineOptions

    @OptionGroup
    var builds: ShippedPinOptions

    @OptionGroup
    var earlier: ReplacedDocumentOptions

    @OptionGroup
    var age: StalenessOptions

    @OptionGroup
    var platforms: PlatformOptions

    @Option(
        help: ArgumentHelp("Exit with 4 if anything ends in less than this time.", valueName: "span"),
        transform: TimeSpan.read)
    var watch: TimeSpan?

    @OptionGroup
    var answer: AnswerOptions

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func validate() throws {
        try watch?.validate("--watch", TimeSpan.watched)
        guard let place = path ?? app.url, !place.isEmpty else {
            throw ValidationError("Name the folder of the repository, or give --app-root and --url.")
        }
    }

    func run() async throws {
        try await answer.answering("repository status", about: [path ?? app.url ?? ""]) { try await tell() }
    }

    private func tell() async throws {
        let now = SystemWallClock().now
        let root = try app.root()
        let folder = path.map(RepositoryPlace.folder)
        var report = RepositoryReport("")
        var published: [PublishedPins] = []
        var live: TUFRepositoryState.Live?
        if let path, let folder {
            let state = try await RepositoryReading.state(in: folder)
            report = try await verdict(on: state, in: folder, at: now)
            live = state.live
            if report.isGood, let live {
                report.judge(TUFRepositoryEndings(of: live, at: now))
                if let pins = try await RepositoryPlace.published(live, in: folder, at: now) { published.append(pins) }
            }
            try report.take(state, at: now)
            try report.takeDrafts(state, withChanges: false)
            if !state.hasNoDraft {
                report.next.append("holdfastctl repository sign \(path), which shows what is prepared")
            }
        }
        // Without published pins no app could follow, and the report contains that already.
        if let root, app.url != nil || report.roles != nil,
            let following = try await app.report(root: root, folder: folder, by: connection, at: now)
        {
            report.take(following, watch: watch.map(RepositoryWatch.init), at: now)
            if let pins = following.published { published.append(pins) }
        }
        for text in published.flatMap(\.coveredReports).map(\.text)
        where !report.warnings.contains(where: { $0.utf8.elementsEqual(text.utf8) }) { report.warnings.append(text) }
        report.isOffline = asking.offline
        if asking.offline {
            if report.isGood { report.verdict += "; no host was asked whether clients get in" }
            report.isUnknown = true
        } else {
            let earlier = try await earlier(than: live, in: folder, for: published, at: now)
            try await report.ask(
                published, after: earlier, in: clients, builtWith: root ?? live?.roots.first?.data, by: connection,
                watch: watch, at: now)
        }
        if answer.format != nil {
            try answer.write(
                PrometheusText(
                    verb: "repository status", now: now, subjects: [report.metrics(of: path ?? app.url ?? "")]))
        } else if !answer.quiet || report.status != nil {
            try report.print(asJSON: answer.json)
        }
        if let status = report.status { throw NegativeAnswer(status: status) }
    }

    /// The documents of clients that have not updated since.
    private func earlier(
        than live: TUFRepositoryState.Live?, in folder: TUFRepositoryFolder?, for published: [PublishedPins],
        at now: Date
    ) async throws(CommandFailure) -> EarlierDocuments {
        if let live, let folder {
            return try await RepositoryPlace.earlier(
                than: live, in: folder, provedFrom: published.compactMap(\.root), held, at: now)
        }
        var earlier = EarlierDocuments(premises: [
            "what was served before is not known without the folder: name it with --replaced"
        ])
        earlier.name(try held.earlier.bundles(provedFrom: published.compactMap(\.root)))
        return earlier
    }

    private func verdict(
        on state: TUFRepositoryState, in folder: TUFRepositoryFolder, at now: Date
    ) async throws(CommandFailure) -> RepositoryReport {
        guard let live = state.live else { return RepositoryReport("Nothing is published", isGood: false) }
        do throws(TUFRepositoryError) {
            try await folder.verify(at: now)
        } catch {
            guard error.code == .refusedByClients || error.code == .outOfStep else { throw CommandFailure(error) }
            guard let first = live.expired(at: now).first, let path else {
                var report = RepositoryReport(
                    error.code == .outOfStep
                        ? "bundle.json is of \(error.found), the files are of \(error.expected): publish again"
                        : "Clients refuse it: \(error.found)", isGood: false)
                // The files were read as clients read them, so bundle.json is at fault, and a renewal writes it anew.
                if let path = self.path {
                    report.next.append("holdfastctl repository renew \(SafeText.shellWord(path)) --key ONLINE-KEY")
                }
                return report
            }
            // A client would check its clock, but this answer is for the publisher.
            var report = RepositoryReport(
                "Clients refuse it: the \(first.role.rawValue) ended at \(first.end.formatted(.iso8601)), and the repository "
                    + "was not renewed", isGood: false)
            report.next += live.renewals(of: SafeText.shellWord(path), at: now)
            return report
        }
        var report = RepositoryReport("Clients accept it")
        let endings = TUFRepositoryEndings(of: live, at: now)
        report.warn(of: endings.offline, and: endings.online, watch.map(RepositoryWatch.init), at: now)
        return report
    }
}

extension RepositoryReport {
    /// Adds how far apps can follow. If they cannot, or if something ends too soon for them, the report becomes bad.
    fileprivate mutating func take(_ following: RepositoryFollowing, watch: RepositoryWatch?, at now: Date) {
        self.following = following
        warnings += following.warnings
        if let expired = following.expired, next.isEmpty {
            next.append("where the repository's folder is: \(expired.renewal(of: "FOLDER"))")
        }
        if let url = following.url, following.expired == nil, next.isEmpty, !following.isGood {
            next.append(
                following.isOfOtherKeys
                    ? "give with --app-root a root of this repository; its first one is metadata/1.root.json at \(url)"
                    : "check that \(url) is the folder public, upload that folder again, and give the command once more"
            )
        }
        if let url = following.url, following.problem == nil {
            for role in roles ?? [] {
                guard let served = following.roles.first(where: { $0.role == role.role }),
                    served.version != role.version
                else { continue }
                warnings.append(
                    "\(role.role): \(url) serves version \(served.version), and version \(role.version) is published "
                        + "in the folder")
            }
        }
        guard isGood else { return }
        let pins = PinFileEndings(following.pins, at: now)
        if following.isGood, !pins.lockedOut.isEmpty {
            verdict = "\(following.verdict), BUT ARE LOCKED OUT: the pins that they get ran out"
            isGood = false
            return
        }
        if verdict.isEmpty || !following.isGood { verdict = following.verdict }
        isGood = following.isGood
        guard isGood else { return }
        func endings(_ roles: [TUFRole]) -> [TUFRepositoryEndings.Ending] {
            following.roles.filter { role in roles.contains { $0.rawValue == role.role } }.map {
                TUFRepositoryEndings.Ending(name: "\($0.role) \($0.version)", end: $0.end)
            }
        }
        // For a folder, all ends are reported already.
        let offline = endings([.root, .targets]) + pins.all
        warn(of: roles == nil || watch != nil ? offline : [], and: endings([.snapshot, .timestamp]), watch, at: now)
    }

    /// Reports the ends within the watched time, and the signatures that keyholders must soon renew.
    fileprivate mutating func warn(
        of offline: [TUFRepositoryEndings.Ending], and online: [TUFRepositoryEndings.Ending],
        _ watch: RepositoryWatch?, at now: Date
    ) {
        let watched = watch?.lines(offline + online, now) ?? []
        if let first = watched.first { (verdict, endsSoon) = ("Ends too soon: \(first)", true) }
        let said = watched.dropFirst() + RepositoryWatch.ofPeople.lines(offline, now)
        for line in said where !(watched.prefix(1) + warnings).contains(where: { $0.utf8.elementsEqual(line.utf8) }) {
            warnings.append(line)
        }
    }
}
