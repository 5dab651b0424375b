import Foundation
import HoldfastTesting
import NIOCore
import NIOHTTP1
import Testing

@testable import HostMonitoring
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

/// The pages of a world, without a listener.
struct PageDesk: Sendable {
    let world: World
    let responder: PageResponder

    static let viewer = Viewer(name: "alice", csrfToken: "token-of-alice")
    /// A person who may send every form.
    static let keeper = Viewer(name: "frank", csrfToken: "token-of-frank", scope: .administer)
    /// Every form.
    static let forms = [
        "/add/app", "/add/host/bank", "/add/next/bank?host=\(World.host)", "/add/change/bank",
    ]
    static let script = Array("\"use strict\";".utf8)

    init(
        _ world: World, viewer: Viewer = PageDesk.viewer, from publisher: Publisher? = nil,
        rates: PageRates = PageRates()
    ) throws {
        self.world = world
        @Sendable func isSignedIn(_ request: ListenerRequest) -> Bool { request.head.headers.contains(name: "Cookie") }
        responder = try PageResponder(
            publisher ?? world.publisher, script: Self.script, rates: rates,
            session: { isSignedIn($0) ? Digest(of: viewer.csrfToken.utf8) : nil },
            viewer: { isSignedIn($0) ? viewer : nil })
    }

    /// Asks for an address; nil if it is none of a page.
    func ask(
        _ target: String, isSignedIn: Bool = true, method: HTTPMethod = .GET, headers: [(String, String)] = []
    ) async -> ListenerAnswer? {
        var head = HTTPRequestHead(version: .http1_1, method: method, uri: target)
        if isSignedIn { head.headers.add(name: "Cookie", value: "somebody") }
        for (name, value) in headers { head.headers.add(name: name, value: value) }
        return await responder.answer(ListenerRequest(head: head, body: ByteBuffer(), source: .unknown))
    }

    /// A page for the viewer.
    func html(_ target: String) async throws -> String {
        let answer = try #require(await ask(target), "\(target)")
        let html = String(buffer: answer.body)
        try #require(answer.status == .ok, "\(target): \(html)")
        return html
    }

    /// Every page of the app of the world, with a change.
    func addresses(_ change: RandomID) -> [String] {
        [
            "/", "/apps/bank", "/apps/bank/hosts/\(World.host)", "/apps/bank/changes/\(change)",
            "/apps/bank/reports?days=1", "/people", "/audit",
        ]
    }

    /// A page before it is written.
    func made(_ target: String, for viewer: Viewer = viewer) async throws -> PageResponder.Made {
        let target = try RequestTarget(target.utf8)
        let route = try #require(PageRoute(path: target.path))
        return try await responder.page(route, PageQuery(target, route), viewer)
    }

    /// The overview before it is written.
    func overview(_ target: String = "/") async throws -> OverviewPage {
        let target = try RequestTarget(target.utf8)
        return try await responder.overviewPage(PageQuery(target, .overview), Self.viewer)
    }

    /// Publishes, has hosts seen, an alarm raised and something reported, and proposes another change.
    /// - Parameter text: stands in everything that people, hosts and clients may write as they like.
    /// - Returns: the change that is open.
    @discardableResult
    static func fill(_ world: World, _ text: String = "usual") async throws -> RandomID {
        let first = try await world.propose().change
        try await world.approve(first)
        _ = try await world.publisher.publish(first)
        try await world.everybodyFollows(isThorough: false)
        let machine = try world.root.leaf(names: [.dns(World.host)]) { $0.subject = .commonName(text) }
        try await world.see(machine, at: "192.0.2.66")
        let failure = Observation(
            vantage: "here", address: text, chain: nil, failure: text, firstSeen: world.now, lastSeen: world.now)
        try await world.catalog.note(
            [(host: world.catalogHost, seen: [failure])], from: "here", of: world.app, by: "test")
        try await world.catalog.alarm(
            about: Digest(of: try machine.subjectPublicKeyInfo), on: world.catalogHost, of: world.app, words: text)
        try await world.catalog.addApp(
            AppName("shop"), displayName: text,
            settings: AppSettings(canary: 0, anchors: [world.root.root], builds: []), by: "operator")
        let reports = try await ReportDesk(world)
        try reports.count([
            ReportDesk.networkError("ok"), ReportDesk.pinFailure(machine.chain, result: 1, version: "7"),
        ])
        _ = try await reports.rows()
        let spare = try world.root.leaf(names: [.dns(World.host)]) { $0.subject = .commonName(text) }
        try await world.catalog.announce(
            CertificateChain(spare.chain), from: world.now + World.month, on: world.catalogHost, of: world.app,
            by: "operator")
        var generator = SystemRandomNumberGenerator()
        let open = try await world.publisher.propose(
            try await world.draft(), forcing: [.canary], proposer: nil, reason: text, by: "operator",
            using: &generator
        ).change
        try await world.approve(open, by: [.alice])
        return open
    }
}

extension ListenerAnswer {
    /// The only value of a header; nil if there is none, or more than one.
    func header(_ name: String) -> String? {
        let values = headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        return values.count == 1 ? values.first : nil
    }
}

extension PageValue {
    /// The value of a name; nil if there is none.
    subscript(_ name: String) -> PageValue? {
        guard case .record(let members) = self else { return nil }
        return members[name]
    }

    /// The values of a list; empty for anything else.
    var values: [PageValue] {
        guard case .list(let values) = self else { return [] }
        return values
    }

    /// The text of a name; nil for anything else.
    func text(_ name: String) -> String? {
        guard case .text(let text)? = self[name] else { return nil }
        return text
    }

    /// The same with something behind each text.
    func appending(_ suffix: String) -> PageValue {
        switch self {
        case .text(let text): .text(text + suffix)
        case .list(let values): .list(values.map { $0.appending(suffix) })
        case .record(let members): .record(members.mapValues { $0.appending(suffix) })
        case .number, .flag: self
        }
    }
}
