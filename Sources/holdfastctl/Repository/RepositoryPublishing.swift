import ArgumentParser
import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing
import HoldfastSigning

/// The options that `publish` and `renew` have in common: the lifetime of the timestamp, and the output.
struct RepositoryPublishing: ParsableArguments {
    @Option(
        help: ArgumentHelp("How long the timestamp lasts, at least 7d.", valueName: "span"), transform: TimeSpan.read)
    var lifetime = TimeSpan.days(14)

    @Flag(
        help: ArgumentHelp(
            "Write nothing: print what would be written, with headers and conditions for an upload; without --key, what "
                + "is published already."))
    var plan = false

    @Option(
        help: ArgumentHelp(
            "Make timestamp and snapshot later than this version, which clients know: for a folder that was restored "
                + "from a copy.", valueName: "version"))
    var above: Int64 = 0

    @Flag(help: "Print JSON instead of text.")
    var json = false

    @Flag(help: "Print failures only, and what people must do soon.")
    var quiet = false

    @Option(
        help: ArgumentHelp(
            "Print metrics for the textfile collector of Prometheus; -o writes them to a file.", valueName: "format"))
    var format: AnswerOptions.Format?

    @OptionGroup
    var output: DocumentOutput

    func validate() throws {
        guard [json, quiet, format != nil].count(where: { $0 }) <= 1, format == nil || !plan else {
            throw ValidationError("Give one of --json, --quiet and --format, and --plan without --format.")
        }
        guard !output.isFile || plan && json || format != nil else {
            throw ValidationError("-o goes with --plan --json, or with --format prometheus.")
        }
        guard (0...1 << 52).contains(above) else {
            throw ValidationError("The version of --above must be between 0 and 2^52, not \(above).")
        }
    }

    func validate(_ keys: RepositoryKeyOptions) throws {
        guard plan || !keys.isEmpty else {
            throw ValidationError("Give the online key with --key, or what signs with it with --signer-command.")
        }
    }

    /// If a plan without a key was requested, prints how to upload the published files.
    /// - Returns: whether it was requested.
    func printUpload(
        of state: TUFRepositoryState, in place: RepositoryPlace, _ signers: [TUFSigningKey], at now: Date
    ) async throws -> Bool {
        guard plan, signers.isEmpty else { return false }
        guard let live = state.live else { throw place.unpublished }
        let uploads: TUFUploadPlan
        do throws(TUFRepositoryError) {
            uploads = try await place.folder.uploadPlan(at: now)
        } catch {
            throw CommandFailure(error)
        }
        try RepositoryPlan(uploads, of: live, in: place, isWritten: true).print(asJSON: json, to: output)
        return true
    }

    /// Writes metrics after every operation: outdated ones would be wrong.
    func write(_ metrics: PrometheusText) throws(CommandFailure) { try output.write(metrics.text) }

