import Foundation
import Holdfast

extension Publisher {
    /// How a canary stands.
    public struct CanaryStanding: Sendable, Hashable {
        /// The change that it has.
        public let change: RandomID
        /// Since when, in seconds since 1970.
        public let began: Int64
        /// The earliest time at which everybody can get the change, in seconds since 1970.
        public let end: Int64
        /// For how many seconds clients were seen to get in with it, without a refusal.
        public let followed: Int64
        /// Who was refused where, and why; empty if nobody was.
        public let refusals: [String]
        /// Since when somebody is refused, in seconds since 1970; nil if nobody is.
        public let heldSince: Int64?
        /// What clients report that holds it up, which anybody can forge; empty if nothing does.
        public let reported: [String]

        /// All of it in words, a line each.
        public var lines: [String] {
            [
                "the canary has change \(change) since \(ClockGuard.text(began))",
                "everybody can get it from \(ClockGuard.text(end)) on, if the canary's clients get in until then",
            ] + (heldSince.map { ["HELD since \(ClockGuard.text($0)): clients refuse what the canary has"] } ?? [])
                + (refusals + reported).map { "HELD: \($0)" }
        }
    }

    func canaryStanding(_ scene: AppSnapshot) -> CanaryStanding? {
        guard let canary = scene.canary else { return nil }
        let judge = CanaryJudge(
            name: "\(scene.app.name)-canary", timing: scene.app.settings.timing, began: canary.began,
            probes: canary.probes, look: nil, now: scene.now)
        return CanaryStanding(
            change: canary.change, began: canary.began, end: judge.end, followed: canary.probes.followed(at: scene.now),
            refusals: canary.probes.refusals, heldSince: canary.probes.heldSince,
            reported: scene.canaryReports?.refusals ?? [])
    }

    /// An address that serves documents slowly holds up no look for longer.
    private static let patience: Duration = .seconds(20)

    /// Has clients of every format look with the documents of each canary, and says in the audit how they fared.
    /// - Returns: what holds a canary up, and what could not be found out, in words.
    public func probeCanaries() async -> [String] {
        var problems: [String] = []
        for app in catalog.apps where catalog.ledger.canaries[app] != nil {
            do throws(ServerError) {
                let look = try await probeCanary(of: app)
                problems += (look?.refusals ?? []).map { "the canary of \(app) is held: \($0)" }
                problems += (look?.unknown ?? []).map { "the canary of \(app) waits for: \($0)" }
            } catch {
                problems.append("the canary of \(app): \(error)")
            }
        }
        return problems
    }

    /// Has clients of every format look with the documents of a canary, and says in the audit how they fared.
    /// - Parameter isDeciding: whether it is said even if it is no news.
    /// - Returns: what they met; nil if no change has the canary.
    /// - Throws: ``ServerError``.
    func probeCanary(of app: AppName, isDeciding: Bool = false) async throws(ServerError) -> CanaryLook? {
        guard let held = catalog.ledger.canaries[app] else { return nil }
        try await refresh()
        let scene = try await catalog.scene(of: app)
        let change = try await catalog.change(held.change)
        guard scene.canary?.change == change.id else { return nil }
        let look = try await look(with: change.content, scene)
        try await catalog.note(look, of: change.id, app, isDeciding: isDeciding)
        return look
    }

    private func look(with content: Content, _ scene: AppSnapshot) async throws(ServerError) -> CanaryLook {
        var look = CanaryLook()
        guard let name = ReleaseChannel.canary.name(of: content.app) else { return look }
        let documents = ReleaseChannelDocuments(
            of: name, at: try await catalog.folderAddress(of: content.app), from: self, now: scene.now)
        let build = ClientBuild(scene.keys, asking: documents.base, documents, at: scene.now)
        var hosts: [(host: AppSnapshot.Host, dialed: DialedHost)] = []
        for host in scene.hosts where content.hosts.contains(where: { $0.covers(host.host) }) {
            guard let dialed = try? DialedHost(host.host.name, port: Int(host.host.port)) else { continue }
            hosts.append((host, dialed))
            if !host.isFresh(at: scene.now) {
                look.leaveOpen("what \(host.host.label) shows: nobody has seen it within the hour")
            }
        }
        let clients = DocumentClient.all(of: content, for: .canary) + (try await repositoryClients(content, scene))
        let dialed = hosts.map(\.dialed)
        for client in clients {
            let started = await Deadline.value(within: Self.patience) { await client.result(build, dialing: dialed) }
            switch started {
            case nil: look.leaveOpen("how \(client.name) fare: nothing came within \(Self.patience)")
            case .failure(let failure)?:
                if failure.isRefusal {
                    look.refuse("\(client.name) refuse it: \(failure.words)")
                } else {
                    look.leaveOpen("how \(client.name) fare: \(failure.words)")
                }
            case .success(let ready)?:
                // What was there before says nothing about the change.
                if !documents.hasFound(client) {
                    look.leaveOpen("how \(client.name) fare: something else is there than what the canary has")
                } else {
                    Self.look(at: hosts, as: ready, scene, &look)
                }
            }
        }
        return look
    }

    private static func look(
        at hosts: [(host: AppSnapshot.Host, dialed: DialedHost)], as client: DocumentClient.Ready, _ scene: AppSnapshot,
        _ look: inout CanaryLook
    ) {
        // The settings were checked when they were written; without anchors nothing would be valid.
        let anchors = (try? TrustAnchors(der: scene.app.settings.anchors)) ?? TrustAnchors([])
        let validator = PathValidator(anchors: anchors)
        let time = OutlookMaker.date(scene.now)
        for (host, dialed) in hosts where host.isFresh(at: scene.now) {
            for seen in host.shown {
                guard let chain = seen.chain else { continue }
                let trust = ServerTrust(
                    chain: PresentedChain(chain.certificates), purpose: .server(identity: dialed), validator: validator)
                guard let reason = client.refusal(of: trust, dialing: dialed, at: time) else { continue }
                look.refuse("\(client.name) refuse \(host.host.label) at \(seen.address): \(reason)")
            }
        }
    }

    /// Those of the canary's own repository, once it has the same hosts; before that, another sentence says that it has not.
    private func repositoryClients(
        _ content: Content, _ scene: AppSnapshot
    ) async throws(ServerError) -> [DocumentClient] {
        guard content.repository != nil, let canary = scene.canaryRepository, canary.has(content) else { return [] }
        let folder = "repo/\(canary.app)"
        let path = "\(folder)/\(RepositoryPath.firstRoot)"
        let root = try await catalog.look { session, ledger throws(ServerError) in
            try Catalog.document(path, of: canary.app, session, ledger)
        }
        return root.map {
            [
                DocumentClient(
                    kind: .repository(
                        folder: folder, root: $0.bytes,
                        application: canary.content?.repository?.application(of: canary.app)),
                    name: "apps that follow the repository \(folder)")
            ]
        } ?? []
    }
}

extension DocumentClient {
    fileprivate func result(_ build: ClientBuild, dialing hosts: [DialedHost]) async -> Result<Ready, ClientFailure> {
        do throws(ClientFailure) {
            return .success(try await started(build, dialing: hosts))
        } catch {
            return .failure(error)
        }
    }
}

extension AppSnapshot.Host {
    /// Whether somebody has seen what it shows within the hour.
    fileprivate func isFresh(at now: Int64) -> Bool {
        shown.contains { $0.chain != nil && $0.lastSeen >= now - Vantage.lifetime }
    }
}
