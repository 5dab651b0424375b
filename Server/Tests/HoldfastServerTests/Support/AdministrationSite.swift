import Foundation
import Logging
import NIOCore
import NIOPosix
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import PublicAPI
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

/// The administration of a world on loopback, with a token for each purpose.
struct AdministrationSite: Sendable {
    let world: World
    let port: Int
    /// Tokens of the app `bank`, by scope.
    let tokens: [String: AccessToken]

    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    static let scopes: [TokenGrant.Scope] = [.gate(hosts: ["\(World.host):443"]), .read, .propose, .administer]

    /// Runs a test with a listener.
    static func run(
        number: Int = 2, canary: Int64 = 0, at start: Int64 = Story.now,
        _ body: (AdministrationSite) async throws -> Void
    ) async throws {
        try await World.run(number: number, canary: canary, at: start) { world in
            var tokens: [String: AccessToken] = [:]
            for scope in scopes {
                let name = scope.name
                tokens[name] = try await world.token(name, scope)
            }
            tokens["every"] = try await world.token("every", .read, app: nil)
            try await listening(for: world.publisher) { [tokens] port in
                try await body(AdministrationSite(world: world, port: port, tokens: tokens))
            }
        }
    }

    /// Runs a listener, and gives its port.
    static func listening(
        for publisher: Publisher, counters: ListenerCounters = ListenerCounters(),
        _ settings: ListenerSettings? = nil, beside others: [AddressResponder] = [],
        health: @escaping @Sendable () -> ServerHealth = { ServerHealth() }, requests: Logger? = nil,
        reports: ReportInbox = ReportInbox(), _ body: (Int) async throws -> Void
    ) async throws {
        let (addresses, found) = AsyncStream.makeStream(of: Int?.self)
        let listener = try AdministrationListener(
            try settings ?? ListenerSettings(port: 0), for: publisher, counters: counters,
            beside: others, health: health, on: .singletonMultiThreadedEventLoopGroup, logger: quiet,
            requests: requests, notices: NoticeCounters(), reports: reports,
            onListening: { found.yield($0?.port) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await listener.run()
                found.finish()
            }
            for await port in addresses {
                if let port { try await body(port) }
                break
            }
            group.cancelAll()
        }
    }

    /// Calls with the token of a scope.
    /// - Parameters:
    ///   - token: the name of a token, or nil for none.
    ///   - body: JSON.
    func call(
        _ method: String, _ target: String, token: String? = "administer", body: String? = nil,
        type: String = "application/json"
    ) async throws -> RawAnswer {
        try await call(method, target, bearer: token.flatMap { tokens[$0]?.secretText }, body: body, type: type)
    }

    /// Calls with any token.
    func call(
        _ method: String, _ target: String, bearer: String?, body: String? = nil, type: String = "application/json"
    ) async throws -> RawAnswer {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: localhost", "Connection: close"]
        if let bearer { lines.append("Authorization: Bearer \(bearer)") }
        if let body { lines += ["Content-Type: \(type)", "Content-Length: \(body.utf8.count)"] }
        return RawAnswer(
            try await RawClient(port: port).exchange(lines.map { $0 + "\r\n" }.joined() + "\r\n" + (body ?? "")))
    }

    /// Calls, and expects an error with a status and a code.
    func refuses(
        _ status: Int, _ code: AdministrationError.Code, _ method: String, _ target: String,
        token: String? = "administer", body: String? = nil, field: String? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await call(method, target, token: token, body: body)
        answer.isError(status, code, field: field, "\(method) \(target)", sourceLocation: sourceLocation)
    }

    /// The body of a proposal of a list and challenges.
    static func proposal(_ more: String = "") -> String {
        let kinds = ["list", "challenge"].map { #"{"kind":"\#($0)","refresh":3600}"# }.joined(separator: ", ")
        return """
            {"app": "bank", "reason": "a test", "proposer": "nobody", "includeSeen": true, \
            "formats": [\(kinds)]\(more)}
            """
    }

    /// Proposes over HTTP.
    func propose(_ more: String = "") async throws -> RandomID {
        let answer = try await call("POST", "/v1/changes", token: "propose", body: Self.proposal(more))
        #expect(answer.status == 201, "\(answer.text)")
        let id = answer.json["id"] as? String ?? ""
        return try #require(RandomID(hex: id.utf8))
    }

    /// The body that hands in an approval.
    static func body(_ approval: SignedApproval) -> String {
        String(
            decoding: CanonicalJSON.object([
                "text": .text(approval.text), "identity": .text("\(approval.signature.identity)"),
                "signature": .text(Base64.encode(approval.signature.signature)),
            ]).bytes, as: UTF8.self)
    }

    /// Approves over HTTP.
    func approve(_ change: RandomID, by approvers: [Approver] = [.alice, .bob]) async throws {
        for approver in approvers {
            let body = Self.body(try await world.statement(approver, of: change))
            let answer = try await call("POST", "/v1/changes/\(change)/approvals", token: "read", body: body)
            #expect(answer.status == 200, "\(answer.text)")
        }
    }
}

extension TokenGrant.Scope {
    /// The name that tests use.
    var name: String {
        if case .gate = self { return "gate" }
        return "\(self)"
    }
}

extension World {
    /// Makes a token.
    func token(
        _ name: String, _ scope: TokenGrant.Scope, app: AppName? = try? AppName("bank"),
        for seconds: Int64 = 366 * 86_400
    ) async throws -> AccessToken {
        var generator = SystemRandomNumberGenerator()
        return try await catalog.add(
            TokenGrant(name: name, app: app, scope: scope, end: now + seconds), by: "operator", using: &generator)
    }
}

extension RawAnswer {
    /// The body as JSON.
    var json: [String: Any] {
        (try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]) ?? [:]
    }

    /// Expects an error.
    func isError(
        _ status: Int, _ code: AdministrationError.Code, field: String? = nil, _ comment: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(
            self.status == status && json["code"] as? String == code.rawValue, "\(comment): \(text)",
            sourceLocation: sourceLocation)
        for key in ["expected", "found", "remedy"] {
            #expect(json[key] is String, "\(comment): no \(key) in \(body)", sourceLocation: sourceLocation)
        }
        if let field {
            #expect(json["field"] as? String == field, "\(comment): \(body)", sourceLocation: sourceLocation)
        }
    }
}
