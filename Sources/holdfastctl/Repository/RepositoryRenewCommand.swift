import ArgumentParser
import Holdfast
import HoldfastPublishing
import HoldfastSigning

/// `holdfastctl repository renew`
struct RepositoryRenewCommand: AsyncParsableCommand, ChoosesClients {
    static let configuration = CommandConfiguration(
        commandName: "renew",
        abstract: "Confirm that what is published is the newest; for cron, once a day.",
        usage: "holdfastctl repository renew <folder> --key <online key> [<options>]",
        discussion: """
            Makes the next timestamp, the next snapshot when it is due, and bundle.json. It needs only the online key, \
            and publishes none of the drafts. If it does not run for as long as the timestamp lasts, \
            clients continue with the pins that they have, and report them as stale.

            It does not make pins last longer: they end when the pin file says, and only the offline key can sign new \
            ones. It warns 45 days before that, and fails when clients get in only by grace, or not at all.

            After it has written the files it asks every host of the pins at every address, as status does, and judges \
            the same clients: those with the published pins, those that still have earlier ones, and the versions of the \
            app in the field (--shipped or --no-shipped-pins; until you say it, the answer is unknown, 3). With \
            --offline no host is asked, and the answer is only about the renewal: 0 means that the timestamp was renewed.

            With --plan it writes nothing and asks no host. With --format prometheus it prints metrics instead, also if \
            nothing was renewed; -o writes them to a file.

            If the folder was put back from a copy, clients know later versions than it has. With --url it reads those \
            versions where clients look, verifies them, and goes on above them; if newer pins or roots are served than \
            the folder has, it changes nothing.

            EXAMPLES
              holdfastctl repository renew site --key online.pem --no-shipped-pins
              holdfastctl repository renew site --key online.pem --no-shipped-pins \\
                --url https://pins.example.com
              holdfastctl repository renew site --key online.pem --no-shipped-pins \\
                --format prometheus -o /var/lib/node_exporter/renew.prom

            Exit codes: 0 renewed, 1 clients would refuse it, for example because root has expired, or are locked out, 2 \
            wrong usage, 3 a file could not be read or written, or renewed, and a host could not be asked or the app \
            versions are unknown, 4 renewed, but clients get in only by grace.
            """)

    @OptionGroup
    var place: RepositoryPlace

    @OptionGroup
    var keys: RepositoryKeyOptions

    @OptionGroup
    var publishing: RepositoryPublishing

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

    @OptionGroup(title: "A restored folder")
    var served: RepositoryServedVersions

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func validate() throws { try publishing.validate(keys) }

    func run() async throws {
        try await PrometheusText.recording(
            "repository renew", about: place.path, with: publishing.format == nil ? nil : { try publishing.write($0) }
        ) { try await renew() }
    }

    private func renew() async throws {
        let files = try keys.read()
        let lock = try place.lock()
        defer { withExtendedLifetime(lock) {} }
        let state = try await place.state(includingDrafts: false)
        guard let live = state.live else { throw place.unpublished }
        let signers = try keys.onlineSigners(files, of: state)
        let now = SystemWallClock().now
        if try await publishing.printUpload(of: state, in: place, signers, at: now) { return }
        var publishing = publishing
        if let latest = try await served.latest(over: live, in: place.path, by: connection, at: now) {
            publishing.above = max(publishing.above, latest)
        }
        try await publishing.publish(
            state, place, signers, includingDrafts: false, asking: asking.offline ? nil : connection,
            in: AskingOptions(offline: asking.offline, clients: clients), at: now)
    }
}
