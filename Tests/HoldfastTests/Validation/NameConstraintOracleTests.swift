import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Name constraints against a small oracle")
struct NameConstraintOracleTests {
    /// A name of the leaf: as a subjectAltName entry, or as the common name, which no constraint of these forms touches.
    private static let names: [TestGeneralName] = [
        .dns("www.example.com"), .dns("www.example.org"), "10.0.0.1", "10.1.0.1",
    ]
    private static let bases: [TestGeneralName] = [
        .dns("example.com"), .dns("example.org"), .dns(""), .address([10, 0, 0, 0, 255, 255, 0, 0]),
        .address([0, 0, 0, 0, 0, 0, 0, 0]), .dns("www.example.com"),
    ]

    /// By the numbers of the lists above.
    private static func isInside(_ name: Int, _ base: Int) -> Bool {
        switch (name, base) {
        case (0, 0), (0, 5), (1, 1), (0, 2), (1, 2), (2, 3), (2, 4), (3, 4): true
        default: false
        }
    }
    private static func isSameForm(_ name: Int, _ base: Int) -> Bool { (name < 2) == [0, 1, 2, 5].contains(base) }

    private static func allows(_ name: Int, permitted: [Int], excluded: [Int]) -> Bool {
        let relevant = permitted.filter { isSameForm(name, $0) }
        return (relevant.isEmpty || relevant.contains { isInside(name, $0) })
            && !excluded.contains { isInside(name, $0) }
    }

    @Test("Permitted and excluded, DNS and IP, subjectAltName and common name: every combination")
    func combinations() throws {
        let key = try TestKey()
        var (accepted, refused) = (0, 0)
        for permitted in Self.subsets {
            for excluded in Self.subsets where !(permitted.isEmpty && excluded.isEmpty) {
                let root = try Judge.root(key: .existing(key)) {
                    $0.nameConstraints = .init(
                        permitted: permitted.map { Self.bases[$0] }, excluded: excluded.map { Self.bases[$0] })
                }
                let alternatives = (permitted.count * 7 + excluded.reduce(0, +)) % Self.leaves.count
                for shift in 0..<3 {
                    let names = Self.leaves[(alternatives + shift * 5) % Self.leaves.count]
                    let common = (permitted.count + excluded.count + shift) % 2 == 0 ? "www.example.org" : "10.1.0.1"
                    let leaf = try root.leaf(names: names.map { Self.names[$0] }, key: .existing(key)) {
                        $0.subject = .commonName(common)
                    }
                    let allowed = names.allSatisfy { Self.allows($0, permitted: permitted, excluded: excluded) }
                    let code = try Judge.complaint(leaf.chain, trusting: [root.root], for: nil)
                    #expect(
                        code == (allowed ? nil : .nameConstraintViolated),
                        "\(names) permitted \(permitted) excluded \(excluded)")
                    allowed ? (accepted += 1) : (refused += 1)
                }
            }
        }
        #expect(accepted > 50 && refused > 50)
    }

    private static let subsets: [[Int]] = [[]] + (0..<6).map { [$0] } + [[0, 3], [0, 1], [2, 4], [5, 3], [1, 4]]
    private static let leaves: [[Int]] = [[0], [1], [2], [3], [0, 1], [0, 2], [2, 3], [1, 3], [0, 1, 2, 3]]
}
