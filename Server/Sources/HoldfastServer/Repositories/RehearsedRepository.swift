import Foundation
import HoldfastPublishing
import HoldfastSigning

/// A repository with keys that are thrown away: it shows how clients fare that follow it from one content to the next,
/// before anybody has signed.
struct RehearsedRepository {
    /// What clients hold.
    struct Bundle: Sendable {
        /// The root that apps ship with.
        let root: Data
        /// All else.
        let bytes: Data
        /// When the timestamp was signed, in seconds since 1970.
        let signedAt: Int64
    }

    private let offline = TUFSigningKey()
    private let online = TUFSigningKey()
    private let files = RepositoryFiles(named: "rehearsal")
    /// Holders sign until then: whether they did is another gate's question.
    private let now: Int64

    /// - Parameter now: the time, in seconds since 1970.
    init(at now: Int64) { self.now = now }

    /// Publishes a content.
    /// - Parameters:
    ///   - content: the content.
    ///   - pins: its pin file.
    ///   - time: when, in seconds since 1970.
    /// - Returns: what clients hold from then on.
    /// - Throws: ``ServerError`` `notPublishable` for what clients of no repository accept.
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
