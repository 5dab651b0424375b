import ArgumentParser
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning

/// `holdfastctl repository init`
struct RepositoryInitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Begin a repository: say which keys sign what.",
        usage: """
            holdfastctl repository init <folder> --small --offline-key <file> \\
              --online-key <file>
            holdfastctl repository init <folder> --root-key <file> ... \\
              --targets-key <file> ... --online-key <file> [<options>]
            """,
        discussion: """
            With --small one offline key signs roots and pins, and one online key signs every day that they are the \
            newest. Keep a copy of the offline key elsewhere: apps that are already installed trust no other key.

            An organization gives each keyholder a key. Public keys are enough to begin; then each keyholder signs the \
            first root with repository sign. With a threshold of two of three, one key may be lost or stolen.

            With NAME=FILE the root says who holds a key, for example --root-key ann=ann.pub. People then see names when they \
            sign together, and the signatures of the root cover them. Everybody who reads the root can read the names.

            Keys are files that keygen or openssl genpkey writes: Ed25519, P-256, P-384, or RSA of 2,048 bits or more; \
            public ones in PEM, or what keygen prints. Private ones sign at once. For a key in a token or a key service \
            give its public key here, and with --signer-command a program that signs with it, as for repository sign.

            EXAMPLES
              holdfastctl repository init site --small --offline-key offline.pem \\
                --online-key online.pem
              holdfastctl repository init site --small --offline-key token.pub \\
                --online-key online.pem --signer-command ./sign-with-token
              holdfastctl repository init site --root-key ann=ann.pub \\
                --root-key bob=bob.pub --root-key eve=eve.pub --root-threshold 2 \\
                --targets-key ann.pub --targets-key bob.pub --online-key online.pub

            Exit codes: 0 begun, 1 the keys do not make a repository, 2 wrong usage, 3 a file could not be read or \
            written, or there is a repository already.
            """)

    @OptionGroup
    var place: RepositoryPlace

    @Flag(help: "One offline key for root and targets, one online key for the rest.")
    var small = false

    @Option(
        name: .customLong("offline-key"),
        help: ArgumentHelp("With --small: the key of root and targets.", valueName: "[name=]file"), completion: .file()
    )
    var offlineKey: String?

    @Option(
        name: .customLong("root-key"), help: ArgumentHelp("A key of root. Repeatable.", valueName: "[name=]file"),
        completion: .file())
    var rootKey: [String] = []

    @Option(
        name: .customLong("root-threshold"),
        help: ArgumentHelp("How many keys of root must sign.", valueName: "number"))
    var rootThreshold = 1

    @Option(
        name: .customLong("targets-key"),
        help: ArgumentHelp("A key that signs pins. Repeatable.", valueName: "[name=]file"), completion: .file())
    var targetsKey: [String] = []

    @Option(
        name: .customLong("targets-threshold"),
        help: ArgumentHelp("How many of them must sign.", valueName: "number"))
    var targetsThreshold = 1

    @Option(
        name: .customLong("online-key"),
        help: ArgumentHelp(
            "A key of snapshot and timestamp, of which one signs. Repeatable.", valueName: "[name=]file"),
        completion: .file())
    var onlineKey: [String] = []

    @OptionGroup(title: "Keys that are not in files")
    var signer: SignerOptions

    @OptionGroup(title: "Password")
    var password: PasswordOptions

    @OptionGroup
    var printing: PrintOptions

    func validate() throws {
        guard !onlineKey.isEmpty else { throw ValidationError("Give --online-key.") }
        if small {
            guard offlineKey != nil, rootKey.isEmpty, targetsKey.isEmpty, rootThreshold == 1, targetsThreshold == 1
            else { throw ValidationError("--small goes with --offline-key and --online-key alone.") }
        } else {
            guard offlineKey == nil, !rootKey.isEmpty, !targetsKey.isEmpty else {
                throw ValidationError("Give --root-key and --targets-key, or --small with --offline-key.")
            }
        }
    }

    func run() async throws {
        if FileManager.default.fileExists(atPath: place.path), !KeyFile.isFolder(place.path) {
            throw CommandFailure(
                .unwritableFile, "\(place.path): expected a folder, or nothing, found a file. Name another folder.")
        }
        let lock = try place.lock()
        defer { withExtendedLifetime(lock) {} }
        guard try await !place.isThere else {
            throw CommandFailure(
                .unwritableFile, "\(place.path) has a repository already; nothing was changed: name another folder")
        }
        var signers: [TUFSigningKey] = []
        func keys(_ paths: [String]) throws(CommandFailure) -> [TUFPublicKey] {
            var keys: [TUFPublicKey] = []
            for path in paths {
                let (key, signer) = try RepositoryKeyFile(named: path).either(password)
                keys.append(key)
                if let signer, !signers.contains(where: { $0.publicKey.isSameKey(as: key) }) { signers.append(signer) }
            }
            return keys
        }
        let offline = offlineKey.map { [$0] }
        let (rootKeys, targetsKeys, onlineKeys) = (
            try keys(offline ?? rootKey), try keys(targetsKey), try keys(onlineKey)
        )
        // The holder of a key need be named only once.
        let all = rootKeys + targetsKeys + onlineKeys
        func named(_ keys: [TUFPublicKey]) -> [TUFPublicKey] {
            keys.map { key in all.first { $0.name != nil && $0.isSameKey(as: key) } ?? key }
        }
        let root = TUFRoleKeys(named(rootKeys), threshold: rootThreshold)
        let targets = small ? root : TUFRoleKeys(named(targetsKeys), threshold: targetsThreshold)
        let rootSigners =
            signers.filter { signer in root.keys.contains { $0.isSameKey(as: signer.publicKey) } }
            + (try signer.keys(among: root.keys))
        let online = TUFRoleKeys(named(onlineKeys))
        let now = SystemWallClock().now
        let state = try CommandFailure.translating { () throws(TUFRepositoryError) -> TUFRepositoryState in
            var state = try TUFRepositoryState(
                roles: [.root: root, .targets: targets, .snapshot: online, .timestamp: online], at: now)
            for key in rootSigners { _ = try state.sign(by: key) }
            return state
        }
        try await place.write(state)
        var report = RepositoryReport("Begun: the first root is in \(place.path)/draft")
        try report.takeDrafts(state, withChanges: true)
        if !report.isSigned { report.next.append("holdfastctl repository sign \(place.shellWord) --key KEY") }
        report.next.append("holdfastctl repository pins \(place.shellWord) FILE.pins.json --key KEY")
        if small, printing.json || !printing.quiet {
            report.warnings.append(
                rootSigners.isEmpty || !signer.isEmpty
                    ? "nothing replaces the private key of root: keep a copy of it elsewhere, or add another key"
                    : "keep a copy of \(offlineKey ?? "") where this machine is not: nothing replaces it")
        }
        try report.print(asJSON: printing.json, isQuiet: printing.quiet)
    }
}
