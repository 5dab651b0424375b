extension PathSearch {
    /// The checks whether one certificate may be the issuer of another on a path, the cheapest first.
    enum LinkCheck: CaseIterable {
        case issuer, pathLength, nameConstraints, signature
    }

    /// The result of a check.
    enum Outcome {
        case kept
        /// `anywhere`: whether this applies at every position of the certificates.
        case violated(Violation, anywhere: Bool)
        case overBudget(String)

        var violation: Violation? {
            switch self {
            case .kept: nil
            case .violated(let violation, _): violation
            case .overBudget(let what): PathSearch.budgetExceeded(what)
            }
        }
    }

    /// - Parameters:
    ///   - candidate: the issuer.
    ///   - path: its last certificate is the subject.
    ///   - intermediates: those on `path` that count.
    mutating func outcome(of check: LinkCheck, of candidate: Int, above path: [Int], intermediates: Int) -> Outcome {
        guard let subject = path.last else { return .kept }
        switch check {
        case .issuer:
            guard let outcome = issuerViolation(of: candidate) else { return .overBudget("the limit for work") }
            return outcome.map { .violated($0, anywhere: true) } ?? .kept
        case .pathLength:
            let violation = PathLengthRule(limits: limits).violation(
                of: nodes[candidate].certificate, isAnchor: nodes[candidate].isAnchor, intermediates: intermediates)
            return violation.map { .violated($0, anywhere: false) } ?? .kept
        case .nameConstraints:
            return nameConstraintOutcome(of: candidate, over: path)
        case .signature:
            return signatureOutcome(of: subject, by: candidate)
        }
    }

    // MARK: Rules

    /// The violation of a rule for issuers. Outer nil if the budget is not sufficient.
    private mutating func issuerViolation(of node: Int) -> Violation?? {
        if let known = nodes[node].issuerOutcome { return .some(known) }
        let certificate = nodes[node].certificate
        // The application chose the anchor, no matter what its certificate states.
        guard meter.spend(certificate.rulesWork(request.profile)) else { return nil }
        context.isAnchor = nodes[node].isAnchor
        var violation: Violation?
        for rule in request.rules.issuer {
            violation = rule.violation(of: certificate, in: context)
            if violation != nil { break }
        }
        nodes[node].issuerOutcome = .some(violation)
        return .some(violation)
    }

    private mutating func nameConstraintOutcome(of issuer: Int, over path: [Int]) -> Outcome {
        let certificate = nodes[issuer].certificate
        let check: NameConstraintCheck
        do throws(DERError) {
            guard let value = certificate.value(of: .nameConstraints) else { return .kept }
            if let known = nodes[issuer].constraints {
                guard let known else { return .kept }
                check = known
            } else {
                guard meter.spend(2 + value.count), let read = try certificate.nameConstraints,
                    let prepared = NameConstraintCheck.Constraints(read, meter: &meter)
                else { return .overBudget(comparisonBudget) }
                check = NameConstraintCheck(constraints: prepared)
                nodes[issuer].constraints = .some(check)
            }
        } catch {
            return .violated(
                Violation(.malformedExtension, certificate, "name constraints in DER", error.description),
                anywhere: false)
        }
        for (place, node) in path.enumerated() {
            // RFC 5280 6.1.3 (b), (c): a self-issued intermediate is the CA itself under another key.
            if place > 0, nodes[node].certificate.isSelfIssued { continue }
            let names: [ConstrainedName]
            if let known = nodes[node].names {
                names = known
            } else {
                do throws(DERError) {
                    guard let read = try ConstrainedName.all(of: nodes[node].certificate, meter: &meter) else {
                        return .overBudget(comparisonBudget)
                    }
                    names = read
                } catch {
                    return .violated(
                        Violation(.malformedExtension, certificate, "names in DER", error.description),
                        anywhere: false)
                }
                nodes[node].names = names
            }
            switch check.check(names, meter: &meter) {
            case .allowed: continue
            case .overBudget: return .overBudget(comparisonBudget)
            case .violation(let code, let words):
                return .violated(Violation(code, certificate, words: words), anywhere: false)
            }
        }
        return .kept
    }

    private var comparisonBudget: String { "\(limits.nameConstraintComparisons) name constraint comparisons" }

    // MARK: Signatures

    private mutating func signatureOutcome(of subject: Int, by issuer: Int) -> Outcome {
        if let known = signatures.first(where: { $0.subject == subject && $0.issuer == issuer }) {
            return known.violation.map { .violated($0, anywhere: true) } ?? .kept
        }
        guard spendSignature(under: issuer, over: nodes[subject].certificate.layout.toBeSigned.count) else {
            return .overBudget("the limits for signatures")
        }
        let violation = SignatureRule.violation(of: nodes[subject].certificate, by: nodes[issuer].certificate)
        signatures.append(VerifiedSignature(subject: subject, issuer: issuer, violation: violation))
        return violation.map { .violated($0, anywhere: true) } ?? .kept
    }

    mutating func spendSignature(under issuer: Int, over length: Int) -> Bool {
        let work = (try? nodes[issuer].certificate.publicKey.verificationWork) ?? 0
        return meter.spendSignature(work, hashing: length)
    }
}
