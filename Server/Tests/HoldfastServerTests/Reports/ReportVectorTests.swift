import Foundation
import Testing

@testable import HostMonitoring
@testable import ServerApprovals

/// The messages of `HoldfastReports`, byte for byte: `docs/vectors/reports.json`, which its own tests write.
@Suite("Vectors of reports")
struct ReportVectorTests {
    private static let codes: [String: ClientReport.Code] = [
        "pinMismatch": .pins, "candidatePinMismatch": .candidate, "pinsExpired": .expired, "unknownIssuer": .chain,
    ]

    private func vectors(_ name: String) throws -> [[String: Any]] {
        let content = try #require(try Vectors.content("reports.json"), "docs/vectors/reports.json cannot be read")
        return try #require(content[name] as? [[String: Any]])
    }

    private func number(_ value: Any?) -> Double { (value as? NSNumber)?.doubleValue ?? 0 }

    @Test("Each failure is read in each shape, with its code, host, version, system and pins")
    func failures() throws {
        let all = try vectors("reports")
        #expect(all.count >= 6)
        for vector in all {
            let facts = try #require(vector["facts"] as? [String: Any])
            let application = try #require(facts["application"] as? [String: Any])
            let (failure, fraction) = (facts["code"] as? String ?? "", number(facts["fraction"]))
            for shape in ["pinValidation", "networkErrorLogging", "trustKit"] {
                let name = "\(vector["name"] ?? ""), \(shape)"
                let body = try #require(vector[shape] as? String, "\(name)")
                let reports = try ReportReader.read(Array(body.utf8))
                let report = try #require(reports.first, "\(name)")
                #expect(reports.count == 1 && !report.isRated, "\(name)")
                #expect(report.code == Self.codes[failure], "\(name)")
                #expect(report.host == facts["host"] as? String, "\(name)")
                #expect(report.documentVersion == facts["documentVersion"] as? String, "\(name)")
                #expect(report.appVersion == application["version"] as? String, "\(name)")
                #expect(report.platform.rawValue == application["platform"] as? String, "\(name)")
                #expect(report.weight == Int64((1 / fraction).rounded()), "\(name)")
                let port = number(facts["port"])
                // An address of Network Error Logging has no port 0.
                #expect(report.port == (port == 0 && shape == "networkErrorLogging" ? 443 : Int64(port)), "\(name)")
                let pins = facts["pins"] as? [[String: Any]] ?? []
                #expect(report.pins.map(\.text) == pins.map { $0["pin"] as? String ?? "" }, "\(name)")
                #expect(report.pins.map(\.state) == pins.map { $0["state"] as? String }, "\(name)")
            }
        }
    }

    @Test("Each summary is read, with what it stands for")
    func summaries() throws {
        let all = try vectors("summaries")
        #expect(!all.isEmpty)
        for vector in all {
            let facts = try #require(vector["facts"] as? [String: Any])
            let body = try #require(vector["body"] as? String)
            let reports = try ReportReader.read(Array(body.utf8))
            let areRated = reports.allSatisfy(\.isRated)
            #expect(areRated)
            for place in try #require(facts["places"] as? [[String: Any]]) {
                let host = place["host"] as? String
                let mine = reports.filter { $0.host == host }
                #expect(mine.allSatisfy { $0.documentVersion == place["documentVersion"] as? String })
                func scaled(_ count: Any?, _ fraction: Any?) -> Int64 {
                    Int64((number(count) / number(fraction)).rounded())
                }
                let successes = scaled(place["successes"], place["successFraction"])
                #expect(mine.first { $0.code == .ok }?.weight ?? 0 == successes, "\(host ?? "")")
                for detail in place["details"] as? [[String: Any]] ?? [] {
                    let code = Self.codes[detail["code"] as? String ?? ""]
                    let weight = scaled(detail["count"], place["failureFraction"])
                    #expect(mine.first { $0.code == code }?.weight == weight, "\(host ?? ""), \(detail)")
                }
            }
        }
    }
}
