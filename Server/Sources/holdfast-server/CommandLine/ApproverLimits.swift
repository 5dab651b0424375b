import ArgumentParser
import ServerApprovals
import ServerFoundation
import ServerModel

/// The apps that approvers may approve, from the command line: `NAME=APP,APP`, or `NAME=*` for all.
struct ApproverLimits {
    private let given: [(name: String, apps: Set<AppName>?)]

    /// The apps that the options name.
    var named: Set<AppName> { Set(given.flatMap { $0.apps ?? [] }) }

    init(_ texts: [String]) throws {
        given = try texts.map { text in
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw ValidationError("Write --apps as NAME=APP,APP, or NAME=* for all: \(text.prefix(80))")
            }
            guard !parts[1].utf8.elementsEqual("*".utf8) else { return (parts[0], nil) }
            let names = parts[1].split(separator: ",", omittingEmptySubsequences: false)
            return (parts[0], Set(try names.map { try AppName(String($0)) }))
        }
    }

    /// Sets the apps of members: those from the options, those of the key in the current statement, or those of the
    /// passkey's invitation.
    /// - Throws: `ValidationError` for an unknown or repeated name, and for a passkey that was registered for fewer
    ///   apps; ``ServerError``.
    func applied(
        to members: [ApproverSet.Member], after head: ApproverSet, _ passkeys: [RegisteredPasskey]
    ) throws -> [ApproverSet.Member] {
        for (index, (name, _)) in given.enumerated() {
            guard members.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
                throw ValidationError("--apps names \(name.prefix(64)), who is not among the approvers.")
            }
            guard !given[..<index].contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
                throw ValidationError("--apps names \(name.prefix(64)) twice. Name each approver once.")
            }
        }
        return try members.map { member in
            let made = passkeys.first { $0.key.identity == member.key.identity }
            let before = head.bindsApps ? head.member(member.key.identity) : nil
            let usual = before.map { $0.apps } ?? made?.apps
            let said = given.first { $0.name.utf8.elementsEqual(member.name.utf8) }
            let apps = said.map { $0.apps } ?? usual
            if let limits = made?.apps, apps.map({ !$0.isSubset(of: limits) }) ?? true {
                throw ValidationError(
                    "The passkey of \(member.name) was made\(CommandValue.apps(limits)): invite \(member.name) again.")
            }
            return try ApproverSet.Member(
                name: member.name, key: member.key, isPasskey: member.isPasskey, apps: apps)
        }
    }
}
