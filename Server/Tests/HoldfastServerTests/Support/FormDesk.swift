import Foundation
import HoldfastTesting
import Testing

@testable import HoldfastServer
@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

/// Forms of the pages of a world, as browsers send them to its administration on loopback.
struct FormDesk: Sendable {
    let desk: SignInDesk

    var world: World { desk.world }

    /// Runs a test with everything that answers browsers.
    static func run(_ body: (FormDesk) async throws -> Void) async throws {
        try await World.run { world in
            let responders = try ServerProcess.browsers(world.publisher, try SoftPasskey.party).responders
            try await AdministrationSite.listening(for: world.publisher, beside: responders) { port in
                try await body(FormDesk(desk: SignInDesk(world: world, port: port)))
            }
        }
    }

    /// Invites a person for a scope, registers their passkey and signs in.
    func signIn(
        _ scope: TokenGrant.Scope, for apps: Set<AppName>? = nil, as person: String = "frank", number: UInt8 = 51
    ) async throws -> SignInDesk.Browser {
        let token = PasskeyDesk.token(1_000 + UInt64(number))
        let invitation = try InvitationText(
            server: Story.server, token: token.digest, person: person, purpose: .signIn, apps: apps, scope: scope,
            approvers: try await world.catalog.approvers().head.digest, end: world.now + 86_400)
        try await world.catalog.invite(PasskeyDesk.signed(invitation))
        let passkey = SoftPasskey(number: number, id: [number])
        try await desk.register(passkey, (token: token, path: "/invitation/\(token.digest)"))
        return try await desk.signInAgain(passkey)
    }

    /// Sends a form as it stands on a page.
    /// - Parameter csrf: what the form hands back; nil for what the browser's session has.
    func send(
        _ path: String, _ fields: [String: String], in browser: SignInDesk.Browser, csrf: String? = nil,
        origin: String? = "null", site: String? = "same-origin", type: String = "application/x-www-form-urlencoded"
    ) async throws -> RawAnswer {
        let all = fields.merging(["csrf": csrf ?? browser.csrf]) { own, _ in own }
        return try await desk.post(
            path, text: Self.body(all), cookies: [browser.cookie], origin: origin, type: type, site: site)
    }

    /// Fields as browsers write them.
    static func body(_ fields: [String: String]) -> String {
        fields.sorted { $0.key < $1.key }.map { "\($0.key)=\(encoded($0.value))" }.joined(separator: "&")
    }

    private static func encoded(_ text: String) -> String {
        text.replacing("\n", with: "\r\n").utf8.map { byte in
            switch byte {
            case 0x20: "+"
            case _ where ASCIIText.isAlphanumeric(byte) || "*-._".utf8.contains(byte):
                String(decoding: [byte], as: UTF8.self)
            default: "%\(Hex.encode([byte]).uppercased())"
            }
        }.joined()
    }

    /// A page as a browser loads it.
    func load(_ path: String, in browser: SignInDesk.Browser) async throws -> RawAnswer {
        let lines = [
            "GET \(path) HTTP/1.1", "Host: pins.example.com", "Connection: close", "Cookie: \(browser.cookie)",
        ]
        return RawAnswer(try await RawClient(port: desk.port).exchange(lines.map { $0 + "\r\n" }.joined() + "\r\n"))
    }

    static func app(_ world: World) -> [String: String] {
        [
            "name": "shop", "title": "Shop", "staleness": "7", "canary": "0",
            "anchors": PEMText.block("CERTIFICATE", of: world.root.root), "unshipped": "on",
        ]
    }

    static let host = [
        "name": "shop.example.com", "port": "8443", "dial": "127.0.0.1", "renewal": "same-key", "onekind": "on",
    ]

    static func next(_ chain: [[UInt8]], from begins: Int64) throws -> [String: String] {
        [
            "host": "shop.example.com", "port": "8443",
            "next": chain.map { PEMText.block("CERTIFICATE", of: $0) }.joined(),
            "begins": try #require(UTCText.encode(begins)),
        ]
    }
}
