import Foundation
import Holdfast
import ServerFoundation
import ServerModel
import ServerStore
import Synchronization

/// The data that the watcher needs about leased hosts, read in one transaction. Of an app with thousands of hosts only
/// these are read.
struct WatchTargets: Sendable {
    /// A host to probe.
    struct Target: Sendable {
        let lease: HostLeases.Lease
        let host: CatalogHost
        let watched: WatchedHost
        /// The published or announced leaf certificates.
        let known: Set<Digest>
        /// The approved or announced keys of its leaf certificates.
        let approvedKeys: Set<Digest>
        let validator: PathValidator
    }

    /// For each lease, in order: its target, nil for a host that was removed, or the error of reading it.
    let targets: [Result<Target?, ServerError>]
}

/// A cache of data that stays the same between probes: anchors, and published hosts by their names. The keys are
/// digests from the audit, so no outdated entry is ever used.
final class WatchMemory: Sendable {
    private struct State {
        var validators: [Digest: PathValidator] = [:]
        var contents: [Digest: PublishedHosts] = [:]
        var hosts = 0
    }

    private let state = Mutex(State())

    /// Maximum number of validators: a set of anchors has hundreds of kilobytes, and most apps share one.
    private static let maximumValidators = 32
    private static let maximumHosts = 50_000

    /// The validator for the settings with a digest.
    func validator(
        of settings: Digest, _ read: () throws(ServerError) -> AppSettings
    ) throws(ServerError) -> PathValidator {
        if let known = state.withLock({ $0.validators[settings] }) { return known }
        let read = try read()
        // Settings were checked when they were written; without anchors every chain would be invalid.
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
    /// Reads the data that the watcher needs about leased hosts.
    /// - Throws: ``ServerError`` of the database. An error of one app is in the results of its hosts.
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

    /// The data with which the chains of a host are evaluated.
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

    /// The chains that clients accept, among those with an approved or announced key. Others are not evaluated.
    /// - Parameter chains: the reported chains of hosts of the app.
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
