import Foundation
import Holdfast
import HoldfastOutput
import NIOSSL

/// The rows of the demo.
enum DemoTable {
    static let title = row("", "server", "checked by", "TLS", "verdict", "reason").map(\.text).joined()

    static func print(_ result: DemoResult, at now: Date, to output: Output) {
        let pieces = row(
            result.isAsExpected ? "ok" : "WRONG", result.step.server, result.step.policy.name,
            result.step.version == .tlsv12 ? "1.2" : "1.3", result.decision.isTrusted ? "accepted" : "refused",
            result.isAsExpected
                ? reason(of: result, at: now)
                : "\(reason(of: result, at: now)) (expected: \(result.step.expected.text))")
        print(pieces, isAsExpected: result.isAsExpected, to: output)
    }

    static func print(_ update: DemoUpdate, to output: Output) {
        let pieces = row(
            update.isAsExpected ? "ok" : "WRONG", update.what, update.kind.judge, "",
            update.error == nil ? "accepted" : "refused", update.reason)
        print(pieces, isAsExpected: update.isAsExpected, to: output)
    }

    private static func print(_ pieces: [Output.Piece], isAsExpected: Bool, to output: Output) {
        var line = output.rendered([Output.Piece(pieces[0].text, isAsExpected ? .good : .bad)])
        line += output.rendered(Array(pieces.dropFirst()))
        output.printAsIs(line)
    }

    private static func row(
        _ mark: String, _ server: String, _ policy: String, _ version: String, _ verdict: String, _ reason: String
    ) -> [Output.Piece] {
        [
            Output.Piece(mark.padded(to: 6)), Output.Piece(server.padded(to: 39)), Output.Piece(policy.padded(to: 11)),
            Output.Piece(version.padded(to: 5)), Output.Piece(verdict.padded(to: 10)), Output.Piece(reason),
        ]
    }

    private static func reason(of result: DemoResult, at now: Date) -> String {
        guard let failure = result.decision.failure else {
            guard result.bytesAnswered > 0 else { return "but no answer came" }
            return switch result.step.policy {
            case .standard: "valid path, right name"
            case .revocation: "a current list does not name it"
            case .transparency: "two logs of two operators signed for it"
            case .keyPin: "the pinned key is in a valid path"
            case .certificatePin: "the pinned certificate is in a valid path"
            case .store: "the list has its certificate"
            case .online: "the trust server's document has its key"
            case .repository: "the pin file has its key"
            }
        }
        let facts: String
        switch failure.code {
        case .expired:
            let minutes = (failure.certificate?.notAfter).map { now.timeIntervalSince($0) / 60 } ?? 0
            facts = "ended \(Int(minutes.rounded())) minutes ago"
        case .hostNameMismatch: facts = "it is for \(failure.found)"
        case .pinMismatch where result.step.policy == .store: facts = "the list has another certificate"
        case .pinMismatch where result.step.policy == .online: facts = "the document has another key"
        case .pinMismatch where result.step.policy == .repository: facts = "the pin file has other keys"
        case .pinMismatch: facts = "a valid path without the pin"
        case .noUsablePins: facts = "the store says empty"
        case .revoked: facts = "a list of its authority names it"
        case .notTransparent: facts = "no log signed for it"
        case .unknownIssuer: facts = "no path to a trusted root"
        default: facts = failure.found
        }
        guard result.bytesAtServer == 0 else {
            return "\(failure.code.rawValue), but \(result.bytesAtServer) bytes arrived"
        }
        return "\(failure.code.rawValue): \(facts)"
    }
}
