import ArgumentParser
import Holdfast
import HoldfastProbe
import HostMonitoring
import Logging
import PinPublication
import ServerFoundation
import ServerModel
import ServerStore

extension HostCommand {
    /// Probes the hosts of an app.
    struct See: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Probe the hosts of an app now, as the watcher does, and record what they present.",
            discussion: """
                Addresses that are not of the public Internet are asked only if --allow names them. Exit code 1 unless \
                every address shows a key that is published or announced; before the first publication, unless every \
                address shows a certificate.
                """)
        @OptionGroup var server: ServerOptions
        @Argument(help: "The app.")
        var app: String
        @Option(help: "Addresses that may be asked although they are private, such as 10.0.0.0/8. Repeat it.")
        var allow: [String] = []
        @Option(help: "The name of this vantage, as given to serve; server if absent.")
        var vantage: String = Vantage.usual

        func run() async throws {
            let name = try AppName(app)
            try Vantage.require(vantage)
            var settings = Watcher.Settings(vantage: vantage)
            settings.allowed = try HostCommand.blocks(allow)
            try await server.withServer { [settings] open in
                let watcher = Watcher(
                    open.catalog, settings, logger: Logger(label: "holdfast-server") { _ in TerminalLogHandler() })
                var generator = SystemRandomNumberGenerator()
                let reports = try await watcher.look(at: name, using: &generator)
                let missing = try await open.catalog.hosts(of: name).map(\.label)
                    .filter { label in !reports.contains { $0.host.utf8.elementsEqual(label.utf8) } }
                for label in missing {
                    Terminal.line(
                        "\(label)  not probed, because another process is probing it. Run the command again.")
                }
                var isGood = missing.isEmpty
                for report in reports {
                    Terminal.line(report.host)
                    for finding in report.findings {
                        isGood = isGood && [.known, .unpinned].contains(finding.verdict)
                        let key = finding.key.map { " key \($0)" } ?? ""
                        let words = finding.words.isEmpty ? "" : ", \(finding.words)"
                        Terminal.line("  \(finding.place)  \(finding.verdict)\(key)\(words)")
                    }
                    for alarm in report.alarms { Terminal.line("  ALARM: \(alarm)") }
                    isGood = isGood && !report.findings.isEmpty
                }
                guard isGood else {
                    throw NegativeAnswer(
                        words: "not every address shows what is known: a person must find out why. An address that may "
                            + "not be asked, and is yours, is named with --allow")
                }
            }
        }
    }

    static func blocks(_ texts: [String]) throws -> [AddressBlock] {
        try texts.map { text in
            guard let block = try? AddressBlock(text) else {
                throw ValidationError("Name --allow as a block of addresses, such as 10.0.0.0/8.")
            }
            return block
        }
    }
}
