import Foundation
import Holdfast
import HoldfastTesting
import Testing

@testable import PinChanges
@testable import PinPublication
@testable import ServerApprovals
@testable import ServerFoundation
@testable import ServerImport
@testable import ServerModel
@testable import ServerStore

@Suite("An emergency")
struct EmergencyTests {
    @Test("From an alarm to documents without a stolen key it takes as long as people do: no gate makes anybody wait")
    func drill() async throws {
        try await World.run(canary: 86_400) { world in
            try await world.publish(forcing: [.canary])
            #expect(try await world.clientsThatGetIn(world.shown) == World.everybody)
            try await world.pass(7 * 86_400)
            let alarm = world.now
            // The host shows its other certificate at once, and a new one becomes the backup.
            let backup = try world.root.leaf(names: [.dns(World.host)]) { $0.notAfter = .days(180) }
            try await world.catalog.announce(
                CertificateChain(backup.chain), from: world.now + 2 * World.month, on: world.catalogHost, of: world.app,
                by: "operator")
            try await world.pass(300, showing: world.announced)
            let content = try await world.draft {
                $0.removed = [Digest(of: world.shown.der), Digest(of: try world.shown.subjectPublicKeyInfo)]
            }
            #expect(try await world.propose(content).report.refusal?.gate == .canary)
            let proposal = try await world.propose(content, forcing: [.canary])
            #expect(proposal.report.refusal == nil, "\(proposal.report)")
            // It needs as many approvals as any change.
            try await world.approve(proposal.change, by: [.alice])
            await expectError(.notApproved) { try await world.publisher.publish(proposal.change) }
            try await world.pass(300, showing: world.announced)
            try await world.approve(proposal.change, by: [.bob])
            #expect(try await world.publisher.publish(proposal.change) == .published(generation: 2))
            #expect(world.now - alarm <= 900)
            #expect(try await world.clientsThatGetIn(world.shown) == [])
            #expect(try await world.clientsThatGetIn(world.announced) == World.everybody)
            try await world.everybodyFollows(lettingIn: [world.announced], refusing: [world.shown])
        }
    }
}
