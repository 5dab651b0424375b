/// Checks whether a path has the certificate policies that are required, by the application or by authorities on it
/// (RFC 5280 6.1).
///
/// Without a requirement every path passes, unless an authority maps anyPolicy. The state of each depth is a graph
/// keyed by policy, as in RFC 9618, because the tree of RFC 5280 grows exponentially under mappings.
struct PolicyCheck {
    static let name = "certificate policies"
    static let reference = "RFC 5280 4.2.1.11"

    private typealias Policy = PolicyExtensions.Policy

    private struct Node {
        /// The policies that the next certificate may name for this one.
        var expected: Set<Policy>
        /// Whether anyPolicy above it made it valid; it then belongs to the anchor's domain.
        let isFromAny: Bool
    }

    /// The policies that are valid at each depth, the anchor's first.
    private var levels: [[Policy: Node]]
    private var explicitPolicy: Int
    private var policyMapping: Int
    private var inhibitAnyPolicy: Int
    private let policies: CertificatePolicies

    /// - Parameter path: leaf first, anchor last; the anchor's policies are not part of the path.
    static func violation(
        of path: [X509Certificate], requiring policies: CertificatePolicies = .any, meter: inout WorkMeter
    ) -> Violation? {
        let certificates = path.dropLast()
        // Without one of these requirements, no path can be refused.
        guard policies.requiresExplicitPolicy || certificates.contains(where: constrainsPolicies) else { return nil }
        var check = PolicyCheck(of: certificates.count, policies)
        if let violation = check.process(certificates, meter: &meter) { return violation }
        // 6.1.5 (g)
        guard check.explicitPolicy == 0, policies.identifiers != nil else { return nil }
        guard meter.spend(comparisons: Self.unitsOfPolicy * check.size) else { return overBudget(meter.limits) }
        guard check.userConstrained.isEmpty, let leaf = path.first else { return nil }
        return Violation(
            .policyConstraintViolated, leaf, "one of the certificate policies \(shown(policies.acceptable ?? []))",
            "others, or none that is valid")
    }

    /// The user-constrained-policy-set of a path that has been validated (RFC 5280 6.1.5 (g)).
    static func policies(of path: [X509Certificate], requiring policies: CertificatePolicies) -> Set<String> {
        var meter = WorkMeter(ValidationLimits())
        var check = PolicyCheck(of: path.count - 1, policies)
        guard check.process(path.dropLast(), meter: &meter) == nil else { return [] }
        return Set(check.userConstrained.map { ObjectIdentifier.text($0.octets) })
    }

    private static let unitsOfPolicy = 12
    private static let maximumShown = 10

    private static func shown(_ policies: Set<String>) -> String {
        policies.sorted().prefix(maximumShown).joined(separator: ", ") + (policies.count > maximumShown ? ", …" : "")
    }

    private static func readOctets(of certificate: X509Certificate) -> Int {
        let lists = [CertificateExtension.Known.certificatePolicies, .policyMappings]
        return lists.reduce(0) { $0 + (certificate.value(of: $1)?.count ?? 0) }
    }

    private static func overBudget(_ limits: ValidationLimits) -> Violation {
        PathSearch.budgetExceeded("\(limits.nameConstraintComparisons) comparisons")
    }

    private static func constrainsPolicies(_ certificate: X509Certificate) -> Bool {
        certificate.layout.extensions.contains { $0.known == .policyConstraints || $0.known == .policyMappings }
    }

    private init(of count: Int, _ policies: CertificatePolicies) {
        levels = [[PolicyExtensions.anyPolicy: Node(expected: [PolicyExtensions.anyPolicy], isFromAny: true)]]
        explicitPolicy = policies.requiresExplicitPolicy ? 0 : count + 1
        policyMapping = policies.inhibitsPolicyMapping ? 0 : count + 1
        inhibitAnyPolicy = policies.inhibitsAnyPolicy ? 0 : count + 1
        self.policies = policies
    }

    private var valid: [Policy: Node] { levels.last ?? [:] }

    private mutating func process(_ certificates: ArraySlice<X509Certificate>, meter: inout WorkMeter) -> Violation? {
        for (place, certificate) in certificates.enumerated().reversed() {
            // A hostile certificate may have a policy in nearly every second byte.
            let length = Self.readOctets(of: certificate)
            guard meter.spend(comparisons: 1 + length / 2) else { return Self.overBudget(meter.limits) }
            do throws(DERError) {
                let stated = try PolicyExtensions(of: certificate)
                let known = valid.values.reduce(0) { $0 + $1.expected.count }
                // Each policy is hashed a few times, and becomes a separate set.
                let work = (stated.policies?.count ?? 0) + stated.mappings.count + known
                guard meter.spend(comparisons: Self.unitsOfPolicy * work) else { return Self.overBudget(meter.limits) }
                if let violation = add(certificate, stated, isLeaf: place == 0) { return violation }
            } catch {
                return Violation(error, in: "certificate policies", of: certificate)
            }
        }
        return nil
    }

