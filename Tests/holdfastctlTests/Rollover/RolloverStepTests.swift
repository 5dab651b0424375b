import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import holdfastctl

@Suite("The next step of a change of keys")
struct RolloverStepTests {
    private static let day: TimeInterval = 86_400
    private static let now = Date(timeIntervalSince1970: 2_000_000_000)

    private static func days(_ number: Double) -> Date { now.addingTimeInterval(number * day) }

    private static func pin(_ letter: Character) -> Pin {
        let digest = [UInt8](repeating: letter.asciiValue ?? 0, count: 32)
        return (try? Pin(subject: .publicKey, digest: digest)) ?? .certificate([])
    }

    /// Pins by letters: `A` is served, `b` is not, and a `!` behind one says that it is to go.
    private static func state(
        _ pins: String, certificates: Bool = false, next: String = "", refused: Bool = false, age: Double = 30,
        staleness: Double? = 7, certificate: Double? = 60, pinsEnd: Double? = nil
    ) -> RolloverState {
        var published: [RolloverState.PublishedPin] = []
        for letter in pins {
            if letter == "!" {
                published[published.count - 1].isRetiring = true
            } else {
                let name = Character(letter.lowercased())
                published.append(.init(pin: pin(name), isServed: letter.isUppercase))
            }
        }
        return RolloverState(
            pinsCertificates: certificates, pins: published, refusals: refused ? ["a server is refused"] : [],
            next: next.map(pin), certificateEnd: certificate.map(days), pinsEnd: pinsEnd.map(days),
            published: days(-age), staleness: staleness.map { $0 * day })
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let state: RolloverState
        let step: RolloverStep

        init(_ name: String, _ state: RolloverState, _ step: RolloverStep) {
            (self.name, self.state, self.step) = (name, state, step)
        }

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case("a server is refused, whatever else there is", state("aB!", next: "c", refused: true), .letClientsIn),
        Case("no pin is left", state("", refused: true), .letClientsIn),
        // Keys.
        Case("a key without a backup", state("A"), .addBackup(by: now)),
        Case("both keys are served, for ECDSA and RSA", state("AB"), .addBackup(by: now)),
        Case("the key is to go, and nothing follows", state("A!"), .addBackup(by: now)),
        Case("an old key is no backup", state("Ab!"), .addBackup(by: now)),
        Case("a backup stands by", state("Ab"), .nothing(until: days(60 - 7 - 30))),
        Case("a backup stands by, and nothing ends", state("Ab", certificate: nil), .nothing(until: nil)),
        Case("the pins end in time", state("Ab", pinsEnd: 38), .nothing(until: days(38 - 7 - 30))),
        Case("the pins end soon", state("Ab", pinsEnd: 36), .renew(by: days(29))),
        Case("the pins end before clients can have others", state("Ab", pinsEnd: 3), .renew(by: now)),
        Case("the old key is served for too short a time", state("A!b", age: 6.5), .wait(until: days(0.5))),
        Case("every client has the next key", state("A!b", age: 7), .deploy([pin("b")], by: days(60))),
        Case("nobody knows how old clients are", state("A!b", staleness: nil), .wait(until: nil)),
        Case("some servers have changed", state("A!Bc", age: 7), .deploy([pin("c")], by: days(60))),
        Case("the old key is not served any more", state("a!Bc"), .remove([pin("a")])),
        Case("the old key goes after the backup is there", state("a!B"), .addBackup(by: now)),
        // What is to be deployed is named.
        Case("the next key is not published", state("Ab", next: "c"), .publishNext([pin("c")])),
        Case("the next key is published, just now", state("Ab", next: "b", age: 0), .wait(until: days(7))),
        Case("the next key may be deployed", state("Abc", next: "c"), .deploy([pin("c")], by: days(60))),
        Case("the last spare may be deployed", state("AC", next: "c"), .deploy([pin("c")], by: days(60))),
        Case("the next key is deployed everywhere", state("Cb", next: "c"), .nothing(until: days(23))),
        Case("the next key is deployed, the old may go", state("a!Cb", next: "c"), .remove([pin("a")])),
        Case("what is named is not removed", state("Ab!c", next: "b"), .deploy([pin("b")], by: days(60))),
        // Certificates, each of which ends.
        Case("the next certificate is not in the list", state("A", certificates: true), .addBackup(by: days(53))),
        Case(
            "the next certificate is not in the list, and it is late", state("A", certificates: true, certificate: 5),
            .addBackup(by: now)),
        Case(
            "an old entry goes first where there is time", state("a!B", certificates: true), .remove([pin("a")])),
        Case(
            "an old entry waits where there is none", state("a!B", certificates: true, certificate: 5),
            .addBackup(by: now)),
        Case("clients do not have the list", state("Ab", certificates: true, age: 1), .wait(until: days(6))),
        Case("clients have the list", state("Ab", certificates: true), .deploy([pin("b")], by: days(60))),
        Case("the entry ends before its certificate", state("Ab", certificates: true, pinsEnd: 9), .renew(by: days(2))),
    ]

    @Test("Each state has one step", arguments: cases)
    func step(_ one: Case) { #expect(RolloverStep(one.state, at: Self.now) == one.step) }

    @Test("Whatever the state is, nothing is deployed that a client may lack, and no pin removed that a server shows")
    func always() {
        var random = SplitMix64(seed: 14)
        for _ in 0..<20_000 {
            let letters = "abcd".map { letter -> String in
                let text = random.next() % 3 == 0 ? letter.uppercased() : String(letter)
                return random.next() % 4 == 0 ? "" : random.next() % 3 == 0 ? text + "!" : text
            }
            let state = Self.state(
                letters.joined(), certificates: random.next() % 2 == 0,
                next: ["", "a", "d", "ab"][Int(random.next() % 4)],
                refused: random.next() % 5 == 0, age: Double(random.next() % 10),
                staleness: random.next() % 4 == 0 ? nil : 7, certificate: Double(random.next() % 80),
                pinsEnd: random.next() % 3 == 0 ? Double(random.next() % 80) : nil)
            switch RolloverStep(state, at: Self.now) {
            case .deploy(let pins, _):
                #expect(state.refusals.isEmpty && state.everybodyHasIt.map { $0 <= Self.now } == true)
                #expect(!pins.isEmpty && pins.allSatisfy { pin in state.pins.contains { $0.pin == pin } })
            case .remove(let pins):
                #expect(pins.allSatisfy { pin in state.pins.contains { $0.pin == pin && !$0.isServed } })
                #expect(state.pins.contains { !pins.contains($0.pin) })
            case .nothing: #expect(state.refusals.isEmpty && state.pins.contains { !$0.isServed })
            case .letClientsIn: #expect(!state.refusals.isEmpty)
            default: break
            }
        }
    }
}
