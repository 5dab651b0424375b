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
        #expect(set.contains(first))
        #expect(set.contains(second))
        #expect(!set.contains(Pin.certificate([3])))
        #expect(set.all == [first, second])
    }

    @Test("A set enforces, and rejects when it has expired, unless told otherwise")
    func defaults() throws {
        let set = try PinSet(pins: [first])
        #expect(set.enforcement == .enforce)
        #expect(set.afterExpiry == .reject)
        #expect(set.expires == nil)
    }

    @Test("A set expires at its expiry, not after it")
    func expiry() throws {
        let expires = Date(timeIntervalSince1970: 1_000)
        let set = try PinSet(pins: [first], expires: expires)
        #expect(set.state(at: expires - 1) == .active)
        #expect(set.state(at: expires) == .expired)
        #expect(set.state(at: .distantFuture) == .expired)
        #expect(set.state(at: Date(timeIntervalSince1970: .nan)) == .expired)
        #expect(try PinSet(pins: [first], expires: Date(timeIntervalSince1970: .nan)).state(at: expires) == .expired)
        #expect(try PinSet(pins: [first]).state(at: .distantFuture) == .active)
    }

    @Test("A certificate matches by its key, by itself, by both or not at all")
    func matches() throws {
        let certificate = HandMadeDER.certificate()
        let key = try Pin.publicKey(of: certificate)
        let whole = Pin.certificate(certificate)
        #expect(try PinSet(pins: [key]).matches(inCertificate: certificate) == [key])
        #expect(try PinSet(pins: [first], backups: [whole]).matches(inCertificate: certificate) == [whole])
        #expect(try PinSet(pins: [whole, key]).matches(inCertificate: certificate) == [key, whole])
        #expect(try PinSet(pins: [first]).matches(inCertificate: certificate).isEmpty)
        let renewed = HandMadeDER.certificate(serial: HandMadeDER.element(0x02, [2]))
        #expect(try PinSet(pins: [whole, key]).matches(inCertificate: renewed) == [key])
    }

    @Test("A certificate is read only when the set has key pins")
    func lazyReading() throws {
        let garbage: [UInt8] = [1, 2, 3]
        let certificates = try PinSet(pins: [Pin.certificate(garbage)])
        #expect(certificates.hasCertificatePins && !certificates.hasPublicKeyPins)
        #expect(try certificates.matches(inCertificate: garbage) == [Pin.certificate(garbage)])
        let keys = try PinSet(pins: [Pin(subject: .publicKey, digest: first.digest)])
        #expect(keys.hasPublicKeyPins && !keys.hasCertificatePins)
        #expect(throws: CertificateError.self) { try keys.matches(inCertificate: garbage) }
    }
}
