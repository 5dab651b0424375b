import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import HoldfastTUF

/// A keyholder signs what is in a draft, so all of it is read before, and what cannot be published is known before.
@Suite("What keyholders read before they sign", .timeLimit(.minutes(15)))
struct RepositoryShownDraftTests {
    private let offline = TUFSigningKey()
    private let online = TUFSigningKey()

    private func scene(_ body: (RepositoryScene) async throws -> Void) async throws {
        try await RepositoryScene.published(root: [offline], targets: [offline], online: online, body)
    }

    private static func draft(_ name: String, _ scene: RepositoryScene) -> URL {
        scene.repository.folder.appending(path: "draft/\(name).json")
    }

    /// Every change of one value, and one more member or element of each object and array.
    private static func mutants(_ value: Any) -> [Any] {
        switch value {
        case let object as [String: Any]:
            var all: [Any] = [object.merging(["x-added": 1]) { $1 }]
            for (key, inner) in object {
                all.append(object.filter { $0.key != key })
                for mutant in mutants(inner) { all.append(object.merging([key: mutant]) { $1 }) }
            }
            return all
        case let array as [Any]:
            var all: [Any] = [array + ["x-added"]]
            for (index, inner) in array.enumerated() {
                for mutant in mutants(inner) {
                    var copy = array
                    copy[index] = mutant
                    all.append(copy)
                }
            }
            return all
        case let text as String: return [text + "0", "\(text.dropLast())"]
        // The wrong type must not be read: a Boolean becomes a number, and a number a Boolean.
        case let number as NSNumber: return [number.intValue + 1, !number.boolValue]
        default: return []
        }
    }

    @Test(
        "Whatever is changed in a draft changes what its keyholder reads, or is refused; what is not can be published")
    func everything() async throws {
        try await scene { scene in
            let new = TUFSigningKey()
            try await scene.prepare(signedBy: []) { state in
                try state.change(.root, adding: [new.publicKey], at: scene.clock.now)
                _ = try state.prepare(pins: scene.pinFile(days: 100).json, at: scene.clock.now)
            }
            let honest = try await scene.repository.state().changes()
            var shown = 0
            for name in ["root", "targets"] {
                let draft = Self.draft(name, scene)
                let original = try Data(contentsOf: draft)
                let file = try #require(try JSONSerialization.jsonObject(with: original) as? [String: Any])
                let mutants = Self.mutants(try #require(file["signed"]))
                #expect(mutants.count > 20)
                for mutant in mutants {
                    let data = try JSONSerialization.data(withJSONObject: ["signatures": [], "signed": mutant])
                    try data.write(to: draft)
                    guard var state = try? await scene.repository.state(), let lines = try? state.changes() else {
                        continue
                    }
                    #expect(lines != honest, "\(String(decoding: data, as: UTF8.self))")
                    shown += 1
                    guard state.refusals(at: scene.clock.now).isEmpty else { continue }
                    for key in [offline, new] { _ = try? state.sign(by: key) }
                    try await scene.repository.writeDrafts(state)
                    let publication = try? await scene.publication(online)
                    #expect(publication != nil, "\(String(decoding: data, as: UTF8.self))")
                }
                try original.write(to: draft)
            }
            #expect(shown > 10)
        }
    }

    @Test("Whatever is changed in a pin file changes what its keyholder reads of it")
    func pins() async throws {
        try await scene { scene in
            let plain = try scene.pinFile()
            let host = try PinFile.Host(
                HostPattern("www.example.com"), ports: [443], enforcement: .reportOnly,
                afterExpiry: .standardValidation,
                pins: plain.hosts[0].pins, report: PinFile.Report(url: "https://r.example.com/a"))
            let file = try PinFile(
                app: "bank", issuedAt: plain.issuedAt, notAfter: plain.notAfter,
                refresh: PinFile.Refresh(after: 21_600, jitter: .zero, grace: 86_400),
                hosts: plain.hosts + [host, .retired(HostPattern("old.example.com"), ports: [443])])
            let base = try await scene.repository.state()
            func lines(_ pins: Data) throws -> [String] {
                var state = base
                _ = try state.prepare(pins: pins, at: scene.clock.now)
                return try state.changes().filter { !$0.hasPrefix("targets:") }
            }
            let honest = try lines(file.json)
            var shown = 0
            for mutant in Self.mutants(try JSONSerialization.jsonObject(with: file.json)) {
                let data = try JSONSerialization.data(withJSONObject: mutant)
                guard let lines = try? lines(data), let read = try? PinFile(json: data) else { continue }
                let isSame =
                    try Set(read.hosts) == Set(file.hosts) && PinFile.unknownFields(in: data).isEmpty
                    && read.refresh == file.refresh && read.app == file.app
                guard !isSame else { continue }
                #expect(lines != honest, "\(String(decoding: data, as: UTF8.self))")
                shown += 1
            }
            #expect(shown > 10)
            let jitter = String(decoding: file.json, as: UTF8.self).replacing(
                "\"jitter\": 0.0", with: "\"jitter\": 0.5")
            #expect(try lines(Data(jitter.utf8)) != honest)
        }
    }

    @Test("What publishing would refuse after the signatures is refused, or said, before them")
    func refusals() async throws {
        try await scene { scene in
            try await scene.prepare(signedBy: [])
            let draft = Self.draft("targets", scene)
            let original = String(decoding: try Data(contentsOf: draft), as: UTF8.self)
            let length = try scene.pinFile().json.count
            try Data(original.replacing("\"length\":\(length)", with: "\"length\":\(length + 1)").utf8).write(to: draft)
            var state = try await scene.repository.state()
            #expect(throws: TUFRepositoryError.self) { _ = try state.sign(by: offline) }
            #expect(state.refusals(at: scene.clock.now).map(\.code) == [.refusedByClients])
            // Pins that end before the timestamp does, and a root that ends before people meet.
            try Data(original.utf8).write(to: draft)
            state = try await scene.repository.state()
            #expect(state.refusals(at: scene.clock.now).isEmpty)
            let late = scene.clock.now.addingTimeInterval(400 * RepositoryScene.day)
            #expect(state.refusals(at: late).map(\.code) == [.tooShort, .refusedByClients, .refusedByClients])
            let publishing = await #expect(throws: TUFRepositoryError.self) { _ = try await scene.publication(online) }
            #expect(publishing?.code == .notSigned)
        }
    }
}
