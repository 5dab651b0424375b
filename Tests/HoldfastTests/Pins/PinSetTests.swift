import Foundation
import Testing

@testable import Holdfast

@Suite("Pin sets")
struct PinSetTests {
    private let first = Pin.certificate([1])
    private let second = Pin.certificate([2])

    private func code(_ pins: [Pin], _ backups: [Pin] = []) -> PinError.Code? {
        do throws(PinError) {
            _ = try PinSet(pins: pins, backups: backups)
            return nil
        } catch { return error.code }
    }

    @Test("A set without pins, or with backups alone, is refused")
    func empty() {
        #expect(code([]) == .noPins)
        #expect(code([], [first]) == .noPins)
    }

    @Test("Two equal pins are one pin, not a backup")
    func duplicates() {
        #expect(code([first, first]) == .duplicatePin)
        #expect(code([first], [first]) == .backupEqualsPin)
        #expect(code([first], [second, second]) == .duplicatePin)
        #expect(code([first], [second]) == nil)
    }

    @Test("Backups count as much as pins do")
    func contains() throws {
        let set = try PinSet(pins: [first], backups: [second])
        #expect(set.pins == [first, second])
        #expect(set.rules == [PinRule(first), PinRule(second)])
    }

    @Test("A set enforces, and rejects when it has expired, unless told otherwise")
    func defaults() throws {
        let set = try PinSet(pins: [first])
        #expect(set.enforcement == .enforce)
        #expect(set.afterExpiry == .reject)
        #expect(set.end == nil)
    }

    @Test("A set expires at its expiry, not after it")
    func expiry() throws {
        let expires = Date(timeIntervalSince1970: 1_000)
        let set = try PinSet(pins: [first], until: expires)
        #expect(!set.isExpired(at: expires - 1))
        #expect(set.isExpired(at: expires))
        #expect(set.isExpired(at: .distantFuture))
        #expect(set.isExpired(at: Date(timeIntervalSince1970: .nan)))
        #expect(try PinSet(pins: [first], until: Date(timeIntervalSince1970: .nan)).isExpired(at: expires))
        #expect(try !PinSet(pins: [first]).isExpired(at: .distantFuture))
    }

    @Test("Rules that no path could ever match are refused: none, candidates alone, of one role where both are needed")
    func satisfiable() throws {
        let cases: [([PinRule], PinSet.Requirement, Bool)] = [
            ([], .any, false), ([PinRule(first, isCandidate: true)], .any, false), ([PinRule(first)], .any, true),
            ([PinRule(first)], .oneOfEachRole, true), ([PinRule(first, at: .leaf)], .oneOfEachRole, false),
            ([PinRule(first, at: .leaf), PinRule(second, at: .issuer)], .oneOfEachRole, true),
            ([PinRule(first, at: .depth(0)), PinRule(second, at: .depth(3))], .oneOfEachRole, true),
            ([PinRule(first, at: .leaf), PinRule(second, at: .issuer, isCandidate: true)], .oneOfEachRole, false),
        ]
        for (rules, requirement, isSatisfiable) in cases {
            let set = try? PinSet(rules: rules, requirement: requirement)
            #expect((set != nil) == isSatisfiable, "\(rules), \(requirement)")
        }
    }

    @Test("A set has run out when too few of its rules are left, and not before")
    func partialExpiry() throws {
        let time = Date(timeIntervalSince1970: 1_000)
        let (early, late) = (PinRule(first, at: .leaf, until: time), PinRule(second, at: .issuer, until: time + 10))
        let any = try PinSet(rules: [early, late])
        #expect(any.end == time + 10 && !any.isExpired(at: time + 9) && any.isExpired(at: time + 10))
        #expect(any.pins(at: time) == [second] && any.pins(at: time - 1) == [first, second])
        #expect(any.pins(at: time + 10) == [first, second])
        let both = try PinSet(rules: [early, late], requirement: .oneOfEachRole)
        #expect(both.end == time && !both.isExpired(at: time - 1) && both.isExpired(at: time))
        let endless = try PinSet(rules: [early, PinRule(second)])
        #expect(endless.end == nil && !endless.isExpired(at: .distantFuture - 1))
    }

    @Test("Only what some rule asks for is hashed")
    func subjects() throws {
        let key = Pin(subject: .publicKey, hashing: [1])
        let set = try PinSet(rules: [PinRule(key, at: .leaf), PinRule(first, at: .depth(2))])
        #expect(set.subjects(ofLeaf: true) == [.publicKey] && set.subjects(ofLeaf: false) == [.certificate])
        let all = try PinSet(pins: [first, key])
        #expect(all.subjects(ofLeaf: true) == [.publicKey, .certificate])
    }

    @Test("Many pins are found as few are")
    func manyPins() throws {
        let pins = (0..<200 as Range<UInt8>).map { Pin.certificate([$0]) }
        let set = try PinSet(pins: pins)
        for pin in pins { #expect(set.rules(matching: pin, at: .distantPast) { _ in true } == [PinRule(pin)]) }
        #expect(set.rules(matching: .certificate([0, 0]), at: .distantPast) { _ in true }.isEmpty)
    }
}
