import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Limits of a pin file", .timeLimit(.minutes(15)))
struct PinFileLimitTests {
    private static func place(_ data: Data) -> String? { PinFileText.refusal(of: data)?.place }

    private static func hosts(_ count: Int) -> String {
        (0..<count).map { #"{"host":"h\#($0).example.com","retired":true}"# }.joined(separator: ",")
    }

    private static func pins(_ count: Int) -> String {
        (0..<count).map { PinFileText.pinObject(UInt8($0)) }.joined(separator: ",")
    }

    @Test("Hosts, pins, ports, anchors and critical names are bounded, and what follows the limit is not read")
    func counts() {
        // The text after the limit is not JSON; a reader of it would report that.
        #expect(Self.place(PinFileText.file(Self.hosts(1_000))) == nil)
        #expect(Self.place(PinFileText.file(Self.hosts(1_000) + ",?")) == "tooMany hosts[1000]")
        #expect(Self.place(PinFileText.host("", pins: Self.pins(32))) == nil)
        #expect(Self.place(PinFileText.host("", pins: Self.pins(32) + ",?")) == "tooMany hosts[0].pins[32]")
        let ports = (1...16).map(String.init).joined(separator: ",")
        #expect(Self.place(PinFileText.host(#""ports":[\#(ports)],"#)) == nil)
        #expect(Self.place(PinFileText.host(#""ports":[\#(ports),?],"#)) == "tooMany hosts[0].ports[16]")
        let names = [String](repeating: #""hosts""#, count: 64).joined(separator: ",")
        #expect(Self.place(PinFileText.file("", more: #""critical":[\#(names)],"#)) == nil)
        #expect(Self.place(PinFileText.file("", more: #""critical":[\#(names),?],"#)) == "tooMany critical[64]")
    }

    @Test("Debug anchors are bounded in number and size")
    func anchors() throws {
        let root = try TestAuthority.root(clock: Judge.clock).root
        let one = "\"\(CanonicalBase64.encode(root))\""
        func file(_ anchors: String) -> Data { PinFileText.file("", more: #""debugAnchors":[\#(anchors)],"#) }
        let eight = [String](repeating: one, count: 8).joined(separator: ",")
        #expect(Self.place(file(eight)) == nil)
        #expect(Self.place(file(eight + ",?")) == "tooMany debugAnchors[8]")
        let long = "\"" + String(repeating: "A", count: 8_192 * 4 / 3 + 5) + "?"
        #expect(Self.place(file(long)) == "invalidValue debugAnchors[0]")
    }

    @Test("A file of more bytes than the limit is refused before it is read, from data and from disk")
    func bytes() async throws {
        let long = Data(repeating: 0x20, count: PinFileLimits.bytes + 1)
        #expect(Self.place(long) == "tooLarge -")
        try await withTemporaryFolder { folder in
            let url = folder.appending(path: "bank.pins.json")
            try long.write(to: url)
            #expect(Self.placeOfFile(at: url) == "tooLarge -")
            try PinFileText.full.write(to: url)
            #expect(try PinFile(contentsOf: url) == PinFile(json: PinFileText.full))
            #expect(Self.placeOfFile(at: folder.appending(path: "none.json")) == "unreadableFile -")
            #expect(Self.placeOfFile(at: folder) == "unreadableFile -")
        }
        let remote = try #require(URL(string: "https://example.com/bank.pins.json"))
        #expect(Self.placeOfFile(at: remote) == "unreadableFile -")
    }

    private static func placeOfFile(at url: URL) -> String? {
        do throws(PinFileError) {
            _ = try PinFile(contentsOf: url)
            return nil
        } catch {
            return error.place
        }
    }

    @Test("However a file is made, at most six keys or octets are compared for each of its octets")
    func comparisons() throws {
        // The most members that an object may have, each an unknown field, in every object there is.
        let members = (0..<60).map { "\"\(Character(UnicodeScalar(UInt8(0x30 + $0 % 40))))\($0)\":0" }
            .joined(separator: ",").replacing("\\", with: "x")
        let pins = (0..<32).map { #"{"pin":"\#(PinFileText.pin(UInt8($0)))",\#(members)}"# }.joined(separator: ",")
        let hosts = (0..<50).map { #"{"host":"h\#($0).example.com",\#(members),"pins":[\#(pins)]}"# }
        let data = PinFileText.file(hosts.joined(separator: ","))
        var reader = PinFileReader(json: try StrictJSONReader([UInt8](data), maximumBytes: PinFileLimits.bytes))
        let file = try reader.file()
        #expect(file.hosts.count == 50 && file.hosts[49].pins.count == 32)
        #expect(reader.json.comparisons < 6 * data.count)
    }
}
