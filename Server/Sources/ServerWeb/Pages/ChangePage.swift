import HoldfastPublishing
import PinChanges
import ServerApprovals
import ServerFoundation
import ServerStore

/// The page of a change: its effects as text, the outlook for clients, its approvals, and the viewer's options.
struct ChangePage: Sendable {
    let change: ChangeStatus
    let state: Change.State
    let chain: ApproverChain
    /// The differences and the results of the gates; nil while too many pages wait for them.
    let facts: ChangeFacts?
    /// The other changes of the app that can still be published.
    let others: [OtherOpenChange]
    /// The number of seconds for which clients use a document without a refresh.
    let staleness: Int64
    /// The CSRF token in the viewer's forms.
    let csrfToken: String
    let now: Int64

    private var approvers: ApproverSet { chain.head.approvers }
    private var isOpen: Bool { state == .proposed || state == .approved }
    /// After a change has ended, earlier results of the gates no longer describe it.
    private var answer: ChangeFacts.Answer? { isOpen ? facts?.answer : nil }

    /// The values for the template.
    var content: [String: PageValue] {
        let outlook = facts?.outlook
        let content: [String: PageValue] = [
            "app": .text("\(change.app)"), "isEmergency": .flag(change.isEmergency),
            "state": .text(state.rawValue), "stateWords": .text(stateWords), "reason": .text(change.reason),
            "proposed": .text(PageText.timeAndDistance(change.proposed, from: now)),
            "proposer": .text(proposer), "proposerKey": .optional(change.proposer.map { "\($0)" }),
            "end": .text(PageText.timeAndDistance(change.end, from: now)), "base": .number(change.baseGeneration),
            "forced": .text(change.forced.isEmpty ? "none" : Catalog.text(of: change.forced)),
            "id": .text("\(change.id)"), "content": .text("\(change.content)"),
            "outlookDigest": .text("\(change.outlook)"), "isRead": .flag(facts != nil),
            "difference": .texts(facts?.difference ?? []), "unannounced": .texts(facts?.unannounced ?? []),
            "origins": .texts(facts?.origins ?? []),
            "hasOthers": .flag(!others.isEmpty), "others": .list(others.map(other)),
            "othersAdvice": .text(OtherOpenChange.advice), "verdictWords": .text(verdictWords(outlook)),
            "ages": .texts(PublicationOutlook.Holders.allCases.map(age)),
            "outlook": .list((outlook?.rows ?? []).map(row)),
            "premises": .texts(ChangeFacts.shortened(outlook?.premises ?? [])), "gatesWords": .text(gatesWords),
            "gates": .list(answer.map { GateTable(answer: $0, change: change, approvers: chain, now: now).rows } ?? []),
            "needed": .text(approvers.neededWords(for: change.app)),
            "approvals": .list(change.approvals.map(approval) + silent),
            // The viewer cannot approve facts that the page does not show.
            "verdict": .optional(isOpen && facts != nil ? form : nil),
        ]
        return content
    }

    private func other(_ other: OtherOpenChange) -> PageValue {
        [
            "address": .text(PageLink.change(other.id, of: change.app)), "reason": .text(other.reason),
            "state": .text(other.state.rawValue), "proposed": .text(PageText.time(other.proposed)),
        ]
    }

    private var stateWords: String {
        switch state {
        case .proposed: "Approvals are missing."
        case .approved: "Enough approvers approved it. Publish it with holdfast-server publish."
        case .published: "It is what is published, or was."
        case .rejected: "An approver rejected it. This is final."
        case .lapsed: "Its time is over, or something else was published."
        }
    }

    private var gatesWords: String {
        if let answer {
            return "As they answered at \(PageText.time(answer.time)). They are asked again when it is published."
        }
        return switch state {
        case .proposed, .approved: "They were not asked."
        case .published: "It was published, so it passed each gate then, or was forced past it."
        case .rejected, .lapsed: "The gates no longer run for this change."
        }
    }

    // MARK: The outlook

