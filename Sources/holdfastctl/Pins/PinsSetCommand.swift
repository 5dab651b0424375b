public import ArgumentParser
import Foundation
import Holdfast
public import HoldfastPublishing

/// `holdfastctl pins set`
struct PinsSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Change settings of a pin file, or of one of its hosts.",
        usage: """
            holdfastctl pins set <pin file> [--issued <time>] [<options>]
            holdfastctl pins set <pin file> <host> [--mode <mode>] [<options>]
            """,
        discussion: """
            Without a host the settings are those of the file: app, issued, not-after, refresh and grace. With a host they \
            are those of its entry: mode, require, on-expiry, ports and report.

            \(PinFileEditing.asking)

            EXAMPLES
              holdfastctl pins set bank.pins.json --issued now --refresh 6h --grace 14d
              holdfastctl pins set bank.pins.json api.example.com --mode report
              holdfastctl pins set bank.pins.json api.example.com --ports 443,8443
              holdfastctl pins set bank.pins.json api.example.com \\
                --report-to https://reports.example.net/pins

            \(PinFileEditing.exitCodes)
            """)

    @OptionGroup
    var editing: PinFileEditing

    @Argument(
        help: ArgumentHelp(PinFileSubject.explanation, valueName: "host"),
        transform: { text in CheckedArgument { try HostPattern(text) } })
    var host: CheckedArgument<HostPattern>?

    @Option(help: ArgumentHelp("What the file is for, such as the bundle identifier of an app.", valueName: "text"))
    var app: String?

    @Option(
        help: ArgumentHelp("When it is issued: now, Unix seconds, or a date in UTC.", valueName: "time"),
        transform: Self.time)
    var issued: Int64?

    @Option(
        name: .customLong("not-after"),
        help: ArgumentHelp(
            "The last second for which it is current: Unix seconds, or a date in UTC.", valueName: "time"),
        transform: TimeArgument.seconds)
    var notAfter: Int64?

    @Option(help: ArgumentHelp("When clients look for a newer file.", valueName: "span"), transform: TimeSpan.read)
    var refresh: TimeSpan?

    @Option(
        help: ArgumentHelp("How long its pins are enforced after that end.", valueName: "span"),
        transform: TimeSpan.read)
    var grace: TimeSpan?

    @Option(help: ArgumentHelp("What happens when no pin is found: enforce or report.", valueName: "mode"))
    var mode: PinFileEdit.HostSettings.Mode?

    @Option(help: ArgumentHelp("Which pins must match: any or leafAndIssuer.", valueName: "which"))
    var require: PinFileEdit.HostSettings.Require?

    @Option(
        name: .customLong("on-expiry"),
        help: ArgumentHelp("What happens when the pins have run out: failClosed or systemTrust.", valueName: "what"))
    var onExpiry: PinFileEdit.HostSettings.OnExpiry?

    @Option(
        help: ArgumentHelp("The ports that the entry is for, such as 443,8443, or any.", valueName: "ports"),
        transform: PortList.init)
    var ports: PortList?

    @Option(help: ArgumentHelp("Where other readers report failures: an https URL, or none.", valueName: "url"))
    var reportTo: String?

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    private var concernsFile: Bool {
        app != nil || issued != nil || notAfter != nil || refresh != nil || grace != nil
    }

    private var concernsHost: Bool {
        mode != nil || require != nil || onExpiry != nil || ports != nil || reportTo != nil
    }

    func validate() throws {
        try host?.validate("HOST")
        guard concernsFile || concernsHost else { throw ValidationError("Say what to set; see --help.") }
        guard concernsHost == (host != nil), concernsFile == (host == nil) else {
            throw ValidationError(
                host == nil
                    ? "--mode, --require, --on-expiry, --ports and --report-to go with a host."
                    : "--app, --issued, --not-after, --refresh and --grace are those of the file: leave the host out.")
        }
    }

    func run() async throws {
        let hostSettings = hostSettings
        let fileSettings = fileSettings
        let pattern = host?.value
        try await editing.run(by: connection) { edit throws(PublishingError) in
            if let pattern { try edit.set(hostSettings, of: pattern) } else { try edit.set(fileSettings) }
        }
    }

    private var fileSettings: PinFileEdit.FileSettings {
        var settings = PinFileEdit.FileSettings()
        settings.app = app
        settings.issuedAt = issued.map(Date.init(wholeSeconds:))
        settings.end = notAfter.map { Date(wholeSeconds: $0 + 1) }
        settings.refreshAfter = refresh.map { .seconds($0.seconds) }
        settings.grace = grace.map { .seconds($0.seconds) }
        return settings
    }

    private var hostSettings: PinFileEdit.HostSettings {
        var settings = PinFileEdit.HostSettings()
        (settings.mode, settings.require, settings.onExpiry) = (mode, require, onExpiry)
        settings.ports = ports?.numbers
        settings.reportURL = reportTo == "none" ? "" : reportTo
        return settings
    }

    private static func time(_ text: String) throws -> Int64 {
        text == "now" ? SystemWallClock().now.wholeSeconds : try TimeArgument.seconds(text)
    }
}

extension PinFileEdit.HostSettings.Mode: ExpressibleByArgument {}
extension PinFileEdit.HostSettings.Require: ExpressibleByArgument {}
extension PinFileEdit.HostSettings.OnExpiry: ExpressibleByArgument {}
