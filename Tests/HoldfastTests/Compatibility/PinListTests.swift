import Foundation
import Testing

@testable import Holdfast
@testable import HoldfastCompatibility

@Suite("Property lists of pinned certificates")
struct PinListTests {
    private static let pins: [String: [Data]] = [
        "www.example.com": [Data([1, 2, 3]), Data(), Data(repeating: 7, count: 5_000)], "b.example": [],
        "b & <S> 'x' \"y\"": [Data([1, 2, 3])], "": [Data([9])],
    ]

    @Test(
        "What Foundation writes is read as it was, in either format",
        arguments: [.binary, .xml] as [PropertyListSerialization.PropertyListFormat])
    func written(format: PropertyListSerialization.PropertyListFormat) throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = format
        var many: [String: [Data]] = [:]
        for number in 0..<400 { many["host\(number).example"] = (0..<3).map { Data("\(number) \($0)".utf8) } }
        for pins in [[:], Self.pins, many] {
            let data = try encoder.encode(pins)
            #expect(try PinList.read(data) == pins)
            // What the other library writes.
            let plain = try PropertyListSerialization.data(fromPropertyList: pins, format: format, options: 0)
            #expect(try PinList.read(plain) == pins)
        }
    }

    @Test("White space, comments and declarations in XML do not matter")
    func xml() throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?><!-- kept by hand -->
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
              <dict> <!-- one -->
                <key>www.example.com</key>
                <array><data>
                  AQ
                  ID
                </data> <!-- two --> <data/></array>
                <key>b</key><array/>
              </dict>
            </plist>

            """
        #expect(try PinList.read(Data(text.utf8)) == ["www.example.com": [Data([1, 2, 3]), Data()], "b": []])
    }

    @Test(
        "Anything else is an error",
        arguments: [
            "", "<plist>", "<plist><dict><key>a</key></dict></plist>", "<plist><array/></plist>",
            "<plist><dict><key>a</key><data>AQID</data></dict></plist>",
            "<plist><dict><key>a</key><array><string>x</string></array></dict></plist>",
            "<plist><dict><key>a</key><array/><key>a</key><array/></dict></plist>",
            "<plist><dict/></plist>x", "<!DOCTYPE plist [<!ENTITY a 'b'>]><plist><dict/></plist>",
            "<plist><dict><key>&a;</key><array/></dict></plist>",
            "<plist><dict><key>a<key/></key><array/></dict></plist>",
            "<plist><dict><key>a</key><array><data>A</data></array></dict></plist>", "{ a = (<010203>); }",
            "bplist00", "<!--", "<?", "<plist><dict><key>",
        ])
    func refused(text: String) {
        #expect(throws: CocoaError.self) { try PinList.read(Data(text.utf8)) }
    }

    @Test(
        "Elements nested without end end nothing but the reading", arguments: ["array", "dict", "plist", "dict><key"])
    func nested(element: String) {
        let tags = String(repeating: "<\(element)>", count: 200_000)
        for text in [tags, "<plist>" + tags, "<plist><dict><key>a</key>" + tags] {
            #expect(throws: CocoaError.self) { try PinList.read(Data(text.utf8)) }
        }
    }

    /// One domain with many certificates that are one object, and an object that holds itself.
    private func binary(
        certificates count: Int, of size: Int, array: UInt32 = 3, key: [UInt8] = [0x51, 0x61]
    ) -> Data {
        func big(_ number: Int) -> [UInt8] { (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }
        var data = Array("bplist00".utf8)
        var offsets: [Int] = []
        func add(_ object: [UInt8]) {
            offsets.append(data.count)
            data += object
        }
        add([0xD1] + big(1) + big(2))
        add(key)
        add([0xAF, 0x12] + big(count))
        for _ in 0..<count { data += big(Int(array)) }
        add([0x4F, 0x12] + big(size))
        data += [UInt8](repeating: 0, count: size)
        let table = data.count
        data += offsets.flatMap(big) + [UInt8](repeating: 0, count: 6) + [4, 4]
        data += [0, 0, 0, 0] + big(offsets.count) + big(0) + big(0) + [0, 0, 0, 0] + big(table)
        return Data(data)
    }

    @Test("A list is not made larger than its budget by saying one thing many times")
    func shared() throws {
        #expect(try PinList.read(binary(certificates: 3, of: 100))["a"] == Array(repeating: Data(count: 100), count: 3))
        for (count, size) in [(17, 1 << 20), (2_000, 1 << 20), (1_000_000, 0)] {
            let error = #expect(throws: CocoaError.self) { try PinList.read(binary(certificates: count, of: size)) }
            #expect(error?.code == .fileReadTooLarge)
        }
        let circle = #expect(throws: CocoaError.self) { try PinList.read(binary(certificates: 5, of: 1, array: 2)) }
        #expect(circle?.code == .propertyListReadCorrupt)
    }

    @Test("A domain that is not ASCII, or longer than any, is none: the list is refused before the name is looked up")
    func namesThatAreNone() {
        let marks = String(repeating: "\u{301}", count: 400_000)
        let wide = [UInt8](repeating: 3, count: 800_000)
        let lists = [
            binary(certificates: 1, of: 1, key: [0x61, 0, 0xFC]),
            binary(certificates: 1, of: 1, key: [0x6F, 0x12, 0, 6, 0x1A, 0x80] + wide),
            Data("<plist><dict><key>\(marks)</key><array/></dict></plist>".utf8),
            Data("<plist><dict><key>\(String(repeating: "a", count: 1_025))</key><array/></dict></plist>".utf8),
        ]
        for list in lists {
            #expect(throws: CocoaError(.propertyListReadCorrupt)) { try PinList.read(list) }
        }
    }

    @Test("A name in UTF-16 is read; one that says it is longer than the file is refused")
    func wideName() throws {
        #expect(try PinList.read(binary(certificates: 1, of: 1, key: [0x62, 0, 0x62, 0, 0x61]))["ba"]?.count == 1)
        for count in [[0x7F, 0xFF, 0xFF, 0xFF], [0x40, 0, 0, 0], [0, 0, 1, 0]] as [[UInt8]] {
            let error = #expect(throws: CocoaError.self) {
                try PinList.read(binary(certificates: 1, of: 1, key: [0x6F, 0x12] + count))
            }
            #expect(error?.code == .propertyListReadCorrupt)
        }
    }

    @Test("No list is kept that could not be read again")
    func writable() throws {
        let file = PinnedCertificateFile(url: FileManager.default.temporaryDirectory.appending(path: "\(UUID()).plist"))
        defer { try? FileManager.default.removeItem(at: file.url) }
        let kept = ["www.example.com": [Data(count: 100)]]
        try file.replace(with: kept)
        // One certificate for many domains: the file is small, and what it stands for is not.
        let shared = Dictionary(uniqueKeysWithValues: (0..<3_000).map { ("\($0).example.com", [Data(count: 6_000)]) })
        let error = #expect(throws: CocoaError.self) { try file.replace(with: shared) }
        #expect(error?.code == .fileReadTooLarge)
        // Certificates that the budget allows, in a file that is too large for its reader.
        let large = (0..<9).map { Data(repeating: $0, count: 1 << 20) }
        let refused = #expect(throws: CocoaError.self) { try file.replace(with: ["www.example.com": large]) }
        #expect(refused?.code == .fileWriteOutOfSpace)
        #expect(try file.read() == kept)
    }

    @Test("A file of the maximum size is read, and one byte more is refused although the list in it is sound")
    func maximumSize() throws {
        let file = PinnedCertificateFile(url: FileManager.default.temporaryDirectory.appending(path: "\(UUID()).plist"))
        defer { try? FileManager.default.removeItem(at: file.url) }
        let list = "<plist><dict><key>a.example</key><array><data>AQID</data></array></dict></plist>"
        let rest = PinnedCertificateFile.maximumBytes - list.utf8.count - "<!---->".utf8.count
        try Data("<!--\(String(repeating: "x", count: rest))-->\(list)".utf8).write(to: file.url)
        #expect(try file.read() == ["a.example": [Data([1, 2, 3])]])
        try Data("<!--\(String(repeating: "x", count: rest + 1))-->\(list)".utf8).write(to: file.url)
        #expect(throws: CocoaError(.fileReadTooLarge)) { try file.read() }
    }

    @Test("Certificates of a list in XML count towards the budget too")
    func budgetOfXML() {
        let certificate = Data(count: PinList.maximumDecodedBytes / 4).base64EncodedString()
        let list = String(repeating: "<data>\(certificate)</data>", count: 4)
        #expect(throws: CocoaError(.fileReadTooLarge)) {
            try PinList.read(Data("<plist><dict><key>a</key><array>\(list)</array></dict></plist>".utf8))
        }
    }

    @Test("Every cut and every changed octet of a binary list is read or refused")
    func damaged() throws {
        let whole = binary(certificates: 2, of: 20)
        for length in whole.indices { _ = try? PinList.read(whole.prefix(length)) }
        for place in whole.indices {
            for value in [0, 1, 0x0F, 0x7F, 0x80, 0xFF] as [UInt8] {
                var changed = whole
                changed[place] = value
                _ = try? PinList.read(changed)
            }
        }
    }
}
