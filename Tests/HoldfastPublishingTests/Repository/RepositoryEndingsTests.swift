import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("What ends in a published repository", .timeLimit(.minutes(15)))
struct RepositoryEndingsTests {
    @Test(
        "Whether clients are locked out is said as it is: renewed every day, pins of 90 days let nobody in on day 106")
    func pinsRunOut() async throws {
        let (offline, online) = (TUFSigningKey(), TUFSigningKey())
        try await RepositoryScene.published(root: [offline], targets: [offline], online: online) { scene in
            let old = try scene.newDevices()
            #expect(await scene.refusing(old).isEmpty)
            let start = scene.clock.now
            var lockedOut: [Int] = []
            var byGrace: [Int] = []
            for day in [1, 13, 26, 39, 52, 65, 78, 89, 90, 91, 102, 103, 104, 105, 106] {
                scene.clock.set(start.addingTimeInterval(Double(day) * RepositoryScene.day))
                try await scene.publish(online, renewing: true)
                let live = try #require(try await scene.repository.state().live)
                let endings = TUFRepositoryEndings(of: live, at: scene.clock.now)
                // The clients themselves say it.
                let devices = old + (try scene.newDevices())
                _ = await scene.refusing(devices)
                let refused = try scene.lockedOut(devices)
                #expect(refused == (endings.lockedOut.isEmpty ? 0 : devices.count), "day \(day)")
                if !endings.lockedOut.isEmpty { lockedOut.append(day) }
                if endings.graceEnd != nil { byGrace.append(day) }
                #expect(endings.offline.contains { $0.name == "the pin file" })
            }
            // The second that a pin file names is the last one that counts, with and without grace.
            #expect(lockedOut == [105, 106])
            #expect(byGrace == [91, 102, 103, 104])
        }
    }

    @Test("What is uploaded can be stored and made again, and a plan that leaves the repository cannot")
    func values() async throws {
        let (offline, online) = (TUFSigningKey(), TUFSigningKey())
        try await RepositoryScene.published(root: [offline], targets: [offline], online: online) { scene in
            let plan = try await scene.repository.uploadPlan(at: scene.clock.now)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            let data = try encoder.encode(plan)
            #expect(try JSONDecoder().decode(TUFUploadPlan.self, from: data) == plan)
            let text = String(decoding: data, as: UTF8.self)
            for (from, to) in [
                ("metadata/timestamp.json", "metadata/../../x"), ("metadata/timestamp.json", "/etc/passwd"),
                ("bundle.json", ".htaccess"), (plan.objects[0].sha256, "00"), ("\"absent\"", "\"never\""),
            ] {
                #expect(text.contains(from))
                #expect(throws: DecodingError.self, "\(to)") {
                    try JSONDecoder().decode(TUFUploadPlan.self, from: Data(text.replacing(from, with: to).utf8))
                }
            }
        }
    }
}
