package import Foundation

extension TrustServerFormat {
    /// The requirement of a document for a host.
    /// - Parameter lastFailure: the reason why there is no newer document, for the failure.
    package func answer(
        to question: PinQuestion, from content: TrustServerTable?, at time: Date, lastFailure: () -> StoreError?
    ) -> PinAnswer {
        guard let host = question.host else { return PinAnswer(.client, at: time) }
        if let obstacle = obstacle(to: content, at: time) {
            let last = lastFailure().map { "; the last download failed: \($0.code.rawValue), \($0.found)" }
            let failure = TrustFailure(
                .noUsablePins, expected: obstacle.expected, found: obstacle.found + (last ?? ""),
                remedy: obstacle.remedy)
            return .none(content == nil ? .empty : .expired, failure, at: time)
        }
        guard let content else { return .none(.empty, DecisionDraft.unexplained, at: time) }
        let isInGrace = isInGrace(content, at: time)
        let age = time.timeIntervalSince(content.timestamp)
        let found = Self.content(content.answer(for: host, question.subject), for: host, question.subject, isInGrace)
        return PinAnswer(
            found, at: time, age: isInGrace ? Duration(exactSeconds: age) ?? .seconds(Int64.max) : nil,
            notices: isInGrace ? [pastItsTime(age: age)] : [])
    }

    private func pastItsTime(age: TimeInterval) -> TrustFailure {
        TrustFailure(
            .pinsPastTheirTime,
            expected: "a document at most \(Self.text(age: configuration.maximumAge.inSeconds)) old",
            found: "one that is \(Self.text(age: age)) old")
    }

    private static func content(
        _ answer: TrustServerTable.Answer, for host: DialedHost, _ subject: Pin.Subject?, _ isInGrace: Bool
    ) -> PinAnswer.Content {
        let found: String
        switch answer {
        case .pins(let pins): return .required(pins)
        case .unlisted: found = "none in the document"
        case .otherKind: found = subject == .certificate ? "pins of its keys only" : "pins of its certificates only"
        case .otherPorts(let ports): found = "pins for \(text(ports)) only"
        case .differentPorts(let ports):
            return .none(
                .notCovered,
                TrustFailure(
                    .noUsablePins, expected: "the port of \(host.name), or the same pins for every port",
                    found: "different pins for \(text(ports))",
                    remedy: "Say which port was dialed: DialedHost(_:port:)."))
        }
        // A document that is no longer fresh may lack entries of a newer one.
        return .none(
            isInGrace ? .expired : .notCovered,
            TrustFailure(
                .noUsablePins, expected: "pins for \(host)", found: found,
                remedy: "Have the host published by the trust server; a host without pins is not trusted."))
    }

    private static func text(_ ports: [Int]) -> String {
        (ports.count == 1 ? "port " : "ports ") + ports.prefix(8).map { "\($0)" }.joined(separator: ", ")
    }
}
