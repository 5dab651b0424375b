import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastProbe
import HoldfastTestSupport
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("holdfastctl --proxy")
struct ProxyTests {
    private struct Report: Decodable {
        let outcome: String
        let host: String
        let address: String?
        let proxy: String?
    }

    private static func tunnel(to target: String, _ rest: [ScriptedServer.Line]) -> [ScriptedServer.Line] {
        [.hear("CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n\r\n")] + rest
    }

    @Test("The proxy is asked for the host, and the origin behind it is judged", arguments: ["check", "pin"])
    func origin(verb: String) async throws {
        let site = try TestSite()
        let script = Self.tunnel(
            to: "api.example.com:443", [.say("HTTP/1.1 200 Connection established\r\n\r\n"), .tls])
        let (run, server) = try await site.run(verb, script: script, connecting: "--proxy")
        #expect(run.status == 0, "\(run.errors)")
        #expect(server.surprises.isEmpty)
        #expect(server.handshakes == 1)
        if verb == "check" {
            #expect(run.output.hasPrefix("api.example.com:443 through the proxy 127.0.0.1:"))
        }
        // The name of the proxy is not what counts.
        let other = Self.tunnel(to: "other.example:443", [.say("HTTP/1.1 200 OK\r\n\r\n"), .tls])
        let (wrong, _) = try await site.run(verb, script: other, host: "other.example", connecting: "--proxy")
        #expect(wrong.status == 1)
        #expect((wrong.output + wrong.errors).contains("hostNameMismatch"))
    }

    @Test("JSON names the proxy and no address of the origin")
    func json() async throws {
        let site = try TestSite()
        let script = Self.tunnel(to: "[2001:db8::1]:8443", [.say("HTTP/1.1 200 OK\r\n\r\n"), .tls])
        let (run, server) = try await site.run(
            "check", ["--json", "--connect-to", "[2001:db8::1]:8443"], script: script, connecting: "--proxy")
        #expect(run.status == 0, "\(run.errors)")
        let report = try run.json(Report.self)
        #expect(report.outcome == "trusted")
        #expect(report.host == "api.example.com")
        #expect(report.address == nil)
        #expect(report.proxy?.hasPrefix("127.0.0.1:") == true)
        #expect(server.surprises.isEmpty)
    }

    @Test(
        "The password in a URL is not repeated, wherever it was given",
        arguments: [
            ["--proxy", "https://user:s3cret@proxy.example:3128"], ["--proxy=user:s3cret@proxy.example:x"],
            ["--proxy", "user:s3:cret@proxy.example"], ["--connect-to", "user:s3cret@proxy.example:443"],
            ["user:s3cret@proxy.example"],
        ])
    func passwords(arguments: [String]) async throws {
        let run = try await CommandRun.inProcess(["check", "www.example.com"] + arguments)
        #expect(run.status == 2)
        #expect(!(run.output + run.errors).contains("cret"))
    }

    @Test(
        "A proxy gets the user name and password of its URL, and nobody else does",
        arguments: ["http://user:s%33cret@PROXY", "user:s3cret@PROXY"])
    func credentials(url: String) async throws {
        let site = try TestSite()
        let credentials = Data("user:s3cret".utf8).base64EncodedString()
        let script: [ScriptedServer.Line] = [
            .hear(
                "CONNECT api.example.com:443 HTTP/1.1\r\nHost: api.example.com:443\r\n"
                    + "Proxy-Authorization: Basic \(credentials)\r\n\r\n"), .say("HTTP/1.1 200 OK\r\n\r\n"), .tls,
        ]
        try await site.serving(script) { server, folder in
            let proxy = url.replacing("PROXY", with: "127.0.0.1:\(server.port)")
            let run = try await CommandRun.inProcess(
                ["check", TestSite.name, "--ca", "root.pem", "--proxy", proxy], in: folder)
            #expect(run.status == 0, "\(run.errors)")
            #expect(!(run.output + run.errors).contains("cret"))
        }
    }

    @Test("A proxy of the environment passes the connection on; one that cannot be used is said without its value")
    func environmentRun() async throws {
        let site = try TestSite()
        let script = Self.tunnel(to: "api.example.com:443", [.say("HTTP/1.1 200 OK\r\n\r\n"), .tls])
        try await site.serving(script) { server, folder in
            let arguments = ["check", TestSite.name, "--ca", "root.pem"]
            let run = try await CommandRun.holdfastctl(
                arguments, environment: ["HTTPS_PROXY": "http://127.0.0.1:\(server.port)/"], in: folder)
            #expect(run.status == 0 && run.output.contains("through the proxy"), "\(run.errors)")
            let wrong = try await CommandRun.holdfastctl(
                arguments, environment: ["HTTPS_PROXY": "socks5://user:s3cret@proxy.example:1"], in: folder)
            #expect(wrong.status == 2 && wrong.errors.contains("HTTPS_PROXY") && !wrong.errors.contains("cret"))
        }
    }

