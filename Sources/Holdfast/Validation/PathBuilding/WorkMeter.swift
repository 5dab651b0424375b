/// Counts the cost of one decision, and reports when it has reached its limit.
///
/// Each kind of work has a limit, and the total has one too, because a little of every kind can add up.
struct WorkMeter {
    let limits: ValidationLimits
    private(set) var effort: ValidationEffort

    /// The cost of one signature of P-256 in the unit of ``ValidationLimits/work``.
    static let unitsOfSignature = 1_000
    /// Bytes that can be hashed, copied or compared for one unit.
    static let octetsOfUnit = 16

    init(_ limits: ValidationLimits, effort: ValidationEffort = ValidationEffort()) {
        self.limits = limits
        self.effort = effort
    }

    /// Charges this much if the budget allows it; returns false otherwise.
    mutating func spend(_ units: Int) -> Bool {
        guard effort.work + units <= limits.work else { return false }
        effort.work += units
        return true
    }

    /// Charges work that has already been done, up to the limit.
    mutating func account(_ units: Int) -> Bool {
        if spend(units) { return true }
        effort.work = max(effort.work, limits.work)
        return false
    }

    /// Charges the cost of reading bytes once.
    mutating func spend(octets count: Int) -> Bool { spend(2 + count / Self.octetsOfUnit) }

    mutating func spendStep(_ units: Int) -> Bool {
        guard effort.steps < limits.steps, spend(units) else { return false }
        effort.steps += 1
        return true
    }

    mutating func spend(comparisons: Int) -> Bool {
        guard effort.nameConstraintComparisons + comparisons <= limits.nameConstraintComparisons, spend(comparisons)
        else { return false }
        effort.nameConstraintComparisons += comparisons
        return true
    }

    /// - Parameters:
    ///   - work: the key's ``CertificatePublicKey/verificationWork``.
    ///   - length: the number of bytes that are hashed.
    mutating func spendSignature(_ work: Int, hashing length: Int) -> Bool {
        let total = work + length / ValidationLimits.bytesHashedForOne
        guard effort.signatures < limits.signatures, effort.signatureWork + total <= limits.signatureWork,
            spend(work * Self.unitsOfSignature + length / Self.octetsOfUnit)
        else { return false }
        effort.signatures += 1
        effort.signatureWork += total
        return true
    }
}

extension X509Certificate {
    /// The cost of reading a certificate of this many bytes, whether or not it is used.
    static func readingWork(_ count: Int) -> Int { 40 + count / WorkMeter.octetsOfUnit }

    /// The maximum cost of checking a profile's rules: lists in extensions may have an element in every other byte, and
    /// each rule of the strict profile reads them again.
    func rulesWork(_ profile: ValidationProfile) -> Int {
        var lists = 0
        for one in layout.extensions {
            switch one.known {
            case .subjectAltName, .extendedKeyUsage, .nameConstraints, .certificatePolicies, .policyMappings, nil:
                lists += one.value.count
            case .subjectKeyIdentifier, .keyUsage, .basicConstraints, .authorityKeyIdentifier, .policyConstraints,
                .inhibitAnyPolicy:
                continue
            }
        }
        let work = 20 + (layout.der.count + serialNumber.count) / WorkMeter.octetsOfUnit + lists / 2
        return profile == .strict ? 2 * work + lists / 2 + subject.der.count / 2 : work
    }

    /// The cost of hashing the certificate and its key, as pins do.
    var hashingWork: Int { 20 + (layout.der.count + layout.subjectPublicKeyInfo.count) / WorkMeter.octetsOfUnit }
}
