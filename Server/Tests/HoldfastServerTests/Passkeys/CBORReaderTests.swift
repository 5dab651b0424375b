import Testing

@testable import ServerApprovals
@testable import ServerFoundation

@Suite("CBOR of authenticators")
struct CBORReaderTests {
    private func read(_ hex: String) throws -> CBORValue {
        let bytes = try #require(Hex.decode(hex.utf8, count: hex.utf8.count / 2), "\(hex)")
        return try CBORReader.read(bytes, "test", limit: 1_024)
    }

    @Test("The examples of RFC 8949 are read")
    func examples() throws {
        let examples: [(String, CBORValue)] = [
            ("00", .unsigned(0)), ("17", .unsigned(23)), ("1818", .unsigned(24)), ("1903e8", .unsigned(1_000)),
            ("1a000f4240", .unsigned(1_000_000)), ("1bffffffffffffffff", .unsigned(.max)), ("20", .integer(-1)),
            ("3863", .integer(-100)), ("3903e7", .integer(-1_000)), ("3bffffffffffffffff", .negative(.max)),
            ("f4", .boolean(false)), ("f5", .boolean(true)), ("f6", .null), ("40", .bytes([])),
            ("4401020304", .bytes([1, 2, 3, 4])), ("60", .text("")), ("6449455446", .text("IETF")),
            ("62c3bc", .text("ü")), ("80", .array([])),
            (
                "8301820203820405",
                .array([
                    .unsigned(1), .array([.unsigned(2), .unsigned(3)]), .array([.unsigned(4), .unsigned(5)]),
                ])
            ),
            ("a0", .map([])), ("a201020304", SoftPasskey.map([(1, .unsigned(2)), (3, .unsigned(4))])),
            (
                "a26161016162820203",
                SoftPasskey.map([
                    ("a", .unsigned(1)), ("b", .array([.unsigned(2), .unsigned(3)])),
                ])
            ),
        ]
        for (hex, value) in examples {
            #expect(try read(hex) == value, "\(hex)")
            #expect(Hex.encode(value.bytes) == hex)
        }
    }

    @Test("Anything but the one canonical form is refused")
    func forms() throws {
        let refused = [
            // Numbers that are longer than they need be, and lengths as well.
            "1817", "1900ff", "1a0000ffff", "1b00000000ffffffff", "3817", "5800", "7801" + "61", "9800", "b800",
            // Indefinite lengths, reserved heads, tags, fractions, simple values.
            "5f41014102ff", "7f6161ff", "9f01ff", "bf0102ff", "1c", "1d", "1e", "1f", "c001", "d8184100", "f90000",
            "fa00000000", "fb0000000000000000", "f7", "f0", "f8ff", "ff",
            // Keys twice, or not sorted: the shorter first, integers before texts; and keys of other kinds.
            "a201020103", "a203040102", "a2616101616102", "a2626161016161" + "02", "a2616101" + "0102", "a220010002",
            "a1400" + "1", "a18001", "a1f501", "a1a001",
            // Too short, too long, no text.
            "", "18", "19ff", "4101" + "01", "42" + "01", "8101" + "01", "82" + "01", "a1" + "01", "61ff", "62c328",
        ]
        for hex in refused { expectError(.malformed) { try read(hex) } }
        // Of two keys with heads of different lengths, the one with fewer bytes is the first.
        #expect(
            try read("a3" + "0a01" + "181802" + "2003")
                == SoftPasskey.map([
                    (10, .unsigned(1)), (24, .unsigned(2)), (-1, .unsigned(3)),
                ]))
    }

    @Test("A count that promises more than there is, deep nesting, and many values are refused at once")
    func limits() throws {
        for hex in ["9affffffff", "9bffffffffffffffff", "bbffffffffffffffff", "5bffffffffffffffff", "7affffffff"] {
            expectError(.malformed) { try read(hex) }
        }
        #expect(throws: Never.self) { try read("81818180") }
        expectError(.malformed) { try read("8181818180") }
        expectError(.malformed) { try read("a101a101a101a101a0") }
        let many = CBORValue.array([CBORValue](repeating: .null, count: 600)).bytes
        expectError(.malformed) { try CBORReader.read(many, "test", limit: 1_024) }
        expectError(.malformed) { try CBORReader.read([UInt8](repeating: 0, count: 11), "test", limit: 10) }
    }

    @Test("A damaged value is refused, or is another value in its one spelling")
    func mutations() throws {
        let seeds =
            try [SoftPasskey().coseKey.bytes, SoftPasskey.ed25519.coseKey.bytes]
            + [SoftPasskey.map([("fmt", .text("none")), ("attStmt", .map([])), ("authData", .bytes([1, 2]))]).bytes]
        let read = campaign(30, seeds) { mutant in
            let damaged = try CBORReader.read(mutant, "test", limit: 1_024)
            #expect(damaged.bytes == mutant)
        }
        #expect(read > 0)
    }
}
