import Foundation
import HoldfastSigning
import HoldfastTesting
import Testing

@testable import Holdfast

@Suite("100,000 damaged pin files", .timeLimit(.minutes(120)))
struct PinFileMutationTests {
    private static let tokens: [[UInt8]] =
        [
            "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "1", "e5", ".", "-", "\\u0061", "null", "true", " ", "=",
            "sha256/", "\"pins\":", "\"retired\":true,", "*.", "**.", "T", "Z", "candidate", "issuer", "report",
        ].map { Array($0.utf8) } + [[0xEF, 0xBB, 0xBF], [0xFF], [0], [0xED, 0xA0, 0x80]]

    private static let mutants = max(100_000, Campaign.mutants)

    @Test(
        "Each is refused with a field and a remedy, or is read and written as it was read", arguments: Campaign.halves)
    func files(half: Int) async throws {
        let accepted = [
            PinFileText.full,
            PinFileText.host(
                #""require":"leafAndIssuer","mode":"report","#,
                pins: "\(PinFileText.pinObject(1)),\(PinFileText.pinObject(2, #","role":"issuer""#))"),
            PinFileText.file(#"{"host":"**.example.com","retired":true}"#),
        ]
        let refused = [
            Data(#"{"schema":2,"hosts":{},"critical":7,"app":null}"#.utf8),
            PinFileText.file(#"{"host":"a b","pins":[]},{"host":7,"retired":1},{"pins":[{"pin":"sha1/"}]}"#),
        ]
        try await Campaign(
            accepted: accepted.map { [UInt8]($0) }, refused: refused.map { [UInt8]($0) }, tokens: Self.tokens
        ).run(half: half, seed: 120, mutants: Self.mutants) { bytes in
            let file: PinFile
            do throws(PinFileError) {
                file = try PinFile(json: Data(bytes))
            } catch {
                if error.remedy.isEmpty || !error.description.replacing("…", with: "").isPrintableASCII {
                    Issue.record("\(bytes): \(error)")
                }
                return false
            }
            if try PinFile(json: file.json) != file { Issue.record("\(bytes): does not read back") }
            if file.hosts.contains(where: { !$0.isRetired && $0.pins.allSatisfy { $0.state == .candidate } }) {
                Issue.record("\(bytes): a host without a pin")
            }
            return true
        }
    }
}
