import Foundation
import Holdfast
import Synchronization

/// What the watcher has to know of the hosts that it took, read in one transaction. Of an app with thousands of hosts only
/// those are read.
struct WatchTargets: Sendable {
    /// A host to look at.
    struct Target: Sendable {
        let lease: HostLeases.Lease
        let host: CatalogHost
        let watched: WatchedHost
        /// What is published or announced as its own certificates.
        let known: Set<Digest>
        /// The keys that people approved or announced for its own certificates.
        let approvedKeys: Set<Digest>
        let validator: PathValidator
    }

    /// For each lease in its place: what to look at, nil for a host that is gone, or why nobody knows.
    let targets: [Result<Target?, ServerError>]
}

/// What is the same from look to look: anchors that were read, and published hosts by their names. Everything is found by
/// the digest that the audit has, so nothing old is ever used.
final class WatchMemory: Sendable {
    private struct State {
        var validators: [Digest: PathValidator] = [:]
        var contents: [Digest: PublishedHosts] = [:]
        var hosts = 0
    }

    private let state = Mutex(State())

    /// Sets of anchors have hundreds of kilobytes each, and most apps have the same.
    private static let maximumValidators = 32
    private static let maximumHosts = 50_000

    /// What validates chains by the settings with a digest.
    func validator(
        of settings: Digest, _ read: () throws(ServerError) -> AppSettings
    ) throws(ServerError) -> PathValidator {
        if let known = state.withLock({ $0.validators[settings] }) { return known }
        let read = try read()
        // The settings were checked when they were written; without anchors nothing would be valid.
        let validator = PathValidator(anchors: (try? TrustAnchors(der: read.anchors)) ?? TrustAnchors([]))
        state.withLock { state in
            if state.validators.count >= Self.maximumValidators { state.validators = [:] }
            state.validators[settings] = validator
        }
        return validator
    }

    /// The hosts of the content with a digest.
    func hosts(
        of content: Digest, _ read: () throws(ServerError) -> [ContentHost]
    ) throws(ServerError) -> PublishedHosts {
        if let known = state.withLock({ $0.contents[content] }) { return known }
        let hosts = PublishedHosts(try read())
        state.withLock { state in
            if state.hosts + hosts.count > Self.maximumHosts { (state.contents, state.hosts) = ([:], 0) }
            if state.contents.updateValue(hosts, forKey: content) == nil { state.hosts += hosts.count }
        }
        return hosts
    }
}

extension Catalog {
    /// Reads what the watcher has to know of the hosts that it took.
    /// - Throws: ``ServerError`` of the database. What concerns one app is in the places of its hosts.
    func watchScene(
        of leases: [HostLeases.Lease], remembering memory: WatchMemory
    ) async throws(ServerError) -> WatchTargets {
        try await look { session, ledger throws(ServerError) in
            WatchTargets(
                targets: leases.map { lease in
                    do throws(ServerError) {
                        return .success(try Self.target(lease, memory, session, ledger))
                    } catch {
                        return .failure(error)
                    }
                })
        }
    }

    private static func target(
        _ lease: HostLeases.Lease, _ memory: WatchMemory, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> WatchTargets.Target? {
        let app = lease.app
        guard let host = try Self.host(lease.id, of: app, session, ledger) else { return nil }
        let judged = try judged(host, at: lease.id, of: app, memory, session, ledger)
        return WatchTargets.Target(
            lease: lease, host: host, watched: judged.watched, known: judged.known, approvedKeys: judged.approvedKeys,
            validator: judged.validator)
    }

    /// What the chains of a host are judged by.
    private struct JudgedHost: Sendable {
        let watched: WatchedHost
        let known: Set<Digest>
        let approvedKeys: Set<Digest>
        let validator: PathValidator
    }

    private static func judged(
        _ host: CatalogHost, at id: Int64, of app: AppName, _ memory: WatchMemory, _ session: any StorageSession,
        _ ledger: Ledger
    ) throws(ServerError) -> JudgedHost {
        let settings = ledger.settings[.init(app: app, name: settingsName)] ?? .nothing
        let validator = try memory.validator(of: settings) { () throws(ServerError) in
            try Self.app(app, session, ledger).settings
        }
        let dialed = try dialed(host.name, port: host.port)
        let approved = try approvedContents(of: app, session, ledger) { content, read throws(ServerError) in
            try memory.hosts(of: content, read)
        }
        let next = try next(id, host, app, session, ledger)
        let watched = try WatchedHost(
            dialed,
            dial: try host.dial.map { name throws(ServerError) in try Self.dialed(name, port: host.port) },
            hasOneKeyKind: host.hasOneKeyKind, published: approved.published?.host(host, dialed: dialed),
            announcedCertificates: next.chains.compactMap(\.chain.certificates.first),
            announcedKeys: next.keys)
        return JudgedHost(
            watched: watched, known: approved.certificates(of: host, next),
            approvedKeys: approved.keys(of: host, next), validator: validator)
    }

    /// Finds the chains that clients accept, of those over keys that people approved or announced. Others are not evaluated.
    /// - Parameter chains: what hosts of the app are said to present.
    /// - Returns: the digests of the chains, by the label of the host.
    /// - Throws: ``ServerError`` of the database; `notFound` for a host that the app does not have.
    func acceptedChains(
        _ chains: [(host: CatalogHost, chains: [CertificateChain])], of app: AppName
    ) async throws(ServerError) -> [String: Set<Digest>] {
        let (targets, now) = try await look { session, ledger throws(ServerError) in
            let memory = WatchMemory()
            let targets = try chains.map { host, chains throws(ServerError) in
                let id = try Self.id(of: host, app, session, ledger)
                return (
                    host: host, chains: Set(chains),
                    judged: try Self.judged(host, at: id, of: app, memory, session, ledger)
                )
            }
            return (targets, try session.now())
        }
        return try await ProgramThreads.run { () throws(ServerError) in
            var accepted: [String: Set<Digest>] = [:]
            for (host, chains, judged) in targets {
                guard let judge = try? HostWatch.Judge(judged.watched) else { continue }
                for chain in chains where chain.leafKey.map(judged.approvedKeys.contains) ?? false {
                    let isAccepted = judge.accepts(
                        chain, validator: judged.validator, at: Date(timeIntervalSince1970: Double(now)))
                    if isAccepted { accepted[host.label, default: []].insert(chain.digest) }
                }
            }
            return accepted
        }
    }

    private static func dialed(_ name: String, port: Int64) throws(ServerError) -> DialedHost {
        do {
            return try DialedHost(name, port: Int(port))
        } catch {
            throw ServerError(.invalidValue, of: "host", expected: "a name or an address", found: "\(error)")
        }
    }
}