    @Test("A document of show and of check --list comes through the proxy of the environment, but for NO_PROXY")
    func downloads() async throws {
        try await SigningSite.with { site in
            try site.list([("www.example.com", "a", 30.5)])
            let leaf = try site.leaf("leaf.pem", [.dns("pins.example.com"), .address([127, 0, 0, 1])])
            let body = try site.text("pins.json")
            try await withLoopbackTLSServer(serving: leaf, options: .init(behavior: .http(body: body))) { server in
                let credentials = Data("user:s3cret".utf8).base64EncodedString()
                let proxy = try await LoopbackProxy.start(to: server.port)
                let environment = ["HTTPS_PROXY": "http://user:s%33cret@127.0.0.1:\(proxy.port)"]
                func run(_ arguments: [String], _ environment: [String: String]) async throws -> CommandRun {
                    let run = try await CommandRun.holdfastctl(
                        arguments + ["--ca", "root.pem", "--public-key", site.publicKey, "--timeout", "60s"],
                        environment: environment, in: site.folder)
                    #expect(!(run.output + run.errors).contains("cret"))
                    return run
                }
                let shown = try await run(["show", "https://pins.example.com/pins.json"], environment)
                #expect(shown.status == 0 && shown.output.contains("verified"), "\(shown.errors)")
                let show = proxy.requests
                #expect(!show.isEmpty)
                for head in show {
                    #expect(head.hasPrefix("CONNECT pins.example.com:443 "))
                    #expect(head.lowercased().contains("proxy-authorization: basic \(credentials.lowercased())"))
                }
                // The list is fetched, and then the host is asked: its certificate is another name's.
                let checked = try await run(
                    ["check", "--list", "https://pins.example.com/pins.json"], environment)
                #expect(checked.status == 1, "\(checked.output) \(checked.errors)")
                let hosts = proxy.requests.dropFirst(show.count).map { $0.split(separator: " ")[1] }
                #expect(hosts.contains("pins.example.com:443") && hosts.contains("www.example.com:443"), "\(hosts)")
                let direct = proxy.requests.count
                let past = try await run(
                    ["show", "https://127.0.0.1:\(server.port)/pins.json"],
                    environment.merging(["NO_PROXY": "127.0.0.1"]) { $1 })
                #expect(past.status == 0 && proxy.requests.count == direct, "\(past.errors)")
                await proxy.shutdown()
                // Named outright, it is taken for downloads too; and one that is down is an error that shows no password.
                let down = try await run(
                    [
                        "check", "--list", "https://pins.example.com/pins.json", "--proxy",
                        "http://user:s3cret@127.0.0.1:\(proxy.port)",
                    ], [:])
                #expect(down.status == 3 && down.errors.contains("cannot be downloaded"), "\(down.errors)")
                let wrong = try await run(
                    ["show", "https://pins.example.com/pins.json"], ["HTTPS_PROXY": "socks5://user:s3cret@x.example:1"])
                #expect(wrong.status == 2 && wrong.errors.contains("HTTPS_PROXY"), "\(wrong.errors)")
            }
        }
    }

    @Test("A proxy that says no, or too much, or closes, or cannot be reached exits with 3")
    func refused() async throws {
        let site = try TestSite()
        let denied = Self.tunnel(
            to: "api.example.com:443", [.say("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")])
        let (run, server) = try await site.run("check", script: denied, connecting: "--proxy")
        #expect(run.status == 3)
        #expect(run.errors.contains("the proxy refused: 'HTTP/1.1 407 Proxy Authentication Required'"))
        #expect(server.bytesAfterEnd == 0)
        let chatty = Self.tunnel(to: "api.example.com:443", [.say("HTTP/1.1 200 OK\r\n\r\nmore"), .tls])
        let (extra, other) = try await site.run("check", script: chatty, connecting: "--proxy")
        #expect(extra.status == 3)
        #expect(other.handshakes == 0)
        #expect(extra.errors.contains("bytes in plaintext came with or after the last answer"))
        let closing = Self.tunnel(to: "api.example.com:443", [.close])
        let (closed, _) = try await site.run("check", script: closing, connecting: "--proxy")
        #expect(closed.status == 3)
        #expect(closed.errors.contains("the connection was closed before TLS began"))
        try await withTemporaryFolder { folder in
            let ca = folder.appending(path: "root.pem")
            try Data(site.root.certificate.pem.utf8).write(to: ca)
            let gone = try await CommandRun.inProcess(
                ["check", TestSite.name, "--ca", ca.path, "--proxy", "127.0.0.1:1"])
            #expect(gone.status == 3)
            #expect(gone.errors == "holdfastctl: cannot connect to the proxy 127.0.0.1:1: connection refused\n")
        }
    }
}
