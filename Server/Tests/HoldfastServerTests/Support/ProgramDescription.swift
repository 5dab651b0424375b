import Foundation
import Testing

@testable import ServerFoundation
@testable import ServerStore

/// The program's description of itself: every command that does something, with its arguments.
struct ProgramDescription {
    /// A command that has none below it.
    struct Verb {
        /// The command line before its arguments.
        let path: [String]
        /// All but flags.
        let arguments: [Argument]
    }

    /// An option or an argument, with a value.
    struct Argument: Decodable {
        fileprivate struct Name: Decodable { let kind: String, name: String }
        fileprivate let kind: String
        let isOptional: Bool
        fileprivate let valueName: String?
        fileprivate let names: [Name]?

        /// The name of an option; nil for an argument without one.
        var option: String? { names?.first { $0.kind == "long" }?.name }
        /// The name of its option, or else of its value in help texts.
        var name: String { option ?? valueName ?? "" }
    }

    private struct Dump: Decodable {
        struct Command: Decodable {
            let commandName: String
            let subcommands: [Command]?
            let arguments: [Argument]?
        }

        let command: Command
    }

    let verbs: [Verb]

    init(_ desk: CommandTests.Desk) async throws {
        let text = try await desk.run("--experimental-dump-help")
        var verbs: [Verb] = []
        func visit(_ command: Dump.Command, _ path: [String]) {
            let below = (command.subcommands ?? []).filter { $0.commandName != "help" }
            for next in below { visit(next, path + [next.commandName]) }
            guard below.isEmpty else { return }
            verbs.append(Verb(path: path, arguments: (command.arguments ?? []).filter { $0.kind != "flag" }))
        }
        visit(try JSONDecoder().decode(Dump.self, from: Data(text.utf8)).command, [])
        self.verbs = verbs
    }
}

extension CommandTests.Desk {
    /// A value that fits an option or argument.
    func value(of name: String) -> String {
        switch name {
        case "data": data
        case "app": "bank"
        case "host": World.host
        case "key": "alice.pem"
        case "secret": "secret"
        case "number", "to", "generation": "1"
        case "approver": "alice=alice.pub"
        case "statement", "genesis": "genesis.txt"
        case "signature": "alice.sig"
        case "recipient": "backup.pub"
        case "backup": "pins.backup"
        case "output": "new-\(UUID().uuidString)"
        case "chain", "anchors": "roots.pem"
        default: String(repeating: "0", count: 32)
        }
    }

    /// A command line with everything that a verb needs, and what else is wanted.
    /// - Parameter isGiven: whether an argument is given; those that are needed by default.
    func line(
        _ verb: ProgramDescription.Verb, _ isGiven: (Int) -> Bool, replacing given: (place: Int, value: String)? = nil
    ) -> [String] {
        verb.path
            + verb.arguments.enumerated().filter { isGiven($0.offset) }.flatMap { index, argument in
                (argument.option.map { ["--\($0)"] } ?? [])
                    + [given?.place == index ? given?.value ?? "" : value(of: argument.name)]
            }
    }
}
