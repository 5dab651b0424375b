import ArgumentParser
import Foundation
import Holdfast
import HoldfastProbe
import HoldfastServer

extension HostCommand {
    /// Looks at hosts from a place without a server.
    struct Look: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Look at hosts from this machine, and print what they show, for host import.",
            discussion: """
                Needs no folder of a server: run it where somebody in between would have to be somebody else. Exit code \
                1 unless every host shows a certificate.
                """)
        @Argument(help: "The hosts, NAME or NAME:PORT.")
        var hosts: [String]
        @Option(help: "Addresses that may be asked although they are private, such as 10.0.0.0/8. Repeat it.")
        var allow: [String] = []
        @Option(help: "The address to dial instead of those of the names.")
        var dial: String?
        @Flag(help: "They have keys of one kind only: do not ask them for another.")
        var oneKeyKind = false

        func run() async throws {
            let clock = SystemWallClock()
            let dialed = try hosts.map { text in
                let parts = text.split(separator: ":", omittingEmptySubsequences: false)
                guard parts.count <= 2, let port = parts.count == 2 ? Int(parts[1]) : 443,
                    let host = try? DialedHost(String(parts[0]), port: port)
                else { throw ValidationError("Name hosts as NAME or NAME:PORT, such as api.example.com:443.") }
                return (label: "\(parts[0]):\(port)", host: host, port: port)
            }
            let watch = HostWatch(
                validator: PathValidator(anchors: TrustAnchors([])), allowing: try HostCommand.blocks(allow),
                clock: clock)
            var found: [(label: String, findings: [WatchFinding])] = []
            var isGood = true
            for (label, host, port) in dialed {
                let dial = try dial.map { try DialedHost($0, port: port) }
                let findings = await watch.look(
                    at: try WatchedHost(host, dial: dial, hasOneKeyKind: oneKeyKind, published: nil))
                for finding in findings where finding.chain.isEmpty {
                    Terminal.complain("\(label), \(finding.place): \(finding.words)")
                }
                isGood = isGood && findings.contains { !$0.chain.isEmpty }
                found.append((label, findings))
            }
            let file = SightingsFile(found, at: Int64(clock.now.timeIntervalSince1970))
            FileHandle.standardOutput.write(Data(file.octets))
            guard isGood else { throw NegativeAnswer(words: "not every host shows a certificate") }
        }
    }

    /// Takes what another watcher saw.
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take what host look printed on another machine, within the hour.",
            discussion: """
                What two vantages have seen can be proposed with change propose --include-seen. The audit has who handed \
                it in: what a file says is worth as much as the way by which it came. Exit code 1 if it raises an alarm, \
                because another vantage sees other keys.
                """)
        @OptionGroup var server: ServerOptions
        @OptionGroup var actor: ActorOption
        @Argument(help: "The app.")
        var app: String
        @Argument(help: "The file, JSON.", completion: .file())
        var file: String
        @Option(help: "From where the hosts were seen, such as the name of that machine.")
        var vantage: String

        func run() async throws {
            let name = try AppName(app)
            let sightings = try SightingsFile(InputFile.octets(file))
            try await server.withServer { open in
                let alarms = try await open.catalog.take(sightings, from: vantage, of: name, by: actor.actor)
                for (label, shown) in sightings.hosts {
                    Terminal.line(label)
                    for shown in shown {
                        Terminal.line("  \(shown.address)  certificate \(Digest(of: shown.chain.certificates[0]))")
                    }
                }
                for alarm in alarms { Terminal.line("ALARM: \(alarm)") }
                guard alarms.isEmpty else { throw NegativeAnswer(words: "vantages disagree") }
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
