import HostMonitoring
import NIOHTTP1
import PinPublication
import ServerApprovals
import ServerFoundation
import ServerHTTP
import ServerModel
import ServerStore

/// The calls about apps, hosts, announcements and their readiness.
extension AdministrationResponder {
    func listApps(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let apps = try await refusing { [catalog] () async throws(ServerError) in
            var apps: [CanonicalJSON] = []
            for name in catalog.apps where call.grant?.isFor(name) == true {
                apps.append(.object(try await AdministrationView.app(name, of: catalog)))
            }
            return apps
        }
        return Self.json([("apps", .array(apps))])
    }

    func getStatus(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let app = try call.app()
        try takeTurn(call)
        let members = try await refusing { [publisher] () async throws(ServerError) in
            AdministrationView.standing(try await publisher.standing(of: app))
        }
        return Self.bytes(CanonicalJSON.object(members).bytes)
    }

    func listHosts(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let app = try call.app()
        try takeTurn(call)
        let hosts = try await refusing { [catalog] () async throws(ServerError) in
            _ = try await catalog.app(app)
            var hosts: [CanonicalJSON] = []
            for view in try await catalog.hostViews(of: app) { hosts.append(.object(Self.members(of: view))) }
            return hosts
        }
        return Self.json([("hosts", .array(hosts))])
    }

    private static func members(of view: Catalog.HostView) -> [String: CanonicalJSON] {
        AdministrationView.host(view.host, seen: view.seen, next: view.next)
    }

    func getHost(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let (app, place) = (try call.app(), try call.host())
        let members = try await refusing { [catalog] () async throws(ServerError) in
            Self.members(of: try await catalog.hostView(place.name, place.port, of: app))
        }
        return Self.bytes(CanonicalJSON.object(members).bytes)
    }

    func setHost(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let (app, place) = (try call.app(), try call.host())
        var fields = try call.fields()
        let members = try await refusing { [catalog] () async throws(ServerError) in
            let host = try HostBody.host(place.name, place.port, &fields)
            try await catalog.set(host, of: app, by: call.actor)
            return Self.members(of: try await catalog.hostView(host.name, host.port, of: app))
        }
        return Self.bytes(CanonicalJSON.object(members).bytes)
    }

    func reportSightings(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let app = try call.app()
        var fields = try call.fields()
        let report = try reading { () throws(ServerError) in try SightingsReport(&fields) }
        try takeTurn(call)
        let name = call.grant?.name ?? ""
        try await refusing { [catalog] () async throws(ServerError) in
            try await catalog.take(report, from: name, of: app, by: call.actor)
        }
        return Self.json([("hosts", .integer(Int64(report.hosts.count)))])
    }

    func announceNext(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let (app, place) = (try call.app(), try call.host())
        var fields = try call.fields()
        // Validate everything before any write.
        let (announcement, host) = try await refusing { [catalog] () async throws(ServerError) in
            (try Announcement(&fields), try await catalog.host(place.name, place.port, of: app))
        }
        try takeAnnouncement(call)
        let next = try await refusing { [catalog] () async throws(ServerError) in
            try await catalog.announce(announcement, on: host, of: app, by: call.actor)
            return try await catalog.next(of: host, app)
        }
        return Self.json([("next", AdministrationView.next(next))])
    }

    func withdrawNext(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let (app, place) = (try call.app(), try call.host())
        try takeTurn(call)
        let next = try await refusing { [catalog] () async throws(ServerError) in
            let host = try await catalog.host(place.name, place.port, of: app)
            try await catalog.withdrawNext(on: host, of: app, by: call.actor)
            return try await catalog.next(of: host, app)
        }
        return Self.json([("next", AdministrationView.next(next))])
    }

    func withdrawAnnouncement(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let (app, place, digest) = (try call.app(), try call.host(), try call.digest())
        try takeTurn(call)
        let next = try await refusing { [catalog] () async throws(ServerError) in
            let host = try await catalog.host(place.name, place.port, of: app)
            try await catalog.withdraw(digest, on: host, of: app, by: call.actor)
            return try await catalog.next(of: host, app)
        }
        return Self.json([("next", AdministrationView.next(next))])
    }

    func askGate(_ call: AdministrationCall) async throws(AdministrationError) -> ListenerAnswer {
        let (app, place, digest) = (try call.app(), try call.host(), try call.digest())
        guard call.grant?.allows(.gate(hosts: ["\(place.name):\(place.port)"])) == true else {
            throw AdministrationError(
                .forbidden, .forbidden, of: "host", expected: "a host of the token", found: "another",
                remedy: "Use a token whose gate names the host.")
        }
        try takeTurn(call)
        let readiness = try await refusing { [catalog, publisher] () async throws(ServerError) in
            let host = try await catalog.host(place.name, place.port, of: app)
            return try await publisher.readiness(of: digest, on: host, of: app)
        }
        guard readiness.isInstallable else { throw readiness.refusal }
        return Self.bytes(CanonicalJSON.object(AdministrationView.readiness(readiness)).bytes)
    }
}

extension InstallationReadiness {
    /// The error 409, with the time since when the certificate is accepted, how long to wait, and when to retry.
    fileprivate var refusal: AdministrationError {
        var facts: [String: CanonicalJSON] = [:]
        if let since { facts["since"] = AdministrationView.time(since) }
        if let until { facts["until"] = AdministrationView.time(until) }
        let pause = until.map { min(max(1, $0 - now), 86_400) } ?? 300
        var error = AdministrationError(
            .conflict, .notReady, expected: "that all clients accept it", found: words,
            remedy: until == nil
                ? "Publish a change that contains it." : "Install it then, and query the gate again before.",
            headers: [("Retry-After", "\(pause)")])
        error.facts = facts
        return error
    }
}