    /// Publishes, or prints what would be written.
    /// - Parameters:
    ///   - change: the remarks about clients when new pins are published; nil if no host was probed.
    ///   - connection: the connection for probing hosts after the publication; nil to probe none.
    ///   - clients: the options about clients, for verbs that probe afterward.
    ///   - isOverridden: whether findings of a kind do not matter in that probe.
    func publish(
        _ state: TUFRepositoryState, _ place: RepositoryPlace, _ signers: [TUFSigningKey], includingDrafts: Bool,
        allowing exceptions: Set<TUFPublication.Exception> = [], warnings: [String] = [], overridden: [String] = [],
        after change: SettledChange? = nil,
        asking connection: ConnectionOptions? = nil, in clients: ClientOptions? = nil,
        overriding isOverridden: (HostsOutlook.Finding.Kind) -> Bool = { _ in false }, at now: Date
    ) async throws {
        let publication: TUFPublication
        var uploads: TUFUploadPlan?
        do throws(TUFRepositoryError) {
            publication = try await TUFPublication.make(
                of: state, in: place.folder, onlineKeys: signers,
                lifetimes: .init(timestamp: .seconds(lifetime.seconds)), includingDrafts: includingDrafts,
                allowing: exceptions, above: above, at: now)
            if plan {
                uploads = try await place.folder.uploadPlan(of: publication)
            } else {
                try await place.folder.write(publication)
            }
        } catch {
            let commands = state.live?.renewals(of: place.shellWord, at: now) ?? []
            guard error.code == .refusedByClients, !commands.isEmpty else { throw CommandFailure(error) }
            throw CommandFailure(
                .notSigned,
                "refusedByClients: expected \(error.expected), found \(error.found). Nothing was written; first: "
                    + commands.map { "`\($0)`" }.joined(separator: ", then "))
        }
        let next = publication.state
        var overridden = overridden
        if publication.hasGap { overridden.append("gap: clients of single files were refused between two writes") }
        if exceptions.contains(.lifetime), lifetime.seconds < 7 * 86_400 {
            overridden.append("lifetime: the timestamp lasts less than 7 days")
        }
        if exceptions.contains(.expiry), let live = next.live, let pins = live.pinFile {
            overridden += Self.endings(of: pins, before: live.timestamp.end)
        }
        var warnings = warnings + RepositoryWatch.ofPeople.endings(of: next, at: now)
        if lifetime.seconds > Self.usualLifetime {
            warnings.append(
                "the timestamp lasts \(lifetime.seconds / 86_400) days: for so long, clients cannot tell that somebody "
                    + "keeps newer pins from them")
        }
        if let uploads, let live = next.live {
            for line in overridden { Output.standard.complain("overridden: \(SafeText.escapedLine(line))") }
            for line in warnings { Output.standard.complain("warning: \(SafeText.escapedLine(line))") }
            try RepositoryPlan(uploads, of: live, in: place, isWritten: false).print(asJSON: json, to: output)
            try change?.finish()
            return
        }
        let versions = next.live?.versions ?? ""
        var report = RepositoryReport("\(includingDrafts ? "Published" : "Renewed"): \(versions)")
        try report.take(next, at: now)
        report.written = publication.objects.map { "\(place.path)/public/\($0.path)" }
        report.overridden = overridden
        report.warnings = warnings
        report.isOffline = change == nil
        if let change { report.take(change) }
        if let clients, let live = next.live {
            report.judge(TUFRepositoryEndings(of: live, at: now))
            report.isOffline = connection == nil
            if let connection,
                let pins = try await RepositoryPlace.published(live, in: place.folder, at: now)
            {
                let earlier = try await RepositoryPlace.earlier(
                    than: live, in: place.folder, provedFrom: pins.root.map { [$0] } ?? [], clients.held, at: now)
                try await report.ask(
                    [pins], after: earlier, in: clients, builtWith: pins.root, by: connection, watch: nil,
                    overriding: isOverridden, at: now)
            }
        }
        if format != nil {
            let verb = includingDrafts ? "repository publish" : "repository renew"
            try write(PrometheusText(verb: verb, now: now, subjects: [report.metrics(of: place.path)]))
        } else {
            try report.print(asJSON: json, isQuiet: quiet)
        }
        if let status = report.status { throw NegativeAnswer(status: status) }
    }

    /// The ends in a pin file that `--force expiry` overrides, whatever its hosts serve.
    private static func endings(of pins: PinFile, before end: Date) -> [String] {
        if let last = pins.end, last <= end { return ["expiry: the pins run out before the timestamp does"] }
        return TUFLastingPins(pins, at: end).closed.map {
            "expiry: the pins of \($0.pattern) run out before the timestamp does"
        }
    }

    /// The maximum lifetime of timestamps in a repository that is renewed daily, in seconds.
    private static let usualLifetime = 31 * 86_400
}

extension TUFRepositoryState.Live {
    /// The versions, for the first line of a report.
    var versions: String {
        [root, targets, timestamp].compactMap(\.self).map { "\($0.role.rawValue) \($0.version)" }
            .joined(separator: ", ")
    }
}

/// Describes near ends as text.
struct RepositoryWatch {
    let span: TimeSpan

    /// The time before the end of offline signatures at which a warning begins. Keyholders need a few weeks to meet,
    /// and the grace after the end is for accidents.
    static let ofPeople = RepositoryWatch(span: .days(45))

    /// One line for each signature that people must renew. Root and targets need keyholders, pins a new pin file.
    func endings(of state: TUFRepositoryState, at now: Date) -> [String] {
        guard let live = state.live else { return [] }
        return lines(TUFRepositoryEndings(of: live, at: now).offline, now)
    }

    func lines(_ endings: [TUFRepositoryEndings.Ending], _ now: Date) -> [String] {
        endings.compactMap { line($0.name, $0.end, now) }
    }

    func line(_ what: String, _ end: Date, _ now: Date) -> String? {
        guard end < now.addingTimeInterval(Double(span.seconds)) else { return nil }
        return "\(what): \(DaysLeft.text(DaysLeft.days(until: end, from: now))), at \(end.formatted(.iso8601))"
    }
}
