import Foundation
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("Reading a pin file")
struct PinFileReaderTests {
    private static func place(_ data: Data) -> String? { PinFileText.refusal(of: data)?.place }

    @Test("Everything that a file can say is read")
    func everything() throws {
        let file = try PinFile(json: PinFileText.full)
        #expect(file.app == "com.example.bank")
        #expect(file.issuedAt == Date(timeIntervalSince1970: 1_795_262_400))
        #expect(file.notAfter == Date(timeIntervalSince1970: 1_803_211_200))
        #expect(file.refresh?.after == 21_600 && file.refresh?.grace == 1_209_600)
        #expect(file.refresh?.jitter.millionths == 300_000)
        #expect(file.end == Date(timeIntervalSince1970: 1_803_211_200 + 1_209_600 + 1))
        let api = try #require(file.hosts.first)
        #expect(api.pattern == (try HostPattern("api.example.com")) && api.ports == [443, 8_443])
        #expect(api.enforcement == .enforce && api.requirement == .any && api.afterExpiry == .reject && !api.isRetired)
        #expect(api.pins.map(\.pin) == (1...4).map(PinFileText.pin))
        #expect(api.pins.map(\.role) == [.leaf, .leaf, .issuer, .leaf])
        #expect(api.pins.map(\.state) == [.active, .backup, .retiring, .candidate])
        #expect(api.pins.map(\.notAfter) == [nil, nil, Date(timeIntervalSince1970: 1_798_761_600), nil])
        #expect(api.report?.url == "https://reports.example.net/pins")
        #expect(api.report?.failureFraction == .one && api.report?.successFraction.millionths == 1_000)
        #expect(file.hosts.map(\.isRetired) == [false, true] && file.hosts[1].pins.isEmpty)
        #expect(file.hostsWithoutBackup.isEmpty)
    }

