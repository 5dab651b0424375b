import HoldfastTesting

/// cRLDistributionPoints and issuingDistributionPoint as extensions.
enum RevocationPoints {
    /// DistributionPointName: full names, or one relative to the issuer.
    static func full(_ names: [UInt8]...) -> [UInt8] {
        TestDER.context(0, constructed: TestDER.context(0, constructed: names.flatMap { $0 }))
    }

    static func url(_ text: String) -> [UInt8] { full(TestDER.context(6, primitive: Array(text.utf8))) }

    static func directory(_ name: TestName) -> [UInt8] { full(TestDER.context(4, constructed: name.der)) }

    static func relative(_ name: TestName) -> [UInt8] {
        // The content of the one SET of the name.
        let set = Array(name.der.dropFirst(2))
        return TestDER.context(0, constructed: TestDER.context(1, constructed: Array(set.dropFirst(2))))
    }

    static func inCertificate(
        _ names: [[UInt8]], reasons: [UInt8]? = nil, issuer: TestName? = nil
    ) -> TestExtension {
        let points = names.map { name in
            TestDER.sequence(
                [name] + (reasons.map { [TestDER.context(1, primitive: $0)] } ?? [])
                    + (issuer.map { [TestDER.context(2, constructed: TestDER.context(4, constructed: $0.der))] } ?? []))
        }
        return TestExtension([2, 5, 29, 31], value: TestDER.sequence(points))
    }

    /// - Parameter fields: what follows the name, such as `flag(1)`.
    static func inList(_ fields: [[UInt8]]) -> TestExtension {
        TestExtension([2, 5, 29, 28], isCritical: true, value: TestDER.sequence(fields))
    }

    /// 1 for end entities alone, 2 for CAs alone, 4 for an indirect list, 5 for attribute certificates alone.
    static func flag(_ number: UInt8) -> [UInt8] { TestDER.context(number, primitive: [0xFF]) }

    static let someReasons: [UInt8] = TestDER.context(3, primitive: [0x05, 0x60])

    static func delta(base: Int) -> TestExtension {
        TestExtension([2, 5, 29, 27], isCritical: true, value: TestDER.integer(base))
    }
}
