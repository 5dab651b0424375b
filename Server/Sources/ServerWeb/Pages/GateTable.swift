import PinChanges
import ServerApprovals

/// The results of the gates for a change, as text: passed, waiting (and until when), refused (and why), and who forced
/// it.
struct GateTable: Sendable {
    let answer: ChangeFacts.Answer
    let change: ChangeStatus
    let approvers: ApproverChain
    let now: Int64

    /// Maximum number of refusals shown per gate.
    private static let maximumCount = 16

    /// The rows for the template, one for each gate.
    var rows: [PageValue] {
        Gate.allCases.map { gate in
            let result = answer.report.results.first { $0.gate == gate }
            let (words, rank) = standing(gate, result)
            let refusals = result?.refusals ?? []
            let rest = refusals.count - Self.maximumCount
            return [
                "gate": .text(gate.rawValue), "asks": .text(Self.asks(gate)), "rank": rank.value, "words": .text(words),
                "hasRefusals": .flag(!refusals.isEmpty),
                "refusals": .texts(
                    refusals.prefix(Self.maximumCount) + (rest > 0 ? ["and \(rest) more"] : [])),
            ]
        }
    }

    /// The condition that a gate checks.
    private static func asks(_ gate: Gate) -> String {
        switch gate {
        case .validation: "whether every document of it can be made"
        case .base: "whether it replaces what is published now"
        case .lint: "whether every host has a backup, and nothing is dropped that clients ask for"
        case .replay: "whether clients of every age follow it"
        case .outlook: "whether all clients can still connect"
        case .signatures: "whether the holders of offline keys have signed it"
        case .canary: "whether the canary has had it for its time"
        case .readback: "whether clients read at the public address what was uploaded"
        }
    }

    private func standing(_ gate: Gate, _ result: GateReport.Result?) -> (words: String, rank: PageRank) {
        guard let result else {
            return gate == .readback ? ("is asked after the upload", .usual) : ("is asked after those above", .usual)
        }
        guard !result.refusals.isEmpty else { return ("passed", .usual) }
        if result.isForced { return ("would refuse, and is forced \(forcing)", .warn) }
        guard gate == .canary else { return ("refuses", .bad) }
        return (answer.canaryEnd.map { "waits until \(PageText.timeAndDistance($0, from: now))" } ?? "waits", .warn)
    }

    /// The approvers that force the gate: approvals name the gates that they force.
    private var forcing: String {
        let names = change.approvals.compactMap { approval -> String? in
            guard let text = try? ApprovalText(approval.text), text.verdict == .approve,
                text.subject.approvers == approvers.head.digest, text.subject.forced == change.forced
            else { return nil }
            let member = approvers.head.approvers.member(approval.signature.identity)
            return member?.approves(change.app) == true ? member?.name : nil
        }
        guard !names.isEmpty else { return "once it is approved" }
        let unique = Set(names).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return "by \(unique.joined(separator: ", "))"
    }
}
