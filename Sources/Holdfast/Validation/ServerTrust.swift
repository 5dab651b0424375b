import struct Foundation.Date

#if canImport(Security)
import Security
#endif

/// The value that a ``TrustPolicy`` evaluates: the chain that a handshake presented, its purpose, and the validator for
/// it.
public struct ServerTrust: Sendable {
    private enum Presented: Sendable {
        case chain(PresentedChain)
        case evaluated(any EvaluatingValidator)
    }

    private let presented: Presented
    /// The purpose that the chain must prove: a server, with the host that was dialed, or a client, which is evaluated
    /// without a host.
    public let purpose: ValidationPurpose
    /// Builds and validates paths: Holdfast with a set of anchors, or the operating system.
    public let validator: any ChainValidator
    /// The budget of the decision, if several policies make it together.
    private var budget: SharedBudget?

    /// Combines the chain that a handshake presented with its validator; nothing is read or verified yet.
    public init(chain: PresentedChain, purpose: ValidationPurpose, validator: any ChainValidator) {
        presented = .chain(chain)
        self.purpose = purpose
        self.validator = validator
    }

    init(purpose: ValidationPurpose, evaluatedBy validator: any EvaluatingValidator) {
        presented = .evaluated(validator)
        self.purpose = purpose
        self.validator = validator
    }

    /// The certificates as presented, leaf first. Apple's trust has them only after the system has evaluated it;
    /// reading them earlier causes an evaluation, which may block.
    public var chain: PresentedChain {
        switch presented {
        case .chain(let chain): chain
        case .evaluated(let validator): validator.chain
        }
    }

    /// The same trust for the members of a composite, which share one budget.
    func sharingBudget() -> ServerTrust {
        guard budget == nil else { return self }
        var trust = self
        trust.budget = SharedBudget()
        return trust
    }

    /// The cost of the policies that share the budget; nil if one policy decides alone.
    var spent: ValidationEffort? { budget?.spent }

    /// Charges work of a policy in addition to ``validate(for:at:spent:accepting:)``.
    func charge(_ effort: ValidationEffort) { budget?.charge(effort) }

    /// Notifies the validator that a decision about this trust is final: its sources may fetch the revocation lists or
    /// the log list that the decision lacked.
    ///
    /// Evaluating starts nothing, so the code that returns a decision to its user calls this and
    /// ``TrustPolicy/tell(_:)``; a ``TrustManager`` and the adapters do so.
    public func tell(_ decision: TrustDecision) { validator.noteUse(following: decision.pathsToFollow) }

    /// Lets the validator look for a path; see ``ChainValidator/validate(_:for:at:spent:accepting:)``.
    /// - Parameter own: the cost of the calling policy so far.
    func validate(
        for purpose: ValidationPurpose, at time: Date, spent own: ValidationEffort,
        accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome {
        guard let budget else { return validate(for: purpose, at: time, after: own, accepting) }
        return budget.validate(for: purpose, at: time, accepting: accepting) { spent in
            validate(for: purpose, at: time, after: spent, accepting)
        }
    }

    private func validate(
        for purpose: ValidationPurpose, at time: Date, after spent: ValidationEffort,
        _ accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome {
        switch presented {
        case .chain(let chain):
            // Check the limits here: once the budget is spent, do not call a validator that ignores earlier spending.
            let limits = validator.pathValidator?.limits ?? ValidationLimits()
            guard spent == ValidationEffort() || !limits.areUsedUp(by: spent) else {
                let failure = PathSearch.budgetExceeded("the limit of one decision")
                return ValidationOutcome(path: nil, failure: failure.failure(host: purpose.host, chain: chain))
            }
            return validator.validate(chain, for: purpose, at: time, spent: spent, accepting: accepting)
        case .evaluated(let validator): return validator.validate(for: purpose, at: time, accepting: accepting)
        }
    }

    #if canImport(Security)
    /// The trust that one of the system's connections provided; nil if this was made from a chain.
    var handedOut: SecTrust? {
        switch presented {
        case .chain: nil
        case .evaluated(let validator): validator.secTrust
        }
    }
    #endif

    /// Makes the trust of a server's chain, to be validated by Holdfast against the given anchors in the `.standard`
    /// profile.
    /// - Parameters:
    ///   - certificates: DER, leaf first, as presented.
    ///   - host: the host that was dialed.
    ///   - anchors: the certificates that are trusted from the start.
    public init(certificates: [[UInt8]], host: DialedHost?, anchors: TrustAnchors) {
        self.init(
            chain: PresentedChain(certificates), purpose: .server(identity: host),
            validator: PathValidator(anchors: anchors))
    }

    /// The host that was dialed; nil for a client, or if the caller did not state it.
    public var host: DialedHost? { purpose.host }
}

/// A validator that has the chain only after evaluating it: the operating system. Reading the chain first would cost
/// another evaluation for each connection.
protocol EvaluatingValidator: ChainValidator {
    /// The chain of the first evaluation, which this call performs if necessary.
    var chain: PresentedChain { get }

    #if canImport(Security)
    /// The trust that it evaluates.
    var secTrust: SecTrust? { get }
    #endif

    /// Like ``ChainValidator/validate(_:for:at:accepting:)``, but for its own chain.
    func validate(
        for purpose: ValidationPurpose, at time: Date, accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome
}
