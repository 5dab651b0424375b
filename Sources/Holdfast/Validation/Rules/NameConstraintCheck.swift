/// Compares the names of a certificate with the constraints of an issuer above it (RFC 5280 4.2.1.10, 6.1.4 (b), (c)).
///
/// Work is counted in comparisons of 16 bytes, so that long names and folding are charged at their actual cost.
struct NameConstraintCheck {
    enum Outcome {
        case allowed
        /// The text is made only when it is read.
        case violation(TrustFailure.Code, @Sendable () -> (expected: String, found: String))
        case overBudget
    }

    /// The subtrees of an issuer by their form: a name is compared only with the bases of its own form.
    struct Constraints: Sendable {
        fileprivate let permitted: [UInt8: [Subtree]]
        fileprivate let excluded: [UInt8: [Subtree]]

        /// Prepares each base once; nil if the budget is not sufficient.
        init?(_ constraints: NameConstraints, meter: inout WorkMeter) {
            guard let permitted = Self.prepare(constraints.permitted, &meter),
                let excluded = Self.prepare(constraints.excluded, &meter)
            else { return nil }
            (self.permitted, self.excluded) = (permitted, excluded)
        }

        private static func prepare(_ bases: [GeneralNameSlice], _ meter: inout WorkMeter) -> [UInt8: [Subtree]]? {
            var subtrees: [UInt8: [Subtree]] = [:]
            for base in bases {
                var work = 2
                subtrees[base.form, default: []].append(Subtree(base, work: &work))
                guard meter.account(work) else { return nil }
            }
            return subtrees
        }
    }

    let constraints: Constraints

    func check(_ names: [ConstrainedName], meter: inout WorkMeter) -> Outcome {
        for one in names {
            guard meter.spend(comparisons: 1) else { return .overBudget }
            let form = one.name.form
            let permitted = constraints.permitted[form] ?? []
            var isPermitted = permitted.isEmpty
            for subtree in permitted {
                guard meter.spend(comparisons: subtree.comparisonWork) else { return .overBudget }
                switch subtree.permits(one) {
                case true?: isPermitted = true
                case false?: break
                case nil: return unsupported(subtree, one)
                }
                if isPermitted { break }
            }
            if !isPermitted {
                return .violation(.nameConstraintViolated) {
                    ("a name within the permitted subtrees of the issuer", one.name.text)
                }
            }
            for subtree in constraints.excluded[form] ?? [] {
                guard meter.spend(comparisons: subtree.comparisonWork) else { return .overBudget }
                switch subtree.reaches(one) {
                case false?: break
                case true?:
                    return .violation(.nameConstraintViolated) {
                        ("no name within the excluded subtree \(subtree.name.text)", one.name.text)
                    }
                case nil: return unsupported(subtree, one)
                }
            }
        }
        return .allowed
    }

    private func unsupported(_ subtree: Subtree, _ one: ConstrainedName) -> Outcome {
        .violation(.unsupportedNameConstraint) {
            ("a name constraint that can be applied to \(one.name.text)", subtree.name.text)
        }
    }
}

extension PathRule {
    /// Name constraints must be readable (RFC 5280 4.2.1.10): an unreadable one would otherwise constrain nothing.
    /// ``NameConstraintCheck`` checks whether the names on a path satisfy them.
    static let nameConstraints = reading("nameConstraints", "RFC 5280 4.2.1.10") { (certificate, _) throws(DERError) in
        _ = try certificate.nameConstraints
        return nil
    }

    /// Only a CA's certificate may constrain names (RFC 5280 4.2.1.10).
    static let leafNameConstraints = reading(
        "nameConstraints of the leaf", "RFC 5280 4.2.1.10", field: "basicConstraints"
    ) { (certificate, _) throws(DERError) in
        guard certificate.value(of: .nameConstraints) != nil,
            try certificate.basicConstraints?.isCertificateAuthority != true
        else { return nil }
        return Violation(
            .malformedExtension, certificate, "nameConstraints in the certificate of a CA only",
            "nameConstraints in that of an end entity")
    }
}
