import ArgumentParser
import Foundation
import Holdfast
import HoldfastServer
import HostMonitoring
import PinPublication
import ServerModel
import ServerStore

/// Restores a backup, or examines one.
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restore a backup into a folder without a server, or examine one.",
        discussion: """
            Nothing is signed before all that is public was read: in the folder of the server, at the public address, \
            in the places of the backup, and in those that --public names. What is public and newer than the backup stays, and its app signs \
            nothing before its next publication. Open changes, tokens and sessions end. If this command stops, run it \
            again; the server does not start before it is through.

            EXAMPLES
              holdfast-server restore pins.backup --check --key backup.pem \\
                --secret /etc/holdfast/secret
              holdfast-server restore pins.backup --data /srv/pins --key backup.pem \\
                --secret /etc/holdfast/secret --public-url https://pins.example.com/
            """)

    @Argument(help: "The backup.", completion: .file())
    var backup: String
    @Option(help: "The private key that the backup is for.", completion: .file())
    var key: String
    @Option(help: "A file with the password of the key, in one line.", completion: .file())
    var passwordFile: String?
    @Option(help: "The file with the secret of the time of the backup.", completion: .file())
    var secret: String
    @Flag(help: "Only examine it: that it is complete, its audit right, and that every key opens.")
    var check = false
    @Option(help: "The folder of the new server.", completion: .directory)
    var data: String?
    @Option(help: "The address below which clients find lists/, trust/ and pins/.")
    var publicURL: String?
    @Flag(help: "Nothing is public at an address that can be asked.")
    var noPublicURL = false
    @Option(
        name: .customLong("public"), help: "A folder with public documents, such as the old one. Repeat it.",
        completion: .directory)
    var places: [String] = []
    @Option(help: "A place of the backup that is gone, and is not read. Repeat it.")
    var withoutPlace: [String] = []
    @Option(help: "The head of the audit from elsewhere, such as a log: a number, a space and a digest.")
    var head: String?
    @Option(help: "A path at which something is public that no key of the backup signed. Repeat it.")
    var disregard: [String] = []
    @OptionGroup var actor: ActorOption

    func validate() throws {
        guard !check else {
            guard data == nil, publicURL == nil, !noPublicURL, places.isEmpty, head == nil, disregard.isEmpty,
                withoutPlace.isEmpty
            else {
                throw ValidationError("--check goes with the backup, its key and the secret alone.")
            }
            return
        }
        guard data != nil else { throw ValidationError("Say where the server goes (--data), or --check.") }
        guard (publicURL == nil) == noPublicURL else {
            throw ValidationError("Say where clients find documents (--public-url), or --no-public-url.")
        }
        guard publicURL.map({ URL(string: $0)?.host() != nil }) ?? true else {
            throw ValidationError("Give --public-url an address such as https://pins.example.com/.")
        }
    }

    func run() async throws {
        let password = try passwordFile.map { try InputFile.bytes($0).prefix { $0 != 0x0A && $0 != 0x0D } }
        let key = try BackupPrivateKey(
            pem: String(decoding: try InputFile.bytes(key), as: UTF8.self), password: password.map(Array.init))
        let source = ServerFolder.BackupSource(
            URL(filePath: backup), key: key, secret: SecretFile(URL(filePath: secret)))
        guard let data else { return try await examine(source) }
        var rules = ServerFolder.RestoringRules(
            places: places.map { .folder(URL(filePath: $0)) }, disregarded: Set(disregard),
            goneFrom: Set(withoutPlace))
        if let address = publicURL.flatMap({ URL(string: $0) }) {
            rules.places.append(.address(address, PublicDataProvider()))
        }
        if let head {
            guard let known = AuditHead(Array(head.utf8)) else {
                throw ValidationError(
                    "Give --head as backup and serve print it: a number, a space and 64 hexadecimal digits.")
            }
            rules.known = known
        }
        var generator = SystemRandomNumberGenerator()
        let report = try await ServerFolder(URL(filePath: data)).restore(
            source, rules: rules, clock: SystemWallClock(), using: &generator, by: actor.actor)
        print(report)
    }

    private func examine(_ source: ServerFolder.BackupSource) async throws {
        let (manifest, faults) = try await ServerFolder.check(source, clock: SystemWallClock())
        Terminal.line(
            "server \(manifest.configuration.server), \(CommandValue.time(manifest.created)), head \(manifest.head)")
        for fault in faults { Terminal.line("fault: \(fault)") }
        guard faults.isEmpty else { throw NegativeAnswer(words: "this backup cannot be restored") }
        Terminal.line("complete: \(manifest.head.count) entries of the audit verify, and every key opens")
    }

    private func print(_ report: RestorationReport) {
        Terminal.line("restored: the audit of the backup ends with \(report.head)")
        switch report.lost {
        case .some(0): Terminal.line("nothing that the known head knows is lost")
        case .some(let count): Terminal.line("\(count) entries of the audit came after it and are lost")
        case nil:
            Terminal.line(
                "what came after it in the audit is lost, and it is unknown how much. The newest line \"signed again: … "
                    + "head NUMBER DIGEST\" in the log of holdfast-server serve has the head; a notice of the kind head, and "
                    + "what backup printed, have it as well. To find out, restore into another folder with --head")
        }
        for path in report.adopted { Terminal.line("newer than the backup, and stays: \(path)") }
        for path in report.withheld {
            Terminal.line("differs from the backup, and stays until the next publication: \(path)")
        }
        for path in report.unknown { Terminal.line("public, and of no app of the backup: \(path)") }
        for id in report.lapsed { Terminal.line("lapsed, propose it again: change \(id)") }
        if report.tokens > 0 {
            Terminal.line(
                report.tokens == 1
                    ? "1 token was ended: make a new one" : "\(report.tokens) tokens were ended: make new ones")
        }
        Terminal.line(
            "statement \(report.approvers) says who approves; if there was a later one, run approvers replace with it now"
        )
        for app in report.held { Terminal.line("\(app): signs nothing before its next publication") }
        Terminal.line("The server may start.")
    }
}
