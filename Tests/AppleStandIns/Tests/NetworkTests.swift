import Foundation
import Holdfast
import HoldfastTesting
import Network
import Security
import Testing

@Suite("Network.framework")
struct NetworkTests {
    private func handshake(_ options: NWProtocolTLS.Options, _ trust: SecTrust) async throws -> Bool {
        let standIn = try #require(options.securityProtocolOptions as? StandInOptions)
        return await withCheckedContinuation { continuation in
            standIn.handshake(trust) { continuation.resume(returning: $0) }
        }
    }

    @Test("The verification block trusts by the manager's policy for the host that is dialed")
    func verification() async throws {
        let fixture = try AppleFixture()
        try fixture.pin([fixture.keyPin(fixture.leaf)])
        let options = NWProtocolTLS.Options(pinnedBy: fixture.manager, dialing: try fixture.dialed())
        #expect(try await handshake(options, fixture.secTrust()))
        let impostor = try fixture.issuing.impersonate(fixture.leaf)
        #expect(try await !handshake(options, fixture.secTrust(impostor.chain)))
        let unknown = NWProtocolTLS.Options(pinnedBy: fixture.manager, dialing: try fixture.dialed("x.example"))
        #expect(try await !handshake(unknown, fixture.secTrust()))
    }

    @Test("The validator for newer connections decides as the block does")
    func validator() async throws {
        let fixture = try AppleFixture()
        try fixture.pin([fixture.keyPin(fixture.leaf)])
        let validator = fixture.manager.certificateValidator(dialing: try fixture.dialed())
        #expect(await validator(StandInMetadata(), StandInTrust(fixture.secTrust())))
        let impostor = try fixture.issuing.impersonate(fixture.leaf)
        #expect(await !validator(StandInMetadata(), StandInTrust(fixture.secTrust(impostor.chain))))
    }

    @Test("It names the server, asks for TLS 1.2, and switches resumption off")
    func settings() throws {
        let fixture = try AppleFixture()
        let options = NWProtocolTLS.Options(pinnedBy: fixture.manager, dialing: try DialedHost("WWW.Example.com"))
        let standIn = try #require(options.securityProtocolOptions as? StandInOptions)
        #expect(standIn.serverName == "www.example.com")
        #expect(standIn.minimumVersion == .TLSv12)
        #expect(!standIn.allowsResumption)
        standIn.requiresPeerAuthentication = false
        fixture.manager.protect(standIn, dialing: try DialedHost("www.example.com"))
        #expect(standIn.requiresPeerAuthentication)
        let address = NWProtocolTLS.Options(pinnedBy: fixture.manager, dialing: try DialedHost("192.0.2.1"))
        #expect((address.securityProtocolOptions as? StandInOptions)?.serverName == nil)
    }
}
