import AsyncHTTPClient
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import NIOCore
import NIOHTTP1
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("Through an HTTP proxy", .timeLimit(.minutes(15)))
struct ProxyTests {
    @Test("the policy judges the origin, and evidence takes the same way", arguments: ["http/1.1", "h2"])
    func origin(protocol name: String) async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        var options = TestOrigin.Options()
        options.protocols = [name]
        try await withProxy { proxy in
            try await withOrigin(try setting.leaf(), options: options) { origin in
                try await setting.withClient({ configuration in
                    configuration.dnsOverride = [:]
                    configuration.proxy = .server(
                        host: "127.0.0.1", port: proxy.port, authorization: .basic(username: "u", password: "p"),
                        connectHeaders: ["x-way": "proxy"])
                }) { client in
                    try await client.expectAnswer(origin.url())
                    try await origin.expectHandshakes(1)
                    #expect(proxy.requests.count == 2)
                    for request in proxy.requests {
                        let head = request.lowercased()
                        #expect(head.hasPrefix("connect www.example.com:\(origin.port) http/1.1"))
                        #expect(head.contains("proxy-authorization: basic"))
                        #expect(head.contains("x-way: proxy"))
                    }
                }
            }
        }
    }

    @Test("a machine in the middle is refused")
    func refused() async throws {
        let setting = try HTTPSetting()
        let leaf = try setting.leaf()
        try setting.trust("www.example.com", pins: [try leaf.publicKeyPin()])
        try await withProxy { proxy in
            try await withOrigin(try setting.issuing.impersonate(leaf)) { origin in
                try await setting.withClient({ $0.proxy = .server(host: "127.0.0.1", port: proxy.port) }) { client in
                    #expect(await client.refusal(origin.url())?.code == .pinMismatch)
                    try await expectNoRequest(origin)
                }
            }
        }
    }

    @Test("an address that is dialed is looked for in the certificate, not the proxy's")
    func address() async throws {
        let setting = try HTTPSetting()
        try setting.trust("192.0.2.7")
        try await withProxy { proxy in
            for (name, isTrusted) in [("192.0.2.7", true), ("127.0.0.1", false)] as [(TestGeneralName, Bool)] {
                try await withOrigin(try setting.leaf(name)) { origin in
                    try await setting.withClient({ $0.proxy = .server(host: "127.0.0.1", port: proxy.port) }) {
                        client in
                        if isTrusted {
                            try await client.expectAnswer(origin.url(host: "192.0.2.7"))
                        } else {
                            #expect(await client.refusal(origin.url(host: "192.0.2.7"))?.code == .hostNameMismatch)
                            try await expectNoRequest(origin)
                        }
                    }
                }
            }
        }
    }

    @Test("a tunnel that is denied is an error")
    func denied() async throws {
        let setting = try HTTPSetting()
        try setting.trust("www.example.com")
        try await withProxy(status: "403 Forbidden") { proxy in
            try await withOrigin(try setting.leaf()) { origin in
                try await setting.withClient({ $0.proxy = .server(host: "127.0.0.1", port: proxy.port) }) { client in
                    await #expect(throws: HTTPClientError.invalidProxyResponse) {
                        _ = try await client.text(origin.url())
                    }
                    try await expectNoRequest(origin)
                }
            }
        }
    }
}
