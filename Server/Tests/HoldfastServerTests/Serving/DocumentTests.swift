import Foundation
import HoldfastTesting
import Synchronization
import Testing

@testable import PinChanges
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel

@Suite("Published documents", .timeLimit(.minutes(5)))
struct DocumentTests {
    private static let list = Array(String(repeating: #"{"fingerprints":[]}"#, count: 100).utf8)

    private func site() throws -> ServingSite {
        let site = try ServingSite()
        site.publish(documents: [
            "lists/bank.json": ServingSite.document(Self.list),
            "repo/bank/1.root.json": ServingSite.document(Array("root".utf8)),
            "trust/acme.json.signed": ServingSite.document(
                [0x30, 0x03, 0, 1, 2], mediaType: "application/pkcs7-mime", refresh: 300, end: ServingSite.now + 100),
        ])
        return site
    }

    @Test("are served byte for byte, with what caches need")
    func served() async throws {
        let site = try site()
        try await site.listening { port in
            let client = RawClient(port: port)
            let answer = try await client.get("/lists/bank.json")
            #expect(answer.status == 200 && Array(answer.body.utf8) == Self.list)
            #expect(answer.header("ETag") == "\"\(Digest(of: Self.list))\"")
            let left = ServingSite.end - ServingSite.now - 3_600
            #expect(answer.header("Cache-Control") == "public, max-age=3600, stale-if-error=\(left)")
            #expect(answer.header("Last-Modified") == "Sun, 08 Nov 2020 16:37:28 GMT")
            #expect(answer.header("Content-Type") == "application/json")
            #expect(answer.header("Vary") == "Accept-Encoding")
            // No cache may keep it beyond its end.
            let short = try await client.get("/trust/acme.json.signed")
            #expect(short.header("Cache-Control") == "public, max-age=100, stale-if-error=0")
            #expect(short.header("Content-Type") == "application/pkcs7-mime")
            site.time.withLock { $0 = ServingSite.end + 1 }
            let old = try await client.get("/trust/acme.json.signed")
            #expect(old.header("Cache-Control") == "public, max-age=0, stale-if-error=0" && old.status == 200)
            let head = try await client.request("HEAD", "/lists/bank.json")
            #expect(head.body.isEmpty && head.header("Content-Length") == "\(Self.list.count)")
            #expect(head.header("ETag") == answer.header("ETag"))
        }
    }

    @Test("are not sent again to who has them, by tag or by date")
    func conditional() async throws {
        let site = try site()
        try await site.listening { port in
            let client = RawClient(port: port)
            let tag = try #require(try await client.get("/lists/bank.json").header("ETag"))
            let gzip = "\(tag.dropLast())-gzip\""
            for known in [tag, "W/\(tag)", "\"other\", \(tag)", "*", gzip] {
                let answer = try await client.get("/lists/bank.json", ["If-None-Match: \(known)"])
                #expect(answer.status == 304 && answer.body.isEmpty && answer.header("ETag") == tag, "\(answer.text)")
                #expect(answer.header("Cache-Control") != nil && answer.header("Content-Length") == nil)
            }
            let date = "If-Modified-Since: Sun, 08 Nov 2020 16:37:28 GMT"
            #expect(try await client.get("/lists/bank.json", [date]).status == 304)
            for other in ["If-None-Match: \"other\"", "If-Modified-Since: Sun, 08 Nov 2020 16:37:27 GMT"] {
                #expect(try await client.get("/lists/bank.json", [other]).status == 200)
            }
            // Only the first 32 are compared, which bounds the work.
            for (count, status) in [(31, 304), (32, 200)] {
                let others = [String](repeating: "\"other\"", count: count).joined(separator: ", ")
                let answer = try await client.get("/lists/bank.json", ["If-None-Match: \(others), \(tag)"])
                #expect(answer.status == status, "\(count): \(answer.text)")
            }
            // The tag decides where there are both (RFC 9110 13.2.2).
            #expect(try await client.get("/lists/bank.json", ["If-None-Match: \"other\"", date]).status == 200)
        }
    }

    @Test("are compressed for who wants that, under another tag", .needs(.program("curl")))
    func compressed() async throws {
        let site = try site()
        try await site.listening { port in
            let tag = try #require(try await RawClient(port: port).get("/lists/bank.json").header("ETag"))
            for header in ["gzip;q=0", "identity", "br, gzip;q=0, *", "deflate;q=1"] {
                let answer = try await RawClient(port: port).get("/lists/bank.json", ["Accept-Encoding: \(header)"])
                #expect(answer.header("Content-Encoding") == nil && answer.header("ETag") == tag)
            }
            try await withFolder { folder in
                let url = "http://127.0.0.1:\(port)/lists/bank.json"
                let plain = try await ForeignProgram.run(
                    "curl", ["-sS", "--compressed", "-D", "head", url], in: folder)
                #expect(plain.status == 0 && Array(plain.output) == Self.list)
                let head = try String(contentsOf: folder.appending(path: "head"), encoding: .utf8)
                #expect(head.lowercased().contains("content-encoding: gzip"))
                #expect(head.contains("\(tag.dropLast())-gzip\""))
                let again = try await ForeignProgram.run(
                    "curl",
                    [
                        "-sS", "--compressed", "-H", "If-None-Match: \(tag.dropLast())-gzip\"", "-w", "%{http_code}",
                        url,
                    ], in: folder)
                #expect(String(decoding: again.output, as: UTF8.self) == "304")
            }
        }
    }

    @Test("An address has one spelling, and only GET and HEAD are answered")
    func addresses() async throws {
        let site = try site()
        try await site.listening { port in
            let client = RawClient(port: port)
            for (target, status) in [
                ("/lists/../lists/bank.json", 400), ("/lists/%2e%2e/lists/bank.json", 400), ("/lists%2fbank.json", 400),
                ("/lists/bank.json%00", 400), ("//lists/bank.json", 400), ("/lists/./bank.json", 400),
                ("/lists/bank.json/", 404), ("/LISTS/bank.json", 404), ("/lists", 404), ("/", 404),
                ("/repo/bank/1.root.json", 200), ("/repo/bank/2.root.json", 404), ("/lists/bank.json?x=1", 200),
                ("http://elsewhere.example/lists/bank.json", 200), ("lists/bank.json", 400), ("*", 400),
                ("/" + String(repeating: "a", count: 5_000), 414), ("/lists/bänk.json", 400),
            ] {
                let answer = try await client.get(target)
                #expect(answer.status == status, "\(target): \(answer.head)")
                #expect(status == 200 || answer.body.hasPrefix(#"{"status":"ERROR","#))
            }
            for method in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
                let answer = try await client.request(method, "/lists/bank.json")
                #expect([400, 405].contains(answer.status), "\(method): \(answer.head)")
            }
            #expect(try await client.request("POST", "/lists/bank.json").header("Allow") == "GET, HEAD")
        }
    }

    @Test("Health says whether the server lives and is ready, and no stranger learns why it is not")
    func health() async throws {
        let site = try site()
        try await site.listening { port in
            let client = RawClient(port: port)
            #expect(try await client.get("/health/live").status == 200)
            #expect(try await client.get("/health/ready").status == 200)
            site.unready.withLock { $0 = ["The database does not answer."] }
            let answer = try await client.get("/health/ready")
            #expect(answer.status == 503 && answer.body == #"{"status":"UNAVAILABLE"}"#, "\(answer.text)")
            #expect(try await client.get("/health/writable").status == 200)
            #expect(try await client.get("/health/live").status == 200)
        }
    }

    @Test("An older snapshot is never served")
    func upwards() async throws {
        let site = try site()
        site.publish(9, documents: ["lists/bank.json": ServingSite.document(Array("nine".utf8))])
        site.publish(8, documents: ["lists/bank.json": ServingSite.document(Array("eight".utf8))])
        try await site.listening { port in
            let answer = try await RawClient(port: port).get("/lists/bank.json")
            #expect(answer.body == "nine")
        }
    }
}
