import Foundation
import Holdfast
import HoldfastSigning
import HoldfastTesting
import NIOCore
import Testing

@testable import PinChanges
@testable import ServerFoundation
@testable import ServerHTTP
@testable import ServerModel
@testable import ServerStore
@testable import ServerWeb

/// The bodies of the administration's calls, as bytes on the wire.
@Suite("Bodies of the administration", .timeLimit(.minutes(5)))
struct BodyTests {
    private static let limit = ListenerLimits.administration.bodyBytes
    private let key = SigningKey()
    private static let target = "/v1/apps/bank/hosts/\(World.host)/next"

    /// A request with headers and a body as they are, and its answer.
    private func put(
        _ site: AdministrationSite, _ headers: [String], _ body: [UInt8] = [], version: String = "1.1"
    ) async throws -> RawAnswer {
        let token = try #require(site.tokens["propose"]).secretText
        let lines = [
            "PUT \(Self.target) HTTP/\(version)", "Host: localhost", "Connection: close",
            "Authorization: Bearer \(token)",
        ]
        let head = (lines + headers).map { $0 + "\r\n" }.joined() + "\r\n"
        return RawAnswer(try await RawClient(port: site.port).exchange(Array(head.utf8) + body))
    }

    /// A body that announces a key, with white space to a length.
    private func body(_ site: AdministrationSite, _ length: Int? = nil) throws -> [UInt8] {
        let pem = try CertificateRequestDraft(names: [HostPattern(World.host)]).pem(signedBy: key)
        let bytes = CanonicalJSON.object(["request": .text(pem)]).bytes
        return bytes + [UInt8](repeating: 0x20, count: max(0, (length ?? 0) - bytes.count))
    }

