import Foundation
import Holdfast

/// Checks that your own storage fulfills the requirements of ``PublicationStorage``. For tests, in any test framework.
///
/// ```swift
/// try await PublicationStorageConformance.check { try await DatabaseStorage(emptyDatabase()) }
/// ```
public enum PublicationStorageConformance {
    /// The requirements that the storage violates.
    public struct Violations: Error, Sendable, Hashable, CustomStringConvertible {
        /// The violations, in the order of the checks; at least one.
        public let violations: [String]

        /// One line for each violation.
        public var description: String { violations.joined(separator: "\n") }
    }

    /// Checks a storage.
    /// - Parameter make: makes an empty storage; called several times.
    /// - Throws: ``Violations`` with every violated requirement; any error of the storage that should not have been
    ///   thrown.
    public static func check<Storage: PublicationStorage>(_ make: () async throws -> Storage) async throws {
        var violations: [String] = []
        violations += try await contents(try await make())
        violations += try await names(try await make())
        violations += try await comparisons(try await make())
        violations += try await onlyOneWins(try await make())
        violations += try await nothingIsLost(try await make())
        violations += try await order(try await make())
        guard violations.isEmpty else { throw Violations(violations: violations) }
    }

    private struct Findings {
        var violations: [String] = []

        mutating func expect(_ isKept: Bool, _ text: String) {
            if !isKept { violations.append(text) }
        }
    }

    private static let path = "public/metadata/timestamp.json"
    private static let (one, two) = (Data("one".utf8), Data("two".utf8))

    private static func contents(_ storage: some PublicationStorage) async throws -> [String] {
        var findings = Findings()
        findings.expect(try await storage.data(at: path, atMost: 9) == nil, "data: something is in an empty storage")
        let big = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 / 3) })
        for content in [one, Data(), big] {
            let old = try await storage.data(at: path, atMost: 1 << 20)
            findings.expect(
                try await storage.replace(path, old, with: content), "replace: nothing is written over what is there")
            findings.expect(
                try await storage.data(at: path, atMost: content.count) == content,
                "data: \(content.count) bytes do not come back as they were written")
        }
        let tooMuch = try? await storage.data(at: path, atMost: big.count - 1)
        findings.expect(tooMuch == nil, "data: more bytes than the caller accepts")
        do {
            _ = try await storage.data(at: path, atMost: big.count - 1)
            findings.expect(false, "data: no error for a file that is longer than the limit")
        } catch {}
        return findings.violations
    }

    private static func names(_ storage: some PublicationStorage) async throws -> [String] {
        var findings = Findings()
        findings.expect(try await storage.names(in: "public/metadata").isEmpty, "names: some in an empty storage")
        for file in ["public/bundle.json", "public/metadata/1.root.json", "public/metadata/2.root.json", "draft/x"] {
            _ = try await storage.replace(file, nil, with: one)
        }
        _ = try await storage.replace("public/metadata/2.root.json", one, with: nil)
        _ = try await storage.replace("public/metadata/3.root.json", one, with: two)
        findings.expect(
            try await storage.names(in: "public/metadata") == ["1.root.json"],
            "names: not exactly the files in the folder")
        findings.expect(
            try await storage.names(in: "public") == ["bundle.json"], "names: not exactly the files in the upper folder"
        )
        return findings.violations
    }

    private static func comparisons(_ storage: some PublicationStorage) async throws -> [String] {
        var findings = Findings()
        func expect(_ old: Data?, _ new: Data?, _ expected: Bool, leaving left: Data?, _ text: String) async throws {
            findings.expect(try await storage.replace(path, old, with: new) == expected, "replace: \(text)")
            findings.expect(
                try await storage.data(at: path, atMost: 99) == left, "replace: wrong content after: \(text)")
        }
        try await expect(one, two, false, leaving: nil, "an absent file counts as some content")
        try await expect(nil, one, true, leaving: one, "an absent file is not made")
        try await expect(nil, two, false, leaving: one, "a file counts as absent")
        try await expect(two, two, false, leaving: one, "another content counts as the same")
        try await expect(one.prefix(2), two, false, leaving: one, "a beginning counts as the whole")
        try await expect(one + one, two, false, leaving: one, "a continuation counts as the same")
        try await expect(two, nil, false, leaving: one, "a file with other content is removed")
        try await expect(one, one, true, leaving: one, "a file is not replaced by the same content")
        try await expect(one, two, true, leaving: two, "a file is not replaced")
        try await expect(two, nil, true, leaving: nil, "a file is not removed")
        try await expect(two, nil, false, leaving: nil, "a file is removed twice")
        return findings.violations
    }

    private static func onlyOneWins(_ storage: some PublicationStorage) async throws -> [String] {
        var old: Data?
        for round in 0..<5 {
            let winners = try await withThrowingTaskGroup(of: Data?.self) { [old] group in
                for writer in 0..<8 {
                    group.addTask {
                        let new = Data("\(round) \(writer)".utf8)
                        return try await storage.replace(path, old, with: new) ? new : nil
                    }
                }
                var winners: [Data] = []
                for try await winner in group { if let winner { winners.append(winner) } }
                return winners
            }
            let left = try await storage.data(at: path, atMost: 99)
            guard winners.count == 1, winners.first == left else {
                return ["replace: of eight callers with the same old content \(winners.count) succeed"]
            }
            old = left
        }
        return []
    }

    private static func nothingIsLost(_ storage: some PublicationStorage) async throws -> [String] {
        let (writers, count) = (4, 5)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<writers {
                group.addTask {
                    for _ in 0..<count {
                        while true {
                            let old = try await storage.data(at: path, atMost: 99)
                            let new = Data("\(number(old) + 1)".utf8)
                            if try await storage.replace(path, old, with: new) { break }
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let sum = number(try await storage.data(at: path, atMost: 99))
        return sum == writers * count ? [] : ["replace: \(writers * count) additions of one give \(sum)"]
    }

    /// A writer writes each number to a first file, then to a second; a reader reads the second, then the first.
    private static func order(_ storage: some PublicationStorage) async throws -> [String] {
        let second = "public/bundle.json"
        let count = 30
        return try await withThrowingTaskGroup(of: [String].self) { group in
            group.addTask {
                for value in 1...count {
                    for file in [path, second] {
                        let old = value == 1 ? nil : Data("\(value - 1)".utf8)
                        guard try await storage.replace(file, old, with: Data("\(value)".utf8)) else {
                            return ["replace: the only writer of a file is refused"]
                        }
                    }
                }
                return []
            }
            group.addTask {
                while true {
                    let later = number(try await storage.data(at: second, atMost: 99))
                    let earlier = number(try await storage.data(at: path, atMost: 99))
                    guard earlier >= later else { return ["replace: a later write is found before an earlier one"] }
                    guard later < count else { return [] }
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
            var violations: [String] = []
            for try await found in group {
                violations += found
                if !found.isEmpty { group.cancelAll() }
            }
            return violations
        }
    }

    private static func number(_ data: Data?) -> Int { data.flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? 0 }
}
