import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

/// A seeded run of damaged inputs: as many in each of two halves, so that two cores share the work.
///
/// It makes nothing in its loop but the input itself: in a debug build that is what a run costs most.
struct Campaign {
    /// Inputs of one campaign. `scripts/nightly` asks for more.
    static let mutants =
        ProcessInfo.processInfo.environment["HOLDFAST_MUTANTS"].flatMap { Int($0) } ?? 10_000
    static let halves = [0, 1]

    /// An input to damage.
    struct Base {
        let bytes: [UInt8]
        /// Whether it is accepted as it is. One that is not has more flaws than a mutant has changes, so that no mutant
        /// of it is acceptable.
        let isAccepted: Bool
    }

    let bases: [Base]
    let tokens: [[UInt8]]
    /// The most places in which a mutant differs.
    static let mostChanges = 2

    init(accepted: [[UInt8]], refused: [[UInt8]], tokens: [[UInt8]]) {
        bases = accepted.map { Base(bytes: $0, isAccepted: true) } + refused.map { Base(bytes: $0, isAccepted: false) }
        self.tokens = tokens
    }

    init(acceptedTexts: [String], refusedTexts: [String], tokens: [String]) {
        self.init(
            accepted: acceptedTexts.map { Array($0.utf8) }, refused: refusedTexts.map { Array($0.utf8) },
            tokens: tokens.map { Array($0.utf8) })
    }

    /// Tests share as many threads as there are cores; one that keeps its own for a minute makes others time out.
    static func letOthersRun(after round: Int) async {
        if round % 256 == 255 { await Task.yield() }
    }

    /// Shows one half of the mutants to `accepts`, which says whether it accepted one.
    func run(
        half: Int, seed: UInt64, mutants: Int = Campaign.mutants, accepts: ([UInt8]) throws -> Bool
    ) async throws {
        for base in bases { #expect(try accepts(base.bytes) == base.isAccepted, "the undamaged input") }
        var generator = SplitMix64(seed: (seed << 1) &+ UInt64(half))
        var (accepted, refused) = (0, 0)
        for round in 0..<(mutants / 2) {
            await Self.letOthersRun(after: round)
            let base = bases[generator.below(bases.count)]
            var mutant = base.bytes
            for _ in 0...generator.below(Self.mostChanges) { generator.damage(&mutant, tokens) }
            if try accepts(mutant) {
                accepted += 1
                if !base.isAccepted { Issue.record("accepted, though the undamaged one is not: \(mutant)") }
            } else {
                refused += 1
            }
        }
        // Damage that is always, or never, fatal tests nothing.
        #expect(accepted > mutants / 1_000 && refused > mutants / 1_000)
    }
}

extension SplitMix64 {
    /// A number from 0 up to, and not including, `bound`; without the detours of `Int.random` in a debug build.
    mutating func below(_ bound: Int) -> Int {
        Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// Changes one place: most often within a byte or two, since a changed length is refused sooner.
    mutating func damage(_ bytes: inout [UInt8], _ tokens: [[UInt8]]) {
        guard !bytes.isEmpty else { return bytes.append(UInt8(truncatingIfNeeded: next())) }
        let place = below(bytes.count)
        switch below(8) {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: next())
        case 1: bytes.remove(at: place)
        case 2: bytes.insert(UInt8(truncatingIfNeeded: next()), at: place)
        case 3: bytes.insert(contentsOf: tokens[below(tokens.count)], at: place)
        case 4: bytes.removeSubrange(place..<min(bytes.count, place + 2))
        case 5: bytes[place] = bytes[below(bytes.count)]
        default: bytes[place] ^= 1 << UInt8(truncatingIfNeeded: below(8))
        }
    }
}
