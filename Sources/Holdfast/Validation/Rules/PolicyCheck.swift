/// Whether a path has the certificate policies that authorities on it require (RFC 5280 6.1, any policy being acceptable
/// to begin with).
///
/// Without a requireExplicitPolicy every path has, as long as nobody maps anyPolicy. What is valid at one depth is kept
/// by policy, as RFC 9618 has it: the tree of RFC 5280 grows exponentially under mappings.
struct PolicyCheck {
    static let name = "certificate policies"
    static let reference = "RFC 5280 4.2.1.11"

    private typealias Policy = PolicyExtensions.Policy

    /// The policies that are valid at the depth reached, each with those that the next certificate may name for it.
    private var valid: [Policy: Set<Policy>] = [PolicyExtensions.anyPolicy: [PolicyExtensions.anyPolicy]]
    private var explicitPolicy: Int
    private var policyMapping: Int
    private var inhibitAnyPolicy: Int

    /// - Parameter path: leaf first, anchor last; what the anchor says of policies is no part of the path.
    static func violation(of path: [X509Certificate], meter: inout WorkMeter) -> Violation? {
        let certificates = path.dropLast()
        guard certificates.contains(where: constrainsPolicies) else { return nil }
        var check = PolicyCheck(of: certificates.count)
        for (place, certificate) in certificates.enumerated().reversed() {
            // Nearly every second octet may be a policy's identifier.
            let length = readOctets(of: certificate)
            guard meter.spend(comparisons: 1 + length / 2) else { return overBudget(meter.limits) }
            do throws(DERError) {
                let stated = try PolicyExtensions(of: certificate)
                let known = check.valid.values.reduce(0) { $0 + $1.count }
                // Each is hashed a few times, and becomes a set of its own.
                let work = (stated.policies?.count ?? 0) + stated.mappings.count + known
                guard meter.spend(comparisons: Self.unitsOfPolicy * work) else { return overBudget(meter.limits) }
                if let violation = check.add(certificate, stated, isLeaf: place == 0) { return violation }
            } catch {
                return Violation(error, in: "certificate policies", of: certificate)
            }
        }
        return nil
    }

    private static let unitsOfPolicy = 12

    private static func readOctets(of certificate: X509Certificate) -> Int {
        let lists = [CertificateExtension.Known.certificatePolicies, .policyMappings]
        return lists.reduce(0) { $0 + (certificate.value(of: $1)?.count ?? 0) }
    }

    private static func overBudget(_ limits: ValidationLimits) -> Violation {
        Violation(.budgetExceeded) {
            ("an answer within \(limits.nameConstraintComparisons) comparisons", "more to try")
        }
    }

    private static func constrainsPolicies(_ certificate: X509Certificate) -> Bool {
        certificate.layout.extensions.contains { $0.known == .policyConstraints || $0.known == .policyMappings }
    }

    private init(of count: Int) {
        (explicitPolicy, policyMapping, inhibitAnyPolicy) = (count + 1, count + 1, count + 1)
    }

    private mutating func add(
        _ certificate: X509Certificate, _ stated: PolicyExtensions, isLeaf: Bool
    ) -> Violation? {
        // 6.1.3 (d), (e)
        let mayBeAny = inhibitAnyPolicy > 0 || (!isLeaf && certificate.isSelfIssued)
        valid = next(stated.policies ?? [], mayBeAny: mayBeAny)
        if isLeaf {
            // 6.1.5 (a), (b)
            if explicitPolicy > 0 { explicitPolicy -= 1 }
            if stated.requireExplicitPolicy == 0 { explicitPolicy = 0 }
        }
        // 6.1.3 (f), 6.1.5 (g)
        guard explicitPolicy > 0 || !valid.isEmpty else {
            return Violation(.policyConstraintViolated, certificate) {
                ("a certificate policy that the authorities above require", "none that is valid")
            }
        }
        guard !isLeaf else { return nil }
        // 6.1.4 (a), (b)
        let mapsAny = stated.mappings.contains {
            $0.from == PolicyExtensions.anyPolicy || $0.to == PolicyExtensions.anyPolicy
        }
        guard !mapsAny else {
            return Violation(.malformedExtension, certificate) { ("policies that are mapped", "anyPolicy") }
        }
        map(stated.mappings)
        // 6.1.4 (h), (i), (j)
        if !certificate.isSelfIssued {
            explicitPolicy = max(explicitPolicy - 1, 0)
            policyMapping = max(policyMapping - 1, 0)
            inhibitAnyPolicy = max(inhibitAnyPolicy - 1, 0)
        }
        explicitPolicy = min(explicitPolicy, stated.requireExplicitPolicy ?? .max)
        policyMapping = min(policyMapping, stated.inhibitPolicyMapping ?? .max)
        inhibitAnyPolicy = min(inhibitAnyPolicy, stated.inhibitAnyPolicy ?? .max)
        return nil
    }

    private func next(_ named: [Policy], mayBeAny: Bool) -> [Policy: Set<Policy>] {
        let expected = Set(valid.values.joined())
        let anyIsValid = valid[PolicyExtensions.anyPolicy] != nil
        var result: [Policy: Set<Policy>] = [:]
        for policy in named where policy != PolicyExtensions.anyPolicy && (anyIsValid || expected.contains(policy)) {
            result[policy] = [policy]
        }
        if mayBeAny, named.contains(PolicyExtensions.anyPolicy) {
            for policy in expected where result[policy] == nil { result[policy] = [policy] }
        }
        return result
    }

    private mutating func map(_ mappings: [(from: Policy, to: Policy)]) {
        let anyIsValid = valid[PolicyExtensions.anyPolicy] != nil
        for (from, pairs) in Dictionary(grouping: mappings, by: \.from) {
            if policyMapping == 0 {
                valid[from] = nil
            } else if anyIsValid || valid[from] != nil {
                valid[from] = Set(pairs.map(\.to))
            }
        }
    }
}
