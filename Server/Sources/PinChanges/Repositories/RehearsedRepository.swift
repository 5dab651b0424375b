package import Foundation
import HoldfastPublishing
import HoldfastSigning
import ServerFoundation
import ServerModel

/// A repository with throwaway keys. It shows, before anyone has signed, whether clients can follow it from one content
/// to the next.
package struct RehearsedRepository {
    /// The files that clients hold.
    package struct Bundle: Sendable {
        /// The root that apps ship with.
        let root: Data
        /// All other files.
        let bytes: Data
        /// When the timestamp was signed, in seconds since 1970.
        let signedAt: Int64

        package init(root: Data, bytes: Data, signedAt: Int64) {
            self.root = root
            self.bytes = bytes
            self.signedAt = signedAt
        }
    }

    private let offline = TUFSigningKey()
    private let online = TUFSigningKey()
    private let files = RepositoryFiles(named: "rehearsal")
    /// The time until which holders sign. Another gate checks whether they did.
    private let now: Int64

    /// - Parameter now: the time, in seconds since 1970.
    init(at now: Int64) { self.now = now }

    /// Publishes a content.
    /// - Parameters:
    ///   - content: the content.
    ///   - pins: its pin file.
    ///   - time: when, in seconds since 1970.
    /// - Returns: the files that clients hold from then on.
    /// - Throws: ``ServerError`` `notPublishable` for content that no client of a repository accepts.
    func publish(_ content: Content, pins: [UInt8], at time: Int64) async throws(ServerError) -> Bundle {
        var lifetimes = content.repositoryLifetimes(at: time)
        lifetimes.root += .seconds(max(0, now - time))
        lifetimes.targets = lifetimes.root
        let date = Date(timeIntervalSince1970: Double(time))
        let (offline, online, files) = (offline, online, files)
        return try await RepositoryFiles.translating(.notPublishable, of: "repository of \(content.app)") {
            [lifetimes] () throws(TUFRepositoryError) in
            var state: TUFRepositoryState
            if try await files.isThere() {
                state = try await files.state()
            } else {
                let (holders, machine) = (TUFRoleKeys([offline.publicKey]), TUFRoleKeys([online.publicKey]))
                state = try TUFRepositoryState(
                    roles: [.root: holders, .targets: holders, .snapshot: machine, .timestamp: machine],
                    lifetimes: lifetimes, at: date)
            }
            try state.prepare(pins: Data(pins), lifetimes: lifetimes, at: date)
            _ = try state.sign(by: offline)
            let publication = try await TUFPublication.make(
                of: state, in: files, onlineKeys: [online], lifetimes: lifetimes, allowing: [.lifetime], at: date)
            try await files.write(publication)
            return Bundle(
                root: publication.state.live?.roots.first?.data ?? Data(),
                bytes: publication.objects.last?.data ?? Data(), signedAt: time)
        }
    }
}
