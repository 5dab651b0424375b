import Foundation
import HoldfastPublishing

/// The clients that the published content locks out, today and for the whole span of the outlook.
struct LockedOutClients {
    /// A chain of a host, as clients of one kind see it.
    private struct Meeting: Hashable {
        let host: Int
        let presentation: Int
        let client: PublicationOutlook.Client
    }

    /// The holders of one document, identified by the time of its publication and by the builds that carry it.
    private struct Holding: Hashable {
        let meeting: Meeting
        let published: Date
        let appVersions: [String]
    }

    private var out: Set<Holding> = []
    /// The meetings at which clients with some document can connect, or might.
    private var admitted: Set<Meeting> = []
    private var all: Set<Meeting> = []

    /// - Parameter outlook: the outlook of what is published.
    init(_ outlook: PublicationOutlook) {
        var inSome: Set<Holding> = []
        for row in outlook.rows {
            guard let (meeting, holding) = Self.holding(row, of: outlook) else { continue }
            all.insert(meeting)
            if row.verdict == .out, !row.spans.isEmpty, row.spans.allSatisfy({ !$0.getsIn }) {
                out.insert(holding)
            } else {
                inSome.insert(holding)
                admitted.insert(meeting)
            }
        }
        out.subtract(inSome)
    }

    /// Whether the clients of a row of another outlook are locked out already, so that the row is no loss. A row of a
    /// new document concerns the clients of all documents held today: each of them must be locked out.
    func excuses(_ row: PublicationOutlook.Row, of outlook: PublicationOutlook) -> Bool {
        guard let (meeting, holding) = Self.holding(row, of: outlook) else { return false }
        return out.contains(holding) || (all.contains(meeting) && !admitted.contains(meeting))
    }

    private static func holding(
        _ row: PublicationOutlook.Row, of outlook: PublicationOutlook
    ) -> (Meeting, Holding)? {
        guard let host = row.hostIndex, let presentation = row.presentation, let document = row.document,
            let client = row.client
        else { return nil }
        let meeting = Meeting(host: host, presentation: presentation, client: client)
        let published = outlook.publicationTimes[document]
        return (meeting, Holding(meeting: meeting, published: published, appVersions: row.appVersions))
    }
}
