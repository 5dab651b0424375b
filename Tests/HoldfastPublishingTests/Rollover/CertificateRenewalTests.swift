import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

@Suite("Certificates that are renewed before every client can have their successor")
struct CertificateRenewalTests {
    private static let day: TimeInterval = 86_400
    private static let now = Date(timeIntervalSince1970: 2_000_000_000)

    private static func renewal(days: Double) throws -> CertificateRenewal {
        let authority = try TestAuthority.root(clock: ManualClock(now: now))
        let leaf = try authority.leaf(names: [.dns("www.example.com")]) {
            $0.notBefore = .days(0)
            // The last second counts.
            $0.notAfter = .after(.seconds(days * day - 1))
        }
        return CertificateRenewal(of: try X509Certificate(der: leaf.der))
    }

    @Test(
        "A third of a certificate's life has to be at least what clients may use an older document",
        arguments: [(200.0, 66.0, 67.0), (100.0, 33.0, 34.0), (47.0, 15.0, 16.0), (6.0, 2.0, 3.0)])
    func lives(days: Double, enough: Double, tooLong: Double) throws {
        let renewal = try Self.renewal(days: days)
        #expect(renewal.life == days * Self.day)
        #expect(renewal.renewal == Self.now.addingTimeInterval(days * Self.day * 2 / 3))
        try renewal.check("www.example.com", staleness: .seconds(enough * Self.day))
        let error = try #require(throws: PublishingError.self) {
            try renewal.check("www.example.com", staleness: .seconds(tooLong * Self.day))
        }
        #expect(error.code == .shortLife)
    }

    @Test("The error shows the arithmetic")
    func words() throws {
        let error = try #require(throws: PublishingError.self) {
            try Self.renewal(days: 6).check("www.example.com", staleness: .seconds(7 * Self.day))
        }
        let text = error.description
        #expect(text.contains("shortLife of www.example.com: expected at least 7 days"), "\(text)")
        #expect(
            text.contains("lives 6 days: renewed after two thirds of that, 4 days, it leaves 2 days"), "\(text)")
        #expect(text.contains("certificates that live 21 days"), "\(text)")
        let other = try #require(throws: PublishingError.self) {
            try Self.renewal(days: 47).check("www.example.com", staleness: .seconds(30 * Self.day))
        }
        #expect(other.description.contains("31.3 days, it leaves 15.7 days"), "\(other)")
    }
}