    private func verdictWords(_ outlook: StoredOutlook?) -> String {
        guard let outlook else { return "The outlook that is stored cannot be read." }
        let words =
            switch outlook.verdict {
            case .in: "All clients can connect, according to the evaluation when the change was proposed."
            case .ending:
                "All clients can connect at first. Some are locked out later: the table shows when. "
                    + "Publish new pins before then."
            case .out: "Some clients are locked out."
            case .unknown:
                "Unknown: the server could not evaluate whether all clients can connect. The table shows the reasons."
            }
        guard outlook.rows.count < outlook.rowCount else { return words }
        return words + " The table has the first \(outlook.rows.count) of \(outlook.rowCount) rows."
    }

    private func age(_ holders: PublicationOutlook.Holders) -> String {
        switch holders {
        case .current: "Hold what it publishes"
        case .replaced: "Asked within \(QuantityText.span(staleness))"
        case .older: "Have not asked for longer"
        case .beginning: "Begin with their root"
        }
    }

    private func row(_ row: StoredOutlook.Row) -> PageValue {
        [
            "host": .text(row.host.isEmpty ? "all hosts" : row.host),
            "client": .text(ClientWords.words(row.client)),
            "cells": .list(PublicationOutlook.Holders.allCases.map { cell(row.fares[$0], $0) }),
        ]
    }

    private func cell(_ fare: StoredOutlook.Fare?, _ holders: PublicationOutlook.Holders) -> PageValue {
        let age = PageValue.text(age(holders))
        guard let fare else {
            return ["rank": PageRank.usual.value, "words": .text(PageText.nothing), "cause": .flag(false), "age": age]
        }
        let until = fare.until.map(PageText.time)
        let (words, rank): (String, PageRank) =
            switch fare.verdict {
            case .in: ("get in", .usual)
            case .ending: ("get in until \(until ?? "some time")", .warn)
            case .out: ("locked out" + (until.map { " until \($0)" } ?? ""), .bad)
            case .unknown: ("unknown", .bad)
            }
        return [
            // Clients that have not sent a request for so long do not change the verdict.
            "rank": (holders == .older ? .usual : rank).value, "words": .text(words), "cause": .optional(fare.cause),
            "age": age,
        ]
    }

    // MARK: Approvals

    private var proposer: String {
        guard let identity = change.proposer else { return "not an approver" }
        return approvers.member(identity)?.name ?? "no longer an approver"
    }

    private func approval(_ approval: SignedApproval) -> PageValue {
        let identity = approval.signature.identity
        let member = approvers.member(identity)
        let text = try? ApprovalText(approval.text)
        let isCurrent = text?.subject.approvers == chain.head.digest && member != nil
        let isBarred = member?.approves(change.app) == false
        let remark = !isCurrent ? ", under other approvers" : isBarred ? ", and approves other apps only" : ""
        return [
            "person": .text(member?.name ?? "no longer an approver"),
            "says": .text((text?.verdict.rawValue ?? PageText.nothing) + remark),
            "until": .text(text.map { PageText.timeAndDistance($0.end, from: now) } ?? PageText.nothing),
            "kind": .text(member.map(PageText.kind) ?? PageText.nothing), "identity": .text("\(identity)"),
        ]
    }

    private var silent: [PageValue] {
        change.silentApprovers(of: chain).map { member in
            [
                "person": .text(member.name), "says": "nothing yet", "until": .text(PageText.nothing),
                "kind": .text(PageText.kind(of: member)), "identity": .text("\(member.key.identity)"),
            ]
        }
    }

    private var form: PageValue {
        let words =
            switch approvers.passkeys?.rule {
            case .keyRequired?: "At least one approval has to come from a key file or a signer."
            case .passkeysOnly?: "Passkeys alone are enough here."
            case nil: "No approver has one."
            }
        return [
            "id": .text("\(change.id)"), "path": .text("/changes/\(change.app)/\(change.id)"),
            "csrf": .text(csrfToken), "passkeyWords": .text(words),
            "hasPasskeys": .flag(approvers.passkeys != nil),
        ]
    }
}