    private mutating func add(_ certificate: X509Certificate, _ stated: PolicyExtensions, isLeaf: Bool) -> Violation? {
        // 6.1.3 (d), (e)
        let mayBeAny = inhibitAnyPolicy > 0 || (!isLeaf && certificate.isSelfIssued)
        levels.append(next(stated.policies ?? [], mayBeAny: mayBeAny))
        if isLeaf {
            // 6.1.5 (a), (b)
            if explicitPolicy > 0 { explicitPolicy -= 1 }
            if stated.requireExplicitPolicy == 0 { explicitPolicy = 0 }
        }
        // 6.1.3 (f), 6.1.5 (g)
        guard explicitPolicy > 0 || !valid.isEmpty else {
            let isRequired = policies.requiresExplicitPolicy
            return Violation(
                .policyConstraintViolated, certificate,
                "a certificate policy that \(isRequired ? "is required" : "the authorities above require")",
                "none that is valid")
        }
        guard !isLeaf else { return nil }
        // 6.1.4 (a), (b)
        let mapsAny = stated.mappings.contains {
            $0.from == PolicyExtensions.anyPolicy || $0.to == PolicyExtensions.anyPolicy
        }
        guard !mapsAny else {
            return Violation(.malformedExtension, certificate, "policies that are mapped", "anyPolicy")
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

    private func next(_ named: [Policy], mayBeAny: Bool) -> [Policy: Node] {
        let expected = valid.values.reduce(into: Set<Policy>()) { $0.formUnion($1.expected) }
        let anyIsValid = valid[PolicyExtensions.anyPolicy] != nil
        var result: [Policy: Node] = [:]
        for policy in named where policy != PolicyExtensions.anyPolicy {
            let isExpected = expected.contains(policy)
            if isExpected || anyIsValid { result[policy] = Node(expected: [policy], isFromAny: !isExpected) }
        }
        if mayBeAny, named.contains(PolicyExtensions.anyPolicy) {
            for policy in expected where result[policy] == nil {
                result[policy] = Node(expected: [policy], isFromAny: policy == PolicyExtensions.anyPolicy)
            }
        }
        return result
    }

    private mutating func map(_ mappings: [(from: Policy, to: Policy)]) {
        guard !mappings.isEmpty else { return }
        var valid = valid
        let anyIsValid = valid[PolicyExtensions.anyPolicy] != nil
        for (from, pairs) in Dictionary(grouping: mappings, by: \.from) {
            if policyMapping == 0 {
                valid[from] = nil
            } else if anyIsValid || valid[from] != nil {
                valid[from] = Node(expected: Set(pairs.map(\.to)), isFromAny: valid[from]?.isFromAny ?? true)
            }
        }
        levels[levels.count - 1] = valid
    }
}

/// The policies of the anchor's domain that the path is valid for (RFC 9618 5.5, wrap-up (g)).
extension PolicyCheck {
    /// The number of policies that are visited.
    private var size: Int { levels.reduce(0) { $0 + $1.values.reduce(0) { $0 + 1 + $1.expected.count } } }

    private var userConstrained: Set<Policy> {
        let authorities = authorityConstrained
        guard let acceptable = policies.identifiers else { return authorities }
        return authorities.contains(PolicyExtensions.anyPolicy) ? acceptable : authorities.intersection(acceptable)
    }

    /// Searches from the leaf up: a policy counts if one of those derived from it is valid for the leaf.
    private var authorityConstrained: Set<Policy> {
        guard let last = levels.last else { return [] }
        var alive = Set(last.keys)
        var found: Set<Policy> = alive.contains(PolicyExtensions.anyPolicy) ? [PolicyExtensions.anyPolicy] : []
        for (depth, level) in levels.enumerated().reversed() where depth > 0 {
            let (fromAny, others) = alive.reduce(into: (Set<Policy>(), Set<Policy>())) { parts, policy in
                if level[policy]?.isFromAny == true { parts.0.insert(policy) } else { parts.1.insert(policy) }
            }
            found.formUnion(fromAny.subtracting([PolicyExtensions.anyPolicy]))
            alive = Set(levels[depth - 1].filter { !$0.value.expected.isDisjoint(with: others) }.keys)
        }
        return found
    }
}

extension ValidatedPath {
    /// The certificate policies that the path is valid for, as dotted object identifiers: the
    /// user-constrained-policy-set of RFC 5280 6.1.5 (g). It has `2.5.29.32.0` if any policy is acceptable and every
    /// certificate names anyPolicy. It is computed at each access.
    public var policies: Set<String> { PolicyCheck.policies(of: certificates, requiring: certificatePolicies) }
}
