import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning
import HoldfastTesting
import Testing

@Suite("What a changed pin file may take from clients")
struct PinFileChangeTests {
    private let scene: OutlookScene

    init() throws { scene = try OutlookScene() }

    private static let now = OutlookScene.start

    private func pin(
        _ certificate: TestCertificate, _ state: PinFile.KeyPin.State = .active, until end: Date? = nil
    ) throws -> PinFile.KeyPin {
        try PinFile.KeyPin(Pin.publicKey(of: certificate.der), state: state, notAfter: end)
    }

    private func file(_ entries: (pattern: String, pins: [PinFile.KeyPin])...) throws -> PinFile {
        try PinFile(hosts: entries.map { try PinFile.Host(HostPattern($0.pattern), pins: $0.pins) })
    }

    private func change(from old: PinFile, to new: PinFile) throws -> PinFileChange {
        try PinFileChange(from: old, to: new, named: "bank.pins.json", at: Self.now)
    }

    private func change(of file: PinFile, _ edit: (inout PinFileEdit) throws -> Void) throws -> PinFileChange {
        var changed = try PinFileEdit(Data(file.json), named: "bank.pins.json")
        try edit(&changed)
        return try change(from: changed.original, to: changed.file)
    }

    /// The objections to a change while the host serves a certificate; nil for a host that does not answer.
    private func objections(
        _ change: PinFileChange, showing leaf: TestCertificate?
    ) throws -> [HostsOutlook.Finding.Kind] {
        let shown = leaf.map { scene.shown($0) } ?? .init(unreadable: "192.0.2.1", because: "no answer")
        return try ChangeOutlook(
            of: change.subject, at: [scene.host(shown)], platforms: [scene.platform], at: Self.now
        ).objections.map(\.kind)
    }

    private var host: DialedHost { get throws { try DialedHost(OutlookScene.host) } }

    @Test("To add a pin, and to call a key otherwise, takes nothing from clients, and no host has to be asked")
    func nothing() throws {
        let api = try HostPattern(OutlookScene.host)
        let (served, next) = (try pin(scene.served), try pin(scene.next, .backup))
        let file = try file((OutlookScene.host, [served, next]))
        #expect(try change(of: file) { try $0.promote(next.pin, of: api) }.takesNothing)
        #expect(try change(of: file) { try $0.retire(served.pin, of: api) }.takesNothing)
        let more = try Pin(subject: .publicKey, digest: Pin.certificate([9, 9]).digest)
        #expect(try change(of: file) { try $0.add(more, state: .backup, to: api) }.takesNothing)
        #expect(try change(from: file, to: file).takesNothing)
        var settings = PinFileEdit.HostSettings()
        settings.mode = .report
        var edit = try PinFileEdit(Data(file.json), named: "bank.pins.json")
        try edit.set(settings, of: api)
        #expect(try change(from: file, to: edit.file).takesNothing)
        // The way back may take something.
        #expect(try change(from: edit.file, to: file).hosts == [host])
    }

    @Test("Whether a pin may go is decided by what the host shows, and not by what the file calls the key")
    func removed() throws {
        for states in [(PinFile.KeyPin.State.active, PinFile.KeyPin.State.retiring), (.retiring, .active)] {
            let (served, next) = (try pin(scene.served, states.0), try pin(scene.next, states.1))
            let both = try file((OutlookScene.host, [served, next]))
            let withoutNext = try change(from: both, to: file((OutlookScene.host, [served])))
            #expect(try withoutNext.hosts == [host] && withoutNext.losses.isEmpty && withoutNext.patterns.isEmpty)
            #expect(try objections(withoutNext, showing: scene.served).isEmpty)
            #expect(try objections(withoutNext, showing: scene.next) == [.refused])
            // Without an answer from the host, the effect is unknown.
            #expect(try objections(withoutNext, showing: nil) == [.unreachable])
            let withoutServed = try change(from: both, to: file((OutlookScene.host, [next])))
            #expect(try objections(withoutServed, showing: scene.served) == [.refused])
            #expect(try objections(withoutServed, showing: scene.next).isEmpty)
        }
    }

    @Test("A pin that ends sooner is asked about, and one that lasts longer is not")
    func ends() throws {
        let end = Self.now.addingTimeInterval(40 * 86_400)
        let lasting = try file((OutlookScene.host, [pin(scene.served), pin(scene.next, .backup)]))
        let ending = try file((OutlookScene.host, [pin(scene.served, until: end), pin(scene.next, .backup)]))
        let sooner = try change(from: lasting, to: ending)
        #expect(try sooner.hosts == [host])
        #expect(try objections(sooner, showing: scene.served) == [.ending])
        #expect(try change(from: ending, to: lasting).takesNothing)
    }

