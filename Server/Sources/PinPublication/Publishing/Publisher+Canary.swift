import Foundation
import Holdfast
import HostMonitoring
package import PinChanges
package import ServerFoundation
import ServerModel
import ServerStore

extension Publisher {
    /// The status of a canary.
    package struct CanaryStanding: Sendable, Hashable {
        /// The change that the canary has.
        package let change: RandomID
        /// The start, in seconds since 1970.
        package let began: Int64
        /// The earliest time at which all clients can get the change, in seconds since 1970.
        package let end: Int64
        /// For how many seconds clients were seen to connect with it, without a refusal.
        package let followed: Int64
        /// The refused clients, the hosts and the reasons; empty if no client was refused.
        package let refusals: [String]
        /// The time from which clients are refused, in seconds since 1970; nil if no client is refused.
        package let heldSince: Int64?
        /// The client reports that hold the change back, which can be forged; empty if there are none.
        package let reported: [String]

        /// The status as text, a line each.
        package var lines: [String] {
            [
                "the canary has change \(change) since \(ClockGuard.text(began))",
                "all clients can get it from \(ClockGuard.text(end)) on, "
                    + "if the canary's clients can connect until then",
            ] + (heldSince.map { ["HELD since \(ClockGuard.text($0)): clients refuse what the canary has"] } ?? [])
                + (refusals + reported).map { "HELD: \($0)" }
        }
    }

    package func canaryStanding(_ scene: AppSnapshot) -> CanaryStanding? {
        guard let canary = scene.canary else { return nil }
        let judge = CanaryJudge(
            name: "\(scene.app.name)-canary", timing: scene.app.settings.timing, began: canary.began,
            probes: canary.probes, look: nil, now: scene.now)
        return CanaryStanding(
            change: canary.change, began: canary.began, end: judge.end, followed: canary.probes.followed(at: scene.now),
            refusals: canary.probes.refusals, heldSince: canary.probes.heldSince,
            reported: scene.canaryReports?.refusals ?? [])
    }

    /// The maximum wait for an address that serves documents slowly.
    private static let patience: Duration = .seconds(20)

    /// Probes hosts with clients of every format and the documents of each canary, and records the results in the
    /// audit.
    /// - Returns: the reasons that hold a canary back, and open questions, as text.
    package func probeCanaries() async -> [String] {
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

    /// Probes hosts with clients of every format and the documents of a canary, and records the result in the audit.
    /// - Parameter isDeciding: whether to record the result even if it is not new.
    /// - Returns: the result; nil if no change has the canary.
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
                look.leaveOpen("the certificates of \(host.host.label), which was not seen within the last hour")
            }
        }
        let clients = DocumentClient.all(of: content, for: .canary) + (try await repositoryClients(content, scene))
        let dialed = hosts.map(\.dialed)
        for client in clients {
            let started = await Deadline.value(within: Self.patience) { await client.result(build, dialing: dialed) }
            switch started {
            case nil:
                look.leaveOpen("whether \(client.name) can connect: no answer arrived within \(Self.patience)")
            case .failure(let failure)?:
                if failure.isRefusal {
                    look.refuse("\(client.name) refuse it: \(failure.words)")
                } else {
                    look.leaveOpen("whether \(client.name) can connect: \(failure.words)")
                }
            case .success(let ready)?:
                // An older document at the address proves nothing about the change.
                if !documents.hasFound(client) {
                    look.leaveOpen(
                        "whether \(client.name) can connect: the address has another document than the canary")
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

    /// The clients of the canary's own repository, once it has the same hosts. Until then, another message reports that
    /// it has not.
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
    /// Whether any address of the host was seen within the hour.
    fileprivate func isFresh(at now: Int64) -> Bool {
        shown.contains { $0.chain != nil && $0.lastSeen >= now - Vantage.lifetime }
    }
}
