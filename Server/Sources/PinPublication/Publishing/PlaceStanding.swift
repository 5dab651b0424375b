package import Foundation
package import ServerFoundation
package import ServerModel
import ServerStore

/// The status of a destination: whether clients have been confirmed to find all published documents there.
package struct PlaceStanding: Sendable, Hashable {
    /// The state of the deliveries.
    package enum State: String, Sendable, Hashable, CaseIterable {
        /// Clients were confirmed to find all documents.
        case arrived
        /// A delivery is pending, and none has failed.
        case waiting
        /// A pending delivery has failed.
        case failing
    }

    /// The app.
    package let app: AppName
    /// Its name.
    package let name: String
    /// The address below which clients find documents.
    package let url: URL
    /// The program that uploads, and the only machine that may run it; nil for the folder, which something else serves.
    package let place: Place?
    /// The number of documents that clients have not found there yet.
    package let waiting: Int64
    /// The number of failed deliveries since the last success.
    package let failures: Int64
    /// The time at which clients last found a document there, in seconds since 1970; nil for never.
    package let delivered: Int64?
    /// The time from which on documents are missing there, in seconds since 1970; nil if none is.
    package let behindSince: Int64?
    /// For how many seconds documents have been missing; 0 if none is.
    package let lag: Int64
    /// The name of this machine, for destinations with only one publisher.
    private let machine: String

    /// The state of the deliveries.
    package var state: State { waiting == 0 ? .arrived : failures > 0 ? .failing : .waiting }

    package init(
        _ app: AppName, _ name: String, at url: URL, _ place: Place?, waiting: Int64, failures: Int64,
        delivered: Int64?, behindSince: Int64?,
        on machine: String, at now: Int64
    ) {
        self.app = app
        (self.name, self.url, self.place) = (name, url, place)
        self.waiting = waiting
        self.failures = failures
        self.delivered = delivered
        self.behindSince = waiting > 0 ? behindSince : nil
        lag = self.behindSince.map { max(0, now - $0) } ?? 0
        self.machine = machine
    }

    private var subject: String {
        place == nil ? "\(app), the folder at \(url.absoluteString)" : "\(app), place \(name)"
    }

    /// The status as text.
    package var words: String {
        let last = delivered.flatMap(UTCText.encode).map { "; last delivery \($0)" } ?? "; nothing was ever delivered"
        guard waiting > 0 else { return "\(subject): arrived\(last)" }
        let since = behindSince.flatMap(UTCText.encode).map { " since \($0)" } ?? ""
        let attempts = failures > 0 ? "; \(failures) attempts have failed" : ""
        return "\(subject): clients have not found \(waiting) documents there\(since)\(attempts)\(last)"
    }

    /// The findings about the destination, regardless of deliveries.
    package var notes: [Publisher.Finding] {
        var findings: [Publisher.Finding] = []
        if let doubt = place?.program.doubt {
            findings.append(Publisher.Finding(isFault: true, words: "\(subject): \(doubt)"))
        }
        if let only = place?.onlyPublisher {
            let words = "\(subject): not fenced, so \(only) alone may upload"
            let isThis = only.utf8.elementsEqual(machine.utf8)
            findings.append(
                Publisher.Finding(isFault: false, words: isThis ? words : "\(words), and this is \(machine)"))
        }
        return findings
    }

    /// The notes, and missing documents; empty if there are none.
    package var findings: [Publisher.Finding] {
        notes + (waiting > 0 ? [Publisher.Finding(isFault: failures > 0, words: words)] : [])
    }
}

extension Publisher {
    /// The status of an app's destinations: the folder, if its address is configured, and the others, sorted by name.
    /// - Throws: ``ServerError``; `brokenChain` if they are not those that the audit names.
    package func placeStandings(of app: AppName) async throws(ServerError) -> [PlaceStanding] {
        var standings: [PlaceStanding] = []
        if let address = try await catalog.folderAddress(of: app) {
            standings.append(try await placeStanding(of: app, Place.folder, at: address.url, nil))
        }
        for place in try await catalog.places(of: app) {
            standings.append(try await placeStanding(of: app, place.name, at: place.url, place))
        }
        return standings
    }

    private func placeStanding(
        of app: AppName, _ name: String, at url: URL, _ place: Place?
    ) async throws(ServerError) -> PlaceStanding {
        try await catalog.look { [machine = self.name] session, ledger throws(ServerError) in
            let key: [StorageValue] = [.text("\(app)"), .text(name)]
            let waiting = try Catalog.outstanding(of: app, in: name, session, ledger).count
            let row = try session.run(
                "SELECT confirmed_at, behind_since, failures FROM place WHERE app = $1 AND name = $2", key
            ).first
            return PlaceStanding(
                app, name, at: url, place, waiting: Int64(waiting), failures: try row?.integer(2) ?? 0,
                delivered: try row?.optionalInteger(0), behindSince: try row?.optionalInteger(1), on: machine,
                at: try session.now())
        }
    }

    /// The findings about an app's destinations: missing documents, programs that cannot run, and exclusive publishers.
    /// - Throws: ``ServerError``.
    package func placeFindings(of app: AppName) async throws(ServerError) -> [Finding] {
        try await placeStandings(of: app).flatMap(\.findings)
    }
}
