import Foundation
import Holdfast
package import HoldfastPublishing
import ServerModel
import ServerStore

/// Descriptions of the clients that an outlook would lose, for the gate that each concerns.
package struct LostClients {
    /// Chains presented now that clients of the new documents refuse: a pin in use was removed.
    package private(set) var dropped: [String] = []
    /// The clients that refuse a document.
    package private(set) var refused: [String] = []
    /// The clients that are locked out for another reason, or whose result is unknown.
    package private(set) var lockedOut: [String] = []

    /// Maximum number of sentences.
    private static let limit = 16

    /// - Parameter present: the outlook of the published content. Clients that it locks out for its whole span are no
    ///   loss: a change must not be refused because of them, least of all the one that lets them connect again. This
    ///   applies to chains that hosts present now; an announced chain locks out no client yet. Nil to include all
    ///   clients.
    /// - Parameter leavesTime: whether to leave out announced chains that begin late enough for a change that starts
    ///   now to reach all clients first. ``PublishingDeadline`` contains the deadline for that change.
    package init(
        _ outlook: PublicationOutlook, _ scene: AppSnapshot, excusing present: PublicationOutlook? = nil,
        leavingTime leavesTime: Bool = false
    ) {
        let lockedOutNow = present.map(LockedOutClients.init)
        let horizon = OutlookMaker.date(scene.app.settings.timing.lastUse(ofReplaced: scene.now))
        let presentations = scene.hosts.map { host in
            host.shown.map { $0.chain?.leaf } + host.next.chains.map { $0.chain.leaf }
        }
        // An earlier publication ends with its content, and no change can prevent that.
        let ends = Set(scene.publications.map { OutlookMaker.date($0.content.end + 1) })
        for row in outlook.rows where row.holders != .older && row.verdict != .in {
            if leavesTime, row.awaitsPublication(in: scene) { continue }
            if Self.isShownNow(row, scene), lockedOutNow?.excuses(row, of: outlook) ?? false { continue }
            let leaf = row.hostIndex.flatMap { host in row.presentation.map { presentations[host][$0] } } ?? nil
            if row.verdict == .ending, let until = row.verdictEnd {
                // After a certificate expires no document helps, and a lockout beyond the horizon leaves time for
                // another change.
                let natural = leaf.map { $0.notAfter.addingTimeInterval(1) } ?? .distantFuture
                if until >= min(natural, horizon) { continue }
            }
            if row.verdict == .ending, row.holders == .replaced, row.verdictEnd.map(ends.contains) ?? false { continue }
            // A client that connects within the grace period has a newer document to request, and does.
            if row.verdict == .ending, row.holders == .replaced, row.spans.allSatisfy(\.getsIn) { continue }
            let words = Self.words(row, outlook.documentNames)
            switch row.cause?.code {
            case .document, .timestamp, .snapshot, .targets, .root: refused.append(words)
            case .pins
            where row.verdict == .out && row.holders == .current && Self.isShownNow(row, scene)
                && row.document.map { !OutlookMaker.isKept(outlook.documentNames[$0]) } ?? true:
                dropped.append(words)
            default: lockedOut.append(words)
            }
        }
        refused += outlook.premises.filter { $0.utf8.starts(with: "clients that hold ".utf8) }
        dropped = Self.shortened(dropped)
        refused = Self.shortened(refused)
        lockedOut = Self.shortened(lockedOut)
    }

    /// Whether no client would be lost.
    package var isEmpty: Bool { dropped.isEmpty && refused.isEmpty && lockedOut.isEmpty }

    private static func isShownNow(_ row: PublicationOutlook.Row, _ scene: AppSnapshot) -> Bool {
        guard let host = row.hostIndex, let place = row.presentation else { return false }
        return place < scene.hosts[host].shown.count
    }

    private static func shortened(_ sentences: [String]) -> [String] {
        var seen: Set<[UInt8]> = []
        let once = sentences.filter { seen.insert(Array($0.utf8)).inserted }
        return once.count > limit ? Array(once.prefix(limit)) + ["and \(once.count - limit) more"] : once
    }

    /// Describes the client that would be lost.
    private static func words(_ row: PublicationOutlook.Row, _ documents: [String]) -> String {
        let document = row.document.map { documents[$0] } ?? ""
        let client: String =
            switch row.client {
            case .staticList?: "CertStore apps with the list \(document)"
            case .challengedList?: "CertStore apps with \(document)"
            case .trustServerCertificates?: "trust-server apps that pin certificates of \(document)"
            case .trustServerKeys?: "trust-server apps that pin keys of \(document)"
            case .repository?: "apps that follow the repository \(document)"
            case .shippedPins?: "apps with \(document)"
            default: "unknown apps"
            }
        let place = row.host.map { " at \($0)\(row.place.map { ", \($0)" } ?? "")" } ?? ""
        let words = row.cause.map { $0.words.isEmpty ? $0.code.rawValue : $0.words } ?? ""
        switch row.verdict {
        case .unknown: return "unknown\(place): \(words)"
        case .ending: return "\(client) are locked out\(place) from \(text(row.verdictEnd)) on: \(words)"
        case .out, .in:
            let begins = row.start.map { " from \(text($0)) on" } ?? ""
            return "\(client) are locked out\(place)\(begins): \(words)"
        }
    }

    private static func text(_ date: Date?) -> String { date?.formatted(.iso8601) ?? "some time" }
}

extension PublicationOutlook.Row {
    /// Whether its clients lack the pins of a chain from the beginning.
    package var isUnpublished: Bool { verdict == .out && cause?.code == .pins }

    /// Whether an announced chain begins late enough for a change that starts now to reach these clients first. The
    /// change is not published yet, and no client is locked out before the chain begins.
    /// - Parameter scene: the snapshot of the outlook.
    func awaitsPublication(in scene: AppSnapshot) -> Bool {
        guard isUnpublished, let host = hostIndex, let place = presentation, let start,
            client != .shippedPins || OutlookMaker.isOfNextBuild(appVersions)
        else { return false }
        let reach = OutlookMaker.date(scene.app.settings.timing.reach(of: scene.now))
        return place >= scene.hosts[host].shown.count && start > reach
    }
}
