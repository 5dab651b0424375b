package import Foundation
import Holdfast

/// The effect of a published document on clients that are presented a chain, according to the outlook. Its fields are
/// those of the JSON object.
package struct PublishedVerdict: Encodable, Sendable {
    /// `in`, `ending`, `out` or `unknown`.
    package let verdict: String
    /// Whether a client with these pins refuses the server.
    package let isLockedOut: Bool
    /// Which clients can connect and which cannot, and why.
    package let text: String
    /// When clients can no longer connect, or from when they can; absent if nothing ends within the evaluated time.
    package var until: String?
    /// Whole days until then.
    package var daysLeft: Int?
    /// The reason why access ends or is denied: one of the codes of the outlook.
    package var cause: String?
    /// Whether it ends within the monitored time.
    package var expiresSoon = false

    /// The remaining days, as text.
    package var remaining: String? {
        guard !isLockedOut, let until, let daysLeft else { return nil }
        return "\(cause ?? "end") at \(until), \(DaysLeft.text(daysLeft))"
    }

    /// The worst of several; among equals, the one that ends first.
    package static func worst(of verdicts: [PublishedVerdict]) -> PublishedVerdict? {
        let order: [PublicationOutlook.Verdict] = [.out, .unknown, .ending, .in]
        for verdict in order {
            let found = verdicts.filter { $0.verdict == verdict.rawValue }
            if let first = found.min(by: { ($0.until ?? "9") < ($1.until ?? "9") }) { return first }
        }
        return nil
    }

    package init(verdict: PublicationOutlook.Verdict, text: String) {
        self.verdict = verdict.rawValue
        self.text = text
        isLockedOut = verdict == .out
    }

    /// - Parameters:
    ///   - row: the evaluated row.
    ///   - document: the document's name.
    ///   - end: the end of the monitored time.
    package init(_ row: PublicationOutlook.Row, of document: String, at now: Date, watchedUntil end: Date) {
        let verdict = row.verdict(until: end)
        self.init(verdict: verdict, text: Self.text(row, document))
        until = row.verdictEnd?.formatted(.iso8601)
        daysLeft = row.verdictEnd.map { DaysLeft.days(until: $0, from: now) }
        cause = row.cause?.code.rawValue
        expiresSoon = verdict == .ending
    }

    private static func text(_ row: PublicationOutlook.Row, _ document: String) -> String {
        let clients =
            switch row.client {
            case .trustServerCertificates?: "clients that pin certificates with \(document)"
            case .trustServerKeys?: "clients that pin keys with \(document)"
            default: "clients with \(document)"
            }
        let holders =
            switch row.holders {
            case .current: clients
            case .replaced, .older: "\(clients), which was replaced,"
            case .beginning: "\(clients) that begin"
            }
        guard row.verdict != .out else { return "\(holders) are locked out: \(row.cause?.words ?? "")" }
        let notices = row.spans.first?.notices.compactMap(Self.remark) ?? []
        let grace = row.spans.first?.isGrace == true ? ["only by grace"] : []
        return (["\(holders) get in"] + grace + notices).joined(separator: ", ")
    }

    /// A remark for operators about clients that can connect.
    private static func remark(on code: String) -> String? {
        switch TrustFailure.Code(rawValue: code) {
        case .pinMismatch: "although no pin matches: mismatches are only reported (mode report)"
        case .pinsExpired: "although its pins have expired: only the system's trust decides"
        case .candidatePinMismatch: "and no candidate matches"
        default: nil
        }
    }
}