    /// A body in chunks (RFC 9112 7.1).
    private func chunked(_ bytes: [UInt8], by size: Int) -> [UInt8] {
        var chunks: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            let part = bytes[start..<min(bytes.count, start + size)]
            chunks += Array("\(String(part.count, radix: 16))\r\n".utf8) + part + Array("\r\n".utf8)
        }
        return chunks + Array("0\r\n\r\n".utf8)
    }

    @Test("A body may have 256 KiB and no byte more, with its length or in chunks")
    func limits() async throws {
        #expect(Self.limit == 256 << 10)
        try await AdministrationSite.run { site in
            let json = "Content-Type: application/json"
            for (length, status) in [(nil, 200), (Self.limit, 200), (Self.limit + 1, 413)] as [(Int?, Int)] {
                let bytes = try body(site, length)
                let whole = try await put(site, [json, "Content-Length: \(bytes.count)"], bytes)
                #expect(whole.status == status, "\(bytes.count): \(whole.text)")
                let parts = try await put(site, [json, "Transfer-Encoding: chunked"], chunked(bytes, by: 10_000))
                #expect(parts.status == status, "\(bytes.count) in chunks: \(parts.text)")
                guard status == 413 else { continue }
                whole.isError(413, .tooLarge)
                parts.isError(413, .tooLarge)
            }
            // A length that is only said is refused before anything is sent.
            for length in ["262145", "9223372036854775807"] {
                try await put(site, [json, "Content-Length: \(length)"]).isError(413, .tooLarge)
            }
            #expect(try await site.world.catalog.next(of: site.world.catalogHost, site.world.app).keys.count == 1)
        }
    }

    @Test("Lengths that two readers could understand differently are refused, and the connection ends")
    func lengths() async throws {
        try await AdministrationSite.run { site in
            let bytes = try body(site)
            let json = "Content-Type: application/json"
            for (headers, sent) in [
                (["Content-Length: \(bytes.count)", "Content-Length: 1"], bytes),
                (["Content-Length: \(bytes.count)", "Transfer-Encoding: chunked"], chunked(bytes, by: 50)),
                (["Content-Length: +\(bytes.count)"], bytes), (["Content-Length: -1"], bytes),
                (["Content-Length: 99999999999999999999"], bytes), (["Content-Length: 0x20"], bytes),
                (["Transfer-Encoding: chunked, identity"], chunked(bytes, by: 50)),
                (["Transfer-Encoding: gzip"], bytes),
                (["Transfer-Encoding: gzip, chunked"], chunked(bytes, by: 50)),
                (["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"], chunked(bytes, by: 50)),
                (["Transfer-Encoding: chunked"], Array("g\r\n".utf8) + bytes),
                (["Transfer-Encoding: chunked"], Array("fffffffffffffffff\r\n".utf8) + bytes),
            ] {
                let answer = try await put(site, [json] + headers, sent)
                #expect(answer.status == 400 || answer.status == 413, "\(headers): \(answer.text)")
                #expect(answer.header("Connection") == "close", "\(headers): \(answer.text)")
            }
            let old = try await put(
                site, [json, "Transfer-Encoding: chunked"], chunked(bytes, by: 50), version: "1.0")
            #expect(old.status == 400 && old.header("Connection") == "close", "\(old.text)")
            #expect(try await site.world.catalog.next(of: site.world.catalogHost, site.world.app).keys.isEmpty)
        }
    }

    @Test("A body is JSON and says so once, and nothing else is read as if it were")
    func types() async throws {
        try await AdministrationSite.run { site in
            let bytes = try body(site)
            let length = "Content-Length: \(bytes.count)"
            for type in [
                "application/json", "APPLICATION/JSON", "application/json; charset=utf-8",
                "application/json;charset=UTF-8",
            ] {
                let answer = try await put(site, ["Content-Type: \(type)", length], bytes)
                #expect(answer.status == 200, "\(type): \(answer.text)")
            }
            for headers in [
                [], ["Content-Type:"], ["Content-Type: text/json"], ["Content-Type: application/json-patch+json"],
                ["Content-Type: application/jsonl"], ["Content-Type: application/vnd.api+json"],
                ["Content-Type: application/x-www-form-urlencoded"], ["Content-Type: multipart/form-data; boundary=x"],
                ["Content-Type: application/json, text/plain"], ["Content-Type: application/json text/plain"],
                ["Content-Type: application/json; charset=iso-8859-1"],
                ["Content-Type: application/json; charset=utf-16"],
                ["Content-Type: application/json", "Content-Type: application/json"],
                ["Content-Type: application/json", "Content-Encoding: gzip"],
            ] {
                let answer = try await put(site, headers + [length], bytes)
                #expect(answer.status == 415, "\(headers): \(answer.text)")
                answer.isError(415, .unsupportedMediaType)
            }
        }
    }

    @Test("A call without a body refuses one in whatever form it is sent")
    func unwanted() async throws {
        try await AdministrationSite.run { site in
            let token = try #require(site.tokens["administer"]).secretText
            let client = RawClient(port: site.port)
            for method in ["GET", "DELETE"] {
                let target = method == "GET" ? "/v1/apps" : Self.target
                let head =
                    "\(method) \(target) HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer \(token)\r\n"
                for (header, sent) in [
                    ("Content-Length: 2", Array("{}".utf8)),
                    ("Transfer-Encoding: chunked", chunked([0x7B, 0x7D], by: 1)),
                ] {
                    let answer = RawAnswer(try await client.exchange(Array("\(head)\(header)\r\n\r\n".utf8) + sent))
                    answer.isError(400, .badRequest, field: "body", "\(method), \(header)")
                }
                let none = RawAnswer(try await client.exchange(Array("\(head)Content-Length: 0\r\n\r\n".utf8)))
                #expect(none.status == 200, "\(none.text)")
            }
        }
    }

    @Test("A client that waits to be told to go on is told, unless its body is too large")
    func expectation() async throws {
        try await AdministrationSite.run { site in
            let bytes = try body(site)
            let headers = ["Content-Type: application/json", "Expect: 100-continue"]
            let text = try await put(site, headers + ["Content-Length: \(bytes.count)"], bytes).text
            #expect(text.hasPrefix("HTTP/1.1 100 Continue\r\n") && text.contains("HTTP/1.1 200 OK"), "\(text)")
            try await put(site, headers + ["Content-Length: \(Self.limit + 1)"]).isError(413, .tooLarge)
        }
    }
}