    @Test("A new host is asked, because its pins may be wrong; clients have not connected to it with pins before")
    func added() throws {
        let old = try file(("www.example.com", [pin(scene.served)]))
        let added = try change(
            from: old,
            to: file(("www.example.com", [pin(scene.served)]), (OutlookScene.host, [pin(scene.next)])))
        #expect(try added.hosts == [host])
        #expect(try objections(added, showing: scene.served) == [.refused])
        #expect(try objections(added, showing: scene.next).isEmpty)
    }

    @Test("A new entry takes a host out of the pattern that covered it, so that the host is asked")
    func narrower() throws {
        let old = try file(("**.example.com", [pin(scene.served)]))
        let narrower = try change(
            from: old, to: file(("**.example.com", [pin(scene.served)]), (OutlookScene.host, [pin(scene.next)])))
        #expect(try narrower.hosts == [host])
        #expect(try objections(narrower, showing: scene.served) == [.refused])
        let same = try change(
            from: old, to: file(("**.example.com", [pin(scene.served)]), (OutlookScene.host, [pin(scene.served)])))
        #expect(same.takesNothing)
        // And back.
        let wider = try change(
            from: file(("**.example.com", [pin(scene.next)]), (OutlookScene.host, [pin(scene.served)])),
            to: file(("**.example.com", [pin(scene.next)])))
        #expect(try wider.hosts == [host] && wider.losses.isEmpty)
        #expect(try objections(wider, showing: scene.served) == [.refused])
    }

    @Test("Hosts of a pattern cannot be asked, and nobody knows what a change takes from them")
    func patterns() throws {
        for pattern in ["*.example.com", "**.example.com"] {
            // The domain itself has an entry of its own, which says nothing of its subdomains.
            func file(_ pins: [PinFile.KeyPin]) throws -> PinFile {
                try self.file((pattern, pins), ("example.com", [pin(scene.served)]))
            }
            let change = try change(from: file([pin(scene.served), pin(scene.next)]), to: file([pin(scene.served)]))
            #expect(try change.patterns == [HostPattern(pattern)] && change.hosts.isEmpty, "\(pattern)")
        }
        // Without one, the domain stands for them.
        let alone = try change(
            from: file(("**.example.com", [pin(scene.served), pin(scene.next)])),
            to: file(("**.example.com", [pin(scene.served)])))
        #expect(try alone.patterns.isEmpty && alone.hosts == [DialedHost("example.com")])
    }

    @Test("A host without an entry, a retired one, a port that is left out and pins that ran out are lost for certain")
    func losses() throws {
        let api = try HostPattern(OutlookScene.host)
        let pins = [try pin(scene.served), try pin(scene.next, .backup)]
        let old = try PinFile(hosts: [
            PinFile.Host(api, ports: [443, 8_443], pins: pins),
            PinFile.Host(HostPattern("www.example.com"), pins: pins),
        ])
        var ports = PinFileEdit.HostSettings()
        ports.ports = [443]
        var settings = PinFileEdit.FileSettings()
        settings.issuedAt = Self.now.addingTimeInterval(-7_200)
        settings.end = Self.now.addingTimeInterval(-3_600)
        for (words, count, edit) in [
            ("no entry", 1, { try $0.remove(api) }), ("retired", 1, { try $0.retire(api) }),
            ("port 8443", 1, { try $0.set(ports, of: api) }), ("expired", 2, { try $0.set(settings) }),
        ] as [(String, Int, (inout PinFileEdit) throws -> Void)] {
            let change = try change(of: old, edit)
            #expect(change.losses.count == count && change.hosts.isEmpty && change.patterns.isEmpty, "\(change.losses)")
            #expect(change.losses.first?.pattern == api && !change.takesNothing)
            #expect(change.losses.allSatisfy { $0.text.contains(words) }, "\(words): \(change.losses)")
        }
        // Clients that already refused a host lose nothing.
        let retired = try PinFile(hosts: [
            PinFile.Host.retired(api), PinFile.Host(HostPattern("a.example"), pins: pins),
        ])
        #expect(try change(of: retired) { try $0.remove(api) }.takesNothing)
        var over = try PinFileEdit(Data(old.json), named: "bank.pins.json")
        try over.set(settings)
        #expect(try change(from: over.file, to: old).takesNothing)
    }
}
