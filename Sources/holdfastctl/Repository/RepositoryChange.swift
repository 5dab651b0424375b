import Foundation
import Holdfast
import HoldfastOutput
import HoldfastPublishing

/// The pins that are prepared in a repository, and the other documents its clients may hold.
struct RepositoryChange {
    /// The prepared pins, for apps that get them.
    let pins: PublishedPins
    /// The pins that builds carry.
    let builds: [PublishedPins]
    let subject: ChangeOutlook.Subject

    /// - Parameters:
    ///   - data: the prepared pins.
    ///   - state: the repository, with the published metadata.
    ///   - clients: the clients that must be able to connect.
    init(
        to data: Data, of state: TUFRepositoryState, in place: RepositoryPlace, for clients: ClientOptions, at now: Date
    ) async throws(CommandFailure) {
        let name = "\(place.path)/draft/pins.json"
        pins = try CommandFailure.rethrowing { () throws(PublishingError) in
            try PublishedPins(pinFile: data, named: name, carriedBy: [], at: now)
        }
        var old: [PublicationOutlook.Document] = []
        var earlier = EarlierDocuments()
        let root = state.live?.roots.first?.data
        guard root != nil || clients.held.earlier.isEmpty else {
            throw CommandFailure(.wrongUsage, "--replaced: nothing was published in \(place.path) yet")
        }
        if let live = state.live, let root {
            earlier = try await RepositoryPlace.earlier(
                than: live, in: place.folder, provedFrom: [root], clients.held, at: now)
            if let document = await place.folder.publishedDocument(of: live, provedFrom: root) {
                old.append(document)
            } else {
                earlier.gaps.append("clients may hold the published pins, and the folder does not have them anymore")
            }
        }
        builds = try clients.held.builds.documents(builtWith: root, at: now)
        let documents = [pins.document] + builds.map(\.document)
        subject = ChangeOutlook.Subject(
            from: old, to: [pins.document], after: earlier, beside: builds.map(\.document),
            appVersions: clients.held.builds.appVersions(carrying: documents),
            staleness: .seconds(clients.held.staleness.seconds))
    }
}

extension HostOverrides {
    /// Probes the hosts of the prepared pins, if there are any, before a key signs them.
    /// - Parameters:
    ///   - clients: the clients that must be able to connect.
    ///   - consequence: what is not done if they must not be signed.
    /// - Returns: the remarks for after the signing; nil if no host was probed.
    /// - Throws: `NegativeAnswer` after all findings were printed, if they must not be signed.
    func settle(
        draftPinsOf state: TUFRepositoryState, in place: RepositoryPlace, for clients: ClientOptions,
        by connection: ConnectionOptions, at now: Date, else consequence: String
    ) async throws -> SettledChange? {
        guard let pins = state.draftPins else { return nil }
        guard !isOffline else {
            // Files that are named and cannot be read are an error, whether or not a host is asked.
            _ = try await RepositoryChange(to: pins, of: state, in: place, for: clients, at: now)
            Output.standard.remark("warning: offline: no host was asked whether it has these pins")
            return nil
        }
        let change = try await RepositoryChange(to: pins, of: state, in: place, for: clients, at: now)
        let asked = try await AskedChange(
            change.subject, atHostsOf: [change.pins] + change.builds, on: clients.platforms, by: connection, at: now)
        return try settle(asked, else: consequence)
    }
}
