import ArgumentParser
import Foundation
import Holdfast
import PinChanges
import PinPublication
import ServerApprovals
import ServerModel
import ServerStore

/// Signs an approval, after showing the change.
struct ApproveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Approve a change with your key, after seeing what it does.")

    @OptionGroup var options: VerdictOptions

    func run() async throws { try await options.say(.approve) }
}

/// Signs a rejection, which is final.
struct RejectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reject", abstract: "Reject a change with your key. This is final.")

    @OptionGroup var options: VerdictOptions

    func run() async throws { try await options.say(.reject) }
}

/// The options of approvals and rejections.
struct VerdictOptions: ParsableArguments {
    @OptionGroup var server: ServerOptions
    @Argument(help: "The change.")
    var change: String
    @OptionGroup var key: ApproverKeyOptions
    @Option(help: "How many hours the approval is valid; by default as long as the change, and the canary's time.")
    var hours: Int64?
    @Flag(help: "Do not ask.")
    var yes = false

    /// Signs text made here from the content that was read and shown, never text from a database row.
    func say(_ verdict: ApprovalText.Verdict) async throws {
        guard hours.map({ (1...336).contains($0) }) ?? true else {
            throw ValidationError("An approval is valid for 1 to 336 hours: give that as --hours.")
        }
        let id = try CommandValue.id(change)
        let key = try key.read()
        try await server.withServer { open in
            let change = try await open.catalog.change(id)
            let chain = try await open.catalog.approvers()
            try await ChangeText.print(change, open)
            ChangeText.print(try await open.publisher.rehearse(id))
            guard let member = chain.head.approvers.member(key.key.identity) else {
                throw NegativeAnswer(
                    words: "this key is no approver's: \(key.key.identity). Use the key of an approver that "
                        + "`holdfast-server approvers --data DIR` shows.")
            }
            guard member.approves(change.content.app) else {
                throw NegativeAnswer(
                    words: "\(member.name) approves only\(CommandValue.apps(member.apps)), not \(change.content.app)")
            }
            guard yes || Terminal.agrees(to: "\(member.name), \(verdict.rawValue) this change?") else {
                throw NegativeAnswer(words: "nothing was signed")
            }
            let latest = change.approvalEnd(with: try await open.catalog.app(change.content.app).settings)
            let now = Int64(SystemWallClock().now.timeIntervalSince1970)
            let end = hours.map { min(latest, now + $0 * 3_600) } ?? latest
            let text = try ApprovalText(verdict, change.subject(for: chain), end: end)
            try await open.catalog.add(
                SignedApproval(text: text.bytes, signature: try key.signature(of: text.bytes)))
            Terminal.line("\(verdict.rawValue): \(member.name), until \(CommandValue.time(end))")
            guard verdict == .reject else { return }
            // The canary may have the change.
            for problem in try await open.publisher.follow() { Terminal.complain(problem) }
        }
    }
}
