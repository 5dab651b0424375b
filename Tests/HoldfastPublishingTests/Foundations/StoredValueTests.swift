import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastTesting
import Testing

@Suite("Values that are written to rows of a database, and made again from them")
struct StoredValueTests {
    /// Writes a value, makes it again, and writes that.
    private static func stored<Value: StoredValue>(_ value: Value, at line: SourceLocation = #_sourceLocation) throws {
        let json = try value.storedJSON
        let again = try Value(storedJSON: json)
        #expect(again == value, sourceLocation: line)
        #expect(try again.storedJSON == json, sourceLocation: line)
    }

    /// The JSON of a value with another text in the place of one.
    private static func changed(_ value: some StoredValue, _ old: String, _ new: String) throws -> Data {
        let json = String(decoding: try value.storedJSON, as: UTF8.self)
        try #require(json.contains(old), "\(json)")
        return Data(json.replacing(old, with: new).utf8)
    }

    @Test("Situations of seeded fleets and the advice on them come back as they were")
    func rollover() throws {
        for seed in 0..<60 {
            var random = SplitMix64(seed: UInt64(seed))
            let fleet = RolloverFleet(using: &random)
            let situation = RolloverScene(fleet).situation(of: RolloverWorld(fleet))
            try Self.stored(situation)
            let advice = RolloverAdvice(on: situation)
            try Self.stored(advice)
            #expect(try RolloverAdvice(on: RolloverSituation(storedJSON: situation.storedJSON)) == advice)
        }
    }

    @Test("Inputs of a rollover come back as they were, with octets that do not depend on the order of a set")
    func rolloverInputs() throws {
        let scene = try OutlookScene()
        let pins = try [scene.served, scene.next, scene.issuing.certificate].map { try Pin.publicKey(of: $0.der) }
        // Signatures are random, so the documents are made once.
        let documents = [
            try scene.list(scene.served, replaced: OutlookScene.after(days: -1)),
            try scene.list(scene.served, scene.next), try scene.trustDocument(scene.served),
            scene.shipped(try scene.pinFile(scene.served), in: "1"),
        ]
        // So many that two sets with room for others have never one order.
        let retiring = pins + (0..<16).map { Pin.certificate([UInt8($0)]) }
        func inputs(_ retiring: [Pin], withRoomFor count: Int = 0) -> RolloverInputs {
            var set = Set<Pin>(minimumCapacity: count)
            for pin in retiring { set.insert(pin) }
            return RolloverInputs(
                host: OutlookScene.host, port: 443, documents: documents,
                servers: [
                    scene.shown(scene.served), .init(unreadable: "192.0.2.9", because: "no answer"),
                    .init(
                        planned: scene.next.chain.map { Data($0) }, at: "192.0.2.1",
                        from: OutlookScene.after(days: 0.123_456_789)),
                ],
                candidates: [
                    .init("next.pem", chain: scene.next.chain.map { Data($0) }),
                    .init("backup.key", keyPin: pins[1], isNext: false, isBackup: true),
                ], retiring: set, platforms: [scene.platform],
                appVersions: .versions([.init("1", usedUntil: .distantFuture), .init("0", carriesDocument: false)]),
                staleness: .milliseconds(1_500), now: OutlookScene.start.addingTimeInterval(0.25))
        }
        let value = inputs(retiring)
        try Self.stored(value)
        #expect(try value.storedJSON == inputs(retiring.reversed(), withRoomFor: 1_000).storedJSON)
        #expect(try RolloverInputs(storedJSON: value.storedJSON).candidates[1].keyPin == pins[1])
    }

    @Test("The result of a gate and its outlook come back as they were, whatever it answers")
    func gates() throws {
        let scene = try OutlookScene()
        let host = try DialedHost(OutlookScene.host, port: 443)
        func gate(
            _ documents: [PublicationOutlook.Document], _ versions: PublicationOutlook.AppVersions = .noShippedPins,
            days: Int64 = 7
        ) throws -> InstallationGate {
            try InstallationGate(
                installing: .chain(scene.next.chain.map { Data($0) }), on: host,
                judging: .init(
                    documents: documents, hosts: [], platforms: [scene.platform], appVersions: versions,
                    span: .seconds(days * 86_400), now: OutlookScene.start), hasEarlierDocuments: false,
                servedUntil: OutlookScene.after(days: 3))
        }
        let old = try scene.list(scene.served, published: .distantPast, replaced: OutlookScene.after(days: -1))
        let gates = [
            try gate([scene.list(scene.next)]), try gate([scene.list(scene.next, until: OutlookScene.after(days: 3))]),
            try gate([old, scene.list(scene.next)]), try gate([scene.list(scene.next)], .unknown),
        ]
        var answers: [String] = []
        for gate in gates {
            try Self.stored(gate)
            try Self.stored(gate.outlook)
            answers.append("\(gate.answer)".prefix { $0 != "(" }.lowercased())
            // The canonical JSON of the outlook, with its digests, is the same as well.
            #expect(try InstallationGate(storedJSON: gate.storedJSON).outlook.json == gate.outlook.json)
        }
        #expect(answers == ["open", "ending", "closed", "unknown"])
        try Self.stored(
            PublicationOutlook.Inputs(
                documents: [old], hosts: [scene.host(scene.shown(scene.served))], platforms: [scene.platform],
                appVersions: .unknown, now: OutlookScene.start))
    }

    @Test("A row of another kind or schema, with an index of nothing or with damaged octets is refused")
    func refused() throws {
        var random = SplitMix64(seed: 7)
        let fleet = RolloverFleet(using: &random)
        let situation = RolloverScene(fleet).situation(of: RolloverWorld(fleet))
        func refuses(_ data: Data, at line: SourceLocation = #_sourceLocation) {
            #expect(throws: PublishingError.self, sourceLocation: line) {
                try RolloverSituation(storedJSON: data)
            }
        }
        refuses(try RolloverAdvice(on: situation).storedJSON)
        refuses(try Self.changed(situation, "\"schema\":1", "\"schema\":2"))
        refuses(try Self.changed(situation, "\"shows\":0", "\"shows\":4"))
        refuses(try Self.changed(situation, "cert-sha256/", "sha256/"))
        refuses(Data(try situation.storedJSON.dropLast()))
        refuses(Data())
        let scene = try OutlookScene()
        let outlook = try scene.outlook([try scene.list(scene.served)])
        for (old, new) in [("\"document\":0", "\"document\":1"), ("\"presentation\":0", "\"presentation\":1")] {
            let data = try Self.changed(outlook, old, new)
            #expect(throws: PublishingError.self) { try PublicationOutlook(storedJSON: data) }
        }
    }
}
