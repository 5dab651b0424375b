public import Foundation

/// How a place stands: whether clients have been found to find there what is published.
public struct PlaceStanding: Sendable, Hashable {
    /// Where documents are on their way.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Clients were found to find all of it.
        case arrived
        /// Something is on its way, and nothing has failed.
        case waiting
        /// What is on its way has failed.
        case failing
    }

    /// The app.
    public let app: AppName
    /// What it is called.
    public let name: String
    /// The address below which clients find documents.
    public let url: URL
    /// What uploads to it, and who alone may; nil for the folder, which something else serves.
    public let place: Place?
    /// How many documents clients have not found there yet.
    public let waiting: Int64
    /// How often delivering to it has failed since something arrived there.
    public let failures: Int64
    /// When clients were last found to find something there, in seconds since 1970; nil for never.
    public let delivered: Int64?
    /// Since when clients have not been found to find all of it, in seconds since 1970; nil if they were.
    public let behindSince: Int64?
    /// For how many seconds they have not been; 0 if they were.
    public let lag: Int64
    /// What this machine is called, for places to which one machine alone may upload.
    private let machine: String

    /// Where documents are on their way.
    public var state: State { waiting == 0 ? .arrived : failures > 0 ? .failing : .waiting }

    init(
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

    /// All of it in words.
    public var words: String {
        let last = delivered.flatMap(UTCText.encode).map { "; last delivery \($0)" } ?? "; nothing was ever delivered"
        guard waiting > 0 else { return "\(subject): arrived\(last)" }
        let since = behindSince.flatMap(UTCText.encode).map { " since \($0)" } ?? ""
        let attempts = failures > 0 ? "; \(failures) attempts have failed" : ""
        return "\(subject): clients have not found \(waiting) documents there\(since)\(attempts)\(last)"
    }

    /// What is worth knowing about it, wherever documents are.
    public var notes: [Publisher.Finding] {
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

    /// The same with what has not arrived; nothing if all is well.
    var findings: [Publisher.Finding] {
        notes + (waiting > 0 ? [Publisher.Finding(isFault: failures > 0, words: words)] : [])
    }
}

extension Publisher {
    /// How the places of an app stand: the folder, if somebody has said where clients find it, and the others, sorted by
    /// name.
    /// - Throws: ``ServerError``; `brokenChain` if they are not those that the audit names.
    public func placeStandings(of app: AppName) async throws(ServerError) -> [PlaceStanding] {
        var standings: [PlaceStanding] = []
        if let address = try await catalog.folderAddress(of: app) {
            standings.append(try await placeStanding(of: app, Catalog.folderPlace, at: address.url, nil))
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

    /// How the places of an app stand: what has not arrived, what cannot be run, and who alone may upload.
    /// - Throws: ``ServerError``.
    public func placeFindings(of app: AppName) async throws(ServerError) -> [Finding] {
        try await placeStandings(of: app).flatMap(\.findings)
    }
}