    @Test("What a file leaves out has its default")
    func defaults() throws {
        let file = try PinFile(json: PinFileText.host(""))
        #expect(file.app == nil && file.issuedAt == nil && file.notAfter == nil && file.refresh == nil)
        #expect(file.end == nil && file.debugAnchors.isEmpty)
        let host = try #require(file.hosts.first)
        #expect(host.ports.isEmpty && host.enforcement == .enforce && host.requirement == .any)
        #expect(host.afterExpiry == .reject && host.report == nil)
        #expect(host.pins.map(\.role) == [.leaf] && host.pins.map(\.state) == [.active])
        #expect(file.hostsWithoutBackup == [host.pattern])
        let report = try PinFile(json: PinFileText.host(#""report":{"url":"https://r.example.net/"},"#))
        #expect(report.hosts[0].report?.failureFraction == .one && report.hosts[0].report?.successFraction == .zero)
        let refresh = try PinFile(json: PinFileText.file("", more: #""refresh":{"after":1},"#)).refresh
        #expect(refresh?.jitter == .zero && refresh?.grace == 0)
    }

    @Test(
        "What must be there is missed by its path",
        arguments: [
            (#"{"hosts":[]}"#, "schema"), (#"{"schema":1}"#, "hosts"), (#"{"schema":1,"hosts":[{}]}"#, "hosts[0].host"),
            (#"{"schema":1,"hosts":[{"host":"a.b"}]}"#, "hosts[0].pins"),
            (#"{"schema":1,"hosts":[{"host":"a.b","retired":false}]}"#, "hosts[0].pins"),
            (#"{"schema":1,"hosts":[{"host":"a.b","pins":[{}]}]}"#, "hosts[0].pins[0].pin"),
            (#"{"schema":1,"refresh":{},"hosts":[]}"#, "refresh.after"),
            (#"{"schema":1,"hosts":[{"host":"a.b","report":{}}]}"#, "hosts[0].report.url"),
        ])
    func missing(text: String, field: String) { #expect(Self.place(Data(text.utf8)) == "missingField \(field)") }

    @Test("Another schema is refused, whatever else the file says")
    func schema() {
        for (schema, code) in [
            ("2", "unsupportedSchema"), ("0", "unsupportedSchema"), ("\"1\"", "wrongType"), ("1.0", "wrongType"),
        ] {
            #expect(Self.place(Data(#"{"schema":\#(schema),"hosts":7}"#.utf8)) == "\(code) schema")
        }
    }

    @Test(
        "Strict JSON is asked for, and the error names the field",
        arguments: [
            (#"{"schema":1,"hosts":[],}"#, "notJSON hosts"), ("", "wrongType -"), ("[]", "wrongType -"),
            (#"{"schema":1,"hosts":[]} x"#, "notJSON -"), ("\u{FEFF}{}", "notJSON -"),
            (#"{"schema":1,"schema":1,"hosts":[]}"#, "duplicateField schema"),
            (#"{"schema":1,"hosts":[{"host":"a.b","\u0068ost":"c.d"}]}"#, "duplicateField hosts[0].host"),
            (#"{"schema":1,"x":{"y":1,"y":2},"hosts":[]}"#, "duplicateField x.y"),
            (#"{"schema":1,"hosts":{}}"#, "wrongType hosts"), (#"{"schema":1,"hosts":null}"#, "wrongType hosts"),
            (#"{"schema":1,"app":null,"hosts":[]}"#, "wrongType app"),
            (#"{"schema":1,"hosts":[{"host":7}]}"#, "wrongType hosts[0].host"),
            (#"{"schema":1,"hosts":[{"host":"a.b","retired":1}]}"#, "wrongType hosts[0].retired"),
            (#"{"schema":1,"refresh":{"after":1.5},"hosts":[]}"#, "wrongType refresh.after"),
            (#"{"schema":1,"hosts":[{"host":"a.b","ports":[443,"x"]}]}"#, "wrongType hosts[0].ports[1]"),
        ])
    func strict(text: String, place: String) { #expect(Self.place(Data(text.utf8)) == place) }

    @Test("A key that is no plain word stands quoted in the path, so that it cannot forge a line")
    func hostileKeys() {
        let text = "{\"schema\":1,\"\\u000a\\u001b[31m\":{\"y\":tru},\"hosts\":[]}"
        let error = PinFileText.refusal(of: Data(text.utf8))
        #expect(error?.code == .notJSON)
        #expect(error?.description.utf8.allSatisfy { (0x20..<0x7F).contains($0) } == true)
    }

    // MARK: Fields

    @Test(
        "Fields that are not known are ignored, unless critical names them",
        arguments: [
            (#""future":{"a":[1.5e3]},"#, nil),
            (#""future":1,"critical":["future"],"#, "unknownCriticalField critical[0]"),
            (#""critical":["future"],"#, "unknownCriticalField critical[0]"),
            (#""critical":["notAfter","pins","role"],"#, nil), (#""critical":[],"#, nil),
            // A field of another object means nothing here.
            (#""pins":1,"critical":["hosts","pins"],"#, "unknownCriticalField critical[1]"), (#""pins":1,"#, nil),
            (#""critical":["\u0066uture"],"#, "unknownCriticalField critical[0]"),
            (#""critical":["\u212Aey"],"#, "unknownCriticalField critical[0]"),
            (#""critical":"hosts","#, "wrongType critical"),
        ] as [(String, String?)])
    func critical(more: String, place: String?) { #expect(Self.place(PinFileText.file("", more: more)) == place) }

    @Test(
        "A time has one spelling: RFC 3339 in UTC to the second",
        arguments: [
            ("2026-11-21T12:00:00Z", true), ("1970-01-01T00:00:00Z", true), ("2028-02-29T23:59:59Z", true),
            ("9999-12-31T23:59:59Z", true), ("2027-02-29T00:00:00Z", false), ("2026-13-01T00:00:00Z", false),
            ("2026-00-01T00:00:00Z", false), ("2026-01-00T00:00:00Z", false), ("2026-01-01T24:00:00Z", false),
            ("2026-01-01T00:60:00Z", false), ("2026-12-31T23:59:60Z", false), ("1969-12-31T23:59:59Z", false),
            ("2026-11-21T12:00:00.0Z", false), ("2026-11-21t12:00:00Z", false), ("2026-11-21T12:00:00z", false),
            ("2026-11-21 12:00:00Z", false), ("2026-11-21T12:00:00+00:00", false), ("2026-11-21T12:00:00", false),
            ("2026-11-21", false), ("20261121T120000Z", false), ("２026-11-21T12:00:00Z", false), ("", false),
            ("+026-11-21T12:00:00Z", false), ("2026-11-21T12:00:00Z ", false),
        ])
    func times(text: String, isRead: Bool) {
        let place = Self.place(PinFileText.file("", more: #""notAfter":"\#(text)","#))
        #expect(place == (isRead ? nil : "invalidTime notAfter"))
    }

    @Test("Every day of four hundred years is read as the calendar says, and written as it is read")
    func calendar() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        var generator = SplitMix64(seed: 71)
        for _ in 0..<2_000 {
            let seconds = Int64(generator.below(Int(PinFileLimits.lastSecond)))
            let date = Date(wholeSeconds: seconds)
            let text = date.formatted(.iso8601)
            #expect(PinFileTime.read(Array(text.utf8)[...]) == seconds)
            let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
            #expect(
                text
                    == String(
                        format: "%04d-%02d-%02dT%02d:%02d:%02dZ", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0,
                        parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0))
        }
    }

    @Test(
        "A fraction is a decimal number from 0 to 1 with at most six digits after the point",
        arguments: [
            ("0", 0), ("1", 1_000_000), ("0.0", 0), ("1.0", 1_000_000), ("0.3", 300_000), ("0.000001", 1),
            ("0.999999", 999_999), ("1.000000", 1_000_000), ("0.100000", 100_000), ("0.0000001", nil),
            ("1.000001", nil),
            ("2", nil), ("-0.1", nil), ("-0", nil), ("1e0", nil), ("0.1E0", nil), ("0e0", nil), ("10", nil),
            ("0.12345678901234567890", nil), ("\"0.3\"", nil), ("true", nil),
        ] as [(String, Int?)])
    func fractions(text: String, millionths: Int?) {
        let file = try? PinFile(json: PinFileText.file("", more: #""refresh":{"after":1,"jitter":\#(text)},"#))
        #expect(file?.refresh?.jitter.millionths == millionths)
    }

    @Test(
        "Spans are seconds, up to ten years",
        arguments: [
            ("1", "0", nil), ("315360000", "315360000", nil), ("0", "0", "invalidValue refresh.after"),
            ("-1", "0", "invalidValue refresh.after"), ("315360001", "0", "invalidValue refresh.after"),
            ("1", "-1", "invalidValue refresh.grace"), ("9007199254740992", "0", "wrongType refresh.after"),
        ] as [(String, String, String?)])
    func spans(after: String, grace: String, place: String?) {
        let more = #""refresh":{"after":\#(after),"grace":\#(grace)},"#
        #expect(Self.place(PinFileText.file("", more: more)) == place)
    }

    @Test("A file does not end before it is issued")
    func order() {
        func file(_ issued: String, _ end: String) -> Data {
            PinFileText.file("", more: #""issuedAt":"\#(issued)","notAfter":"\#(end)","#)
        }
        #expect(Self.place(file("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")) == nil)
        #expect(Self.place(file("2026-01-01T00:00:01Z", "2026-01-01T00:00:00Z")) == "contradiction notAfter")
    }

    @Test("The name of an app is 1 to 255 octets of printable ASCII")
    func app() {
        for (app, isRead) in [("com.example", true), ("", false), ("a\\nb", false), ("b\\u00fcro", false)] {
            #expect((Self.place(PinFileText.file("", more: #""app":"\#(app)","#)) == nil) == isRead)
        }
        let long = String(repeating: "a", count: 256)
        #expect(Self.place(PinFileText.file("", more: #""app":"\#(long)","#)) == "invalidValue app")
    }
}
