import Foundation
import HoldfastTesting
import Testing

@testable import HoldfastPublishing

@Suite("Certificates that authenticate clients")
struct ClientUseTests {
    @Test("A certificate of one's own authority has no warning, whatever it allows")
    func own() throws {
        let leaf = try TestAuthority.root().leaf(names: [.dns("api.example.com")])
        let use = try #require(ClientUse(der: leaf.der))
        #expect(!use.isPublic && use.warning == nil)
        #expect(ClientUse(der: []) == nil && ClientUse(der: Array("no certificate".utf8)) == nil)
    }

    @Test("A public authority's certificate has a warning if it may authenticate clients, and only then")
    func ofPublicAuthority() throws {
        // Domain validated, and a policy of an authority's own.
        let validated: TestObjectIdentifier = [2, 23, 140, 1, 2, 1]
        let own: TestObjectIdentifier = [1, 3, 6, 1, 4, 1, 99_999, 1]
        for (purposes, policy, isWarned) in [
            ([.serverAuthentication, .clientAuthentication], validated, true),
            ([.clientAuthentication], validated, true),
            ([.anyExtendedKeyUsage], validated, true), ([.serverAuthentication], validated, false),
            ([.serverAuthentication, .clientAuthentication], own, false),
        ] as [([TestObjectIdentifier], TestObjectIdentifier, Bool)] {
            let leaf = try TestAuthority.root().leaf(names: [.dns("api.example.com")], purposes: purposes) {
                $0.certificatePolicies = [policy]
            }
            let use = try #require(ClientUse(der: leaf.der))
            #expect(use.isPublic == (policy == validated))
            #expect((use.warning != nil) == isWarned, "\(purposes)")
            #expect(use.warning?.contains(ClientUse.lastDay) ?? true)
        }
    }
}
