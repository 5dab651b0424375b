public import struct Foundation.Date

/// Builds certification paths from a presented chain to an anchor and validates them (RFC 5280 section 6, RFC 9525).
///
/// ``PathValidator`` is Holdfast's own validator; on Apple platforms the operating system is another one.
/// Implementations do not use pins or policies, and may be called from any thread.
///
/// A custom validator that wraps another one forwards its properties:
/// ```swift
/// nonisolated struct CountingValidator: ChainValidator {
///     let base: PathValidator
///     var pathValidator: PathValidator? { base }
///     …
/// }
/// ```
public protocol ChainValidator: Sendable {
    /// The validator whose profile, limits and revocation lists apply if pins alone decide (`certificatePinOnly`) and
    /// no path to the anchors of the trust is required.
    ///
    /// A validator that wraps a ``PathValidator`` returns that one, because its revocation lists would otherwise be
    /// lost. A validator that does not check revocation returns a plain ``PathValidator``. By default it is nil, and a
    /// policy whose pins alone decide rejects, because it cannot know what the validator would have checked.
    var pathValidator: PathValidator? { get }

    /// Looks for a valid path that the caller accepts.
    ///
    /// Several paths can be valid, as with cross-signed roots. Each valid one is passed to `accepting`. The search ends
    /// with the first one that it accepts, when no further path exists, or when the budget is spent.
    /// - Parameters:
    ///   - chain: the certificates as presented, leaf first.
    ///   - purpose: the purpose that the path must allow.
    ///   - time: the time at which every certificate of the path must be valid, to the second.
    ///   - accepting: whether a valid path has what the caller requires, for example a pin.
    func validate(
        _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date,
        accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome

    /// Looks for a valid path as ``validate(_:for:at:accepting:)`` does, with the rest of the decision's budget.
    ///
    /// A decision may need several validations, for example for the members of a ``CompositePolicy``; together they may
    /// cost no more than one. A validator that wraps another one passes `spent` on. By default it is ignored, and a
    /// decision that has used up its budget is rejected before its validator is called again.
    /// - Parameters:
    ///   - chain: the certificates as presented, leaf first.
    ///   - purpose: the purpose that the path must allow.
    ///   - time: the time at which every certificate of the path must be valid, to the second.
    ///   - spent: the cost of earlier validations of the same decision.
    ///   - accepting: whether a valid path has what the caller requires, for example a pin.
    /// - Returns: the outcome, with the cost of this validation alone.
    func validate(
        _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date, spent: ValidationEffort,
        accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome

    /// Receives the notification that a decision by this validator is final, and notifies its sources of revocation
    /// lists and logs. By default it notifies the ``pathValidator``.
    ///
    /// Code that validates without a policy calls it with the ``ValidationOutcome/pathsToFollow``; if a policy decides,
    /// ``ServerTrust/tell(_:)`` does so.
    func noteUse(following paths: [[X509Certificate]])
}

extension ChainValidator {
    /// nil, because it is unknown what the validator checks.
    public var pathValidator: PathValidator? { nil }

    /// Notifies the ``pathValidator``.
    public func noteUse(following paths: [[X509Certificate]]) { pathValidator?.noteUse(following: paths) }

    /// Ignores the cost of earlier validations.
    public func validate(
        _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date, spent: ValidationEffort,
        accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome {
        validate(chain, for: purpose, at: time, accepting: accepting)
    }
}
