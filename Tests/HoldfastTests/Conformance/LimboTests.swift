import Foundation
import Holdfast
import HoldfastTestSupport
import LimboCases
import Testing

@Suite("x509-limbo")
struct LimboTests {
    private static let path = "limbo/limbo.json"
    /// The day on which the file was made, which the cases without a time of their own mean.
    private static let made = Date(timeIntervalSince1970: 1_795_262_400)

    /// The registries' suffixes among the names of the cases.
    private static let suffixes = "com\nco.uk\n"

    private func outcomes(_ profile: ValidationProfile) throws -> [LimboOutcome] {
        let file = try #require(InteropData.file(Self.path))
        let suffixes = try PublicSuffixList(Self.suffixes)
        return try LimboSuite(contentsOf: file).testcases.map {
            try $0.run(profile: profile, publicSuffixes: suffixes, defaultTime: Self.made)
        }
    }

    @Test(
        "Every case is answered as expected, but for the differences on the list",
        .needs(.interopData(path)),
        arguments: [(ValidationProfile.standard, LimboDifference.standard), (.strict, LimboDifference.strict)])
    func everyCaseIsAnsweredAsExpected(profile: ValidationProfile, differences: [LimboDifference]) throws {
        let listed = Dictionary(grouping: differences, by: \.id)
        #expect(listed.values.allSatisfy { $0.count == 1 })
        let outcomes = try outcomes(profile)
        #expect(outcomes.count { $0.testcase.validationKind == .server } >= 198)
        for outcome in outcomes {
            switch (outcome.comparison, listed[outcome.testcase.id] != nil) {
            case (.pass, false), (.falseAccept, true): break
            case (.pass, true): Issue.record("\(outcome.testcase.id) passes and stands on the list of differences")
            case (.falseAccept, false): Issue.record("\(outcome.testcase.id) is wrongly accepted")
            case (.falseReject, _):
                Issue.record("\(outcome.testcase.id) is wrongly rejected: \(outcome.failure?.description ?? "")")
            }
        }
        let ids = Set(outcomes.map(\.testcase.id))
        #expect(listed.keys.allSatisfy(ids.contains), "the list names a case that does not exist")
    }

    @Test(
        "No case costs more than its budget", .needs(.interopData(path)),
        arguments: ValidationProfile.allCases)
    func noCaseCostsMoreThanItsBudget(profile: ValidationProfile) throws {
        for outcome in try outcomes(profile) {
            #expect(outcome.effort.signatures <= 100, "\(outcome.testcase.id)")
            #expect(outcome.effort.steps <= 1_000, "\(outcome.testcase.id)")
            #expect(outcome.effort.nameConstraintComparisons <= 250_000, "\(outcome.testcase.id)")
        }
    }
}
