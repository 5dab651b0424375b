import Foundation
import Holdfast
import HoldfastNIOTesting
import HoldfastTesting
import Testing

/// The course of ``RenewalMonthsTests``, done by the program: `holdfast-server serve` lives through months,
/// and people run its commands in them, by a clock that faketime turns. Apps ask it over HTTP.
///
/// Certificates come from an authority of the test. pebble is a program of Go, whose clock faketime does not reach: what it
/// issues is of the real day, so `RenewalHookTests` has certbot and pebble on a real clock.
@Suite(
    "Renewals over months, by the program", .needs(.turnedClock),
    .timeLimit(.minutes(mutants > 10_000 ? 15 : 5)))
struct RenewalFaketimeTests {
    private static let day: Int64 = 86_400
    /// A night has months of certificates of any life.
    private static let isLong = mutants > 10_000
    private static let rhythms = [
        RenewalCourse.Rhythm(days: 90, staleness: 21, renewals: isLong ? 6 : 2),
        RenewalCourse.Rhythm(days: 47, staleness: 7, renewals: isLong ? 4 : 2),
        RenewalCourse.Rhythm(days: 6, staleness: 1, renewals: isLong ? 14 : 2),
    ]

    @Test(
        "The program signs, watches and promotes through months of renewals, with other keys and with the same, and no app of any format and age refuses",
        arguments: RenewalFaketimeTests.rhythms)
    func months(_ rhythm: RenewalCourse.Rhythm) async throws {
        let staleness = rhythm.staleness * Self.day
        try await TurnedSite.run(staleness: staleness, days: rhythm.days) { site in
            try await site.see(site.first, from: site.now)
            try await site.publish()
            var course = try await Course(site, staleness: staleness, days: rhythm.days)
            let version = course.version
            while course.installations < rhythm.renewals { try await course.renew() }
            // It is the gate that keeps apps which have not asked yet from meeting a certificate that they do not know.
            #expect(course.refusedEarly > 0)
            #expect(course.fleet.count >= 16)
            #expect(course.version > version)
            try await site.everybodyFollows(lettingIn: course.shown)
            try await site.signedOnce()
        }
    }

    /// A host whose certificates are renewed again and again, and apps that ask as seldom as they may.
    private struct Course {
        private let site: TurnedSite
        private let staleness: Int64
        private let days: Int64
        private var issuer: TestAuthority
        private(set) var version: Int64
        private(set) var fleet: Fleet
        private(set) var shown: TestCertificate
        private(set) var installations = 0
        /// How often an app that had not asked yet would have refused a certificate that waited.
        private(set) var refusedEarly = 0

        init(_ site: TurnedSite, staleness: Int64, days: Int64) async throws {
            (self.site, self.staleness, self.days) = (site, staleness, days)
            (issuer, shown) = (site.issuer, site.first)
            version = try #require(try await site.version())
            fleet = try await site.fleet()
            try await fleet.install(askingEvery: staleness)
        }

        /// Until the certificate has to be renewed, and until another one is shown.
        mutating func renew() async throws {
            let hour: Int64 = 3_600
            while try site.left(of: shown) > Double(staleness + staleness / 2 + 2 * hour) {
                try await pass(staleness / 2)
            }
            // Every other one has another key, from another intermediate.
            let next: TestCertificate
            if installations.isMultiple(of: 2) {
                issuer = try site.root.intermediate(name: .commonName("Issuing CA \(installations + 1)"))
                next = try TurnedSite.leaf(issuer, days)
            } else {
                next = try issuer.renew(shown)
            }
            try await site.announce(next, from: site.clock.now.addingTimeInterval(Double(staleness + hour)))
            try await site.publish()
            try await fleet.install(askingEvery: staleness)
            let published = site.now
            try await pass(staleness / 2)
            refusedEarly += try fleet.refusals(of: next.chain).count
            let opening = Int64(try #require(try await site.gate(next)).timeIntervalSince1970)
            #expect((-60...1).contains(opening - published - staleness), "\(opening - published) s")
            try await pass(max(opening - site.now + 1, 1))
            let closed = try await site.gate(next)
            try #require(closed == nil, "not promoted until \(site.clock.now)")
            try site.host.serve(next)
            (shown, installations) = (next, installations + 1)
            try expectNoRefusals()
            try await fleet.install(askingEvery: staleness)
            try await pass(staleness / 2)
        }

        /// Time passes, after which the server has done what it has to, and apps have asked whose time has come.
        private mutating func pass(_ seconds: Int64) async throws {
            try site.clock.advance(by: seconds)
            version = try await site.settle(after: version, showing: shown)
            try await fleet.pass()
            try expectNoRefusals()
        }

        private func expectNoRefusals() throws {
            let refusals = try fleet.refusals(of: shown.chain)
            #expect(refusals == [], "\(site.clock.now)")
        }
    }
}
