import Foundation
import Holdfast
import Testing

@testable import HoldfastReports

@Suite("The members of reports")
struct ReportShapeTests {
    private static let added: Set = [
        "app-bundle-id", "app-platform", "app-version", "document-version", "failure", "outcome", "pins",
    ]

    private func members(_ shape: ReportShape) throws -> [String: JSONValue] {
        let facts = try #require(try ReportVectorTests.vectors().reports.first?.facts)
        return try JSONValue.object(facts.body(as: shape, at: Date(wholeSeconds: facts.time)))
    }

    private func keys(_ value: JSONValue?) -> Set<String> { Set((value?.members ?? [:]).keys) }

    @Test("RFC 7469's nine members are there, and only ours beside them")
    func pinValidation() throws {
        let standard: Set = [
            "date-time", "hostname", "port", "effective-expiration-date", "include-subdomains", "noted-hostname",
            "served-certificate-chain", "validated-certificate-chain", "known-pins",
        ]
        #expect(try Set(members(.pinValidation).keys) == standard.union(Self.added).union(["sampling-fraction"]))
    }

    @Test("Network Error Logging's members are there, those about a request empty, and only ours beside them")
    func networkErrorLogging() throws {
        let report = try members(.networkErrorLogging)
        #expect(Set(report.keys) == ["age", "type", "url", "user_agent", "body"])
        let standard: Set = [
            "sampling_fraction", "referrer", "server_ip", "protocol", "method", "request_headers", "response_headers",
            "status_code", "elapsed_time", "phase", "type",
        ]
        let chains: Set = ["served-certificate-chain", "validated-certificate-chain"]
        #expect(keys(report["body"]) == standard.union(Self.added).union(chains))
        let body = try #require(report["body"]?.members)
        for key in ["referrer", "server_ip", "protocol", "method"] { #expect(body[key] == .text("")) }
        for key in ["request_headers", "response_headers"] { #expect(body[key] == .object([:])) }
        #expect(report["user_agent"] == .text(""))
        #expect(report["url"] == .text("https://api.example.com/"))
    }

    /// The fields of TrustKit's sample report, and the type of each.
    private static let sample: [String: JSONValue] = [
        "app-bundle-id": .text(""), "app-version": .text(""), "app-vendor-id": .text(""), "app-platform": .text(""),
        "app-platform-version": .text(""), "trustkit-version": .text(""), "date-time": .text(""), "hostname": .text(""),
        "port": .number(0), "noted-hostname": .text(""), "include-subdomains": .bool(false),
        "enforce-pinning": .bool(false), "validated-certificate-chain": .array([]), "known-pins": .array([]),
        "validation-result": .number(0),
    ]

    private func kind(_ value: JSONValue?) -> String {
        switch value {
        case nil: "absent"
        case .null: "null"
        case .bool: "bool"
        case .number: "number"
        case .text: "text"
        case .array: "array"
        case .object: "object"
        }
    }

    @Test("TrustKit's members are there with the types of its published example, and only ours beside them")
    func trustKit() throws {
        let report = try members(.trustKit)
        for (name, value) in Self.sample { #expect(kind(report[name]) == kind(value), "\(name)") }
        let all = Set(Self.sample.keys).union(["known-pins-expiration-date", "sampling-fraction"]).union(Self.added)
        #expect(Set(report.keys) == all)
        #expect(report["app-vendor-id"] == .text("00000000-0000-0000-0000-000000000000"))
        #expect(report["known-pins-expiration-date"] == .text("2027-02-21"))
    }

    @Test("A certificate in a report is PEM, in lines of 64 characters")
    func chains() throws {
        let facts = try #require(try ReportVectorTests.vectors().reports.dropFirst().first?.facts)
        let body = try JSONValue.object(facts.body(as: .pinValidation, at: Date(wholeSeconds: facts.time)))
        let text = try #require(body["served-certificate-chain"]?.array?.first?.text)
        let blocks = PEMBlocks.read(Data(text.utf8))
        #expect(try blocks.map { try $0.content.get() } == [[UInt8](0x30..<0x94)])
        #expect(text.split(separator: "\n").allSatisfy { $0.utf8.count <= 64 })
    }

    @Test("An age is never negative and never longer than a report waits, whatever the clock says")
    func age() throws {
        let facts = try #require(try ReportVectorTests.vectors().reports.first?.facts)
        for (now, age) in [
            (Date(wholeSeconds: facts.time - 5), 0), (.distantFuture, 604_800_000), (.distantPast, 0),
            (Date(timeIntervalSince1970: .nan), 0),
        ] {
            let report = try JSONValue.object(facts.body(as: .networkErrorLogging, at: now))
            #expect(report["age"] == .number(Double(age)))
        }
    }

    @Test("The documentation has every member of every shape")
    func documentation() throws {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let text = try String(contentsOf: root.appending(path: "docs/reports.md"), encoding: .utf8)
        var names: Set<String> = []
        func collect(_ value: JSONValue) {
            for (name, inner) in value.members ?? [:] {
                names.insert(name)
                collect(inner)
            }
            for inner in value.array ?? [] { collect(inner) }
        }
        for shape in ReportShape.allCases { collect(.object(try members(shape))) }
        let summary = try #require(try ReportVectorTests.vectors().summaries.first?.facts)
        collect(.object(try JSONValue.object(ReportJSON.data(SummaryBody(facts: summary)))))
        #expect(names.count > 50)
        for name in names { #expect(text.contains("`\(name)`"), "\(name)") }
    }
}
