import Foundation
import Holdfast
import Testing

@testable import HoldfastReports

/// `docs/vectors/reports.json`, which other readers and writers run as well.
@Suite("Reports of docs/vectors/reports.json")
struct ReportVectorTests {
    struct Vectors: Decodable {
        struct Report: Decodable {
            let name: String
            let facts: FailureFacts
            let sentAt: Int64
            let pinValidation: String
            let networkErrorLogging: String
            let trustKit: String
        }

        struct Summary: Decodable {
            let name: String
            let facts: SummaryFacts
            let body: String
        }

        let reports: [Report]
        let summaries: [Summary]
    }

    static func vectors() throws -> Vectors {
        var root = URL(fileURLWithPath: #filePath)
        for _ in 0..<4 { root.deleteLastPathComponent() }
        let data = try Data(contentsOf: root.appending(path: "docs/vectors/reports.json"))
        return try JSONDecoder().decode(Vectors.self, from: data)
    }

    @Test("Every report is written as its vector says, octet for octet, in each shape")
    func reports() throws {
        let vectors = try Self.vectors()
        #expect(vectors.reports.count >= 6)
        for one in vectors.reports {
            let bodies = ReportShape.allCases.map { shape in
                String(decoding: one.facts.body(as: shape, at: Date(wholeSeconds: one.sentAt)), as: UTF8.self)
            }
            #expect(bodies == [one.pinValidation, one.networkErrorLogging, one.trustKit], "\(one.name)")
        }
    }

    @Test("Every summary is written as its vector says, octet for octet")
    func summaries() throws {
        let vectors = try Self.vectors()
        #expect(!vectors.summaries.isEmpty)
        for one in vectors.summaries {
            #expect(
                String(decoding: ReportJSON.data(SummaryBody(facts: one.facts)), as: UTF8.self) == one.body,
                "\(one.name)")
        }
    }

    @Test("Both kinds of facts are read back as they were stored")
    func facts() throws {
        let vectors = try Self.vectors()
        for one in vectors.reports {
            #expect(try JSONDecoder().decode(FailureFacts.self, from: ReportJSON.data(one.facts)) == one.facts)
        }
        for one in vectors.summaries {
            #expect(try JSONDecoder().decode(SummaryFacts.self, from: ReportJSON.data(one.facts)) == one.facts)
        }
    }
}
