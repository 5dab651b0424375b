import AsyncHTTPClient
import Foundation
import Holdfast
import NIOCore
import NIOHTTP1
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite("The redirect engine")
struct RedirectEngineTests {
    private static let rules = {
        var rules = RedirectRules()
        rules.limit = 2
        return rules
    }()

    private func next(
        _ status: HTTPResponseStatus, to location: String, from url: String = "https://www.example.com/a/b",
        rules: RedirectRules? = RedirectEngineTests.rules,
        _ configure: (inout HTTPClientRequest) -> Void = { _ in }
    ) throws -> HTTPClientRequest? {
        var request = HTTPClientRequest(url: url)
        configure(&request)
        var engine = RedirectEngine(rules: rules, url: url)
        return try engine.next(
            after: request, at: #require(URL(string: url)), status: status, headers: ["location": location])
    }

    @Test("follows what AsyncHTTPClient follows, relative to what was asked for")
    func targets() throws {
        for status: HTTPResponseStatus in [
            .movedPermanently, .found, .seeOther, .notModified, .useProxy, .temporaryRedirect, .permanentRedirect,
        ] {
            #expect(try next(status, to: "c?d=1")?.url == "https://www.example.com/a/c?d=1")
        }
        #expect(try next(.ok, to: "c") == nil)
        #expect(try next(.multipleChoices, to: "c") == nil)
        #expect(try next(.found, to: "https://www.example.com/", rules: nil) == nil)
        #expect(try next(.found, to: "//other.example.net/x")?.url == "https://other.example.net/x")
        for other in ["ftp://www.example.com/", "file:///etc/passwd", "http+unix://%2Ftmp%2Fs/", "data:,x"] {
            #expect(try next(.found, to: other) == nil)
        }
        var engine = RedirectEngine(rules: Self.rules, url: "https://a.b/")
        #expect(
            try engine.next(
                after: HTTPClientRequest(url: "https://a.b/"), at: #require(URL(string: "https://a.b/")),
                status: .found, headers: [:]) == nil)
    }

    @Test("goes from http to https and never back", arguments: ["http://www.example.com/", "HTTP://www.example.com/"])
    func plaintext(target: String) throws {
        #expect(try next(.found, to: "https://www.example.com/", from: "http://www.example.com/") != nil)
        #expect(try next(.found, to: "/x", from: "http://www.example.com/") != nil)
        #expect {
            try next(.found, to: target)
        } throws: { ($0 as? PinnedHTTPClientError)?.code == .redirectToPlaintext }
        #expect {
            try next(.found, to: target, from: "HTTPS://www.example.com/")
        } throws: { ($0 as? PinnedHTTPClientError)?.code == .redirectToPlaintext }
    }

    @Test("names a refused target by scheme and host alone, quoted")
    func namedTarget() throws {
        do {
            _ = try next(.found, to: "http://user:hunter2@www.example.com:8080/reset?token=hunter2#\u{1B}")
            Issue.record("no redirect leads to http")
        } catch let error as PinnedHTTPClientError {
            #expect(error.found == "\"http://www.example.com\"…")
        }
    }

    @Test("leaves credentials behind when scheme, host or port changes")
    func credentials() throws {
        let names = ["Origin", "Cookie", "Authorization", "Proxy-Authorization", "Host"]
        func kept(_ target: String) throws -> [String] {
            let next = try next(.temporaryRedirect, to: target) { request in
                for name in names + ["X-Other"] { request.headers.add(name: name, value: "secret") }
            }
            return next?.headers.map(\.name) ?? []
        }
        #expect(try kept("/x") == names + ["X-Other"])
        #expect(try kept("https://www.example.com/x") == names + ["X-Other"])
        #expect(try kept("https://api.example.com/x") == ["X-Other"])
        #expect(try kept("https://www.example.com:8443/x") == ["X-Other"])
        #expect(try kept("https://www.example.com:443/x") == ["X-Other"])
    }

    @Test("rewrites methods and bodies as AsyncHTTPClient does")
    func methods() throws {
        func sent(_ status: HTTPResponseStatus, _ method: HTTPMethod, retain: Bool = false) throws -> (
            HTTPMethod?, Bool
        ) {
            var rules = Self.rules
            rules.keepsMethodOn301 = retain
            rules.keepsMethodOn302 = retain
            rules.resendsBodies = true
            let next = try next(status, to: "/x", rules: rules) { request in
                request.method = method
                request.body = .bytes(ByteBuffer(string: "body"))
                request.headers.add(name: "Content-Type", value: "text/plain")
            }
            #expect((next?.body == nil) == (next?.headers["Content-Type"].isEmpty ?? true))
            return (next?.method, next?.body != nil)
        }
        #expect(try sent(.seeOther, .PUT) == (.GET, false))
        #expect(try sent(.seeOther, .HEAD) == (.HEAD, true))
        #expect(try sent(.movedPermanently, .POST) == (.GET, false))
        #expect(try sent(.movedPermanently, .PUT) == (.PUT, true))
        #expect(try sent(.movedPermanently, .POST, retain: true) == (.POST, true))
        #expect(try sent(.found, .POST) == (.GET, false))
        #expect(try sent(.found, .POST, retain: true) == (.POST, true))
        #expect(try sent(.temporaryRedirect, .POST) == (.POST, true))
        #expect(try sent(.permanentRedirect, .POST) == (.POST, true))
    }

    @Test("sends a body again only where the caller has said that bodies can be read twice")
    func bodies() throws {
        let body = HTTPClientRequest.Body.bytes(ByteBuffer(string: "body"))
        #expect(try next(.temporaryRedirect, to: "/x") { $0.body = body } == nil)
        var rules = Self.rules
        rules.resendsBodies = true
        #expect(try next(.temporaryRedirect, to: "/x", rules: rules) { $0.body = body }?.body != nil)
        // Without its body it can.
        let get = try next(.seeOther, to: "/x") {
            $0.method = .POST
            $0.body = body
        }
        #expect(get?.method == .GET)
    }

    @Test("ends at the limit, and in a circle where circles are not allowed")
    func limits() throws {
        func follow(_ paths: [String], cycles: Bool = false) throws {
            var rules = Self.rules
            rules.allowsCycles = cycles
            var url = "https://www.example.com/0"
            var engine = RedirectEngine(rules: rules, url: url)
            for path in paths {
                let next = try engine.next(
                    after: HTTPClientRequest(url: url), at: #require(URL(string: url)), status: .found,
                    headers: ["location": path])
                url = try #require(next?.url)
            }
        }
        try follow(["/1", "/2"])
        #expect(throws: HTTPClientError.redirectLimitReached) { try follow(["/1", "/2", "/3"]) }
        #expect(throws: HTTPClientError.redirectCycleDetected) { try follow(["/1", "/0"]) }
        try follow(["/1", "/0"], cycles: true)
    }
}
