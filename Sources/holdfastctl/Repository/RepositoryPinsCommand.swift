import ArgumentParser
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning

/// `holdfastctl repository pins`
struct RepositoryPinsCommand: AsyncParsableCommand, ChoosesClients {
    static let configuration = CommandConfiguration(
        commandName: "pins",
        abstract: "Prepare new pins: the next version that the offline keys sign.",
        usage: "holdfastctl repository pins <folder> <pin file> [<options>]",
        discussion: """
            Takes a pin file, which replaces the previous one as a whole, and prints what changes. A host needs two \
            pins, one of them a backup. If the file does not say when it was issued, how long it is valid or how often \
            clients refresh it, the command adds that: issued now, valid for the time of --valid, and refreshed every \
            six hours, with two weeks of grace. Nothing is published yet.

            With --key, or what signs instead of it, the command signs the pins as well. Before that it asks every host \
            of them at every address, as sign does, and judges the same clients: neither pins with which clients would be \
            locked out are prepared and signed, nor any as long as something is not known, such as the versions of the app \
            in the field (--shipped or --no-shipped-pins). --force names what does not matter: refused, if clients would \
            be locked out; unreachable, if something is not known; offline, to ask no host, for example where the key has \
            no network.

            EXAMPLES
              holdfastctl repository pins site bank.pins.json --key offline.pem \\
                --no-shipped-pins
              holdfastctl repository pins site bank.pins.json --key offline.pem \\
                --force offline
              holdfastctl repository pins site bank.pins.json --valid 180d

            Exit codes: 0 prepared, 1 clients would not accept the pin file or would be locked out, or the key does not \
            sign it; or it was prepared, and clients are locked out as before, 2 wrong usage, 3 a file could not be read or \
            written, a host not be asked, or the app versions are unknown, 4 prepared, but clients get in only by grace.
            """)

    @OptionGroup
    var place: RepositoryPlace

    @OptionGroup
    var root: RepositoryRootOption

    @Argument(help: ArgumentHelp("The pin file.", valueName: "pin file"), completion: .file(extensions: ["json"]))
    var file: String

    @Option(
        help: ArgumentHelp(
            "How long a pin file is valid that does not say so itself: at most 386d, since apps refuse pins that last "
                + "more than 400d with their grace.", valueName: "span"),
        transform: TimeSpan.read)
    var valid = TimeSpan.days(120)

    @OptionGroup
    var keys: RepositoryKeyOptions

    @OptionGroup
    var overrides: HostOverrides

    @OptionGroup
    var builds: ShippedPinOptions

    @OptionGroup
    var earlier: ReplacedDocumentOptions

    @OptionGroup
    var age: StalenessOptions

    @OptionGroup
    var platforms: PlatformOptions

    @OptionGroup
    var printing: PrintOptions

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func run() async throws {
        let now = SystemWallClock().now
        let data = try complete(try KeyFile.content(of: file, maximumBytes: PinFileReading.maximumBytes), at: now)
        let files = try keys.read()
        let lock = try place.lock()
        defer { withExtendedLifetime(lock) {} }
        var state = try await place.state()
        try root.check(state, in: place.path)
        let signers = try keys.signers(files, of: state)
        let stale = state.staleDrafts
        try CommandFailure.translating { () throws(TUFRepositoryError) in
            _ = try state.prepare(pins: data, at: now)
        }
        var settled: SettledChange?
        if !signers.isEmpty {
            settled = try await overrides.settle(
                draftPinsOf: state, in: place, for: clients, by: connection, at: now, else: "nothing was prepared")
        }
        let unread = try CommandFailure.translating { () throws(TUFRepositoryError) in
            try state.signPrepared(by: signers)
        }
        try await place.write(state)
        var report = RepositoryReport("Prepared: the next pins are in \(place.path)/draft")
        try report.takeDrafts(state, withChanges: true)
        report.isOffline = settled == nil
        if let settled { report.take(settled) }
        try report.warn(ofRefusalsOf: state, in: place, at: now)
        report.warn(ofStale: stale.filter { $0 != .targets }, unread: unread)
        report.next.append(
            report.isSigned
                ? "holdfastctl repository publish \(place.shellWord) --key ONLINE-KEY"
                : "holdfastctl repository sign \(place.shellWord) --key KEY")
        try report.print(asJSON: printing.json, isQuiet: printing.quiet)
        if let status = report.status { throw NegativeAnswer(status: status) }
    }

    /// Adds the fields that a signed file needs, if they are missing.
    private func complete(_ data: Data, at now: Date) throws(CommandFailure) -> Data {
        let file = try PinFileReading.pinFile(
            data, named: self.file,
            remedies: [.signedList: "Make a pin file of the servers with holdfastctl pin HOST --format json."])
        try CommandFailure.rethrowing { () throws(PublishingError) in try file.checkPlaceholders(self.file) }
        guard file.issuedAt == nil || file.notAfter == nil || file.refresh == nil else { return data }
        // A file that is written again has only the fields that this version knows.
        if let unknown = try PinFileReading.document(data, named: self.file).fields.first {
            throw CommandFailure(
                .invalidList,
                "\(self.file): \(unknown.path) is not a field that this command knows; it keeps the file as it is only if "
                    + "issuedAt, notAfter and refresh are in it")
        }
        do throws(PinFileError) {
            let issued = file.issuedAt ?? now
            let usual = try PinFile.Refresh(
                after: 21_600, jitter: PinFile.Fraction(millionths: 300_000) ?? .zero, grace: 14 * 86_400)
            return try PinFile(
                app: file.app, issuedAt: issued,
                notAfter: file.notAfter ?? issued.addingTimeInterval(Double(valid.seconds)),
                refresh: file.refresh ?? usual, hosts: file.hosts, debugAnchors: file.debugAnchors
            ).json
        } catch {
            throw CommandFailure(.invalidList, "\(self.file): \(error)")
        }
    }
}
