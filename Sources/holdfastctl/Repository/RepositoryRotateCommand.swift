import ArgumentParser
import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning

/// `holdfastctl repository rotate`
struct RepositoryRotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Prepare the next root: other keys, another threshold, or a later end.",
        usage: """
            holdfastctl repository rotate <folder> --role <role> [--add <file>] \\
              [--remove <key>] [--key <file>] [<options>]
            """,
        discussion: """
            Prepares the next root, which keyholders of root sign: as many as the previous root requires, and as many \
            as it requires itself. Without a change it extends root for another year. Several changes can go into one \
            root. If keys of targets change, the published pins are prepared again, for the new keys to sign. That changes \
            nothing for clients, so no host is asked: new pins are signed by pins and sign, which ask.

            The role online is snapshot and timestamp together. If its key was stolen, replace it: clients then forget \
            what the thief told them, including versions far ahead. Publish with the new key and the old one, so that \
            what is written verifies at every moment; after that, the old key is worthless.

            A key to remove is a file with it, or the beginning of its id, eight digits or more.

            EXAMPLES
              holdfastctl repository rotate site --role online --add new-online.pem \\
                --remove online.pem --key offline.pem
              holdfastctl repository rotate site --role root --key offline.pem
              holdfastctl repository rotate site --role root --add new.pub \\
                --remove 3f9a11c4 --threshold 2

            Exit codes: 0 prepared, 1 the keys do not make a repository, 2 wrong usage, 3 a file could not be read or \
            written.
            """)

    enum Role: String, ExpressibleByArgument, CaseIterable {
        case root, targets, snapshot, timestamp, online

        var roles: [TUFRole] { self == .online ? [.snapshot, .timestamp] : [TUFRole(rawValue: rawValue) ?? .root] }
    }

    @OptionGroup
    var place: RepositoryPlace

    @OptionGroup
    var root: RepositoryRootOption

    @Option(help: ArgumentHelp("The role to change: root, targets, snapshot, timestamp or online.", valueName: "role"))
    var role: Role

    @Option(
        help: ArgumentHelp(
            "A key that signs from then on, public or private. Repeatable. \(RepositoryKeyFile.help)",
            valueName: "[name=]file"),
        completion: .file())
    var add: [String] = []

    @Option(
        help: ArgumentHelp("A key that no longer signs: a file, its id, or its name. Repeatable.", valueName: "key"),
        completion: .file())
    var remove: [String] = []

    @Option(help: ArgumentHelp("How many keys must sign from then on.", valueName: "number"))
    var threshold: Int?

    @OptionGroup
    var keys: RepositoryKeyOptions

    @OptionGroup
    var printing: PrintOptions

    func run() async throws {
        let files = try keys.read()
        var new: [TUFPublicKey] = []
        for path in add { new.append(try RepositoryKeyFile(named: path).either(keys.password).0) }
        let lock = try place.lock()
        defer { withExtendedLifetime(lock) {} }
        var state = try await place.state()
        try root.check(state, in: place.path)
        let now = SystemWallClock().now
        let stale = state.staleDrafts
        state.discardStaleDrafts()
        var gone: Set<String> = []
        for role in self.role.roles {
            let known = try CommandFailure.translating { () throws(TUFRepositoryError) in try state.keys(of: role).ids }
            var old: [String] = []
            for key in remove { old.append(try id(key, among: known, of: role, in: state)) }
            gone.formUnion(old)
            let (removed, added, number) = (old, new, threshold)
            try CommandFailure.translating { () throws(TUFRepositoryError) in
                try state.change(role, adding: added, removing: removed, threshold: number, at: now)
            }
        }
        // The new keys may sign too.
        let signers = try keys.signers(files, of: state)
        let unread = try CommandFailure.translating { () throws(TUFRepositoryError) in
            try state.signPrepared(by: signers)
        }
        try await place.write(state)
        var report = RepositoryReport("Prepared: the next root is in \(place.path)/draft")
        try report.takeDrafts(state, withChanges: true)
        try report.warn(ofRefusalsOf: state, in: place, at: now)
        report.warn(ofStale: stale, unread: unread)
        report.warnings += try remaining(gone, in: state)
        report.next.append(
            report.isSigned
                ? "holdfastctl repository publish \(place.shellWord) --key ONLINE-KEY"
                : "holdfastctl repository sign \(place.shellWord) --key KEY")
        if self.role.roles.allSatisfy(\.isOnline), !remove.isEmpty {
            report.next.append("publish with --key NEW --key OLD, and give renew the new key from then on")
        }
        try report.print(asJSON: printing.json, isQuiet: printing.quiet)
    }

    /// Lists the other roles that still have a removed key. A stolen key must be removed from all roles.
    private func remaining(_ gone: Set<String>, in state: TUFRepositoryState) throws(CommandFailure) -> [String] {
        var lines: [String] = []
        for role in TUFRole.allCases where !self.role.roles.contains(role) {
            let ids = try CommandFailure.translating { () throws(TUFRepositoryError) in try state.keys(of: role).ids }
            lines += ids.filter(gone.contains).map {
                "the key \($0.prefix(12)) still signs \(role.rawValue): rotate that role as well if the key was lost or stolen"
            }
        }
        return lines
    }

    private func id(
        _ text: String, among known: [String], of role: TUFRole, in state: TUFRepositoryState
    ) throws(CommandFailure) -> String {
        let id: String
        if FileManager.default.fileExists(atPath: text) {
            let key = try RepositoryKeyFile(path: text).either(keys.password).0
            // Other tools make other ids.
            id = state.publicKeys(of: [role]).first { $0.isSameKey(as: key) && known.contains($0.id) }?.id ?? key.id
        } else {
            // The name of its holder, or its id.
            id = state.publicKeys(of: [role]).first { $0.name?.hasSameOctets(as: text) ?? false }?.id ?? text
        }
        let found = id.utf8.count >= 8 ? known.filter { $0.utf8.starts(with: id.utf8) } : []
        guard let one = found.first, found.count == 1 else {
            throw CommandFailure(
                .wrongUsage,
                "--remove \(text.quoted) names \(found.isEmpty ? "no key" : "several keys") of \(role.rawValue), which has "
                    + known.map { String($0.prefix(16)) }.joined(separator: ", "))
        }
        return one
    }
}
