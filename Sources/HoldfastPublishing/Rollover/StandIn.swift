import Foundation
import Holdfast

/// A chain that servers present, as a stand-in for a key or certificate of which only the pin is known.
///
/// Clients evaluate certificates, and none exists yet. They therefore get this chain, with pins in which the two are
/// exchanged.
struct StandIn {
    let chain: RolloverChain
    /// Times at which the chain is valid; nil if it never is.
    let times: ClosedRange<Date>?

    /// The pin names with which exactly this pin matches the leaf of the chain.
    func names(for pin: Pin) -> [Pin: Pin] {
        names { $0[pin] = pin.subject == .publicKey ? chain.leaf.publicKeyPin : chain.leaf.certificatePin }
    }

    /// The pin names with which the pin matches nothing, and no pin matches the leaf of the chain.
    func names(without pin: Pin) -> [Pin: Pin] { names { $0[pin] = Self.nobody } }

    private func names(_ change: (inout [Pin: Pin]) -> Void) -> [Pin: Pin] {
        var names = [chain.leaf.publicKeyPin: Self.nobody, chain.leaf.certificatePin: Self.nobody]
        change(&names)
        return names
    }

    /// The pin of no certificate: that of empty data.
    private static let nobody = Pin.certificate([])
}

/// Pins under other names.
struct RenamedPins: PinSource {
    private let base: any PinSource
    private let names: [Pin: Pin]

    init(_ base: any PinSource, _ names: [Pin: Pin]) {
        self.base = base
        self.names = names
    }

    func answer(to question: PinQuestion) -> PinAnswer {
        let answer = base.answer(to: question)
        guard case .required(let pins) = answer.content else { return answer }
        let rules = pins.rules.map {
            PinRule(names[$0.pin] ?? $0.pin, at: $0.place, until: $0.end, isCandidate: $0.isCandidate)
        }
        let renamed = PinSet(
            known: rules, requirement: pins.requirement, enforcement: pins.enforcement, afterExpiry: pins.afterExpiry)
        return PinAnswer(.required(renamed), at: answer.time, age: answer.age, notices: answer.notices)
    }
}

/// Trusts a certificate as issued by an authority without a pin.
struct UnknownRoot: ChainValidator {
    let leaf: X509Certificate

    func validate(
        _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date, accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome {
        let path = ValidatedPath(uncheckedLeaf: leaf, holdsUntil: .distantFuture)
        return accepting(path)
            ? ValidationOutcome(path: path, failure: nil)
            : ValidationOutcome(path: nil, otherPaths: [path], failure: nil)
    }
}

/// Validates chains at any time as if they were within their validity, because they are renewed. Decisions that depend
/// on the paths, such as pins, are still made for the true time.
struct RenewedValidator: ChainValidator {
    let base: PathValidator
    let times: ClosedRange<Date>

    func validate(
        _ chain: PresentedChain, for purpose: ValidationPurpose, at time: Date, accepting: (ValidatedPath) -> Bool
    ) -> ValidationOutcome {
        let time = min(max(time, times.lowerBound), times.upperBound)
        return base.validate(chain, for: purpose, at: time, accepting: accepting)
    }
}
